//! Followers of a session that come early, late, slowly and twice.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::clock::ManualClock;
use crate::session::{Entry, NewEvent, Sessions};
use crate::store::OpenOptions;
use tiro_schema::record::{ActorRecord, TurnRecord};
use tiro_schema::wire::event::ItemKind;
use tiro_schema::wire::session::{ContentBlock, SessionNewParams};

struct Stage {
    sessions: Sessions,
    session: u64,
    turn: TurnRecord,
    _dir: tempfile::TempDir,
}

async fn stage() -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let clock: crate::clock::SharedClock = Arc::new(ManualClock::new(1_000));
    let store = Store::open(dir.path(), OpenOptions { clock: Arc::clone(&clock), ..OpenOptions::default() }).unwrap();
    let sessions = Sessions::new(store, clock);
    let made = sessions.create(SessionNewParams::default()).await.unwrap();
    let session = sessions.find(&made.session_id).unwrap().key;
    let turn = TurnRecord { id: [7; 16], session, ..TurnRecord::default() };
    Stage { sessions, session, turn, _dir: dir }
}

impl Stage {
    async fn event(&self, event: NewEvent) {
        let entry = Entry {
            turn: self.turn.clone(),
            state: None,
            changes: vec![],
            results: vec![],
            messages: vec![],
            events: vec![event],
        };
        self.sessions.journal(entry).await.unwrap();
    }

    async fn item(&self, item_id: &str, text: &str) {
        self.event(NewEvent::ItemStarted { item_id: item_id.to_owned(), kind: ItemKind::Text }).await;
        for piece in text.split_inclusive(' ') {
            self.sessions.feeds().delta(self.session, "s", "t", item_id, piece);
        }
    }

    async fn complete(&self, item_id: &str, text: &str) {
        let content = ContentBlock::Text { text: text.to_owned() };
        self.event(NewEvent::ItemCompleted { item_id: item_id.to_owned(), kind: ItemKind::Text, content }).await;
    }

    fn follow(&self, id: u64, after: u64) -> ConnectionHandle {
        let connection = ConnectionHandle::new(id, ActorRecord::default());
        assert!(self.sessions.feeds().follow(self.sessions.store().clone(), self.session, connection.clone(), after, begun()));
        connection
    }
}

fn begun() -> CancellationToken {
    let begin = CancellationToken::new();
    begin.cancel();
    begin
}

/// What a client knows after it read lines: event numbers in order, and the text of each item put together by offset.
#[derive(Default)]
struct Client {
    events: Vec<u64>,
    items: std::collections::BTreeMap<String, String>,
}

impl Client {
    async fn read_until(&mut self, connection: &ConnectionHandle, newest: u64, item: Option<(&str, &str)>) {
        let done = |client: &Client| {
            client.events.last().is_some_and(|last| *last >= newest)
                && item.is_none_or(|(id, text)| client.items.get(id).is_some_and(|has| has == text))
        };
        let reading = async {
            while !done(self) {
                match connection.front() {
                    Some(line) => {
                        self.take(&line);
                        connection.advance(line.len());
                    }
                    None => tokio::task::yield_now().await,
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), reading).await.expect("the events come");
    }

    fn take(&mut self, line: &[u8]) {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        let params = &line["params"];
        match line["method"].as_str().unwrap() {
            "item/delta" => {
                let item = self.items.entry(params["itemId"].as_str().unwrap().to_owned()).or_default();
                let offset = params["offset"].as_u64().unwrap() as usize;
                assert_eq!(item.chars().count(), offset, "deltas follow each other without gap or overlap");
                item.push_str(params["text"].as_str().unwrap());
            }
            _ => self.events.push(params["eventSeq"].as_u64().unwrap()),
        }
    }

    fn saw_each_once(&self, range: std::ops::RangeInclusive<u64>) {
        assert_eq!(self.events, range.collect::<Vec<_>>());
    }
}

// A21, LOOP-4: a late follower misses nothing, an early one gets nothing twice
#[tokio::test]
async fn early_and_late_followers_see_each_event_once() {
    let stage = stage().await;
    let early = stage.follow(1, 0);
    stage.item("a", "one two three").await;
    stage.complete("a", "one two three").await;
    stage.item("b", "茶 is ").await;
    let late = stage.follow(2, 0);
    let halfway = stage.follow(3, 2);
    let mut clients = [Client::default(), Client::default(), Client::default()];
    clients[1].read_until(&late, 3, Some(("b", "茶 is "))).await;
    stage.sessions.feeds().delta(stage.session, "s", "t", "b", "good");
    stage.complete("b", "茶 is good").await;
    stage.event(NewEvent::TurnCompleted).await;
    for (client, connection) in clients.iter_mut().zip([&early, &late, &halfway]) {
        client.read_until(connection, 5, Some(("b", "茶 is good"))).await;
    }
    clients[0].saw_each_once(1..=5);
    clients[1].saw_each_once(1..=5);
    clients[2].saw_each_once(3..=5);
    assert_eq!(clients[0].items["a"], "one two three");
}

// API-3, A24: a follower that does not read costs no memory, loses no event, and gets the text merged
#[tokio::test]
async fn a_follower_that_stops_reading_catches_up() {
    let stage = stage().await;
    let slow = stage.follow(1, 0);
    let quick = stage.follow(2, 0);
    let mut quick_client = Client::default();
    let piece = "x".repeat(30_000);
    stage.item("a", "begin ").await;
    quick_client.read_until(&quick, 1, Some(("a", "begin "))).await;
    for n in 0..200 {
        stage.sessions.feeds().delta(stage.session, "s", "t", "a", &piece);
        assert!(slow.queued_bytes() <= 2 * limits::OUTGOING_BYTES_MAX, "after {n}");
        while let Some(line) = quick.front() {
            quick_client.take(&line);
            quick.advance(line.len());
        }
    }
    for n in 0..50 {
        stage.complete(&format!("i{n}"), "y").await;
    }
    let whole = format!("begin {}", piece.repeat(200));
    let mut slow_client = Client::default();
    slow_client.read_until(&slow, 51, Some(("a", &whole))).await;
    quick_client.read_until(&quick, 51, Some(("a", &whole))).await;
    slow_client.saw_each_once(1..=51);
    quick_client.saw_each_once(1..=51);
}

#[tokio::test]
async fn following_again_begins_anew_and_leaving_ends_it() {
    let stage = stage().await;
    let connection = stage.follow(1, 0);
    stage.event(NewEvent::TurnStarted).await;
    Client::default().read_until(&connection, 1, None).await;
    assert!(stage.sessions.feeds().follow(stage.sessions.store().clone(), stage.session, connection.clone(), 0, begun()));
    let mut again = Client::default();
    again.read_until(&connection, 1, None).await;
    stage.sessions.feeds().unfollow(stage.session, 1);
    stage.event(NewEvent::TurnCompleted).await;
    assert!(connection.front().is_none());
    assert!(stage.sessions.feeds().by_session.lock().is_empty(), "nothing is kept for a session nobody follows");
}
