//! `store/verify`, `store/backup`, `store/restore`, `store/rebuild` and `store/purge`: long work, one at a time, with progress.
//!
//! Each runs on a thread of its own and goes on there when its caller has gone; a caller that cancels ends it at the next step.
//! Must not know: files or formats.

use super::absent::Search;
use super::call::{call, read_params, write_result};
use super::error::{invalid_params, method_not_found};
use crate::caller::Caller;
use crate::limits::ABSENT_BYTES_MIN;
use crate::memory::Memory;
use crate::store::{Progress, Store, StoreError, backup::made_at};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tiro_schema::record::AuditRecord;
use tiro_schema::wire::store::{BackupItem, BackupResult, RebuildResult, RestoreResult, StoreParams, VerifyParams, VerifyResult};
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::sync::Mutex;

/// Problems an answer lists.
const PROBLEMS_LISTED_MAX: usize = 100;

/// What looks after the store of a service. Cheap to clone.
#[derive(Clone)]
pub struct StoreCare {
    store: Store,
    memory: Memory,
    busy: Arc<Mutex<()>>,
    /// Folders in which `store/verify` looks for a text.
    folders: Arc<Vec<PathBuf>>,
}

/// One piece of work with its caller.
struct Work {
    care: StoreCare,
    caller: Caller,
    path: Option<PathBuf>,
    absent: Option<String>,
}

impl StoreCare {
    /// Of this store and its memory. `folders` are those in which a text is looked for.
    pub fn new(store: Store, memory: Memory, folders: Vec<PathBuf>) -> Self {
        StoreCare { store, memory, busy: Arc::default(), folders: Arc::new(folders) }
    }

    /// Answers a method of the group `store`.
    ///
    /// # Errors
    /// `overloaded` while another one runs; what the store says; `methodNotFound` for a name that is not built.
    pub async fn dispatch(&self, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
        let verb: fn(&Work) -> Result<Value, ErrorObject> = match method {
            "store/purge" => {
                let memory = &self.memory;
                return call(params, |p| async move { memory.purge(&caller, p).await }).await;
            }
            "store/verify" => |work| write_result(work.verify()?),
            "store/backup" => |work| write_result(work.backup()?),
            "store/restore" => |work| write_result(work.restore()?),
            "store/rebuild" => |work| write_result(work.rebuild()?),
            _ => return Err(method_not_found(method)),
        };
        let (path, absent) = match method {
            "store/verify" => (None, read_params::<VerifyParams>(params)?.absent),
            _ => (read_params::<StoreParams>(params)?.path, None),
        };
        let path = path.map(PathBuf::from);
        if path.as_deref().is_some_and(|path| !path.is_absolute()) {
            return Err(invalid_params("path", "not an absolute path: the daemon has another current folder than its caller"));
        }
        if absent.as_ref().is_some_and(|absent| absent.len() < ABSENT_BYTES_MIN) {
            return Err(invalid_params("absent", "at least four bytes: less stands everywhere by chance"));
        }
        if path.is_some() && !takes_path(method) {
            return Err(invalid_params("path", "this method takes none"));
        }
        let Ok(busy) = self.busy.clone().try_lock_owned() else {
            return Err(ErrorObject::new(ErrorKind::Overloaded, "another store operation is running"));
        };
        let work = Work { care: self.clone(), caller, path, absent };
        let named = method.to_owned();
        let done = tokio::task::spawn_blocking(move || {
            let _busy = busy;
            let answer = verb(&work);
            if answer.is_ok() {
                work.audit(&named);
            }
            answer
        });
        done.await
            .unwrap_or_else(|_| Err(ErrorObject::new(ErrorKind::Internal, format!("{method} failed by a fault of the daemon"))))
    }
}

impl Work {
    fn progress(&self) -> Progress {
        let caller = self.caller.clone();
        Arc::new(move |stage: &str, done, total: u64| caller.tell(stage, done, (total > 0).then_some(total)))
    }

