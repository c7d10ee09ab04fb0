//! `memory/import`: lines of an export, or of the same form, become memories; each line is judged alone.
//!
//! Must not know: foreign formats, files.

use super::draft::space_name;
use super::fingerprint::fingerprint;
use super::import_line::{Line, Reading, read};
use super::import_update::{Renewal, is_same, renewal, retirement};
use super::place::ensure_space;
use super::resolve::{id_text, whole_id};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::Key;
use crate::limits::{ITEMS_PER_CALL_MAX, ITEMS_PER_TRANSACTION, PREPARE_LINES_MIN, PREPARE_THREADS_MAX};
use crate::store::{PurgeReads, Reads, StoreError, WriteTx};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::convert::{STATUS_ACTIVE, STATUS_FORGOTTEN, STATUS_SUPERSEDED};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{ImportParams, ImportResult, RefusedLine};

const METHOD: &str = "memory/import";

/// Lines read, and what was not taken.
#[derive(Default)]
struct Batch {
    lines: Vec<(u64, Line)>,
    /// Lines of which the memory is there as they have it.
    known: u64,
    refused: Vec<RefusedLine>,
    unknown: BTreeMap<String, u64>,
}

impl Batch {
    /// Adds what comes after.
    fn join(&mut self, after: Batch) {
        self.lines.extend(after.lines);
        self.known += after.known;
        self.refused.extend(after.refused);
        for (name, count) in after.unknown {
            *self.unknown.entry(name).or_default() += count;
        }
    }
}

/// What became of a line in the store.
enum Taken {
    Created(Box<MemoryRecord>),
    Updated(Box<MemoryRecord>),
    Known,
    Kept,
    Refused(String),
}

/// What one transaction does.
#[derive(Clone)]
enum Chunk {
    Lines(Vec<(u64, Line)>),
    Retire(Vec<[u8; 16]>),
}

/// What holds for a whole call.
#[derive(Clone)]
struct Call {
    caller: Caller,
    /// The space of what is retired.
    space: String,
    update: bool,
}

impl Memory {
    /// Takes lines: new ones become memories with the id, times and status they name; an id that is there already with
    /// the same words counts as known and stays as it is (with other words the line is refused), and so does the same text where a line
    /// names no id. An id that another space has is not told of: the line becomes a memory of its own. Members not known are reported and left out.
    /// With `update` a line changes the memory that has its id, unless somebody else changed that since; `retire` archives, on the same terms.
    ///
    /// # Errors
    /// `TooLarge` for too many lines, `Invalid`, `Key`, `Cancelled`, and the store's. A line that does not fit is no error of the call.
    pub async fn import(&self, caller: &Caller, params: ImportParams) -> Result<ImportResult, MemoryError> {
        let retire = params.retire.as_deref().unwrap_or_default();
        for (path, n) in [("lines", params.lines.len()), ("retire", retire.len())] {
            if n > ITEMS_PER_CALL_MAX {
                return Err(MemoryError::too_large(path, "itemsPerCallMax", ITEMS_PER_CALL_MAX));
            }
        }
        let whole = |(n, text): (usize, &String)| {
            whole_id(text).ok_or_else(|| MemoryError::invalid(format!("retire[{n}]"), "the whole UUID of a memory"))
        };
        let retire = retire.iter().enumerate().map(whole).collect::<Result<Vec<_>, _>>()?;
        let space = params.space.as_deref().map(|s| space_name("space", Some(s))).transpose()?;
        let key = Key::of(METHOD, space.as_deref().unwrap_or(""), params.key.as_deref(), &params)?;
        if let Some(answer) = self.answered(key.as_ref())? {
            return Ok(answer);
        }
        let (lines, update, named) = (params.lines, params.update.unwrap_or(false), space.clone());
        let batch = self.blocking(move |memory| memory.read_apart(&lines, named.as_deref(), update)).await?;
        let result = ImportResult {
            created: 0,
            duplicate: batch.known,
            updated: 0,
            retired: 0,
            kept: 0,
            refused: batch.refused,
            unknown_fields: batch.unknown,
            seq: self.store().seq_token(self.store().seq()),
        };
        let call = Call { caller: caller.clone(), space: space.unwrap_or_else(|| DEFAULT_SPACE.to_owned()), update };
        if params.dry_run.unwrap_or(false) {
            let lines = batch.lines;
            return self.blocking(move |memory| memory.only_judge(&call, &lines, &retire, result)).await;
        }
        let mut chunks: Vec<Chunk> = batch.lines.chunks(ITEMS_PER_TRANSACTION).map(|part| Chunk::Lines(part.to_vec())).collect();
        chunks.extend(retire.chunks(ITEMS_PER_TRANSACTION).map(|part| Chunk::Retire(part.to_vec())));
        let total = (batch.lines.len() + retire.len()) as u64;
        self.take_chunks(call, chunks, total, result, key).await
    }

