//! `store/*`: check, back up, restore and rebuild; and the restore of a store that is refused, without serving anybody.
//!
//! Each works on a blocking thread, tells how far it is, and ends when its caller cancels. Must not know: how any of it is done.

use super::call::call;
use super::error::{invalid_params, method_not_found};
use crate::caller::Caller;
use crate::config::Config;
use crate::limits::VERIFY_PROBLEMS_MAX;
use crate::memory::Memory;
use crate::store::{OpenError, OpenOptions, Progress, RestoreReport, Store, StoreError, backup, restore_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tiro_schema::record::AuditRecord;
use tiro_schema::wire::store::{BackupItem, BackupResult, RebuildResult, RestoreResult, StoreParams, VerifyResult};
use tiro_schema::{ErrorKind, ErrorObject};

/// Answers a method of the group `store`.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(store: &Store, memory: &Memory, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
    let verbs = Verbs { store: store.clone(), memory: memory.clone(), caller };
    match method {
        "store/verify" => call(params, |p| blocking(verbs, p, Verbs::verify)).await,
        "store/backup" => call(params, |p| blocking(verbs, p, Verbs::backup)).await,
        "store/restore" => call(params, |p| blocking(verbs, p, Verbs::restore)).await,
        "store/rebuild" => call(params, |p| blocking(verbs, p, Verbs::rebuild)).await,
        _ => Err(method_not_found(method)),
    }
}

async fn blocking<R: Send + 'static>(
    verbs: Verbs,
    params: StoreParams,
    verb: fn(&Verbs, Option<PathBuf>) -> Result<R, ErrorObject>,
) -> Result<R, ErrorObject> {
    let path = params.path.map(PathBuf::from);
    if path.as_ref().is_some_and(|path| !path.is_absolute()) {
        return Err(invalid_params("path", "give an absolute path: the daemon's folder is not yours"));
    }
    let done = tokio::task::spawn_blocking(move || verb(&verbs, path)).await;
    done.unwrap_or_else(|_| Err(ErrorObject::new(ErrorKind::Internal, "the work on the store failed by a fault of the daemon")))
}

/// The verbs of one call.
struct Verbs {
    store: Store,
    memory: Memory,
    caller: Caller,
}

impl Verbs {
    fn progress(&self) -> Progress {
        let caller = self.caller.clone();
        Arc::new(move |stage, done, total| caller.tell(stage, done, (total > 0).then_some(total)))
    }

    fn cancelled(&self) -> impl Fn() -> bool + '_ {
        || self.caller.cancel.is_cancelled()
    }

    fn audit(&self, method: &str, write: bool) {
        let at_ms = self.store.now_ms();
        let actor = self.caller.actor.clone();
        self.store.audit_read(AuditRecord { at_ms, method: method.to_owned(), write, actor, ..AuditRecord::default() });
    }

    fn verify(&self, path: Option<PathBuf>) -> Result<VerifyResult, ErrorObject> {
        no_path(path)?;
        let began = Instant::now();
        let report = self.store.verify(None, &self.progress(), &self.cancelled())?;
        let mut problems = report.problems;
        if report.damage.is_none() {
            problems.extend(self.memory.verify_index(&|stage, done, total| self.caller.tell(stage, done, Some(total)))?);
        }
        problems.truncate(VERIFY_PROBLEMS_MAX);
        self.audit("store/verify", false);
        Ok(VerifyResult {
            ok: problems.is_empty(),
            records: report.records,
            memories: report.memories,
            problems,
            elapsed_ms: elapsed_ms(began),
        })
    }

    fn backup(&self, path: Option<PathBuf>) -> Result<BackupResult, ErrorObject> {
        let report = self.store.backup(path.as_deref(), &self.progress(), &self.cancelled()).map_err(about_path)?;
        self.audit("store/backup", false);
        let kept = self.store.backups().into_iter().map(|backup| BackupItem {
            created_at: backup::made_at(&backup),
            bytes: backup.bytes,
            path: backup.path.display().to_string(),
        });
        Ok(BackupResult {
            path: report.path.display().to_string(),
            bytes: report.bytes,
            seq: self.store.seq_token(report.seq),
            kept: kept.collect(),
        })
    }

    fn restore(&self, path: Option<PathBuf>) -> Result<RestoreResult, ErrorObject> {
        let report = self.store.restore(path.as_deref(), &self.progress(), &self.cancelled()).map_err(about_path)?;
        self.audit("store/restore", true);
        Ok(restored(report))
    }

    fn rebuild(&self, path: Option<PathBuf>) -> Result<RebuildResult, ErrorObject> {
        no_path(path)?;
        let began = Instant::now();
        let _alone = self.store.long_work()?;
        let documents = self.memory.rebuild(&|stage, done, total| self.caller.tell(stage, done, Some(total)))?;
        self.audit("store/rebuild", false);
        Ok(RebuildResult { documents, elapsed_ms: elapsed_ms(began) })
    }
}

fn restored(report: RestoreReport) -> RestoreResult {
    RestoreResult {
        from: report.from.display().to_string(),
        set_aside: report.set_aside.map(|path| path.display().to_string()).unwrap_or_default(),
        memories: report.memories,
        epoch: report.epoch,
    }
}

fn no_path(path: Option<PathBuf>) -> Result<(), ErrorObject> {
    path.map_or(Ok(()), |_| Err(invalid_params("path", "this method takes no path")))
}

/// What the store's rules refuse here is about the path, or about there being no backup.
fn about_path(error: StoreError) -> ErrorObject {
    match error {
        StoreError::Invalid(message) => {
            ErrorObject::new(ErrorKind::NotFound, message).with_hint("name another file, or make a backup: tiro store backup")
        }
        other => other.into(),
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Puts a backup in the place of a store that no daemon serves; the result as JSON, or a message and an exit code of `tirod`.
///
/// # Errors
/// 7 when a daemon has the store, 3 when there is no good backup, 1 otherwise.
pub fn restore_offline(config: &Config, backup: Option<&Path>) -> Result<String, (String, u8)> {
    let dir = &config.places.data_dir;
    let report = restore_folder(dir, backup, &OpenOptions::default()).map_err(|error| {
        let code = match &error {
            OpenError::InUse { .. } => 7,
            OpenError::Store { source: StoreError::Invalid(_), .. } => 3,
            _ => 1,
        };
        (error.to_string(), code)
    })?;
    serde_json::to_string(&restored(report)).map_err(|error| (error.to_string(), 1))
}
