//! The requests of one connection that are being answered, each with its cancellation.
//!
//! Must not know: what they do.

use crate::limits::REQUESTS_PER_CONNECTION_MAX;
use parking_lot::Mutex;
use std::collections::HashMap;
use tiro_schema::wire::RequestId;
use tokio_util::sync::CancellationToken;

/// Why a request was not taken on.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejected {
    /// A request with this id is being answered.
    SameId,
    /// [`REQUESTS_PER_CONNECTION_MAX`] are being answered.
    TooMany,
}

/// The requests being answered.
pub struct InFlight {
    all: CancellationToken,
    requests: Mutex<HashMap<RequestId, CancellationToken>>,
}

impl InFlight {
    /// None yet; cancelling `all` cancels every one.
    pub fn new(all: CancellationToken) -> Self {
        InFlight { all, requests: Mutex::default() }
    }

    /// Takes a request on.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn begin(&self, id: &RequestId) -> Result<CancellationToken, Rejected> {
        let mut requests = self.requests.lock();
        if requests.contains_key(id) {
            return Err(Rejected::SameId);
        }
        if requests.len() >= REQUESTS_PER_CONNECTION_MAX {
            return Err(Rejected::TooMany);
        }
        let token = self.all.child_token();
        requests.insert(id.clone(), token.clone());
        Ok(token)
    }

    /// The request has been answered.
    pub fn end(&self, id: &RequestId) {
        self.requests.lock().remove(id);
    }

    /// Cancels one; an id that is not there (any more) is nothing to complain about.
    pub fn cancel(&self, id: &RequestId) {
        if let Some(token) = self.requests.lock().get(id) {
            token.cancel();
        }
    }

    /// Cancels all.
    pub fn cancel_all(&self) {
        self.all.cancel();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_are_unique_and_requests_bounded() {
        // API-3
        let inflight = InFlight::new(CancellationToken::new());
        let id = |n: usize| RequestId::Number(i64::try_from(n).unwrap());
        let first = inflight.begin(&id(0)).unwrap();
        assert_eq!(inflight.begin(&id(0)).unwrap_err(), Rejected::SameId);
        assert!(inflight.begin(&RequestId::Text("0".into())).is_ok());
        for n in 1..REQUESTS_PER_CONNECTION_MAX - 1 {
            inflight.begin(&id(n)).unwrap();
        }
        assert_eq!(inflight.begin(&id(1_000)).unwrap_err(), Rejected::TooMany);
        inflight.cancel(&id(0));
        assert!(first.is_cancelled());
        inflight.end(&id(0));
        assert!(inflight.begin(&id(0)).is_ok());
    }
}
