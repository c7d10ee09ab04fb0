//! Who calls, and how the call can be followed and cancelled: handed down with every verb.
//!
//! Must not know: sockets, methods, or what the call does.

use std::sync::Arc;
use tiro_schema::record::ActorRecord;
use tokio_util::sync::CancellationToken;

/// Takes news of a long call: the stage, units done, units in all where known. Must not block.
pub type ProgressSink = Arc<dyn Fn(&str, u64, Option<u64>) + Send + Sync>;

/// The caller of one request.
#[derive(Clone)]
pub struct Caller {
    /// Who it is, for the audit.
    pub actor: ActorRecord,
    /// Where progress goes, when the caller asked for it.
    pub progress: Option<ProgressSink>,
    /// Cancelled when the caller cancels the request or goes away.
    pub cancel: CancellationToken,
    /// Cancelled once the answer is on its way: what has to follow an answer waits for it.
    pub answered: CancellationToken,
}

impl Caller {
    /// The daemon itself, for what it does on its own account.
    pub fn daemon() -> Self {
        Caller {
            actor: ActorRecord {
                uid: nix::unistd::getuid().as_raw(),
                pid: nix::unistd::getpid().as_raw(),
                executable: String::new(),
                client: "tirod".to_owned(),
            },
            progress: None,
            cancel: CancellationToken::new(),
            answered: CancellationToken::new(),
        }
    }

    /// Tells how far the call is, to a caller that asked.
    pub fn tell(&self, stage: &str, done: u64, total: Option<u64>) {
        if let Some(progress) = &self.progress {
            progress(stage, done, total);
        }
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("actor", &self.actor).finish_non_exhaustive()
    }
}
