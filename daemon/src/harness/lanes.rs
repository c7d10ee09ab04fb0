//! The line of turns of every session: one runs, others wait. Pure bookkeeping under one lock.
//!
//! Must not know: how a turn runs, the store.

use super::steer::Gate;
use crate::limits;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tiro_schema::record::ActorRecord;
use tiro_schema::wire::turn::IfBusy;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Id of a turn.
pub(super) type TurnId = [u8; 16];

/// A turn that waits or runs.
#[derive(Clone)]
pub(super) struct Active {
    pub session: u64,
    pub actor: ActorRecord,
    pub cancel: CancellationToken,
    /// What is said to it comes in here.
    pub gate: Arc<Gate>,
    /// Becomes true at its end.
    pub done: Arc<watch::Sender<bool>>,
}

/// Why a turn cannot wait in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// One runs or waits, and the caller does not want to wait.
    Busy,
    /// Too many wait.
    TooMany,
}

#[derive(Default)]
pub(super) struct Lanes {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lanes: HashMap<u64, Lane>,
    active: HashMap<TurnId, Active>,
    running: usize,
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<TurnId>,
    running: Option<TurnId>,
    reserved: usize,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_none() && self.reserved == 0
    }
}

/// A place in a line, held while the turn is being stored.
pub(super) struct Place<'a> {
    lanes: &'a Lanes,
    session: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.lanes.state.lock();
        if let Some(lane) = state.lanes.get_mut(&self.session) {
            lane.reserved -= 1;
        }
        state.tidy(self.session);
    }
}

impl State {
    fn tidy(&mut self, session: u64) {
        if self.lanes.get(&session).is_some_and(Lane::is_empty) {
            self.lanes.remove(&session);
        }
    }
}

impl Lanes {
    /// Takes a place in a session's line.
    pub fn reserve(&self, session: u64, if_busy: IfBusy) -> Result<Place<'_>, Full> {
        let mut state = self.state.lock();
        let lane = state.lanes.entry(session).or_default();
        let full = if if_busy == IfBusy::Reject && !lane.is_empty() {
            Some(Full::Busy)
        } else if lane.waiting.len() + lane.reserved >= limits::TURNS_QUEUED_MAX {
            Some(Full::TooMany)
        } else {
            None
        };
        match full {
            Some(full) => {
                state.tidy(session);
                Err(full)
            }
            None => {
                lane.reserved += 1;
                Ok(Place { lanes: self, session })
            }
        }
    }

    /// Puts a stored turn into its line.
    pub fn enqueue(&self, id: TurnId, active: Active) {
        let mut state = self.state.lock();
        state.lanes.entry(active.session).or_default().waiting.push_back(id);
        state.active.insert(id, active);
    }

    /// The next turn that may run, of any session; it counts as running.
    pub fn next(&self) -> Option<(TurnId, Active)> {
        let mut state = self.state.lock();
        if state.running >= limits::TURNS_RUNNING_MAX {
            return None;
        }
        let lane = state.lanes.values_mut().find(|lane| lane.running.is_none() && !lane.waiting.is_empty())?;
        let id = lane.waiting.pop_front()?;
        lane.running = Some(id);
        state.running += 1;
        state.active.get(&id).cloned().map(|active| (id, active))
    }

    /// A running turn has ended.
    pub fn ended(&self, id: TurnId) {
        let mut state = self.state.lock();
        let Some(active) = state.active.remove(&id) else { return };
        if let Some(lane) = state.lanes.get_mut(&active.session)
            && lane.running == Some(id)
        {
            lane.running = None;
            state.running -= 1;
        }
        state.tidy(active.session);
        drop(state);
        active.done.send_replace(true);
    }

    /// Takes a turn that still waits out of its line. False when it runs or has ended.
    pub fn take_out(&self, id: TurnId) -> bool {
        let mut state = self.state.lock();
        let Some(session) = state.active.get(&id).map(|active| active.session) else { return false };
        let Some(lane) = state.lanes.get_mut(&session) else { return false };
        let before = lane.waiting.len();
        lane.waiting.retain(|waiting| *waiting != id);
        lane.waiting.len() < before
    }

    /// A turn that waits or runs.
    pub fn active(&self, id: TurnId) -> Option<Active> {
        self.state.lock().active.get(&id).cloned()
    }

    /// Every turn of a session that waits or runs.
    pub fn of_session(&self, session: u64) -> Vec<(TurnId, Active)> {
        let state = self.state.lock();
        state.active.iter().filter(|(_, active)| active.session == session).map(|(id, active)| (*id, active.clone())).collect()
    }

    /// Every turn that runs.
    pub fn running(&self) -> Vec<Active> {
        let state = self.state.lock();
        state.lanes.values().filter_map(|lane| state.active.get(&lane.running?).cloned()).collect()
    }

    /// Whether a session has a running turn.
    pub fn is_running(&self, session: u64) -> bool {
        self.state.lock().lanes.get(&session).is_some_and(|lane| lane.running.is_some())
    }

    /// The turn of a session that something can be said to: the running one, else the next.
    pub fn foremost(&self, session: u64) -> Option<(TurnId, Active)> {
        let state = self.state.lock();
        let lane = state.lanes.get(&session)?;
        let id = lane.running.or_else(|| lane.waiting.front().copied())?;
        state.active.get(&id).cloned().map(|active| (id, active))
    }

    /// The running turn of a session.
    pub fn running_turn(&self, session: u64) -> Option<TurnId> {
        self.state.lock().lanes.get(&session)?.running
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn active(session: u64) -> Active {
        Active {
            session,
            actor: ActorRecord::default(),
            cancel: CancellationToken::new(),
            gate: Arc::default(),
            done: Arc::new(watch::Sender::new(false)),
        }
    }

    // SES-9, A19
    #[test]
    fn one_turn_a_session_runs_and_others_wait_in_order() {
        let lanes = Lanes::default();
        for id in 1..=3u8 {
            drop(lanes.reserve(7, IfBusy::Queue).unwrap());
            lanes.enqueue([id; 16], active(7));
        }
        lanes.enqueue([9; 16], active(8));
        let mut first = vec![lanes.next().unwrap().0[0], lanes.next().unwrap().0[0]];
        first.sort_unstable();
        assert_eq!(first, [1, 9]);
        assert!(lanes.next().is_none());
        assert_eq!(lanes.reserve(7, IfBusy::Reject).err(), Some(Full::Busy));
        assert!(lanes.take_out([2; 16]) && !lanes.take_out([1; 16]));
        lanes.ended([2; 16]);
        assert!(lanes.is_running(7), "a turn that waited and was taken out does not end the one that runs");
        lanes.ended([1; 16]);
        assert_eq!(lanes.next().unwrap().0[0], 3);
        lanes.ended([3; 16]);
        assert!(lanes.reserve(7, IfBusy::Reject).is_ok());
    }

    // A19: of two that come together and do not want to wait, one gets in
    #[test]
    fn a_place_that_is_held_counts() {
        let lanes = Lanes::default();
        let place = lanes.reserve(7, IfBusy::Reject).unwrap();
        assert_eq!(lanes.reserve(7, IfBusy::Reject).err(), Some(Full::Busy));
        drop(place);
        assert!(lanes.reserve(7, IfBusy::Reject).is_ok());
        let places: Vec<_> = (0..limits::TURNS_QUEUED_MAX).map(|_| lanes.reserve(8, IfBusy::Queue).unwrap()).collect();
        assert_eq!(lanes.reserve(8, IfBusy::Queue).err(), Some(Full::TooMany));
        drop(places);
    }
}
