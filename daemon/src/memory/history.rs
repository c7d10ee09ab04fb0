//! `memory/history`: what became of a memory: its versions with who wrote them, what came before and after it, merges, conflicts.
//!
//! Must not know: how versions are keyed.

use super::conflicts::is_open;
use super::cursor::{Binding, page_limit};
use super::resolve::{id_text, resolve};
use super::rules::Right;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::clock;
use crate::limits::{CHAIN_MEMORIES_MAX, CONFLICTS_PER_MEMORY_MAX, HISTORY_AUDIT_ROWS_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::store::{ConflictReads, Reads, StoreError};
use std::collections::HashMap;
use tiro_schema::convert::{
    self, CONFLICT_KEPT_BOTH, CONFLICT_KEPT_FIRST, CONFLICT_KEPT_SECOND, CONFLICT_MERGED, STATUS_FORGOTTEN, actor, change_of,
    conflict_reason_of, status_of,
};
use tiro_schema::record::{AuditRecord, ConflictRecord, MemoryRecord};
use tiro_schema::wire::memory::{ChangeKind, ConflictState, HistoryParams, HistoryResult, Link, PastConflict, Status, Version};

const METHOD: &str = "memory/history";

/// Whether the caller may read a space.
type May<'a> = &'a dyn Fn(u32) -> bool;

impl Memory {
    /// The versions of a memory, newest first, page by page; chains, merges and conflicts whole on every page.
    ///
    /// # Errors
    /// `Invalid`, `NotFound`, `Ambiguous`, and the store's.
    pub async fn history(&self, caller: &Caller, params: HistoryParams) -> Result<HistoryResult, MemoryError> {
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        let caller = caller.clone();
        self.blocking(move |memory| {
            let (result, touched) = memory.store().read(|tx| {
                let record = resolve(tx, &params.id, "id")?;
                let binding = Binding::of(METHOD, &id_text(&record.id));
                let before = binding.place(params.cursor.as_deref())?.map_or(u64::from(record.version) + 1, |version| version);
                let may = |space| memory.may(&caller.actor, space, Right::Read);
                let mut result = story(tx, &record, &may)?;
                let newest = u32::try_from(before.saturating_sub(1)).unwrap_or(u32::MAX).min(record.version);
                let oldest = newest.saturating_sub(u32::try_from(limit).unwrap_or(u32::MAX)).saturating_add(1).max(1);
                result.items = versions(tx, &record, oldest, newest)?;
                result.next_cursor = (oldest > 1).then(|| binding.cursor(u64::from(oldest)));
                Ok::<_, MemoryError>((result, ledger::touched([&record])))
            })?;
            memory.audit_read(&caller, METHOD, &touched);
            Ok(result)
        })
        .await
    }
}

/// Everything but the versions.
fn story(tx: &impl Reads, record: &MemoryRecord, may: May<'_>) -> Result<HistoryResult, MemoryError> {
    let mut merged = Vec::new();
    for key in record.derived_from.iter().take(CHAIN_MEMORIES_MAX) {
        merged.extend(tx.memory(*key)?.and_then(|other| link(&other, may)));
    }
    let mut conflicts = Vec::new();
    for conflict in tx.conflicts_of_memory(record.key, CONFLICTS_PER_MEMORY_MAX)? {
        conflicts.push(past(tx, record, &conflict)?);
    }
    Ok(HistoryResult {
        id: id_text(&record.id),
        items: Vec::new(),
        before: chain(tx, record, may, |r| r.supersedes)?,
        after: chain(tx, record, may, |r| r.superseded_by)?,
        merged,
        conflicts,
        next_cursor: None,
    })
}

/// The memories met by following one link over and over.
fn chain(
    tx: &impl Reads,
    record: &MemoryRecord,
    may: May<'_>,
    next: impl Fn(&MemoryRecord) -> Option<u64>,
) -> Result<Vec<Link>, StoreError> {
    let (mut links, mut seen, mut key) = (Vec::new(), vec![record.key], next(record));
    while let Some(met) = key.filter(|key| links.len() < CHAIN_MEMORIES_MAX && !seen.contains(key)) {
        seen.push(met);
        let Some(other) = tx.memory(met)? else { break };
        links.extend(link(&other, may));
        key = next(&other);
    }
    Ok(links)
}

/// A memory as another's history names it; none when it is forgotten, or in a space that the caller may not read.
fn link(record: &MemoryRecord, may: May<'_>) -> Option<Link> {
    (record.status != STATUS_FORGOTTEN && may(record.space)).then(|| Link {
        id: id_text(&record.id),
        text: record.text.clone(),
        status: status_of(record.status).unwrap_or(Status::Archived).into(),
        created_at: clock::format(record.created_at_ms, None),
    })
}

fn past(tx: &impl Reads, record: &MemoryRecord, conflict: &ConflictRecord) -> Result<PastConflict, StoreError> {
    let other = if conflict.first == record.key { conflict.second } else { conflict.first };
    let state = match conflict.state {
        CONFLICT_KEPT_FIRST => ConflictState::KeptFirst,
        CONFLICT_KEPT_SECOND => ConflictState::KeptSecond,
        CONFLICT_KEPT_BOTH => ConflictState::KeptBoth,
        CONFLICT_MERGED => ConflictState::Merged,
        _ if is_open(tx, conflict)? => ConflictState::Open,
        _ => ConflictState::Lapsed,
    };
    Ok(PastConflict {
        id: id_text(&conflict.id),
        state: state.into(),
        reason: conflict_reason_of(conflict.reason).unwrap_or_default().into(),
        with: super::show::linked(tx, Some(other))?,
        opened_at: clock::format(conflict.opened_at_ms, None),
        resolved_at: conflict.resolved_at_ms.map(|ms| clock::format(ms, None)),
    })
}

/// Versions from `newest` down to `oldest`, each with who wrote it.
fn versions(tx: &impl Reads, record: &MemoryRecord, oldest: u32, newest: u32) -> Result<Vec<Version>, StoreError> {
    let writers = writers(tx, record.key)?;
    let mut items = Vec::new();
    let mut later = tx.memory_version(record.key, newest)?;
    for number in (oldest..=newest).rev() {
        let earlier = match number {
            1 => None,
            _ => tx.memory_version(record.key, number - 1)?,
        };
        if let Some(version) = later {
            items.push(shown(&version, earlier.as_ref(), &writers));
        }
        later = earlier;
    }
    Ok(items)
}

/// Audit rows of the writes that touched a memory, by their time.
fn writers(tx: &impl Reads, key: u64) -> Result<HashMap<i64, AuditRecord>, StoreError> {
    let mut left = HISTORY_AUDIT_ROWS_MAX;
    let mut pass = |row: &AuditRecord| {
        left = left.saturating_sub(1);
        left == 0 || row.write && row.keys.contains(&key)
    };
    let rows = tx.audit_where(u64::MAX, PAGE_ITEMS_MAX as usize, &mut pass)?;
    Ok(rows.into_iter().filter(|row| row.write && row.keys.contains(&key)).map(|row| (row.at_ms, row)).collect())
}

fn shown(version: &MemoryRecord, earlier: Option<&MemoryRecord>, writers: &HashMap<i64, AuditRecord>) -> Version {
    let writer = writers.get(&version.recorded_at_ms);
    let forgotten = version.status == STATUS_FORGOTTEN;
    Version {
        version: version.version,
        change: change_of(version.change).unwrap_or(ChangeKind::Updated).into(),
        at: clock::format(version.recorded_at_ms, None),
        text: version.text.clone(),
        status: (!forgotten).then(|| status_of(version.status).unwrap_or(Status::Archived).into()),
        changed: earlier.map(|earlier| changed(earlier, version)).unwrap_or_default(),
        method: writer.map(|row| row.method.clone()),
        by: writer.map(|row| actor(&row.actor)),
    }
}

/// Names of the members that differ, as the wire writes them.
fn changed(a: &MemoryRecord, b: &MemoryRecord) -> Vec<String> {
    let kind = |r: &MemoryRecord| (convert::kind_of(r.kind), convert::category_of(r.category));
    let differs = [
        ("text", a.text != b.text),
        ("kind", kind(a).0 != kind(b).0),
        ("category", kind(a).1 != kind(b).1),
        ("tags", a.tags != b.tags),
        ("entities", a.entities != b.entities),
        ("sources", a.sources != b.sources),
        ("seenCount", a.seen_count != b.seen_count),
        ("importance", a.importance.to_bits() != b.importance.to_bits()),
        ("pinned", a.pinned != b.pinned),
        ("status", a.status != b.status),
        ("occurredAt", (a.occurred_at_ms, a.occurred_offset_min) != (b.occurred_at_ms, b.occurred_offset_min)),
        ("validFrom", a.valid_from_ms != b.valid_from_ms),
        ("validTo", a.valid_to_ms != b.valid_to_ms),
        ("supersededBy", a.superseded_by != b.superseded_by),
        ("supersedes", a.supersedes != b.supersedes),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect()
}
