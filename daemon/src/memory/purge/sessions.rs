//! What recalls had put of purged memories into sessions, and the words of calls that kept them, taken out of messages and events. What a
//! person or a model said in own words stays: it is a conversation, not a memory.
//!
//! Must not know: how sessions run.

use super::super::block::without;
use super::super::resolve::id_text;
use super::super::{Memory, MemoryError};
use crate::limits::{ID_PREFIX_CHARS_MIN, PURGE_STEP_ROWS, PURGE_STEP_SPOKEN};
use crate::store::{PurgeReads, Spoken, SpokenReads, StoreError};
use serde_json::{Value, json};
use std::collections::HashSet;
use tiro_schema::record::PurgeRecord;

/// The tool whose calls keep memories.
const REMEMBER: &str = "memory_remember";
/// What stands in the place of what was taken out.
const FORGOTTEN: &str = "[forgotten]";

/// Is shown place and JSON of a row.
type Visit<'a> = &'a mut dyn FnMut((u64, u64), &str);

/// What is looked for in sessions.
struct Gone {
    /// First characters of the ids that were purged and are no living memory's.
    prefixes: HashSet<String>,
    /// Session and call of what kept one of them.
    calls: HashSet<(u64, String)>,
}

impl Memory {
    /// Takes what these purges name out of all sessions. How many rows were changed.
    pub(super) fn clean_sessions(
        &self,
        purges: &[PurgeRecord],
        go_on: &dyn Fn() -> Result<(), StoreError>,
    ) -> Result<u64, MemoryError> {
        let mut gone = Gone { prefixes: self.prefixes(purges)?, calls: HashSet::new() };
        for kind in [Spoken::Messages, Spoken::Events] {
            self.each_spoken(kind, go_on, &mut |place, json| {
                if json.contains(REMEMBER)
                    && let Ok(value) = serde_json::from_str::<Value>(json)
                {
                    note_calls(&value, place.0, &mut gone);
                }
            })?;
        }
        let mut changed = 0;
        for kind in [Spoken::Messages, Spoken::Events] {
            let mut places = Vec::new();
            self.each_spoken(kind, go_on, &mut |place, json| {
                if cleaned(json, place.0, &gone).is_some() {
                    places.push(place);
                }
            })?;
            for some in places.chunks(PURGE_STEP_SPOKEN) {
                go_on()?;
                changed += self.rewrite_spoken(kind, some, &gone)?;
            }
        }
        Ok(changed)
    }

    fn rewrite_spoken(&self, kind: Spoken, places: &[(u64, u64)], gone: &Gone) -> Result<u64, MemoryError> {
        let places = places.to_vec();
        let gone = Gone { prefixes: gone.prefixes.clone(), calls: gone.calls.clone() };
        let written = self.store().write_blocking("purge recalls in sessions", move |tx| {
            let mut changed = 0;
            for place in &places {
                let Some(json) = tx.spoken(kind, *place)? else { continue };
                if let Some(clean) = cleaned(&json, place.0, &gone) {
                    tx.put_spoken(kind, *place, clean)?;
                    changed += 1;
                }
            }
            Ok::<u64, StoreError>(changed)
        });
        Ok(written?)
    }

    fn each_spoken(&self, kind: Spoken, go_on: &dyn Fn() -> Result<(), StoreError>, visit: Visit<'_>) -> Result<(), MemoryError> {
        let mut after = None;
        loop {
            go_on()?;
            let rows = self.store().read(|tx| tx.spoken_after(kind, after, PURGE_STEP_SPOKEN))?;
            for (place, json) in &rows {
                visit(*place, json);
            }
            match rows.last() {
                Some((place, _)) => after = Some(*place),
                None => return Ok(()),
            }
        }
    }

