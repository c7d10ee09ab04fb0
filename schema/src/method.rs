//! The table of methods and notifications: names, what they do, and their schemas, generated from the types.
//!
//! Must not know: who answers them.

use crate::error::ErrorKind;
use crate::wire::daemon::{ErrorSchema, MethodSchema, NoParams, NotificationSchema, SchemaResult, ShutdownResult, StatusResult};
use crate::wire::embedder::*;
use crate::wire::event::{Draining, EventsGap, ItemDelta, ItemEvent, TurnEvent};
use crate::wire::memory::*;
use crate::wire::question::*;
use crate::wire::results::*;
use crate::wire::session::*;
use crate::wire::space::*;
use crate::wire::store::*;
use crate::wire::turn::*;
use crate::wire::{CancelParams, InitializeParams, InitializeResult, Progress, ProtocolRange};
use schemars::{JsonSchema, schema_for};

/// Whether a method changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only looks.
    Read,
    /// It changes something and takes an idempotency key.
    Write,
}

fn method<P: JsonSchema, R: JsonSchema>(name: &str, access: Access, summary: &str) -> MethodSchema {
    MethodSchema {
        name: name.to_owned(),
        summary: summary.to_owned(),
        write: access == Access::Write,
        params: schema_for!(P).to_value(),
        result: schema_for!(R).to_value(),
    }
}

fn notification<P: JsonSchema>(name: &str, summary: &str) -> NotificationSchema {
    NotificationSchema { name: name.to_owned(), summary: summary.to_owned(), params: schema_for!(P).to_value() }
}

