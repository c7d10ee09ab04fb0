//! Every passage between stored records and wire types, and the codes of the small sets.
//!
//! A code, once given, never changes its meaning. Must not know: time formats (the caller hands in a formatter), files.

use crate::record::{ActorRecord, MemoryRecord, SourceRecord, UseRecord};
use crate::wire::Timestamp;
use crate::wire::memory::{Actor, Category, ChangeKind, ConflictReason, Kind, Memory, OccurredAtSource, Source, Status, Told};
use crate::wire::session::Role;
use crate::wire::space::{Gate, RetentionAct};
use crate::wire::turn::{TerminationReason, TurnStatus};

/// Status code of a current memory.
pub const STATUS_ACTIVE: u8 = 0;
/// Status code of a memory another took the place of.
pub const STATUS_SUPERSEDED: u8 = 1;
/// Status code of a memory put away.
pub const STATUS_ARCHIVED: u8 = 2;
/// Status code of a hidden memory: no verb but undo sees it.
pub const STATUS_FORGOTTEN: u8 = 3;

/// Change code: first version.
pub const CHANGE_CREATED: u8 = 0;
/// Change code: members or words changed.
pub const CHANGE_UPDATED: u8 = 1;
/// Change code: told again.
pub const CHANGE_SEEN: u8 = 2;
/// Change code: pinned or unpinned.
pub const CHANGE_PINNED: u8 = 3;
/// Change code: archived.
pub const CHANGE_ARCHIVED: u8 = 4;
/// Change code: restored from the archive.
pub const CHANGE_RESTORED: u8 = 5;
/// Change code: superseded.
pub const CHANGE_SUPERSEDED: u8 = 6;
/// Change code: forgotten.
pub const CHANGE_FORGOTTEN: u8 = 7;
/// Change code: the change before it was taken back.
pub const CHANGE_UNDONE: u8 = 8;

/// Change code: others were merged into it.
pub const CHANGE_MERGED: u8 = 9;
/// Change code: an import changed it, put it away or brought it back, as its source had it.
pub const CHANGE_IMPORTED: u8 = 10;

/// State code of a conflict that nobody resolved.
pub const CONFLICT_OPEN: u8 = 0;
/// State code: the first was kept.
pub const CONFLICT_KEPT_FIRST: u8 = 1;
/// State code: the second was kept.
pub const CONFLICT_KEPT_SECOND: u8 = 2;
/// State code: both were kept.
pub const CONFLICT_KEPT_BOTH: u8 = 3;
/// State code: the second was merged into the first.
pub const CONFLICT_MERGED: u8 = 4;

/// Gate code: texts are not judged.
pub const GATE_OFF: u8 = 1;
/// Gate code: only what a rule knows as lasting.
pub const GATE_STRICT: u8 = 2;
/// Retention code: forgotten.
pub const RETENTION_FORGET: u8 = 1;

/// Verdict code of feedback: used.
pub const VERDICT_USED: u8 = 0;
/// Verdict code of feedback: given out and not used.
pub const VERDICT_IGNORED: u8 = 1;
/// Verdict code of feedback: wrong for what was asked, or wrong at all.
pub const VERDICT_WRONG: u8 = 2;

macro_rules! codes {
    ($ty:ty, $to:ident, $from:ident, $($variant:path = $code:literal),* $(,)?) => {
        /// Code of this value.
        pub const fn $to(value: $ty) -> u8 { match value { $($variant => $code),* } }
        /// Value of this code, if it has one.
        pub const fn $from(code: u8) -> Option<$ty> { match code { $($code => Some($variant),)* _ => None } }
    };
}

codes!(Kind, kind_code, kind_of, Kind::Episodic = 0, Kind::Semantic = 1, Kind::Procedural = 2);
codes!(
    Category,
    category_code,
    category_of,
    Category::Identity = 0,
    Category::Preference = 1,
    Category::Constraint = 2,
    Category::Goal = 3,
    Category::Fact = 4,
    Category::Event = 5,
    Category::Conclusion = 6,
    Category::Other = 7
);
codes!(Status, status_code, status_of, Status::Active = 0, Status::Superseded = 1, Status::Archived = 2);
codes!(
    ConflictReason,
    conflict_reason_code,
    conflict_reason_of,
    ConflictReason::Denied = 0,
    ConflictReason::Number = 1,
    ConflictReason::Time = 2,
    ConflictReason::Roles = 3,
    ConflictReason::Value = 4,
    ConflictReason::Order = 5
);
codes!(
    ChangeKind,
    change_code,
    change_of,
    ChangeKind::Created = 0,
    ChangeKind::Updated = 1,
    ChangeKind::Seen = 2,
    ChangeKind::Pinned = 3,
    ChangeKind::Archived = 4,
    ChangeKind::Restored = 5,
    ChangeKind::Superseded = 6,
    ChangeKind::Forgotten = 7,
    ChangeKind::Undone = 8,
    ChangeKind::Merged = 9,
    ChangeKind::Imported = 10
);
codes!(Gate, gate_code, gate_of, Gate::Normal = 0, Gate::Off = 1, Gate::Strict = 2);
codes!(RetentionAct, retention_code, retention_of, RetentionAct::Archive = 0, RetentionAct::Forget = 1);
codes!(Role, role_code, role_of, Role::User = 0, Role::Assistant = 1, Role::Tool = 2);
codes!(
    TurnStatus,
    turn_status_code,
    turn_status_of,
    TurnStatus::Queued = 0,
    TurnStatus::Running = 1,
    TurnStatus::Completed = 2,
    TurnStatus::Cancelled = 3,
    TurnStatus::Failed = 4,
    TurnStatus::Interrupted = 5
);
codes!(
    TerminationReason,
    termination_code,
    termination_of,
    TerminationReason::Completed = 0,
    TerminationReason::GaveUp = 1,
    TerminationReason::NeedsInput = 2,
    TerminationReason::StepLimit = 3,
    TerminationReason::DuplicateCall = 4,
    TerminationReason::NoProgress = 5,
    TerminationReason::RepeatedError = 6,
    TerminationReason::Cancelled = 7,
    TerminationReason::Interrupted = 8,
    TerminationReason::Budget = 9,
    TerminationReason::ModelError = 10,
    TerminationReason::OutputLimit = 11,
    TerminationReason::ContextOverflow = 12,
    TerminationReason::PermissionDenied = 13
);

