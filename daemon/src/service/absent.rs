//! `store/verify` with `absent`: where a text stands, or what a memory says and said: rows, every file, and what compressed files hold.
//!
//! The text is neither logged nor kept. Must not know: formats of files.

use crate::limits::ABSENT_PLACES_MAX;
use crate::memory::Memory;
use crate::store::absent::{Needles, in_files};
use crate::store::{INDEX_FOLDER, Progress, STORE_FILE, Store, StoreError, backup::BACKUP_FOLDER};
use std::path::{Path, PathBuf};
use tiro_schema::ErrorObject;
use tiro_schema::wire::store::{AbsentPlace, AbsentResult};

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) store: &'a Store,
    pub(super) folders: &'a [PathBuf],
    pub(super) progress: &'a Progress,
}

impl Search<'_> {
    /// Looks everywhere. Blocks.
    ///
    /// # Errors
    /// The store's, `cancelled`.
    pub(super) fn run(&self, memory: &Memory, asked: &str, cancelled: &dyn Fn() -> bool) -> Result<AbsentResult, ErrorObject> {
        let (texts, raw) = memory.looked_for(asked)?;
        // Where an id is left to look for, what names it is no trace of words.
        let memory_id: Option<[u8; 16]> = raw.first().and_then(|id| id.as_slice().try_into().ok());
        let needles = Needles::new(&texts, &raw)?;
        let told = |stage: &'static str| move |done, total| (self.progress)(stage, done, total);
        let rows = self.store.rows_with(&needles, &told("records"), cancelled)?;
        let mut places: Vec<AbsentPlace> = rows
            .iter()
            .map(|((kind, what), count)| AbsentPlace {
                kind: (*kind).to_owned(),
                file: shown(&self.store.dir().join(STORE_FILE)),
                what: Some(what.clone()),
                count: *count,
                hint: hint(kind),
            })
            .collect();
        let mut files = in_files(self.folders, &needles, &told("files"), cancelled)?;
        for found in &files.found {
            let kind = self.kind(&found.path);
            if kind == "freePages" && !rows.is_empty() {
                continue;
            }
            let is_copy = matches!(kind, "backup" | "setAside");
            let kind = match memory_id.filter(|_| is_copy) {
                Some(id) if !self.store.copy_has(&found.path, &id).unwrap_or(true) => "receipt",
                _ => kind,
            };
            let (kind, file) = (kind.to_owned(), shown(&found.path));
            places.push(AbsentPlace { hint: hint(&kind), kind, file, what: None, count: found.count });
        }
        let (mut inside, mut bytes) = (0, 0);
        let read = memory.index_stored(&mut |stored| {
            bytes += stored.len() as u64;
            inside += u64::from(needles.stand_in(stored));
            !cancelled()
        });
        if let Err(error) = read {
            files.unread.push(error.to_string());
        }
        if cancelled() {
            return Err(StoreError::Interrupted.into());
        }
        if inside > 0 {
            let file = shown(&self.store.dir().join(INDEX_FOLDER));
            places.push(AbsentPlace { kind: "index".to_owned(), file, what: None, count: inside, hint: hint("index") });
        }
        files.unread.truncate(ABSENT_PLACES_MAX);
        let ok = files.unread.is_empty() && places.iter().all(|place| names_alone(&place.kind) && memory_id.is_some());
        places.truncate(ABSENT_PLACES_MAX);
        let (files_read, bytes) = (files.files, files.bytes + bytes);
        Ok(AbsentResult { ok, texts: texts.len() as u64, files: files_read, bytes, places, unread: files.unread })
    }

    /// What a file is.
    fn kind(&self, path: &Path) -> &'static str {
        let dir = self.store.dir();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match () {
            () if path == dir.join(STORE_FILE) => "freePages",
            () if path.starts_with(dir.join(BACKUP_FOLDER)) => "backup",
            () if path.starts_with(dir.join(INDEX_FOLDER)) => "index",
            () if path.starts_with(&dir) && name.ends_with(".replaced") => "setAside",
            () if name.contains(".log") => "log",
            () => "other",
        }
    }
}

/// Whether a place names memories and holds no words of them.
fn names_alone(kind: &str) -> bool {
    matches!(kind, "receipt" | "answer")
}

/// What can be done about a place.
fn hint(kind: &str) -> Option<String> {
    let hint = match kind {
        "memory" => "forget it with purge: tiro forget --purge ID",
        "transcript" => "somebody said or wrote it in a conversation: tiro session delete ID takes the whole conversation away",
        "freePages" => "left in the store file by what was removed: the next purge rewrites it (tiro store purge)",
        "backup" | "setAside" => "a copy of an earlier store: delete the file, or purge what it holds",
        "index" => "tiro store rebuild makes the index anew",
        "answer" => "it lapses within seven days",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