/// Every method of this build.
pub fn methods() -> Vec<MethodSchema> {
    use Access::{Read, Write};
    vec![
        method::<InitializeParams, InitializeResult>("initialize", Read, "begin: agree on a protocol version"),
        method::<NoParams, StatusResult>("daemon/status", Read, "what the daemon is doing; answered before initialize too"),
        method::<NoParams, ShutdownResult>("daemon/shutdown", Read, "stop the daemon; answered before initialize too"),
        method::<NoParams, SchemaResult>("daemon/schema", Read, "this description"),
        method::<RememberParams, RememberResult>("memory/remember", Write, "keep a text"),
        method::<RememberManyParams, RememberManyResult>(
            "memory/rememberMany",
            Write,
            "keep several texts; one bad item fails alone",
        ),
        method::<RecallParams, RecallResult>("memory/recall", Read, "find what fits a question"),
        method::<RecallParams, ContextResult>("memory/context", Read, "the same as one block for a prompt"),
        method::<GetParams, Memory>("memory/get", Read, "one memory, whole"),
        method::<ListParams, ListResult>("memory/list", Read, "memories of a space, page by page"),
        method::<UpdateParams, VersionResult>("memory/update", Write, "change a memory"),
        method::<SupersedeParams, SupersedeResult>("memory/supersede", Write, "put a new memory in the place of one"),
        method::<IdsParams, SeqResult>("memory/pin", Write, "keep memories from decaying, or take the pin away"),
        method::<IdsParams, SeqResult>("memory/archive", Write, "put memories away"),
        method::<IdsParams, SeqResult>("memory/restore", Write, "bring memories back from the archive"),
        method::<ForgetParams, ForgetResult>("memory/forget", Write, "hide memories everywhere at once"),
        method::<UndoParams, VersionResult>("memory/undo", Write, "take back the last change of a memory"),
        method::<HistoryParams, HistoryResult>("memory/history", Read, "versions of a memory, what came before and after it"),
        method::<ConflictsParams, ConflictsResult>("memory/conflicts", Read, "pairs of memories that cannot both hold"),
        method::<ResolveParams, VersionResult>("memory/resolve", Write, "settle a conflict"),
        method::<FeedbackParams, SeqResult>("memory/feedback", Write, "say what became of the hits of a recall"),
        method::<MergeParams, VersionResult>("memory/merge", Write, "put several memories into one"),
        method::<StatsParams, StatsResult>("memory/stats", Read, "counts of a space, and the state of the index for it"),
        method::<AuditParams, AuditResult>("memory/audit", Read, "who read and wrote what, newest first"),
        method::<ExportParams, ExportResult>("memory/export", Read, "memories as lines that import takes"),
        method::<ImportParams, ImportResult>("memory/import", Write, "keep a batch of exported lines"),
        method::<ReceiptsParams, ReceiptsResult>("memory/receipts", Read, "what was purged, and when each place was without it"),
        method::<SpaceListParams, SpaceListResult>("space/list", Read, "the spaces there are"),
        method::<SpaceUpdateParams, SpaceUpdateResult>("space/update", Write, "change the rules of a space"),
        method::<SpaceDeleteParams, ForgetResult>("space/delete", Write, "forget every memory of a space"),
        method::<VerifyParams, VerifyResult>(
            "store/verify",
            Read,
            "check every record, page and index entry; or look for a text in every file",
        ),
        method::<StoreParams, BackupResult>("store/backup", Read, "copy the store into one file"),
        method::<StoreParams, RestoreResult>("store/restore", Write, "put a backup in the place of the store"),
        method::<StoreParams, RebuildResult>("store/rebuild", Read, "make the indexes again from the store"),
        method::<NoParams, EmbedderListResult>(
            "embedder/list",
            Read,
            "models that make vectors, which serves, and how far it is",
        ),
        method::<EmbedderAddParams, EmbedderReport>("embedder/add", Read, "try a folder's model out and copy it in"),
        method::<EmbedderNameParams, EmbedderReport>(
            "embedder/check",
            Read,
            "check a model's files and run sentences through it",
        ),
        method::<EmbedderUseParams, EmbedderUseResult>("embedder/use", Read, "choose who makes vectors, now and at every start"),
        method::<EmbedderNameParams, EmbedderRemoveResult>("embedder/remove", Read, "remove a model that is not in use"),
        method::<PurgeParams, PurgeResult>("store/purge", Write, "take forgotten memories out physically, now"),
        method::<SessionNewParams, SessionNewResult>("session/new", Write, "begin a session"),
        method::<SessionIdParams, Session>("session/get", Read, "metadata of a session"),
        method::<SessionListParams, SessionListResult>("session/list", Read, "sessions of a space, newest first"),
        method::<SessionUpdateParams, Session>("session/update", Write, "change title, model or spaces read"),
        method::<SessionDeleteParams, SessionDeleteResult>("session/delete", Write, "remove a session with its messages"),
        method::<SessionMessagesParams, SessionMessagesResult>("session/messages", Read, "messages of a session, oldest first"),
        method::<SessionForkParams, SessionNewResult>("session/fork", Write, "a session again, up to a turn"),
        method::<SessionIdParams, SessionFieldsResult>("session/fields", Read, "what was stated, and where the task stands"),
        method::<SessionSearchParams, SessionSearchResult>("session/search", Read, "messages of a space by words"),
        method::<SessionExportParams, SessionExportResult>("session/export", Read, "a session as lines"),
        method::<SessionAttachParams, SessionAttachResult>("session/attach", Read, "replay events and follow live ones"),
        method::<SessionIdParams, Empty>("session/detach", Read, "stop following"),
        method::<QuestionListParams, QuestionListResult>("question/list", Read, "questions of turns to a person"),
        method::<QuestionRespondParams, QuestionRespondResult>("question/respond", Write, "answer a question"),
        method::<ResultGetParams, StoredResult>("result/get", Read, "a stored result, or a part of it"),
        method::<ResultSearchParams, ResultSearchResult>("result/search", Read, "passages of results, by words and time"),
        method::<TurnStartParams, TurnStartResult>("turn/start", Write, "say something; answers at once"),
        method::<TurnSteerParams, TurnStartResult>("turn/steer", Write, "say something to a turn that runs"),
        method::<TurnWaitParams, Turn>("turn/wait", Read, "wait for the end of a turn"),
        method::<TurnIdParams, Turn>("turn/get", Read, "a turn as it stands"),
        method::<TurnIdParams, Turn>("turn/interrupt", Read, "end a turn"),
    ]
}

/// Every notification of this build, both ways.
pub fn notifications() -> Vec<NotificationSchema> {
    vec![
        notification::<CancelParams>("$/cancel_request", "client to daemon: cancel a request"),
        notification::<Progress>("progress", "how far a long request is"),
        notification::<TurnEvent>("turn/started", "a turn began to run"),
        notification::<ItemEvent>("item/started", "an item began"),
        notification::<ItemDelta>("item/delta", "more of an item"),
        notification::<ItemEvent>("item/completed", "an item is whole"),
        notification::<TurnEvent>("turn/completed", "a turn ended"),
        notification::<QuestionEvent>("question/pending", "a turn asks a person something"),
        notification::<QuestionEvent>("question/resolved", "a question was answered or taken back"),
        notification::<EventsGap>("events/gap", "live events were dropped; attach again"),
        notification::<Draining>("daemon/draining", "the daemon stops"),
    ]
}

/// The whole description, as `daemon/schema` answers it.
pub fn description() -> SchemaResult {
    SchemaResult {
        protocol: ProtocolRange { min: crate::PROTOCOL_MIN, max: crate::PROTOCOL_MAX },
        methods: methods(),
        notifications: notifications(),
        errors: ErrorKind::ALL
            .iter()
            .map(|k| ErrorSchema {
                code: k.code(),
                kind: k.name().to_owned(),
                retryable: k.retryable(),
                hint: k.hint().to_owned(),
            })
            .collect(),
    }
}