    /// Reads lines on a few threads.
    fn read_apart(&self, lines: &[Value], space: Option<&str>, update: bool) -> Result<Batch, MemoryError> {
        let reading = Reading { space, update, now_ms: self.now_ms() };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, PREPARE_THREADS_MAX);
        let share = lines.len().div_ceil(threads).max(PREPARE_LINES_MIN);
        if lines.len() <= share {
            return Ok(self.read_lines(0, lines, reading));
        }
        std::thread::scope(|scope| {
            let part = |(n, part)| scope.spawn(move || self.read_lines((n * share) as u64, part, reading));
            let parts: Vec<_> = lines.chunks(share).enumerate().map(part).collect();
            parts.into_iter().try_fold(Batch::default(), |mut all, part| {
                all.join(part.join().map_err(|_| MemoryError::Lost)?);
                Ok(all)
            })
        })
    }

    /// Reads lines, the first of which has this number.
    fn read_lines(&self, first: u64, lines: &[Value], reading: Reading<'_>) -> Batch {
        let mut batch = Batch::default();
        for (n, value) in (first..).zip(lines) {
            let unknown = &mut batch.unknown;
            match read(self, value, reading, &mut |name| *unknown.entry(name.chars().take(64).collect()).or_default() += 1) {
                Ok(Some(line)) => batch.lines.push((n, line)),
                Ok(None) => batch.known += 1,
                Err(reason) => batch.refused.push(RefusedLine { line: n, reason }),
            }
        }
        batch
    }

    /// Writes the lines in bounded transactions; the answer is kept under the key with the last of them.
    async fn take_chunks(
        &self,
        call: Call,
        mut chunks: Vec<Chunk>,
        total: u64,
        mut result: ImportResult,
        key: Option<Key>,
    ) -> Result<ImportResult, MemoryError> {
        if chunks.is_empty() && key.is_some() {
            chunks.push(Chunk::Lines(Vec::new()));
        }
        let last = chunks.len().saturating_sub(1);
        let mut done = 0;
        for (n, chunk) in chunks.into_iter().enumerate() {
            if call.caller.cancel.is_cancelled() {
                return Err(MemoryError::Cancelled);
            }
            done += chunk.len() as u64;
            let (memory, whole, base) = (self.clone(), call.clone(), result.clone());
            let key = key.clone().filter(|_| n == last);
            let written = self.store().write(METHOD, move |tx| {
                let now_ms = tx.now_ms();
                if let Some(key) = &key
                    && let Some(kept) = key.answered::<ImportResult, MemoryError>(tx, now_ms)?
                {
                    return Ok(kept);
                }
                let result = memory.take_chunk(tx, &whole, &chunk, base.clone())?;
                if let Some(key) = &key {
                    key.keep(tx, &result)?;
                }
                Ok::<_, MemoryError>(result)
            });
            result = written.await?;
            call.caller.tell("importing", done, Some(total));
        }
        Ok(result)
    }

    fn take_chunk(
        &self,
        tx: &mut WriteTx,
        call: &Call,
        chunk: &Chunk,
        mut result: ImportResult,
    ) -> Result<ImportResult, MemoryError> {
        let mut touched = Vec::new();
        let mut note = |result: &mut ImportResult, taken: Taken, line: u64| match taken {
            Taken::Created(record) => {
                result.created += 1;
                result.seq = self.store().seq_token(record.seq);
                touched.push((record.space, record.key));
            }
            Taken::Updated(record) => {
                result.seq = self.store().seq_token(record.seq);
                touched.push((record.space, record.key));
            }
            Taken::Known => result.duplicate += 1,
            Taken::Kept => result.kept += 1,
            Taken::Refused(reason) => result.refused.push(RefusedLine { line, reason }),
        };
        match chunk {
            Chunk::Lines(lines) => {
                for (n, line) in lines {
                    let taken = self.take_line(tx, line, call.update)?;
                    result.updated += u64::from(matches!(taken, Taken::Updated(_)));
                    note(&mut result, taken, *n);
                }
            }
            Chunk::Retire(ids) => {
                for id in ids {
                    let Some(taken) = self.retire_one(tx, &call.space, id)? else { continue };
                    result.retired += u64::from(matches!(taken, Taken::Updated(_)));
                    note(&mut result, taken, 0);
                }
            }
        }
        result.refused.sort_by_key(|r| r.line);
        let outcome = format!("created {}, duplicate {}, refused {}", result.created, result.duplicate, result.refused.len());
        let changed = format!(", updated {}, retired {}, kept {}", result.updated, result.retired, result.kept);
        let more = result.updated + result.retired + result.kept > 0;
        if touched.is_empty() && chunk.len() > 0 {
            touched.push((0, 0));
        }
        ledger::wrote_as(tx, &call.caller, METHOD, &(outcome + if more { &changed } else { "" }), &touched)?;
        Ok(result)
    }

    /// Archives what an import brought; none where there is no such memory, or it is away already.
    fn retire_one(&self, tx: &mut WriteTx, space: &str, id: &[u8; 16]) -> Result<Option<Taken>, MemoryError> {
        let Some(there) = tx.space_by_name(space)?.map(|s| s.id) else { return Ok(None) };
        let Some(record) = Seat::of(tx, space, Some(there), id)?.taken else { return Ok(None) };
        match retirement(tx, &record)? {
            Renewal::Same => Ok(None),
            Renewal::Kept => Ok(Some(Taken::Kept)),
            Renewal::Next(next) => Ok(Some(Taken::Updated(Box::new(self.renew(tx, &record, *next, &[])?)))),
        }
    }

    fn take_line(&self, tx: &mut WriteTx, line: &Line, update: bool) -> Result<Taken, MemoryError> {
        let there = tx.space_by_name(&line.ready.draft.space)?.map(|s| s.id);
        let mut id = line.ready.record.id;
        if line.named {
            let seat = Seat::of(tx, &line.ready.draft.space, there, &id)?;
            if let Some(record) = seat.taken.as_ref().filter(|_| update) {
                return Ok(match renewal(tx, &line.ready, record)? {
                    Renewal::Same => Taken::Known,
                    Renewal::Kept => Taken::Kept,
                    Renewal::Next(next) => Taken::Updated(Box::new(self.renew(tx, record, *next, line.ready.vectors())?)),
                });
            }
            match seat.known(line) {
                // Purged here: a source that is told again and again is not refused for it each time.
                Some(_) if update => return Ok(Taken::Kept),
                Some(None) => return Ok(Taken::Known),
                Some(Some(reason)) => return Ok(Taken::Refused(reason)),
                None => id = seat.id,
            }
        }
        let moved = id != line.ready.record.id;
        let space = match ensure_space(tx, &line.ready.draft.space) {
            Ok(space) => space,
            Err(error @ MemoryError::TooLarge { .. }) => return Ok(Taken::Refused(error.to_string())),
            Err(error) => return Err(error),
        };
        if !line.named && line.ready.known(tx, space.id)?.is_some() {
            return Ok(Taken::Known);
        }
        // A line that was given another id is linked with what stands in its own space alone.
        let of = |id: Option<[u8; 16]>, tx: &WriteTx| match id {
            Some(id) if moved => Ok(Seat::of(tx, &line.ready.draft.space, Some(space.id), &id)?.taken.map(|r| r.key)),
            Some(id) => tx.key_of_id(&id),
            None => Ok(None),
        };
        // Links hold in both directions whichever line comes first.
        let (newer, older) = (of(line.superseded_by, tx)?, of(line.supersedes, tx)?);
        let mut ready = line.ready.clone();
        ready.record.id = id;
        ready.record.superseded_by = newer;
        let record = ready.create(self, tx, space.id, older)?;
        if let Some(older) = older
            && let Some(old) =
                tx.memory(older)?.filter(|o| o.superseded_by.is_none() && matches!(o.status, STATUS_SUPERSEDED | STATUS_ACTIVE))
        {
            self.give_way(tx, &old, record.key)?;
        }
        if let Some(newer) = newer
            && let Some(new) = tx.memory(newer)?.filter(|n| n.supersedes.is_none() && n.status != STATUS_FORGOTTEN)
        {
            let next = MemoryRecord {
                version: new.version + 1,
                seq: tx.next_seq(),
                supersedes: Some(record.key),
                recorded_at_ms: tx.now_ms(),
                ..new
            };
            self.write_version(tx, &next, None)?;
        }
        Ok(Taken::Created(Box::new(record)))
    }

    /// Counts what an import would do.
    fn only_judge(
        &self,
        call: &Call,
        lines: &[(u64, Line)],
        retire: &[[u8; 16]],
        mut result: ImportResult,
    ) -> Result<ImportResult, MemoryError> {
        let mut seen: HashMap<(String, [u8; 16]), &Line> = HashMap::new();
        self.store().read(|tx| {
            for (n, line) in lines {
                let space = tx.space_by_name(&line.ready.draft.space)?.map(|s| s.id);
                let (mark, known) = if line.named {
                    let seat = Seat::of(tx, &line.ready.draft.space, space, &line.ready.record.id)?;
                    if let Some(record) = seat.taken.as_ref().filter(|_| call.update) {
                        match renewal(tx, &line.ready, record)? {
                            Renewal::Same => result.duplicate += 1,
                            Renewal::Kept => result.kept += 1,
                            Renewal::Next(_) => result.updated += 1,
                        }
                        continue;
                    }
                    if seat.purged && call.update {
                        result.kept += 1;
                        continue;
                    }
                    (("id".to_owned(), seat.id), seat.known(line))
                } else {
                    let known = match space {
                        Some(space) => line.ready.known(tx, space)?.map(|_| None),
                        None => None,
                    };
                    ((format!("text {}", line.ready.draft.space), line.ready.draft.fingerprint), known)
                };
                let earlier = seen.get(&mark).copied().filter(|_| line.named || !line.ready.draft.verbatim);
                seen.entry(mark).or_insert(line);
                match known.or_else(|| earlier.map(|e| standing(line, &e.ready.record).filter(|_| line.named && !call.update))) {
                    None => result.created += 1,
                    Some(None) => result.duplicate += 1,
                    Some(Some(reason)) => result.refused.push(RefusedLine { line: *n, reason }),
                }
            }
            let there = tx.space_by_name(&call.space)?.map(|s| s.id);
            for id in retire.iter().filter(|_| there.is_some()) {
                let Some(record) = Seat::of(tx, &call.space, there, id)?.taken else { continue };
                match retirement(tx, &record)? {
                    Renewal::Same => {}
                    Renewal::Kept => result.kept += 1,
                    Renewal::Next(_) => result.retired += 1,
                }
            }
            Ok::<_, MemoryError>(())
        })?;
        result.refused.sort_by_key(|r| r.line);
        Ok(result)
    }
}