    fn is_cancelled(&self) -> bool {
        self.caller.cancel.is_cancelled()
    }

    /// What was done goes into the audit of the store as it is afterwards.
    fn audit(&self, method: &str) {
        let store = &self.care.store;
        let (at_ms, actor) = (store.now_ms(), self.caller.actor.clone());
        let write = method == "store/restore";
        store.audit_read(AuditRecord { at_ms, method: method.to_owned(), write, actor, ..AuditRecord::default() });
    }

    fn verify(&self) -> Result<VerifyResult, ErrorObject> {
        let progress = self.progress();
        let began = Instant::now();
        if let Some(asked) = &self.absent {
            return self.absent(asked, began);
        }
        let report = self.care.store.verify(None, &progress, &|| self.is_cancelled())?;
        let mut problems = report.problems;
        // A damaged store closes itself: the index cannot be held against it.
        let mut index_problems = match report.damage {
            None => self.care.memory.verify_index(&|stage, done, total| progress(stage, done, total))?,
            Some(_) => Vec::new(),
        };
        problems.truncate(PROBLEMS_LISTED_MAX);
        index_problems.truncate(PROBLEMS_LISTED_MAX);
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(VerifyResult {
            ok: problems.is_empty() && index_problems.is_empty(),
            records: report.records,
            memories: report.memories,
            problems,
            index_problems,
            absent: None,
            elapsed_ms,
        })
    }

    /// Where a text, or what a memory says and said, stands.
    fn absent(&self, asked: &str, began: Instant) -> Result<VerifyResult, ErrorObject> {
        let progress = self.progress();
        let search = Search { store: &self.care.store, folders: &self.care.folders, progress: &progress };
        let absent = search.run(&self.care.memory, asked, &|| self.is_cancelled())?;
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (ok, problems) = (absent.ok, Vec::new());
        Ok(VerifyResult { ok, records: 0, memories: 0, problems, index_problems: Vec::new(), absent: Some(absent), elapsed_ms })
    }

    fn backup(&self) -> Result<BackupResult, ErrorObject> {
        let store = &self.care.store;
        let report = store.backup(self.path.as_deref(), &self.progress(), &|| self.is_cancelled()).map_err(about_path)?;
        let kept = store.backups();
        let kept = kept.iter().map(|b| BackupItem { path: shown(&b.path), bytes: b.bytes, created_at: made_at(b) });
        let seq = store.seq_token(report.seq);
        Ok(BackupResult { path: shown(&report.path), bytes: report.bytes, seq, kept: kept.collect() })
    }

    fn restore(&self) -> Result<RestoreResult, ErrorObject> {
        let report =
            self.care.store.restore(self.path.as_deref(), &self.progress(), &|| self.is_cancelled()).map_err(about_path)?;
        Ok(RestoreResult {
            from: shown(&report.from),
            set_aside: report.set_aside.as_deref().map(shown).unwrap_or_default(),
            memories: report.memories,
            epoch: report.epoch,
        })
    }

    fn rebuild(&self) -> Result<RebuildResult, ErrorObject> {
        let progress = self.progress();
        let began = Instant::now();
        let documents = self.care.memory.rebuild(&|stage, done, total| progress(stage, done, total))?;
        Ok(RebuildResult { documents, elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX) })
    }
}

fn takes_path(method: &str) -> bool {
    matches!(method, "store/backup" | "store/restore")
}

/// What the store's rules refuse here is about the file named, or about there being no backup.
fn about_path(error: StoreError) -> ErrorObject {
    match error {
        StoreError::Invalid(message) => {
            invalid_params("path", &message).with_hint("name another file; `tiro store backup` makes one where it knows")
        }
        StoreError::Missing(message) => {
            ErrorObject::new(ErrorKind::NotFound, message).with_hint("name another file, or make a backup: tiro store backup")
        }
        other => other.into(),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
