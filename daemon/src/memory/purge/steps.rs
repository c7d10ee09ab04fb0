//! The steps of a purge, in order, each noted with its time once it is done: rows, sessions, store file, full-text files, vector files,
//! backups. Whatever ends in between, the next run goes on with the first step that has no time. All purges that are not over go
//! together, since each step is about whole files.
//!
//! Must not know: who asked.

use super::super::feedback::Against;
use super::super::fingerprint::{canonical, fingerprint};
use super::super::resolve::id_text;
use super::super::{Memory, MemoryError};
use crate::limits::{PURGE_OPEN_MAX, PURGE_STEP_MEMORIES, PURGE_STEP_ROWS};
use crate::store::{LongWork, Progress, PurgeReads, Reads, StoreError, WriteTx};
use std::collections::HashSet;
use tiro_schema::record::PurgeRecord;

/// A purge that is carried out.
struct Steps<'a> {
    memory: &'a Memory,
    alone: &'a LongWork<'a>,
    progress: &'a Progress,
    stopped: &'a dyn Fn() -> bool,
}

/// Names the time that a step sets.
type TimeOf = fn(&mut PurgeRecord) -> &mut Option<i64>;

impl Memory {
    /// Carries out every purge that is not over. Blocks.
    ///
    /// # Errors
    /// What is in the way; what is done by then is noted.
    pub(super) fn carry_out(
        &self,
        alone: &LongWork<'_>,
        progress: &Progress,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), MemoryError> {
        Steps { memory: self, alone, progress, stopped }.run()
    }

    /// Purges that are not over, newest first.
    pub(super) fn open_purges(&self) -> Result<Vec<PurgeRecord>, StoreError> {
        let newest = self.store().read(|tx| tx.purges_before(u64::MAX, PURGE_OPEN_MAX))?;
        Ok(newest.into_iter().filter(|purge| !is_over(purge)).collect())
    }

    /// Notes why the open purges were put off. It is said in the log too.
    pub(super) fn put_off(&self, error: &MemoryError) {
        let why = error.to_string();
        tracing::warn!(why, "a purge is put off; it is taken up again");
        let noted = self.open_purges().map_err(MemoryError::from).and_then(|open| {
            Ok(self.store().write_blocking("put a purge off", move |tx| {
                for purge in &open {
                    if let Some(purge) = tx.purge(purge.key)? {
                        tx.put_purge(&PurgeRecord { put_off: why.clone(), ..purge })?;
                    }
                }
                Ok::<_, StoreError>(())
            })?)
        });
        if let Err(error) = noted {
            tracing::warn!(%error, "that a purge is put off could not be noted");
        }
    }
}

/// Whether every step has its time.
pub(super) fn is_over(purge: &PurgeRecord) -> bool {
    let times = [purge.rows_at_ms, purge.sessions_at_ms, purge.store_at_ms, purge.index_at_ms, purge.vectors_at_ms];
    times.iter().all(Option::is_some) && purge.backups_at_ms.is_some()
}

