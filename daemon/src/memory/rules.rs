//! The rules of spaces: who may read and write, the gate, secrets, quotas, retention. Read once, kept in memory, changed by `space/update`.
//!
//! Clients of one uid can claim any name and be started from any path: the rules stop mistakes, not malice. Must not know: methods.

use super::resolve::{id_text, whole_id};
use super::{Memory, MemoryError};
use crate::limits::{CANDIDATES_LISTED_MAX, ID_PREFIX_CHARS_MIN, QUOTA_SPACES_KEPT_MAX};
use crate::store::{Direction, PurgeReads, Reads, RuleReads, StoreError, WriteTx};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::{ActorRecord, PrincipalRecord, SpaceRulesRecord};

/// What somebody wants to do with a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See what is in it.
    Read,
    /// Change what is in it.
    Write,
    /// Change its rules.
    Manage,
}

impl Right {
    /// Its name in messages and in the audit.
    pub fn name(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Write => "write",
            Right::Manage => "manage",
        }
    }
}

/// The rules of one space.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ruled {
    pub name: String,
    pub rules: SpaceRulesRecord,
    pub redact: bool,
}

impl Ruled {
    /// Whether they let somebody do something.
    pub fn allows(&self, actor: &ActorRecord, right: Right) -> bool {
        let listed =
            |list: &Option<Vec<PrincipalRecord>>| list.as_ref().is_none_or(|list| list.iter().any(|one| fits(one, actor)));
        match right {
            Right::Read => listed(&self.rules.readers),
            Right::Write => listed(&self.rules.writers),
            Right::Manage => listed(&self.rules.writers) || is_our_client(actor),
        }
    }
}

/// Whether somebody is meant: by the path of the executable and by the declared name, with or without its version; both where both are given.
fn fits(principal: &PrincipalRecord, actor: &ActorRecord) -> bool {
    let name = actor.client.rsplit_once('/').map_or(actor.client.as_str(), |(name, _)| name);
    let client = |asked: &String| *asked == actor.client || asked == name;
    principal.executable.as_ref().is_none_or(|path| *path == actor.executable) && principal.client.as_ref().is_none_or(client)
}

/// The shell client that stands beside this daemon: a person's own hand, which no rule shuts out of the rules.
fn is_our_client(actor: &ActorRecord) -> bool {
    let ours = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join("tiro")));
    ours.is_some_and(|path| path.as_os_str() == actor.executable.as_str())
}

/// All rules, by space.
#[derive(Default)]
pub(super) struct Rules {
    by_space: RwLock<Arc<HashMap<u32, Arc<Ruled>>>>,
    filled: Mutex<HashMap<u32, Filled>>,
}

/// What a space holds, as of a sequence.
#[derive(Debug, Clone, Copy)]
struct Filled {
    seq: u64,
    memories: u64,
    bytes: u64,
}

impl Rules {
    /// Reads all rules, in the place of what was known.
    ///
    /// # Errors
    /// The store's.
    pub fn load(&self, tx: &impl Reads) -> Result<(), StoreError> {
        let mut all = HashMap::new();
        for space in tx.spaces()? {
            let rules = tx.space_rules(space.id)?.unwrap_or_default();
            let ruled = Ruled { name: space.name, rules, redact: space.redact_secrets };
            if ruled.rules != SpaceRulesRecord::default() || ruled.redact {
                all.insert(space.id, Arc::new(ruled));
            }
        }
        *self.by_space.write() = Arc::new(all);
        self.filled.lock().clear();
        Ok(())
    }

    /// The rules of one space have changed.
    pub fn set(&self, space: u32, ruled: Ruled) {
        let mut all = self.by_space.write();
        let mut next = HashMap::clone(&all);
        next.insert(space, Arc::new(ruled));
        *all = Arc::new(next);
    }

    /// The rules of every space that has some.
    pub fn all(&self) -> Arc<HashMap<u32, Arc<Ruled>>> {
        Arc::clone(&self.by_space.read())
    }

    /// The rules of a space; none where it has none.
    pub fn of(&self, space: u32) -> Option<Arc<Ruled>> {
        self.by_space.read().get(&space).cloned()
    }

    /// The same by its name.
    pub fn named(&self, name: &str) -> Option<Arc<Ruled>> {
        self.by_space.read().values().find(|ruled| ruled.name == name).cloned()
    }
}

impl Memory {
    /// Whether the rules let somebody do something with a space.
    pub fn may(&self, actor: &ActorRecord, space: u32, right: Right) -> bool {
        self.inner.rules.of(space).is_none_or(|ruled| ruled.allows(actor, right))
    }

    /// The same by the space's name. A space that is not there has no rules.
    pub fn may_named(&self, actor: &ActorRecord, space: &str, right: Right) -> bool {
        self.inner.rules.named(space).is_none_or(|ruled| ruled.allows(actor, right))
    }