impl Chunk {
    fn len(&self) -> usize {
        match self {
            Chunk::Lines(lines) => lines.len(),
            Chunk::Retire(ids) => ids.len(),
        }
    }
}

/// Where a line of an id belongs.
pub(super) struct Seat {
    /// The id it has in its space.
    id: [u8; 16],
    /// The memory that is there already.
    pub taken: Option<MemoryRecord>,
    /// Whether it was purged there.
    purged: bool,
}

impl Seat {
    /// The seat of an id in a space, by its name and, where it is there, its number. An id that another space has is neither taken for this one nor told of: it becomes another,
    /// the same each time, so that the same line is known when it comes again.
    pub fn of(tx: &impl Reads, name: &str, space: Option<u32>, id: &[u8; 16]) -> Result<Seat, StoreError> {
        let seat = |id: [u8; 16]| {
            let taken = tx.key_of_id(&id)?.map(|key| tx.memory(key)).transpose()?.flatten();
            let purged = tx.purged(&id)?.map(|purged| purged.space);
            Ok::<_, StoreError>((taken, purged))
        };
        let (taken, purged) = seat(*id)?;
        match taken.as_ref().map(|record| record.space).or(purged) {
            Some(other) if Some(other) != space => {
                let id = id_in(name, id);
                let (taken, purged) = seat(id)?;
                Ok(Seat { id, taken, purged: purged.is_some() })
            }
            _ => Ok(Seat { id: *id, taken, purged: purged.is_some() }),
        }
    }