impl Steps<'_> {
    fn run(&self) -> Result<(), MemoryError> {
        let open = self.memory.open_purges()?;
        if open.is_empty() {
            return Ok(());
        }
        for purge in open.iter().filter(|purge| purge.rows_at_ms.is_none()) {
            self.rows(purge)?;
            self.answers(purge)?;
            self.done(std::slice::from_ref(purge), |purge| &mut purge.rows_at_ms)?;
        }
        self.sessions(&open)?;
        self.step(
            &open,
            |purge| &mut purge.store_at_ms,
            "rewriting the store",
            || {
                let report = self.memory.store().rewrite(self.alone, self.progress, self.stopped)?;
                let (before, after) = (report.bytes_before, report.bytes_after);
                tracing::info!(before, after, report.elapsed_ms, report.writes_waited_ms, "the store was rewritten");
                Ok(())
            },
        )?;
        self.step(
            &open,
            |purge| &mut purge.index_at_ms,
            "merging the full-text index",
            || Ok(self.memory.index().purge_lexical()?),
        )?;
        self.step(
            &open,
            |purge| &mut purge.vectors_at_ms,
            "writing the vectors anew",
            || Ok(self.memory.index().purge_vectors()?),
        )?;
        self.backups(&open)
    }

    fn go_on(&self) -> Result<(), StoreError> {
        if (self.stopped)() { Err(StoreError::Interrupted) } else { Ok(()) }
    }

    /// Does a step unless it is done for all.
    fn step(
        &self,
        open: &[PurgeRecord],
        time: TimeOf,
        stage: &str,
        work: impl FnOnce() -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        if open.iter().all(|purge| time(&mut purge.clone()).is_some()) {
            return Ok(());
        }
        self.go_on()?;
        (self.progress)(stage, 0, 0);
        work()?;
        self.done(open, time)
    }

    /// Notes that a step is done.
    fn done(&self, open: &[PurgeRecord], time: TimeOf) -> Result<(), MemoryError> {
        let keys: Vec<u64> = open.iter().map(|purge| purge.key).collect();
        let noted = self.memory.store().write_blocking("note a step of a purge", move |tx| {
            let now_ms = tx.now_ms();
            for key in &keys {
                if let Some(mut purge) = tx.purge(*key)? {
                    time(&mut purge).get_or_insert(now_ms);
                    purge.put_off.clear();
                    tx.put_purge(&purge)?;
                }
            }
            Ok::<_, StoreError>(())
        });
        Ok(noted?)
    }

    /// Takes out the rows of every memory of a purge, some in a transaction.
    fn rows(&self, purge: &PurgeRecord) -> Result<(), MemoryError> {
        let (mut after, mut done) = (None, 0);
        loop {
            self.go_on()?;
            let ids = self.memory.store().read(|tx| tx.purged_by(purge.key, after, PURGE_STEP_MEMORIES))?;
            let Some(last) = ids.last() else { return Ok(()) };
            (after, done) = (Some(*last), done + ids.len() as u64);
            let memory = self.memory.clone();
            self.memory.store().write_blocking("purge rows", move |tx| ids.iter().try_for_each(|id| remove(&memory, tx, id)))?;
            (self.progress)("purging", done, purge.count);
        }
    }

    /// Takes out the answers kept under idempotency keys that name one of them: a call repeated with such a key is a new one.
    fn answers(&self, purge: &PurgeRecord) -> Result<(), MemoryError> {
        let store = self.memory.store();
        let (mut ids, mut after) = (HashSet::new(), None);
        loop {
            let some = store.read(|tx| tx.purged_by(purge.key, after, PURGE_STEP_ROWS))?;
            let Some(last) = some.last() else { break };
            after = Some(*last);
            ids.extend(some.iter().map(id_text));
        }
        let mut place = None;
        loop {
            self.go_on()?;
            let names = |json: &str| json.split('"').any(|part| part.len() == ID_CHARS && ids.contains(part));
            let (found, next) = store.read(|tx| tx.answers_naming(place, PURGE_STEP_ROWS, &names))?;
            if !found.is_empty() {
                store.write_blocking("purge answers", move |tx| found.iter().try_for_each(|hash| tx.remove_idempotency(hash)))?;
            }
            match next {
                Some(next) => place = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Takes what recalls had put of them into sessions out.
    fn sessions(&self, open: &[PurgeRecord]) -> Result<(), MemoryError> {
        if open.iter().all(|purge| purge.sessions_at_ms.is_some()) {
            return Ok(());
        }
        (self.progress)("purging sessions", 0, 0);
        let changed = self.memory.clean_sessions(open, &|| self.go_on())?;
        let keys: Vec<u64> = open.iter().map(|purge| purge.key).collect();
        let noted = self.memory.store().write_blocking("note a step of a purge", move |tx| {
            let now_ms = tx.now_ms();
            for key in &keys {
                if let Some(mut purge) = tx.purge(*key)? {
                    purge.sessions_at_ms.get_or_insert(now_ms);
                    purge.session_rows += changed;
                    tx.put_purge(&purge)?;
                }
            }
            Ok::<_, StoreError>(())
        });
        Ok(noted?)
    }

    /// Makes a backup and removes the copies that hold one of them.
    fn backups(&self, open: &[PurgeRecord]) -> Result<(), MemoryError> {
        if open.iter().all(|purge| purge.backups_at_ms.is_some()) {
            return Ok(());
        }
        self.go_on()?;
        (self.progress)("backup", 0, 0);
        let store = self.memory.store();
        let made = store.backup_within(self.alone, self.progress, self.stopped)?;
        let keys: Vec<u64> = open.iter().map(|purge| purge.key).collect();
        let removed = store.remove_copies(self.alone, &made.path, &keys, self.stopped)?;
        let noted = store.write_blocking("note the end of a purge", move |tx| {
            let now_ms = tx.now_ms();
            for key in &keys {
                if let Some(mut purge) = tx.purge(*key)? {
                    purge.backups_at_ms.get_or_insert(now_ms);
                    purge.backups_removed = purge.backups_removed.saturating_add(removed.backups);
                    purge.set_aside_removed = purge.set_aside_removed.saturating_add(removed.set_aside);
                    purge.put_off.clear();
                    tx.put_purge(&purge)?;
                }
            }
            Ok::<_, StoreError>(())
        });
        Ok(noted?)
    }
}

/// Characters of an id as text.
const ID_CHARS: usize = 36;

/// Takes out the rows of one memory; nothing where it is gone already.
fn remove(memory: &Memory, tx: &mut WriteTx, id: &[u8; 16]) -> Result<(), StoreError> {
    let Some(key) = tx.key_of_id(id)? else { return Ok(()) };
    let Some(record) = tx.memory(key)? else { return Ok(()) };
    let mut prints: Vec<[u8; 16]> = tx.memory_versions(key)?.iter().map(|v| fingerprint(&canonical(&v.text))).collect();
    prints.sort_unstable();
    prints.dedup();
    tx.remove_memory(&record, &prints)?;
    let memory = memory.clone();
    tx.after_commit(Box::new(move || memory.inner.feedback.set(key, Against::default())));
    Ok(())
}