    /// First characters of the ids of purges, as recalls write them, but those with which a memory that is there begins too.
    fn prefixes(&self, purges: &[PurgeRecord]) -> Result<HashSet<String>, MemoryError> {
        let mut found = HashSet::new();
        for purge in purges {
            let mut after = None;
            loop {
                let ids = self.store().read(|tx| tx.purged_by(purge.key, after, PURGE_STEP_ROWS))?;
                let Some(last) = ids.last() else { break };
                after = Some(*last);
                for id in &ids {
                    let prefix = id_text(id)[..ID_PREFIX_CHARS_MIN].to_owned();
                    if self.is_forgotten(&prefix)? {
                        found.insert(prefix);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Notes the calls whose results say that they kept a purged memory.
fn note_calls(value: &Value, session: u64, gone: &mut Gone) {
    match value {
        Value::Object(members) => {
            if members.get("name").and_then(Value::as_str) == Some(REMEMBER)
                && let (Some(call), Some(text)) =
                    (members.get("callId").and_then(Value::as_str), members.get("text").and_then(Value::as_str))
                && text.rsplit_once("id ").is_some_and(|(_, id)| gone.prefixes.contains(id))
            {
                gone.calls.insert((session, call.to_owned()));
            }
            members.values().for_each(|value| note_calls(value, session, gone));
        }
        Value::Array(items) => items.iter().for_each(|value| note_calls(value, session, gone)),
        _ => {}
    }
}

/// The JSON without what is gone; none where it holds none of it.
fn cleaned(json: &str, session: u64, gone: &Gone) -> Option<String> {
    if !json.contains("memories>") && !json.contains(REMEMBER) {
        return None;
    }
    let mut value: Value = serde_json::from_str(json).ok()?;
    clean(&mut value, session, gone).then(|| value.to_string())
}

fn clean(value: &mut Value, session: u64, gone: &Gone) -> bool {
    match value {
        Value::String(text) => match without(text, |prefix| gone.prefixes.contains(prefix)) {
            Some(kept) if kept != *text => {
                *text = kept;
                true
            }
            _ => false,
        },
        Value::Array(items) => items.iter_mut().map(|value| clean(value, session, gone)).fold(false, |any, one| any | one),
        Value::Object(members) => {
            let call = members.get("callId").and_then(Value::as_str).map(|call| (session, call.to_owned()));
            let kept_it = call.is_some_and(|call| gone.calls.contains(&call));
            let mut changed = false;
            if kept_it && let Some(arguments) = members.get_mut("arguments") {
                let forgotten = json!({ "text": FORGOTTEN });
                changed = *arguments != forgotten;
                *arguments = forgotten;
            }
            members.values_mut().map(|value| clean(value, session, gone)).fold(changed, |any, one| any | one)
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // MEM-9
    #[test]
    fn what_a_recall_put_there_goes_and_own_words_stay() {
        let block = |id: &str| {
            format!("x\n<memories>\n[1] happened 2024-05-01, fact, space personal, id {id}\n> likes tea\n</memories>\n")
        };
        let mut gone = Gone { prefixes: HashSet::from(["01234567".to_owned()]), calls: HashSet::new() };
        let json = json!([{"type": "toolResult", "name": "memory_recall", "text": block("01234567")}]).to_string();
        let clean = cleaned(&json, 1, &gone).unwrap();
        assert!(!clean.contains("tea") && clean.contains("[forgotten]"), "{clean}");
        assert_eq!(cleaned(&clean, 1, &gone), None, "done once");
        let other = json!([{"type": "toolResult", "name": "memory_recall", "text": block("76543210")}]).to_string();
        assert_eq!(cleaned(&other, 1, &gone), None);
        assert_eq!(cleaned(r#"[{"type":"text","text":"I like tea </memories>"}]"#, 1, &gone), None);

        let result = json!({"callId": "c1", "name": REMEMBER, "text": "Kept. id 01234567"});
        note_calls(&json!([result]), 1, &mut gone);
        let call =
            json!([{"type": "toolCall", "callId": "c1", "name": REMEMBER, "arguments": {"text": "likes tea"}}]).to_string();
        assert!(!cleaned(&call, 1, &gone).unwrap().contains("tea"));
        assert_eq!(cleaned(&call, 2, &gone), None, "a call of another session");
    }
}
