//! The verbs on sessions themselves: new, get, list, update, delete, messages.
//!
//! Must not know: turns' running (the caller says what runs), connections.

use super::rows::{id_bytes, id_text, wire_message, wire_session};
use super::{SessionError, Sessions};
use crate::idempotency::{Key, idempotent};
use crate::limits;
use crate::space_name;
use crate::store::{Direction, Reads, SessionReads};
use std::path::Path;
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::record::SessionRecord;
use tiro_schema::wire::Page;
use tiro_schema::wire::session::{
    Message, Session, SessionDeleteParams, SessionDeleteResult, SessionListParams, SessionMessagesParams, SessionNewParams,
    SessionNewResult, SessionUpdateParams,
};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

impl Sessions {
    /// `session/new`.
    ///
    /// # Errors
    /// A param that does not fit; the store's.
    pub async fn create(&self, params: SessionNewParams) -> Result<SessionNewResult, SessionError> {
        let space = params.space.clone().unwrap_or_else(|| DEFAULT_SPACE.to_owned());
        check_space("space", &space)?;
        check_new(&params)?;
        let key = Key::of("session/new", &space, params.key.as_deref(), &params)?;
        let id = Uuid::new_v4().into_bytes();
        let also_read = params.also_read.unwrap_or_else(|| vec![DEFAULT_SPACE.to_owned()]);
        let also_read: Vec<String> = also_read.into_iter().filter(|name| *name != space).collect();
        let (title, cwd, model) = (params.title.unwrap_or_default(), params.cwd, params.model);
        let made = self.store.write("session/new", move |tx| -> Result<SessionNewResult, SessionError> {
            idempotent(tx, key.as_ref(), |tx| {
                let now_ms = tx.now_ms();
                let space = tx.ensure_space(&space, now_ms)?;
                let record = SessionRecord {
                    key: tx.next_seq(),
                    id,
                    space: space.id,
                    title: title.clone(),
                    cwd: cwd.clone(),
                    model: model.clone(),
                    also_read: also_read.clone(),
                    created_at_ms: now_ms,
                    updated_at_ms: now_ms,
                    ..SessionRecord::default()
                };
                tx.put_session(&record)?;
                Ok(SessionNewResult { session_id: id_text(&id) })
            })
        });
        Ok(made.await?)
    }

    /// The session an id or a unique prefix names.
    ///
    /// # Errors
    /// `NotFound`, `Ambiguous`; the store's.
    pub fn find(&self, id: &str) -> Result<SessionRecord, SessionError> {
        self.store.read(|tx| find(tx, id))
    }

    /// The wire form of a session.
    ///
    /// # Errors
    /// The store's.
    pub fn describe(&self, record: &SessionRecord, is_running: bool) -> Result<Session, SessionError> {
        self.store.read(|tx| {
            let space = tx.space_by_id(record.space)?.map(|space| space.name).unwrap_or_default();
            Ok(wire_session(record, space, is_running))
        })
    }

    /// `session/list`, newest first. `is_running` says which sessions have a running turn.
    ///
    /// # Errors
    /// A param that does not fit; the store's.
    pub fn list(
        &self,
        params: &SessionListParams,
        is_running: &dyn Fn(u64) -> bool,
        may_see: &dyn Fn(&SessionRecord) -> bool,
    ) -> Result<Page<Session>, SessionError> {
        let name = params.space.as_deref().unwrap_or(DEFAULT_SPACE);
        check_space("space", name)?;
        let cursor = Cursor::of("session/list", name);
        let limit = page_limit(params.limit)?;
        let before = cursor.place(params.cursor.as_deref())?.unwrap_or(u64::MAX);
        self.store.read(|tx| {
            let Some(space) = tx.space_by_name(name)? else { return Ok(Page { items: Vec::new(), next_cursor: None }) };
            let mut records = tx.sessions_of_space(space.id, 0..=before, Direction::Descending, limit + 1)?;
            let next_cursor = (records.len() > limit).then(|| cursor.text(records[limit].key));
            records.truncate(limit);
            records.retain(may_see);
            let items = records.iter().map(|r| wire_session(r, space.name.clone(), is_running(r.key))).collect();
            Ok(Page { items, next_cursor })
        })
    }