    /// The same for every space there is: the name of the first that forbids it.
    pub fn forbidden_somewhere(&self, actor: &ActorRecord, right: Right) -> Option<String> {
        self.inner.rules.all().values().find(|ruled| !ruled.allows(actor, right)).map(|ruled| ruled.name.clone())
    }

    /// Name of a space.
    pub fn space_of(&self, space: u32) -> Option<String> {
        self.store().read(|tx| tx.space_by_id(space)).ok().flatten().map(|space| space.name)
    }

    /// Ids and spaces of what an id, or a prefix, may name: memories, forgotten ones too, else conflicts, else, by a whole id, what was purged.
    ///
    /// # Errors
    /// The store's.
    pub fn spaces_of_id(&self, text: &str) -> Result<Vec<(String, u32)>, StoreError> {
        let text = text.trim();
        let digits = text.chars().filter(|c| *c != '-').count();
        if digits < ID_PREFIX_CHARS_MIN {
            return Ok(Vec::new());
        }
        self.store().read(|tx| {
            let mut found = Vec::new();
            for (id, key) in tx.keys_by_id_prefix(&text.to_ascii_lowercase(), CANDIDATES_LISTED_MAX)? {
                found.extend(tx.memory(key)?.map(|record| (id_text(&id), record.space)));
            }
            if found.is_empty()
                && let Ok(conflict) = super::conflicts::resolve_conflict_id(tx, text)
            {
                found.push((id_text(&conflict.id), conflict.space));
            }
            if found.is_empty()
                && let Some(id) = whole_id(text)
            {
                found.extend(tx.purged(&id)?.map(|purged| (id_text(&id), purged.space)));
            }
            Ok(found)
        })
    }

    /// Refuses a new memory of `bytes` that its space has no room for.
    pub(super) fn check_quota(&self, tx: &mut WriteTx, space: u32, bytes: usize) -> Result<(), MemoryError> {
        let Some(ruled) = self.inner.rules.of(space) else { return Ok(()) };
        let (memories_max, bytes_max) = (ruled.rules.memories_max, ruled.rules.bytes_max);
        if memories_max.is_none() && bytes_max.is_none() {
            return Ok(());
        }
        let known = self.inner.rules.filled.lock().get(&space).copied().filter(|filled| filled.seq == tx.seq());
        let now = match known {
            Some(filled) => filled,
            None => filled(tx, space)?,
        };
        let next = Filled { seq: tx.seq() + 1, memories: now.memories + 1, bytes: now.bytes + bytes as u64 };
        for (quota, max, wanted) in [("memories", memories_max, next.memories), ("bytes", bytes_max, next.bytes)] {
            if let Some(max) = max.filter(|max| wanted > *max) {
                return Err(MemoryError::Quota { space: ruled.name.clone(), quota, max });
            }
        }
        let mut all = self.inner.rules.filled.lock();
        if all.len() >= QUOTA_SPACES_KEPT_MAX {
            all.clear();
        }
        all.insert(space, next);
        Ok(())
    }
}

/// What a space holds now, counted: forgotten memories take no room.
fn filled(tx: &WriteTx, space: u32) -> Result<Filled, StoreError> {
    let (mut memories, mut bytes) = (0, 0);
    tx.memories_of_space(space, 0..=u64::MAX, Direction::Ascending, &mut |record| {
        if record.status != STATUS_FORGOTTEN {
            (memories, bytes) = (memories + 1, bytes + record.text.len() as u64);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Filled { seq: tx.seq(), memories, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(executable: &str, client: &str) -> ActorRecord {
        ActorRecord { uid: 1, pid: 2, executable: executable.to_owned(), client: client.to_owned() }
    }

    // MEM-11
    #[test]
    fn somebody_is_meant_by_path_and_name() {
        let principal = |executable: Option<&str>, client: Option<&str>| PrincipalRecord {
            executable: executable.map(str::to_owned),
            client: client.map(str::to_owned),
        };
        let nvim = actor("/usr/bin/nvim", "notes/2.1");
        assert!(fits(&principal(Some("/usr/bin/nvim"), None), &nvim) && fits(&principal(None, Some("notes")), &nvim));
        assert!(fits(&principal(Some("/usr/bin/nvim"), Some("notes/2.1")), &nvim));
        assert!(!fits(&principal(Some("/usr/bin/nvim"), Some("other")), &nvim));
        assert!(!fits(&principal(Some("/usr/bin"), None), &nvim) && !fits(&principal(None, Some("note")), &nvim));
        let ruled = |writers| Ruled { rules: SpaceRulesRecord { writers, ..Default::default() }, ..Ruled::default() };
        assert!(ruled(None).allows(&nvim, Right::Write));
        let other = ruled(Some(vec![principal(None, Some("other"))]));
        assert!(!other.allows(&nvim, Right::Write) && other.allows(&nvim, Right::Read) && !other.allows(&nvim, Right::Manage));
    }
}
