//! Who follows a session, and how each of them gets every durable event once and in order.
//!
//! A follower reads what is stored until it has caught up, then takes live events. When its connection has no room it
//! goes back to reading what is stored, at its own pace: it misses no durable event, the deltas it could not take come
//! merged, and nothing waits in memory for it. Must not know: turns; sockets beyond a connection's queue.

use super::journal::Published;
use crate::connection::{ConnectionHandle, Delivery};
use crate::limits;
use crate::store::{SessionReads, Store};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tiro_schema::wire::event::ItemDelta;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The feeds of all sessions.
#[derive(Default)]
pub struct Feeds {
    by_session: Mutex<HashMap<u64, Arc<Feed>>>,
}

/// The followers of one session, and the items whose text is still coming.
#[derive(Default)]
pub struct Feed {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    newest: u64,
    items: BTreeMap<String, OpenItem>,
    followers: HashMap<u64, Arc<Follower>>,
    live: HashMap<u64, Cursor>,
}

struct OpenItem {
    session_id: String,
    turn_id: String,
    text: String,
    chars: u64,
}

/// How far a live follower is.
#[derive(Default, Clone)]
struct Cursor {
    event: u64,
    /// Characters it has of each open item, while it is behind; none of one that is not here.
    behind: HashMap<String, u64>,
}

struct Follower {
    connection: ConnectionHandle,
    lagged: Notify,
    gone: CancellationToken,
    /// Where it stood when it fell behind.
    left_at: Mutex<Cursor>,
}

impl Feeds {
    /// The feed of a session.
    fn of(&self, session: u64) -> Arc<Feed> {
        Arc::clone(self.by_session.lock().entry(session).or_default())
    }

    /// Sends stored events to who is live, in order.
    pub(super) fn publish(&self, session: u64, events: Vec<Published>) {
        if events.is_empty() {
            return;
        }
        let feed = self.of(session);
        let mut state = feed.state.lock();
        for (seq, method, params) in events {
            state.newest = state.newest.max(seq);
            if method == "item/completed"
                && let Some(item) = params["itemId"].as_str()
            {
                state.items.remove(item);
            }
            state.each_live(|follower, cursor| {
                if seq <= cursor.event {
                    return true;
                }
                let is_taken = seq == cursor.event + 1 && follower.connection.notify(&method, &params) == Delivery::Queued;
                cursor.event += u64::from(is_taken);
                is_taken
            });
        }
        drop(state);
        self.sweep(session);
    }

    /// Sends more text of an item to who is live.
    pub fn delta(&self, session: u64, session_id: &str, turn_id: &str, item_id: &str, text: &str) {
        let feed = self.of(session);
        let mut state = feed.state.lock();
        let item = state.items.entry(item_id.to_owned()).or_insert_with(|| OpenItem {
            session_id: session_id.to_owned(),
            turn_id: turn_id.to_owned(),
            text: String::new(),
            chars: 0,
        });
        let offset = item.chars;
        item.text.push_str(text);
        item.chars += text.chars().count() as u64;
        let delta = item.delta(item_id, offset, text.to_owned());
        state.each_live(|follower, cursor| {
            let is_taken = follower.connection.notify("item/delta", &delta) == Delivery::Queued;
            if !is_taken {
                cursor.behind.insert(item_id.to_owned(), offset);
            }
            is_taken
        });
    }

    /// Forgets the open items of a session: its turn has ended.
    pub fn close_items(&self, session: u64) {
        if let Some(feed) = self.by_session.lock().get(&session).cloned() {
            feed.state.lock().items.clear();
        }
        self.sweep(session);
    }

    /// Has a connection follow a session from the event after `after`, once `begin` is cancelled. Following again begins
    /// anew. False when there are too many followers.
    pub fn follow(
        self: &Arc<Self>,
        store: Store,
        session: u64,
        connection: ConnectionHandle,
        after: u64,
        begin: CancellationToken,
    ) -> bool {
        let follower = Arc::new(Follower {
            connection,
            lagged: Notify::new(),
            gone: CancellationToken::new(),
            left_at: Mutex::new(Cursor { event: after, behind: HashMap::new() }),
        });
        {
            let mut feeds = self.by_session.lock();
            let feed = feeds.entry(session).or_default();
            let mut state = feed.state.lock();
            let id = follower.connection.id();
            if state.followers.len() >= limits::SESSION_FOLLOWERS_MAX && !state.followers.contains_key(&id) {
                return false;
            }
            state.live.remove(&id);
            if let Some(before) = state.followers.insert(id, Arc::clone(&follower)) {
                before.gone.cancel();
            }
        }
        let feeds = Arc::clone(self);
        tokio::spawn(async move {
            let feed = feeds.of(session);
            tokio::select! {
                () = begin.cancelled() => {}
                () = follower.connection.closed() => {}
            }
            follow(&feed, &store, session, &follower).await;
            feeds.leave(session, &follower);
        });
        true
    }

    /// Whether a connection follows a session.
    pub fn is_followed_by(&self, session: u64, connection: u64) -> bool {
        let feeds = self.by_session.lock();
        feeds.get(&session).is_some_and(|feed| feed.state.lock().followers.contains_key(&connection))
    }

    /// Ends a connection's following.
    pub fn unfollow(&self, session: u64, connection: u64) {
        let follower =
            self.by_session.lock().get(&session).and_then(|feed| feed.state.lock().followers.get(&connection).cloned());
        if let Some(follower) = follower {
            self.leave(session, &follower);
        }
    }