    /// What is known of the line's memory: why it is refused, or that it says the same; none where it is new.
    fn known(&self, line: &Line) -> Option<Option<String>> {
        match &self.taken {
            Some(record) => Some(standing(line, record)),
            None => self.purged.then(|| Some(PURGED.to_owned())),
        }
    }
}

/// The id in a space of a memory whose own id another space has.
fn id_in(space: &str, id: &[u8; 16]) -> [u8; 16] {
    let hashed = fingerprint(&format!("{space}/{}", id_text(id)));
    *uuid::Builder::from_custom_bytes(hashed).as_uuid().as_bytes()
}

/// Why a line of the same id as a memory is refused; none when it says the same.
fn standing(line: &Line, record: &MemoryRecord) -> Option<String> {
    if record.status == STATUS_FORGOTTEN {
        return Some(FORGOTTEN.to_owned());
    }
    let same = is_same(&line.ready.draft, &line.ready.record, record, false);
    (!same).then(|| format!("id {} is already there with other words", id_text(&line.ready.record.id)))
}

/// Why a line whose memory was forgotten here is not taken.
const FORGOTTEN: &str = "this memory was forgotten here: undo that instead";
/// Why a line whose memory was purged here is not taken.
const PURGED: &str = "this memory was purged here: without its id the line is a new one";