    /// `session/update`.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub async fn update(&self, params: SessionUpdateParams) -> Result<SessionRecord, SessionError> {
        if let Some(title) = &params.title {
            check_title(title)?;
        }
        for space in params.also_read.iter().flatten() {
            check_space("alsoRead", space)?;
        }
        check_model(params.model.as_deref())?;
        check_count(params.also_read.as_deref())?;
        let key = Key::of("session/update", "", params.key.as_deref(), &params)?;
        let id = self.find(&params.session_id)?.id;
        let changed = self.store.write("session/update", move |tx| -> Result<(), SessionError> {
            idempotent(tx, key.as_ref(), |tx| {
                let mut record = find(tx, &id_text(&id))?;
                if let Some(title) = &params.title {
                    record.title.clone_from(title);
                }
                if params.model.is_some() {
                    record.model.clone_from(&params.model);
                }
                if let Some(also_read) = &params.also_read {
                    record.also_read.clone_from(also_read);
                }
                record.updated_at_ms = tx.now_ms();
                tx.put_session(&record)?;
                Ok(())
            })
        });
        changed.await?;
        self.find(&id_text(&id))
    }

    /// `session/delete`: with its messages, turns and events. Its turns must have ended. `session` is the one the params name, if it
    /// is still there.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn delete(&self, params: SessionDeleteParams, session: Option<u64>) -> Result<SessionDeleteResult, SessionError> {
        let key = Key::of("session/delete", "", params.key.as_deref(), &params)?;
        let deleted = self.store.write("session/delete", move |tx| -> Result<SessionDeleteResult, SessionError> {
            idempotent(tx, key.as_ref(), |tx| {
                let gone = || SessionError::NotFound { what: "session", id: params.session_id.clone() };
                let record = session.map(|key| tx.session(key)).transpose()?.flatten().ok_or_else(gone)?;
                tx.delete_session(record.key)?;
                Ok(SessionDeleteResult { messages: record.message_count })
            })
        });
        let result = deleted.await?;
        if let Some(session) = session {
            self.feeds.end(session);
        }
        Ok(result)
    }

    /// `session/messages`, oldest first.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub fn messages(&self, params: &SessionMessagesParams) -> Result<Page<Message>, SessionError> {
        let limit = page_limit(params.limit)?;
        self.store.read(|tx| {
            let session = find(tx, &params.session_id)?;
            let cursor = Cursor::of("session/messages", &id_text(&session.id));
            let from = cursor.place(params.cursor.as_deref())?.unwrap_or(0);
            let records = tx.messages(session.key, from..=u64::MAX, Direction::Ascending, limit + 1)?;
            let mut bytes = 0;
            let fits = records.iter().take(limit).take_while(|record| {
                let is_first = bytes == 0;
                bytes += record.content_json.len();
                is_first || bytes <= limits::PAGE_BYTES_MAX
            });
            let items: Vec<Message> = fits.map(wire_message).collect();
            let next_cursor = records.get(items.len()).map(|record| cursor.text(record.position));
            Ok(Page { items, next_cursor })
        })
    }
}

