//! `store/verify`, `store/backup`, `store/restore` and `store/rebuild`.
//!
//! Must not know: files or formats.

use super::{Timestamp, params, result};

params! {
    /// Params of the store verbs.
    StoreParams {
        /// `store/backup`: where to; the backup folder when absent. `store/restore`: which backup; the newest good one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

params! {
    /// Params of `store/verify`.
    VerifyParams {
        /// Look for this instead: a text, or the id of a memory, in every file of the data and state folders.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absent: Option<String>,
    }
}

result! {
    /// What a search for a text in every file found.
    AbsentResult {
        /// True when it stands nowhere. Where only an id is left to look for, receipts and answers, which name it, do not count.
        ok: bool,
        /// Texts looked for: one, or those of every version of the memory that was named; 0 when only an id is left to look for.
        texts: u64,
        /// Files read.
        files: u64,
        /// Bytes read, decompressed ones too.
        bytes: u64,
        /// Where it stands, the first 100.
        places: Vec<AbsentPlace>,
        /// Files that could not be read, the first 100.
        unread: Vec<String>,
    }
}

result! {
    /// One place where a text stands.
    AbsentPlace {
        /// `memory`, `transcript`, `answer`, `record`, `receipt`, `freePages`, `backup`, `setAside`, `index`, `log`, `config`, `other`.
        kind: String,
        /// The file.
        file: String,
        /// Which memory, session or table of it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
        /// How often, counted up to 1,000.
        count: u64,
        /// What can be done about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    }
}

result! {
    /// Result of `store/verify`.
    VerifyResult {
        /// True when nothing is wrong, with the store or with the index.
        ok: bool,
        /// Records read.
        records: u64,
        /// Memories that are not forgotten.
        memories: u64,
        /// What is wrong with the store, the first 100.
        problems: Vec<String>,
        /// Where the index does not match the store, the first 100. The store is no worse for it: `store/rebuild` makes the index anew.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        index_problems: Vec<String>,
        /// With `absent`: where that text stands. Nothing else was checked then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absent: Option<AbsentResult>,
        /// Milliseconds it took.
        elapsed_ms: u64,
    }
}

result! {
    /// Result of `store/backup`.
    BackupResult {
        /// The file written.
        path: String,
        /// Its size.
        bytes: u64,
        /// Newest sequence in it.
        seq: String,
        /// Backups kept now, newest first.
        kept: Vec<BackupItem>,
    }
}

result! {
    /// One backup.
    BackupItem {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
        /// When it was made.
        created_at: Timestamp,
    }
}

result! {
    /// Result of `store/restore`.
    RestoreResult {
        /// The backup taken.
        from: String,
        /// Where the store it replaced stands now.
        set_aside: String,
        /// Memories in it that are not forgotten.
        memories: u64,
        /// Epoch of the store from now on.
        epoch: u64,
    }
}

result! {
    /// Result of `store/rebuild`.
    RebuildResult {
        /// Memories indexed.
        documents: u64,
        /// Milliseconds it took.
        elapsed_ms: u64,
    }
}
