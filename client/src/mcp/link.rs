//! The way to the daemon in the name of a host: started on demand, reached again when it was restarted, bounded in calls and time.
//!
//! Must not know: the Model Context Protocol, or what is called.

use crate::connection::CallError;
use crate::handshake;
use crate::launch::{self, LaunchError, Session};
use crate::limits::{MCP_CALL_MAX, MCP_CALLS_MAX, MCP_HOST_NAME_CHARS_MAX, MCP_HOSTS_MAX};
use serde_json::Value;
use std::sync::{Arc, PoisonError};
use tiro_schema::ErrorKind;
use tiro_schema::place::Places;
use tiro_schema::wire::ProgramInfo;
use tokio::sync::{Mutex, Semaphore};

/// Why the daemon did not do something.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It is not reached.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Neither a turn nor an answer came in time.
    #[error("no answer within {} s", MCP_CALL_MAX.as_secs())]
    TooSlow,
}

/// The connections, one for each name that a host gives itself.
pub struct Links {
    places: Places,
    /// The most recently used stands last.
    by_host: std::sync::Mutex<Vec<Arc<Link>>>,
}

impl Links {
    /// None yet, to the daemon of these places.
    pub fn new(places: Places) -> Self {
        Links { places, by_host: std::sync::Mutex::default() }
    }

    /// The connection of this host; made when something is called over it.
    pub fn of(&self, name: &str, version: &str) -> Arc<Link> {
        let host = ProgramInfo { name: cleaned(name), version: cleaned(version) };
        let mut links = self.by_host.lock().unwrap_or_else(PoisonError::into_inner);
        let link = match links.iter().position(|link| link.host == host) {
            Some(at) => links.remove(at),
            None => Arc::new(Link {
                places: self.places.clone(),
                host,
                session: Mutex::default(),
                turns: Semaphore::new(MCP_CALLS_MAX),
            }),
        };
        if links.len() >= MCP_HOSTS_MAX {
            links.remove(0);
        }
        links.push(Arc::clone(&link));
        link
    }
}

/// One short line of a name that somebody else chose.
fn cleaned(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MCP_HOST_NAME_CHARS_MAX).collect::<String>().trim().to_owned()
}

/// One connection to the daemon, in the name of a host.
pub struct Link {
    places: Places,
    host: ProgramInfo,
    session: Mutex<Option<Arc<Session>>>,
    turns: Semaphore,
}

impl Link {
    /// The name it goes by.
    pub fn host(&self) -> &str {
        &self.host.name
    }

    /// Calls a method. The daemon is started when it is not there; a call that met one on its way out is repeated once, so a write
    /// has to carry its key.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub async fn call(&self, method: &str, params: Value) -> Result<Value, LinkError> {
        tokio::time::timeout(MCP_CALL_MAX, self.call_in_turn(method, params)).await.map_err(|_| LinkError::TooSlow)?
    }

    async fn call_in_turn(&self, method: &str, params: Value) -> Result<Value, LinkError> {
        let _turn = self.turns.acquire().await.map_err(|_| LinkError::TooSlow)?;
        let session = self.session(None).await?;
        match session.connection.call_value(method, params.clone(), None).await {
            Err(error) if leaves(&error) => {
                let next = self.session(Some(&session)).await?;
                Ok(next.connection.call_value(method, params, None).await?)
            }
            answer => Ok(answer?),
        }
    }

    /// Calls a method of a daemon that runs, and starts none.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub async fn look(&self, method: &str, params: Value) -> Result<Value, LinkError> {
        let look = async {
            let session = {
                let mut held = self.session.lock().await;
                match &*held {
                    Some(session) => Arc::clone(session),
                    None => {
                        let connection = launch::connect(&self.places).await?;
                        let hello = handshake::initialize(&connection, &self.host).await.map_err(LaunchError::from)?;
                        Arc::clone(held.insert(Arc::new(Session { connection, hello, started: false })))
                    }
                }
            };
            let answer = session.connection.call_value(method, params, None).await;
            if answer.as_ref().is_err_and(leaves) {
                self.drop_session(&session).await;
            }
            Ok(answer?)
        };
        tokio::time::timeout(MCP_CALL_MAX, look).await.map_err(|_| LinkError::TooSlow)?
    }

    /// The session there is; another one when this one is `gone`.
    async fn session(&self, gone: Option<&Arc<Session>>) -> Result<Arc<Session>, LaunchError> {
        let mut held = self.session.lock().await;
        if let Some(session) = &*held
            && !gone.is_some_and(|gone| Arc::ptr_eq(gone, session))
        {
            return Ok(Arc::clone(session));
        }
        *held = None;
        let session = Arc::new(launch::reach_as(&self.places, &self.host).await?);
        *held = Some(Arc::clone(&session));
        Ok(session)
    }

    async fn drop_session(&self, gone: &Arc<Session>) {
        let mut held = self.session.lock().await;
        if held.as_ref().is_some_and(|session| Arc::ptr_eq(gone, session)) {
            *held = None;
        }
    }
}

/// Whether the error says that the daemon is on its way out, or gone.
fn leaves(error: &CallError) -> bool {
    match error {
        CallError::Closed { .. } => true,
        CallError::Refused(error) => error.kind() == Some(ErrorKind::Draining),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_of_hosts_are_short_lines_and_only_so_many_connections_are_held() {
        let home = tempfile::tempdir().unwrap();
        let links = Links::new(crate::place::places_of_home(home.path()).unwrap());
        let first = links.of("a\nb\u{1b}[31m ", &"9".repeat(500));
        assert_eq!(first.host(), "ab[31m");
        assert_eq!(first.host.version.len(), MCP_HOST_NAME_CHARS_MAX);
        assert!(Arc::ptr_eq(&first, &links.of("ab[31m", &"9".repeat(500))));
        for n in 0..100 {
            links.of(&format!("host-{n}"), "1");
        }
        assert_eq!(links.by_host.lock().unwrap().len(), MCP_HOSTS_MAX);
        assert!(!Arc::ptr_eq(&first, &links.of("ab[31m", &"9".repeat(500))), "it gave way");
    }
}
