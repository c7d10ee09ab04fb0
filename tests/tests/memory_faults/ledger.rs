//! What the writing clients were told, and what a store may therefore hold.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use tiro_tests::Rpc;

/// What a memory may look like: its words and version, or gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Current, with these words in this version.
    Shown(String, u64),
    /// Forgotten.
    Gone,
}

/// What one client knows for certain, and what its last, unanswered call may have done.
#[derive(Debug, Default)]
pub struct Ledger {
    /// By id: what was acknowledged.
    pub known: BTreeMap<String, State>,
    /// By id: what an unanswered call would have made of it.
    pub maybe: BTreeMap<String, State>,
    /// Words of an unanswered `remember`.
    pub maybe_new: Vec<String>,
}

/// Every memory that the daemon shows, of any status: words and version by id.
pub fn shown(rpc: &mut Rpc) -> BTreeMap<String, (String, u64)> {
    let mut params = json!({"limit": 500});
    let mut all = BTreeMap::new();
    loop {
        let page: Value = rpc.ask("memory/export", params.clone());
        for line in page["items"].as_array().unwrap() {
            let text = line["text"].as_str().unwrap().to_owned();
            all.insert(line["id"].as_str().unwrap().to_owned(), (text, line["version"].as_u64().unwrap()));
        }
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return all,
        }
    }
}

impl Ledger {
    /// Checks what the daemon shows against what was acknowledged, and takes over what an unanswered call turned out to have done.
    pub fn settle(&mut self, shown: &mut BTreeMap<String, (String, u64)>) {
        for (id, known) in &mut self.known {
            let found = shown.remove(id).map_or(State::Gone, |(text, version)| State::Shown(text, version));
            let maybe = self.maybe.remove(id);
            assert!(
                found == *known || maybe.as_ref() == Some(&found),
                "{id}: acknowledged {known:?}, perhaps {maybe:?}, found {found:?}"
            );
            *known = found;
        }
        for text in std::mem::take(&mut self.maybe_new) {
            if let Some(id) = shown.iter().find(|(_, (t, _))| *t == text).map(|(id, _)| id.clone()) {
                let (text, version) = shown.remove(&id).unwrap();
                self.known.insert(id, State::Shown(text, version));
            }
        }
        assert!(self.maybe.is_empty(), "{:?}", self.maybe);
    }
}