/// The session an id or a unique prefix of it names.
pub(super) fn find(tx: &impl SessionReads, id: &str) -> Result<SessionRecord, SessionError> {
    let gone = || SessionError::NotFound { what: "session", id: id.chars().take(64).collect() };
    if let Some(whole) = id_bytes(id) {
        return tx.session_by_id(&whole)?.ok_or_else(gone);
    }
    let digits = id.bytes().filter(|b| *b != b'-');
    if id.len() > 36 || digits.clone().count() < limits::ID_PREFIX_CHARS_MIN || !digits.clone().all(|b| b.is_ascii_hexdigit()) {
        return Err(gone());
    }
    let found = tx.sessions_by_id_prefix(id, limits::CANDIDATES_LISTED_MAX)?;
    match &found[..] {
        [] => Err(gone()),
        [(_, key)] => tx.session(*key)?.ok_or_else(gone),
        several => Err(SessionError::Ambiguous {
            prefix: id.to_owned(),
            candidates: several.iter().map(|(id, _)| id_text(id)).collect(),
        }),
    }
}

fn check_new(params: &SessionNewParams) -> Result<(), SessionError> {
    check_title(params.title.as_deref().unwrap_or_default())?;
    check_model(params.model.as_deref())?;
    check_count(params.also_read.as_deref())?;
    for space in params.also_read.iter().flatten() {
        check_space("alsoRead", space)?;
    }
    match &params.cwd {
        Some(cwd) if cwd.len() > limits::SESSION_CWD_BYTES_MAX => {
            Err(SessionError::too_large("cwd", "sessionCwdBytesMax", limits::SESSION_CWD_BYTES_MAX))
        }
        Some(cwd) if !Path::new(cwd).is_absolute() => Err(SessionError::invalid("cwd", "must be an absolute path")),
        _ => Ok(()),
    }
}

pub(super) fn check_title(title: &str) -> Result<(), SessionError> {
    if title.len() > limits::SESSION_TITLE_BYTES_MAX {
        return Err(SessionError::too_large("title", "sessionTitleBytesMax", limits::SESSION_TITLE_BYTES_MAX));
    }
    Ok(())
}

fn check_model(model: Option<&str>) -> Result<(), SessionError> {
    match model {
        Some(model) if model.is_empty() || model.len() > limits::SESSION_TITLE_BYTES_MAX => {
            Err(SessionError::invalid("model", "must be the name of a model"))
        }
        _ => Ok(()),
    }
}

fn check_count(also_read: Option<&[String]>) -> Result<(), SessionError> {
    if also_read.is_some_and(|spaces| spaces.len() >= limits::SPACES_PER_RECALL_MAX) {
        return Err(SessionError::too_large("alsoRead", "spacesPerRecallMax", limits::SPACES_PER_RECALL_MAX - 1));
    }
    Ok(())
}

pub(super) fn check_space(path: &'static str, name: &str) -> Result<(), SessionError> {
    if space_name::fits(name) { Ok(()) } else { Err(SessionError::invalid(path, space_name::rule())) }
}

pub(super) fn page_limit(limit: Option<u32>) -> Result<usize, SessionError> {
    match limit.unwrap_or(limits::PAGE_ITEMS_DEFAULT) {
        n if (1..=limits::PAGE_ITEMS_MAX).contains(&n) => Ok(n as usize),
        _ => Err(SessionError::invalid("limit", format!("between 1 and {}", limits::PAGE_ITEMS_MAX))),
    }
}

/// Where a page begins: opaque, and bound to its list.
pub(super) struct Cursor(u64);

impl Cursor {
    pub(super) fn of(method: &str, list: &str) -> Cursor {
        Cursor(xxh3_64(format!("{method}\n{list}").as_bytes()))
    }

    pub(super) fn text(&self, place: u64) -> String {
        format!("{:016x}{place:016x}", self.0)
    }

    pub(super) fn place(&self, cursor: Option<&str>) -> Result<Option<u64>, SessionError> {
        let Some(cursor) = cursor else { return Ok(None) };
        let place = cursor.strip_prefix(&format!("{:016x}", self.0)).filter(|rest| rest.len() == 16);
        let place = place.and_then(|rest| u64::from_str_radix(rest, 16).ok());
        place.map(Some).ok_or_else(|| SessionError::invalid("cursor", "not a cursor of this list"))
    }
}
