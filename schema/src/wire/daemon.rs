//! `daemon/status`, `daemon/shutdown` and `daemon/schema`. The first two never change shape.
//!
//! Must not know: how the daemon runs.

use super::{ProgramInfo, ProtocolRange, Timestamp, params, result};
use serde_json::Value;

params! {
    /// Params of methods that take none.
    NoParams {}
}

result! {
    /// The model in use, or how to set one up.
    ModelState {
        /// True when prompts can be answered.
        configured: bool,
        /// Provider: `openai`, `scripted`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Name of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its address, without credentials.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_url: Option<String>,
        /// Where this choice comes from, or how to make one.
        reason: String,
    }
}

result! {
    /// State of the derived indexes, over all spaces.
    IndexState {
        /// Documents the index answers from: a memory is one, a long one several.
        documents: u64,
        /// Of these, and of removals, not yet in tantivy.
        overlay: u64,
        /// Newest sequence searched.
        applied_seq: u64,
        /// Newest sequence committed to tantivy.
        tantivy_seq: u64,
        /// Newest sequence in a snapshot.
        snapshot_seq: u64,
        /// Spaces whose vectors hnsw serves; the exact scan serves the others.
        hnsw_spaces: u64,
        /// Why answers may be less than whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        degraded: Option<String>,
    }
}

result! {
    /// Vectors of the model that `[embedding]` names beside the built-in table.
    #[derive(Default)]
    EmbeddingState {
        /// The model's id; empty when it cannot be used.
        model: String,
        /// Where it is, without credentials.
        location: String,
        /// `preparing`, `embedding`, `ready`, `waiting` (it does not answer), `givenUp`, `unusable`.
        state: String,
        /// Documents that have its vector; the built-in table's serve the others.
        done: u64,
        /// Documents in all.
        total: u64,
        /// Memories whose vectors were refused at the door.
        refused: u64,
        /// Why it does not go on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    }
}

result! {
    /// Result of `daemon/status`.
    StatusResult {
        /// The daemon.
        daemon: ProgramInfo,
        /// Versions it speaks.
        protocol: ProtocolRange,
        /// Its process.
        pid: u32,
        /// `starting`, `ready`, `draining`, `readOnly`, `damaged`.
        state: String,
        /// Since when.
        started_at: Timestamp,
        /// The socket it answers on.
        socket: String,
        /// The folder of its store.
        data_dir: String,
        /// Connections now.
        clients: u64,
        /// Id and newest sequence of the store; absent while it opens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        store: Option<super::StoreInfo>,
        /// The model.
        model: ModelState,
        /// The embedder's model id.
        embedder: String,
        /// The model beside the built-in table; absent where the table serves alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        embedding: Option<EmbeddingState>,
        /// Resident memory in bytes.
        resident_bytes: u64,
        /// Bytes of the store file; absent while it opens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        store_bytes: Option<u64>,
        /// Bytes of the index folder; absent while the store opens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index_bytes: Option<u64>,
        /// State of the indexes, over all spaces; absent while the store opens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<IndexState>,
        /// Name of the last backup, when there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_backup_at: Option<Timestamp>,
        /// How far the opening of the store is; only while `starting`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        starting: Option<StartProgress>,
    }
}

result! {
    /// How far the opening of the store is.
    StartProgress {
        /// What is being done.
        stage: String,
        /// Units done.
        done: u64,
        /// Units in all, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    }
}

result! {
    /// Result of `daemon/shutdown`: the daemon stops after it.
    ShutdownResult {
        /// Always true.
        stopping: bool,
    }
}

result! {
    /// One method of this daemon.
    MethodSchema {
        /// Its name.
        name: String,
        /// What it does, one line.
        summary: String,
        /// True when it changes something and so takes `key`.
        write: bool,
        /// JSON Schema of its params.
        params: Value,
        /// JSON Schema of its result.
        result: Value,
    }
}

result! {
    /// One notification of this daemon.
    NotificationSchema {
        /// Its name.
        name: String,
        /// When it is sent.
        summary: String,
        /// JSON Schema of its params.
        params: Value,
    }
}

result! {
    /// One error kind.
    ErrorSchema {
        /// JSON-RPC code.
        code: i32,
        /// `data.kind`.
        kind: String,
        /// `data.retryable`.
        retryable: bool,
        /// Its usual hint.
        hint: String,
    }
}

result! {
    /// Result of `daemon/schema`.
    SchemaResult {
        /// Versions it describes.
        protocol: ProtocolRange,
        /// Every method.
        methods: Vec<MethodSchema>,
        /// Every notification.
        notifications: Vec<NotificationSchema>,
        /// Every error.
        errors: Vec<ErrorSchema>,
    }
}
