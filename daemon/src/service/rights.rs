//! What each method needs: which right, on which spaces. Every method has a line here, and is refused before it runs where a rule of one of
//! its spaces forbids it to its caller.
//!
//! Ids and prefixes lead to the space of what they name. What lies in a space that the caller may not read is not there for it: its id is
//! answered as one that nothing has. Must not know: what the verbs do; how rules are kept.

use crate::caller::Caller;
use crate::memory::{Memory, MemoryError, Right};
use crate::session::{SessionError, Sessions, parse_reference};
use Reach::*;
use Right::{Manage, Read, Write};
use serde_json::Value;
use tiro_schema::record::{ActorRecord, SessionRecord};
use tiro_schema::{DEFAULT_SPACE, ErrorKind, ErrorObject};

/// How the params of a method lead to spaces.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// The member `space`; `personal` when absent.
    Space,
    /// The same, unless one of these members is given.
    SpaceUnless(&'static [&'static str]),
    /// The same, where this member is given.
    SpaceWith(&'static str),
    /// The name at this place, if there is one.
    Named(&'static str),
    /// The names in the list at this place.
    Names(&'static str),
    /// `space` or `spaces`; `personal` when neither is given.
    Spaces,
    /// `space` of each item of this list; else the member `space`, else `personal`.
    Items(&'static str),
    /// The memory, or conflict, whose id this member is.
    Id(&'static str),
    /// The memories whose ids this list holds.
    Ids(&'static str),
    /// The conflict whose id this member is.
    Conflict(&'static str),
    /// The session `sessionId`. To read one takes reading every space it reads.
    Session,
    /// The session of the turn `turnId`.
    Turn,
    /// The session of the result that `ref` names.
    Result,
    /// The session of the question `questionId`.
    Question,
    /// Every space there is.
    Every,
    /// The same, where this member is given.
    EveryIf(&'static str),
}

/// One method with what it needs.
type Line = (&'static str, &'static [(Right, Reach)]);

/// The table. `space/list` leaves out what its caller may not read by itself.
const TABLE: &[Line] = &[
    ("initialize", &[]),
    ("daemon/status", &[]),
    ("daemon/shutdown", &[]),
    ("daemon/schema", &[]),
    ("memory/remember", &[(Write, Space)]),
    ("memory/rememberMany", &[(Write, Items("items"))]),
    ("memory/recall", &[(Read, Spaces)]),
    ("memory/context", &[(Read, Spaces)]),
    ("memory/get", &[(Read, Id("id"))]),
    ("memory/list", &[(Read, Space)]),
    ("memory/update", &[(Write, Id("id"))]),
    ("memory/supersede", &[(Write, Id("id")), (Write, Named("/memory/space"))]),
    ("memory/pin", &[(Write, Ids("ids"))]),
    ("memory/archive", &[(Write, Ids("ids"))]),
    ("memory/restore", &[(Write, Ids("ids"))]),
    ("memory/forget", &[(Write, Ids("ids")), (Write, Named("/space"))]),
    ("memory/undo", &[(Write, Id("id"))]),
    ("memory/history", &[(Read, Id("id"))]),
    ("memory/conflicts", &[(Read, Id("id")), (Read, SpaceUnless(&["id"]))]),
    ("memory/resolve", &[(Write, Conflict("id"))]),
    ("memory/merge", &[(Write, Ids("ids"))]),
    ("memory/feedback", &[(Write, Ids("used")), (Write, Ids("ignored")), (Write, Ids("wrong"))]),
    ("memory/stats", &[(Read, Space)]),
    ("memory/audit", &[(Read, Id("id")), (Read, SpaceUnless(&["id", "outside"]))]),
    ("memory/export", &[(Read, Space)]),
    ("memory/import", &[(Write, Items("lines")), (Write, SpaceWith("retire"))]),
    ("memory/receipts", &[(Read, Every)]),
    ("space/list", &[]),
    ("space/update", &[(Manage, Space)]),
    ("space/delete", &[(Write, Space)]),
    // A search for a text tells whether it stands in a space.
    ("store/verify", &[(Read, EveryIf("absent"))]),
    ("store/rebuild", &[]),
    ("store/backup", &[(Read, Every)]),
    ("store/restore", &[(Write, Every)]),
    ("store/purge", &[(Write, Every)]),
    ("embedder/list", &[]),
    ("embedder/add", &[]),
    ("embedder/use", &[]),
    ("embedder/check", &[]),
    ("embedder/remove", &[]),
    ("session/new", &[(Read, Space), (Write, Space), (Read, Names("/alsoRead"))]),
    ("session/get", &[(Read, Session)]),
    ("session/list", &[(Read, Space)]),
    ("session/update", &[(Write, Session), (Read, Names("/alsoRead"))]),
    ("session/delete", &[(Write, Session)]),
    ("session/messages", &[(Read, Session)]),
    ("session/fork", &[(Read, Session), (Write, Session)]),
    ("session/fields", &[(Read, Session)]),
    ("session/search", &[(Read, Space)]),
    ("session/export", &[(Read, Session)]),
    ("session/attach", &[(Read, Session)]),
    ("session/detach", &[(Read, Session)]),
    ("result/get", &[(Read, Result)]),
    ("result/search", &[(Read, Result), (Read, Session)]),
    ("question/list", &[(Read, Session), (Read, SpaceUnless(&["sessionId"]))]),
    ("question/respond", &[(Write, Question)]),
    ("turn/steer", &[(Write, Turn)]),
    ("turn/start", &[(Read, Session), (Write, Session)]),
    ("turn/wait", &[(Read, Turn)]),
    ("turn/get", &[(Read, Turn)]),
    ("turn/interrupt", &[(Write, Turn)]),
];

/// Whether a method has a line.
pub fn has_line(method: &str) -> bool {
    TABLE.iter().any(|(name, _)| *name == method)
}

/// Whether a call may go on.
type Permitted = std::result::Result<(), Box<Denied>>;

/// A call that a rule forbids.
pub struct Denied {
    /// What the caller is told.
    pub error: ErrorObject,
    /// What the audit is told: the right that is missing.
    pub right: Right,
    /// The space whose rule it is.
    pub space: Option<String>,
}

/// Who asks, and what is looked into to find out what they ask about.
pub struct Asking<'a> {
    /// The rules, and the memories.
    pub memory: &'a Memory,
    /// The sessions.
    pub sessions: &'a Sessions,
    /// The caller.
    pub caller: &'a Caller,
}

impl Asking<'_> {
    /// Refuses a call that a rule forbids. Params that lead nowhere are left to the verb, which refuses them.
    ///
    /// # Errors
    /// `Denied`.
    pub fn permit(&self, method: &str, params: &Value) -> Permitted {
        let Some((_, needs)) = TABLE.iter().find(|(name, _)| *name == method) else {
            let error = ErrorObject::new(ErrorKind::PolicyDenied, format!("{method} has no line in the table of rights"));
            return Err(Box::new(Denied { error, right: Manage, space: None }));
        };
        if self.free() {
            return Ok(());
        }
        needs.iter().try_for_each(|(right, reach)| self.reach(*right, *reach, params))
    }

    /// What the params mean for this caller: a session that does not say what it reads beside its own space does not read what its maker may
    /// not.
    pub fn narrow(&self, method: &str, params: &mut Value) {
        let Some(members) = params.as_object_mut().filter(|_| method == "session/new") else { return };
        if !members.contains_key("alsoRead") && !self.memory.may_named(self.actor(), DEFAULT_SPACE, Read) {
            members.insert("alsoRead".to_owned(), Value::Array(Vec::new()));
        }
    }

    /// Whether no rule forbids this caller anything.
    fn free(&self) -> bool {
        [Read, Write].iter().all(|right| self.memory.forbidden_somewhere(self.actor(), *right).is_none())
    }

    /// Whether the caller may answer what is asked in a session.
    pub fn may_answer(&self, session: &SessionRecord) -> bool {
        self.session(Write, session, "session", "").is_ok()
    }

    /// Whether the caller may read a session, and all that it reads.
    pub fn may_see(&self, session: &SessionRecord) -> bool {
        self.session(Read, session, "session", "").is_ok()
    }

    fn actor(&self) -> &ActorRecord {
        &self.caller.actor
    }

    fn reach(&self, right: Right, reach: Reach, params: &Value) -> Permitted {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let space = || text("space").unwrap_or(DEFAULT_SPACE);
        let names = |list: Option<&Value>| -> Vec<String> {
            list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        match reach {
            Space => self.named(right, space()),
            SpaceUnless(members) if members.iter().any(|name| params.get(name).is_some_and(|v| !v.is_null() && *v != false)) => {
                Ok(())
            }
            SpaceUnless(_) => self.named(right, space()),
            SpaceWith(member) if params.get(member).is_none_or(Value::is_null) => Ok(()),
            SpaceWith(_) => self.named(right, space()),
            Named(place) => params.pointer(place).and_then(Value::as_str).map_or(Ok(()), |name| self.named(right, name)),
            Names(place) => names(params.pointer(place)).iter().try_for_each(|name| self.named(right, name)),
            Spaces => match names(params.get("spaces")) {
                list if list.is_empty() => self.named(right, space()),
                list => list.iter().try_for_each(|name| self.named(right, name)),
            },
            Items(list) => {
                let items = params.get(list).and_then(Value::as_array).into_iter().flatten();
                let of =
                    |item: &Value| item.get("space").and_then(Value::as_str).map_or_else(|| space().to_owned(), str::to_owned);
                let spaces: std::collections::BTreeSet<String> = items.map(of).collect();
                spaces.iter().try_for_each(|name| self.named(right, name))
            }
            Id(member) => text(member).map_or(Ok(()), |id| self.id(right, id, no_memory)),
            Ids(member) => self.ids(right, &names(params.get(member))),
            Conflict(member) => text(member).map_or(Ok(()), |id| self.id(right, id, |id| MemoryError::NoConflict { id })),
            Question => text("questionId").map_or(Ok(()), |id| {
                let session = self.sessions.question(id).and_then(|question| self.sessions.by_key(question.session));
                session.map_or(Ok(()), |session| self.session(right, &session, "question", id))
            }),
            Result => text("ref").map_or(Ok(()), |reference| {
                let session = parse_reference(reference).and_then(|(session, _)| self.sessions.find(session).ok());
                session.map_or(Ok(()), |session| self.session(right, &session, "result", reference))
            }),
            Session => text("sessionId").map_or(Ok(()), |id| match self.sessions.find(id) {
                Ok(session) => self.session(right, &session, "session", id),
                Err(SessionError::Ambiguous { candidates, .. }) => self.candidates(&candidates, "session", id),
                Err(_) => Ok(()),
            }),
            Turn => text("turnId").map_or(Ok(()), |id| {
                let session = self.sessions.turn(id).and_then(|turn| self.sessions.by_key(turn.session));
                session.map_or(Ok(()), |session| self.session(right, &session, "turn", id))
            }),
            EveryIf(member) if params.get(member).is_none_or(Value::is_null) => Ok(()),
            Every | EveryIf(_) => match self.memory.forbidden_somewhere(self.actor(), right) {
                Some(space) => Err(denied(right, space)),
                None => Ok(()),
            },
        }
    }

    fn named(&self, right: Right, space: &str) -> Permitted {
        if self.memory.may_named(self.actor(), space, right) { Ok(()) } else { Err(denied(right, space.to_owned())) }
    }

    /// What is in a space: not there for who may not read it, forbidden to who may read and not write.
    fn within(&self, right: Right, space: u32, gone: impl FnOnce() -> ErrorObject) -> Permitted {
        let (actor, name) = (self.actor(), self.memory.space_of(space));
        if !self.memory.may(actor, space, Read) {
            return Err(Box::new(Denied { error: gone(), right: Read, space: name }));
        }
        if self.memory.may(actor, space, right) { Ok(()) } else { Err(denied(right, name.unwrap_or_default())) }
    }

    /// Of several, the answer names the first that is not there for the caller, as if it were the verb's own.
    fn ids(&self, right: Right, ids: &[String]) -> Permitted {
        let mut missing: Option<&String> = None;
        for id in ids {
            if self.memory.spaces_of_id(id).is_ok_and(|found| found.is_empty()) {
                missing.get_or_insert(id);
            }
            if let Err(mut denied) = self.id(right, id, no_memory) {
                if let Some(first) = missing.filter(|_| denied.error.kind() == Some(ErrorKind::NotFound)) {
                    denied.error = no_memory(first.trim().chars().take(64).collect()).into();
                }
                return Err(denied);
            }
        }
        Ok(())
    }

    fn id(&self, right: Right, id: &str, none: fn(String) -> MemoryError) -> Permitted {
        let gone = || ErrorObject::from(none(id.trim().chars().take(64).collect()));
        let found = self.memory.spaces_of_id(id).unwrap_or_default();
        let (seen, hidden): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, space)| self.memory.may(self.actor(), *space, Read));
        match (&seen[..], &hidden[..]) {
            // Of those that a prefix fits, only what may be read is told.
            ([_, ..], [(_, space), ..]) => {
                let candidates = seen.iter().map(|(id, _)| id.clone()).collect();
                let error = MemoryError::Ambiguous { prefix: id.to_owned(), candidates }.into();
                Err(Box::new(Denied { error, right: Read, space: self.memory.space_of(*space) }))
            }
            ([], [(_, space), ..]) => self.within(right, *space, gone),
            (seen, []) => seen.iter().try_for_each(|(_, space)| self.within(right, *space, gone)),
        }
    }

    fn session(&self, right: Right, session: &SessionRecord, what: &'static str, id: &str) -> Permitted {
        let gone = || ErrorObject::from(SessionError::NotFound { what, id: id.chars().take(64).collect() });
        self.within(right, session.space, gone)?;
        let hidden = session.also_read.iter().find(|name| !self.memory.may_named(self.actor(), name, Read));
        match hidden {
            Some(space) => Err(Box::new(Denied { error: gone(), right: Read, space: Some(space.clone()) })),
            None => Ok(()),
        }
    }

    /// A prefix that fits several sessions: as if those that may not be read were not there.
    fn candidates(&self, ids: &[String], what: &'static str, prefix: &str) -> Permitted {
        let seen = |id: &&String| self.sessions.find(id).is_ok_and(|session| self.session(Read, &session, what, id).is_ok());
        let candidates: Vec<String> = ids.iter().filter(seen).cloned().collect();
        if candidates.len() == ids.len() {
            return Ok(());
        }
        let error = match candidates.is_empty() {
            true => SessionError::NotFound { what, id: prefix.chars().take(64).collect() },
            false => SessionError::Ambiguous { prefix: prefix.to_owned(), candidates },
        };
        Err(Box::new(Denied { error: error.into(), right: Read, space: None }))
    }
}

fn no_memory(id: String) -> MemoryError {
    MemoryError::NotFound { id }
}

fn denied(right: Right, space: String) -> Box<Denied> {
    let error = MemoryError::Denied { space: space.clone(), right: right.name() }.into();
    Box::new(Denied { error, right, space: Some(space) })
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEM-11: a method without a line is refused, so this is what keeps a new one from being forgotten
    #[test]
    fn every_method_of_the_schema_has_a_line_and_every_line_a_method() {
        let methods: Vec<String> = tiro_schema::method::methods().into_iter().map(|method| method.name).collect();
        let without: Vec<&String> = methods.iter().filter(|method| !has_line(method)).collect();
        assert!(without.is_empty(), "{without:?} have no line");
        let unknown: Vec<&str> = TABLE.iter().map(|(name, _)| *name).filter(|name| !methods.iter().any(|m| m == name)).collect();
        assert!(unknown.is_empty(), "{unknown:?} are no methods");
    }

    // MEM-11: what touches memories or sessions and needs nothing is named here, with why
    #[test]
    fn only_these_need_no_right() {
        let free: Vec<&str> = TABLE.iter().filter(|(_, needs)| needs.is_empty()).map(|(name, _)| *name).collect();
        // They show no space; `space/list` shows those that its caller may read.
        let groups = ["initialize", "daemon/", "space/list", "store/rebuild", "embedder/"];
        assert!(free.iter().all(|name| groups.iter().any(|group| name.starts_with(group))), "{free:?}");
    }
}
