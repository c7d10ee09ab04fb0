//! One write in the queue: its closure, and where its answer goes.
//!
//! Must not know: transactions other than the one it is handed.

use super::error::{StoreError, WriteFailure};
use super::rows::panic_text;
use super::write_tx::WriteTx;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// How a job's run ended.
pub(super) enum Ran {
    /// It did what it is for.
    Done,
    /// It refused.
    Refused,
    /// It panicked.
    Panicked(String),
}

/// What became of a transaction.
#[derive(Clone)]
pub(super) enum Fate {
    /// It is durable.
    Committed,
    /// It was taken back, or never begun.
    NotDone(StoreError),
    /// Its commit failed.
    Unknown(StoreError),
}

/// A write in the queue.
pub(super) trait Job: Send {
    fn label(&self) -> &'static str;
    fn run(&mut self, tx: &mut WriteTx) -> Ran;
    fn answer(self: Box<Self>, fate: Fate);
}

/// The answer to a write.
pub(super) type Answer<R, E> = Result<R, WriteFailure<E>>;

/// A write of one type.
pub(super) struct TypedJob<R, E, F> {
    label: &'static str,
    job: F,
    result: Option<Result<R, E>>,
    reply: oneshot::Sender<Answer<R, E>>,
}

impl<R, E, F> TypedJob<R, E, F> {
    pub(super) fn new(label: &'static str, job: F) -> (Self, oneshot::Receiver<Answer<R, E>>) {
        let (reply, answer) = oneshot::channel();
        (TypedJob { label, job, result: None, reply }, answer)
    }
}

impl<R, E, F> Job for TypedJob<R, E, F>
where
    R: Send,
    E: Send,
    F: FnMut(&mut WriteTx) -> Result<R, E> + Send,
{
    fn label(&self) -> &'static str {
        self.label
    }

    fn run(&mut self, tx: &mut WriteTx) -> Ran {
        self.result = None;
        match catch_unwind(AssertUnwindSafe(|| (self.job)(tx))) {
            Ok(result) => {
                let ran = if result.is_ok() { Ran::Done } else { Ran::Refused };
                self.result = Some(result);
                ran
            }
            Err(panic) => Ran::Panicked(panic_text(&*panic)),
        }
    }

    fn answer(self: Box<Self>, fate: Fate) {
        let refused = matches!(self.result, Some(Err(_)));
        let answer = match (fate, self.result) {
            (Fate::Committed, Some(Ok(result))) => Ok(result),
            (Fate::Committed, Some(Err(error))) => Err(WriteFailure::Job(error)),
            // A refusal may rest on what another job of the same transaction wrote, so it is only given when that is durable.
            (Fate::Unknown(error), _) if refused => Err(WriteFailure::not_done(error)),
            (Fate::Unknown(error), _) => Err(WriteFailure::Unknown(error)),
            (Fate::NotDone(error), _) => Err(WriteFailure::not_done(error)),
            (Fate::Committed, None) => Err(WriteFailure::not_done(StoreError::Interrupted)),
        };
        // The caller may have gone; the write stands all the same.
        let _ = self.reply.send(answer);
    }
}