/// A stored source on the wire.
pub fn source(record: &SourceRecord) -> Source {
    Source {
        session: record.session.clone(),
        position: record.position,
        speaker: record.speaker.clone(),
        program: record.program.clone(),
        uri: record.uri.clone(),
    }
}

/// A wire source to store, told at `recorded_at_ms`.
pub fn source_record(source: &Source, recorded_at_ms: i64) -> SourceRecord {
    SourceRecord {
        session: source.session.clone(),
        position: source.position,
        speaker: source.speaker.clone(),
        program: source.program.clone(),
        uri: source.uri.clone(),
        recorded_at_ms,
    }
}

/// An actor on the wire.
pub fn actor(record: &ActorRecord) -> Actor {
    Actor { uid: record.uid, pid: record.pid, executable: record.executable.clone(), client: record.client.clone() }
}

/// What a memory's wire form needs beside its own record.
pub struct MemoryContext<'a> {
    /// Name of its space.
    pub space: &'a str,
    /// Its use statistics.
    pub usage: UseRecord,
    /// Id of the memory that took its place.
    pub superseded_by: Option<String>,
    /// Id of the memory whose place it took.
    pub supersedes: Option<String>,
    /// Ids of the open conflicts that name it.
    pub conflicts: Vec<String>,
    /// When it occurred, and how that is known.
    pub occurred_at: (Timestamp, OccurredAtSource),
    /// What its words tell of time.
    pub told: Option<Told>,
    /// Formats an id.
    pub format_id: &'a dyn Fn(&[u8; 16]) -> String,
    /// Formats Unix milliseconds, at an offset in minutes east of UTC where one is worth keeping.
    pub format_time: &'a dyn Fn(i64, Option<i16>) -> Timestamp,
}

/// A stored memory on the wire.
pub fn memory(record: &MemoryRecord, context: &MemoryContext<'_>) -> Memory {
    let time = context.format_time;
    Memory {
        id: (context.format_id)(&record.id),
        version: record.version,
        space: context.space.to_owned(),
        kind: kind_of(record.kind).unwrap_or(Kind::Episodic).into(),
        category: category_of(record.category).unwrap_or(Category::Other).into(),
        text: record.text.clone(),
        tags: record.tags.clone(),
        entities: record.entities.clone(),
        sources: record.sources.iter().map(source).collect(),
        seen_count: record.seen_count,
        importance: record.importance,
        status: status_of(record.status).unwrap_or(Status::Archived).into(),
        pinned: record.pinned,
        created_at: time(record.created_at_ms, None),
        updated_at: time(record.recorded_at_ms, None),
        occurred_at: context.occurred_at.0.clone(),
        occurred_at_source: context.occurred_at.1.into(),
        told: context.told.clone(),
        valid_from: record.valid_from_ms.map(|ms| time(ms, None)),
        valid_to: record.valid_to_ms.map(|ms| time(ms, None)),
        last_used_at: (context.usage.use_count > 0).then(|| time(context.usage.last_used_at_ms, None)),
        use_count: context.usage.use_count,
        superseded_by: context.superseded_by.clone(),
        supersedes: context.supersedes.clone(),
        conflicts: context.conflicts.clone(),
    }
}

/// The kind a category implies when none is given: preferences and profile are semantic, conclusions procedural, the rest episodic.
pub const fn kind_for(category: Category) -> Kind {
    match category {
        Category::Identity | Category::Preference | Category::Constraint | Category::Goal => Kind::Semantic,
        Category::Conclusion => Kind::Procedural,
        Category::Fact | Category::Event | Category::Other => Kind::Episodic,
    }
}