    /// Ends everybody's following: the session is gone.
    pub(super) fn end(&self, session: u64) {
        if let Some(feed) = self.by_session.lock().remove(&session) {
            for follower in feed.state.lock().followers.values() {
                follower.gone.cancel();
            }
        }
    }

    fn leave(&self, session: u64, follower: &Arc<Follower>) {
        follower.gone.cancel();
        if let Some(feed) = self.by_session.lock().get(&session).cloned() {
            let mut state = feed.state.lock();
            let id = follower.connection.id();
            if state.followers.get(&id).is_some_and(|current| Arc::ptr_eq(current, follower)) {
                state.followers.remove(&id);
                state.live.remove(&id);
            }
        }
        self.sweep(session);
    }

    fn sweep(&self, session: u64) {
        let mut feeds = self.by_session.lock();
        let is_idle = feeds.get(&session).is_some_and(|feed| {
            let state = feed.state.lock();
            state.followers.is_empty() && state.items.is_empty()
        });
        if is_idle {
            feeds.remove(&session);
        }
    }
}

impl OpenItem {
    fn delta(&self, item_id: &str, offset: u64, text: String) -> ItemDelta {
        ItemDelta {
            session_id: self.session_id.clone(),
            turn_id: self.turn_id.clone(),
            item_id: item_id.to_owned(),
            offset,
            text,
        }
    }
}

impl State {
    /// Offers something to every live follower; one that does not take it has to catch up.
    fn each_live(&mut self, mut offer: impl FnMut(&Follower, &mut Cursor) -> bool) {
        let (followers, items) = (&self.followers, &self.items);
        self.live.retain(|id, cursor| {
            let Some(follower) = followers.get(id) else { return false };
            let is_taken = offer(follower, cursor);
            if !is_taken {
                for (item_id, item) in items {
                    cursor.behind.entry(item_id.clone()).or_insert(item.chars);
                }
                *follower.left_at.lock() = std::mem::take(cursor);
                follower.lagged.notify_one();
            }
            is_taken
        });
    }

    /// Text of open items that a follower does not have yet.
    fn missing(&self, behind: &HashMap<String, u64>) -> Vec<ItemDelta> {
        let missing = |(item_id, item): (&String, &OpenItem)| {
            let had = behind.get(item_id).copied().unwrap_or(0);
            let text: String = item.text.chars().skip(usize::try_from(had).unwrap_or(usize::MAX)).collect();
            (!text.is_empty()).then(|| item.delta(item_id, had, text))
        };
        self.items.iter().filter_map(missing).collect()
    }
}

/// The life of one follower.
async fn follow(feed: &Feed, store: &Store, session: u64, follower: &Arc<Follower>) {
    loop {
        let caught_up = tokio::select! {
            caught_up = catch_up(feed, store, session, follower) => caught_up,
            () = follower.gone.cancelled() => false,
            () = follower.connection.closed() => false,
        };
        if !caught_up {
            return;
        }
        tokio::select! {
            () = follower.lagged.notified() => {}
            () = follower.gone.cancelled() => return,
            () = follower.connection.closed() => return,
        }
    }
}

/// Sends what is stored and makes the follower live. False when that cannot be.
async fn catch_up(feed: &Feed, store: &Store, session: u64, follower: &Arc<Follower>) -> bool {
    let connection = &follower.connection;
    let mut cursor = std::mem::take(&mut *follower.left_at.lock());
    loop {
        let page = match store.read(|tx| tx.events(session, cursor.event, limits::SESSION_REPLAY_EVENTS)) {
            Ok(page) => page,
            Err(error) => {
                let error: crate::store::StoreError = error;
                tracing::warn!(%error, "events of a session cannot be read");
                return false;
            }
        };
        let is_last = page.len() < limits::SESSION_REPLAY_EVENTS;
        for event in page {
            let params: serde_json::Value = serde_json::from_str(&event.params_json).unwrap_or_default();
            if connection.notify_wait(&event.method, &params).await == Delivery::Closed {
                return false;
            }
            cursor.event = event.event_seq;
        }
        if !is_last {
            continue;
        }
        let missing = match go_live(feed, follower, &mut cursor) {
            Ok(()) => return true,
            Err(missing) => missing,
        };
        for delta in missing {
            let upto = delta.offset + delta.text.chars().count() as u64;
            if connection.notify_wait("item/delta", &delta).await == Delivery::Closed {
                return false;
            }
            cursor.behind.insert(delta.item_id, upto);
        }
    }
}

/// Makes the follower live if it has everything, else gives what it has to be sent first.
fn go_live(feed: &Feed, follower: &Follower, cursor: &mut Cursor) -> Result<(), Vec<ItemDelta>> {
    let mut state = feed.state.lock();
    if state.newest > cursor.event {
        return Err(Vec::new());
    }
    let missing = state.missing(&cursor.behind);
    let bytes: usize = missing.iter().map(|delta| delta.text.len()).sum();
    if bytes > limits::SESSION_MERGED_DELTA_BYTES {
        return Err(missing);
    }
    for (at, delta) in missing.iter().enumerate() {
        if follower.connection.notify("item/delta", delta) != Delivery::Queued {
            return Err(missing[at..].to_vec());
        }
        cursor.behind.insert(delta.item_id.clone(), delta.offset + delta.text.chars().count() as u64);
    }
    state.live.insert(follower.connection.id(), Cursor { event: cursor.event, behind: HashMap::new() });
    Ok(())
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
