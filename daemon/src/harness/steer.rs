//! What is said to a turn while it runs: durable before it is acknowledged, read by the model before its next call.
//!
//! A gate stands before every turn. While it is open what is said comes in; it closes in the moment the turn is found to have nothing more to
//! read, so that nothing acknowledged stays unread. Must not know: models, tools.

use crate::limits;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// The gate of a turn.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    arriving: usize,
    said: VecDeque<String>,
}

/// Why nothing can be said to a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shut {
    /// The turn has ended, or is ending.
    Closed,
    /// Too much waits to be read.
    Full,
}

/// What is being made durable: it is either said in the end, or never was.
pub(super) struct Arrival {
    gate: Arc<Gate>,
    is_said: bool,
}

impl Gate {
    /// Begins to say something.
    pub fn enter(self: &Arc<Self>) -> Result<Arrival, Shut> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(Shut::Closed);
        }
        if state.arriving + state.said.len() >= limits::TURN_STEERS_MAX {
            return Err(Shut::Full);
        }
        state.arriving += 1;
        Ok(Arrival { gate: Arc::clone(self), is_said: false })
    }

    /// What was said and not read yet, in order.
    pub fn take(&self) -> Vec<String> {
        self.state.lock().said.drain(..).collect()
    }

    /// Closes the gate when there is nothing to read; false when there is.
    pub async fn close_if_read(&self) -> bool {
        loop {
            let settled = self.settled.notified();
            {
                let mut state = self.state.lock();
                if !state.said.is_empty() {
                    return false;
                }
                if state.arriving == 0 {
                    state.is_closed = true;
                    return true;
                }
            }
            settled.await;
        }
    }

    /// Closes the gate and gives what was not read.
    pub async fn close(&self) -> Vec<String> {
        loop {
            let settled = self.settled.notified();
            {
                let mut state = self.state.lock();
                state.is_closed = true;
                if state.arriving == 0 {
                    return state.said.drain(..).collect();
                }
            }
            settled.await;
        }
    }
}

impl Arrival {
    /// It is durable.
    pub fn say(mut self, text: String) {
        self.gate.state.lock().said.push_back(text);
        self.is_said = true;
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.gate.state.lock().arriving -= 1;
        self.gate.settled.notify_waiters();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // SES-9: what is acknowledged is read: the gate does not close over it
    #[tokio::test]
    async fn a_gate_closes_only_when_all_is_read() {
        let gate: Arc<Gate> = Arc::default();
        let arrival = gate.enter().unwrap();
        let closing = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { gate.close_if_read().await }
        });
        tokio::task::yield_now().await;
        arrival.say("wait".to_owned());
        assert!(!closing.await.unwrap(), "something came while it was closing");
        assert_eq!(gate.take(), ["wait"]);
        drop(gate.enter().unwrap());
        assert!(gate.close_if_read().await);
        assert_eq!(gate.enter().err(), Some(Shut::Closed));
        let gate: Arc<Gate> = Arc::default();
        let held: Vec<_> = (0..limits::TURN_STEERS_MAX).map(|_| gate.enter().unwrap()).collect();
        assert_eq!(gate.enter().err(), Some(Shut::Full));
        drop(held);
        assert!(gate.close().await.is_empty());
    }
}
