//! One connection from its first byte to its last.
//!
//! Lines are read in order; requests are answered concurrently, so answers come in any order and carry their ids. A
//! client that needs one call to see another waits for its answer. A client that does not read its answers is read no
//! further. Must not know: what any method does.

use super::budget::Share;
use super::frame::{FrameBuffer, Overlong};
use super::handshake::{self, Agreement};
use super::inflight::{InFlight, Rejected};
use super::message::{self, Incoming, Refusal, Request, over_limit, shorten};
use super::request::Desk;
use super::{Front, writer};
use crate::connection::ConnectionHandle;
use crate::limits::{FIRST_FRAME_MS_MAX, FRAME_BYTES_MAX, FRAME_MS_MAX, LINGER_MS_MAX, READ_BYTES};
use crate::service::call::write_result;
use crate::service::error::with_write_outcome;
use crate::service::no_secret::safe_name;
use nix::sys::socket::{Shutdown, shutdown};
use serde_json::{Map, Value};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tiro_schema::wire::CancelParams;
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Why a connection ends.
enum End {
    /// The client sends no more.
    Eof,
    /// The client is gone, or the writer gave up on it.
    Gone,
    /// It broke a limit.
    Broken(Refusal),
    /// The daemon stops.
    Closing,
}

/// Serves one connection to its end.
pub async fn serve(front: &Arc<Front>, stream: UnixStream, handle: ConnectionHandle) {
    let stream = Arc::new(stream);
    let writing = tokio::spawn({
        let (stream, handle) = (stream.clone(), handle.clone());
        async move { writer::write(&stream, &handle).await }
    });
    let desk = Arc::new(Desk {
        front: front.clone(),
        handle,
        stream,
        inflight: InFlight::new(front.abort.child_token()),
        waiting: AtomicUsize::new(0),
    });
    let mut conversation = Conversation {
        desk: desk.clone(),
        buffer: FrameBuffer::default(),
        share: Share::of(&front.budget),
        agreement: None,
        tasks: TaskTracker::new(),
        first_line_seen: false,
        line_due_at: Some(Instant::now() + Duration::from_millis(FIRST_FRAME_MS_MAX)),
    };
    let end = conversation.read().await;
    conversation.end(end).await;
    desk.handle.close();
    // The writer ends with the connection; it cannot fail but by a panic, which has been reported.
    let _ = writing.await;
}

struct Conversation {
    desk: Arc<Desk>,
    buffer: FrameBuffer,
    share: Share,
    agreement: Option<Agreement>,
    tasks: TaskTracker,
    first_line_seen: bool,
    line_due_at: Option<Instant>,
}

impl Conversation {
    /// Reads and answers until there is a reason to end.
    async fn read(&mut self) -> End {
        loop {
            if !self.share.resize(self.buffer.partial() + READ_BYTES) {
                let error = ErrorObject::new(ErrorKind::Overloaded, "too many long lines at once");
                return End::Broken(Refusal { id: None, error, fatal: true });
            }
            tokio::select! {
                biased;
                () = self.desk.front.closing.cancelled() => return End::Closing,
                () = self.desk.handle.closed() => return End::Gone,
                () = until(self.line_due_at) => return End::Broken(self.late()),
                ready = self.desk.stream.readable() => if ready.is_err() { return End::Gone },
            }
            match self.desk.stream.try_read_buf(self.buffer.make_room()) {
                Ok(0) => return End::Eof,
                Ok(_) => {}
                Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) => {
                    continue;
                }
                Err(_) => return End::Gone,
            }
            if let Err(refusal) = self.take_lines().await {
                return End::Broken(refusal);
            }
        }
    }

    /// Handles every whole line.
    async fn take_lines(&mut self) -> Result<(), Refusal> {
        loop {
            let range = self.buffer.next_line().map_err(|Overlong| {
                over_limit(format!("the line is longer than {FRAME_BYTES_MAX} bytes"), "frameBytesMax", FRAME_BYTES_MAX)
            })?;
            let Some(range) = range else { break };
            self.first_line_seen = true;
            self.line_due_at = None;
            let line_bytes = range.len();
            match message::read(&self.buffer.bytes()[range]) {
                Ok(Incoming::Request(request)) => self.request(request, line_bytes).await,
                Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
                Ok(Incoming::Response) => {}
                Err(refusal) if refusal.fatal => return Err(refusal),
                Err(refusal) => self.desk.answer(refusal.id.as_ref(), Err(&refusal.error)).await,
            }
        }
        if self.line_due_at.is_none() && self.buffer.partial() > 0 {
            self.line_due_at = Some(Instant::now() + Duration::from_millis(FRAME_MS_MAX));
        }
        Ok(())
    }

    /// The refusal of a line that did not come to its end in time.
    fn late(&self) -> Refusal {
        let message = if self.first_line_seen {
            format!("a line was not whole within {FRAME_MS_MAX} ms")
        } else {
            format!("no whole line came within {FIRST_FRAME_MS_MAX} ms")
        };
        Refusal { id: None, error: ErrorObject::new(ErrorKind::Timeout, message), fatal: true }
    }

    /// Cancels a request, or takes no notice.
    fn notification(&self, method: &str, params: Map<String, Value>) {
        if method != "$/cancel_request" {
            return;
        }
        if let Ok(CancelParams { request_id: Some(id) }) = serde_json::from_value(Value::Object(params)) {
            self.desk.inflight.cancel(&id);
        }
    }

    /// Takes a request on, or refuses it.
    async fn request(&mut self, request: Request, line_bytes: usize) {
        tokio::select! {
            biased;
            () = self.desk.room() => {}
            () = self.desk.front.closing.cancelled() => {}
        }
        let id = request.id.clone();
        let is_write = self.desk.front.is_write(&request.method);
        if let Err(error) = self.start(request, line_bytes) {
            // Refused before anything was done.
            let error = if is_write { with_write_outcome(error) } else { error };
            self.desk.answer(Some(&id), Err(&error)).await;
        }
    }

    /// Checks that a request may be made now and answers it in a task of its own.
    fn start(&mut self, request: Request, line_bytes: usize) -> Result<(), ErrorObject> {
        let is_open = handshake::is_open(&request.method);
        let front = &self.desk.front;
        if self.agreement.is_none() && !is_open {
            let shown = shorten(&request.method, 64);
            return Err(ErrorObject::new(ErrorKind::NotInitialized, format!("{shown:?} was called before initialize")));
        }
        let is_initialize = request.method == "initialize";
        if front.reception.is_draining() && (!is_open || is_initialize) {
            return Err(ErrorObject::new(ErrorKind::Draining, "the daemon is stopping"));
        }
        let overloaded = |what: &str| ErrorObject::new(ErrorKind::Overloaded, format!("too many {what}"));
        let permit = if is_open { None } else { Some(front.admit_request().ok_or_else(|| overloaded("requests in flight"))?) };
        let mut share = Share::of(&front.budget);
        if !share.resize(line_bytes) {
            return Err(overloaded("bytes in flight"));
        }
        if is_initialize && self.agreement.is_some() {
            return Err(ErrorObject::new(ErrorKind::InvalidRequest, "initialize was called before on this connection"));
        }
        let cancel = self.desk.inflight.begin(&request.id).map_err(|rejected| match rejected {
            Rejected::SameId => ErrorObject::new(ErrorKind::InvalidRequest, "a request with this id is still in flight"),
            Rejected::TooMany => overloaded("requests in flight on this connection"),
        })?;
        if is_initialize {
            match handshake::agree(request.params.clone()) {
                Ok(agreement) => {
                    self.desk.handle.name_client(safe_name(agreement.client.clone()));
                    self.agreement = Some(agreement);
                }
                Err(error) => {
                    self.desk.inflight.end(&request.id);
                    return Err(error);
                }
            }
        }
        let agreement = self.agreement.clone().filter(|_| is_initialize);
        let desk = self.desk.clone();
        self.tasks.spawn(async move {
            let (id, method) = (request.id.clone(), request.method.clone());
            let answered = CancellationToken::new();
            let outcome = match &agreement {
                Some(agreement) => initialize(&desk, agreement).await,
                None => desk.call(request, &cancel, &answered).await,
            };
            drop((permit, share));
            desk.finish(&id, desk.front.is_write(&method), outcome).await;
            answered.cancel();
            if agreement.is_some_and(|agreement| agreement.asks)
                && let Ok(service) = desk.front.reception.service().await
            {
                service.answerer_came(&desk.handle);
            }
            desk.front.reception.answered(&method);
        });
        Ok(())
    }

    /// Lets what is in flight come to its end, as far as the end of the connection allows.
    async fn end(&mut self, end: End) {
        let desk = self.desk.clone();
        self.tasks.close();
        match end {
            End::Gone => desk.inflight.cancel_all(),
            End::Eof => self.answer_the_rest().await,
            End::Closing => {
                let _ = timeout(Duration::from_millis(LINGER_MS_MAX), self.tasks.wait()).await;
                self.flush().await;
            }
            End::Broken(refusal) => {
                tracing::info!(connection = desk.handle.id(), reason = refusal.error.message, "connection closed");
                desk.inflight.cancel_all();
                let _ =
                    timeout(Duration::from_millis(LINGER_MS_MAX), desk.answer(refusal.id.as_ref(), Err(&refusal.error))).await;
                self.flush().await;
                self.discard_input().await;
            }
        }
        desk.inflight.cancel_all();
    }

    /// The client sends no more, but may still read: as long as it is there it gets its answers.
    async fn answer_the_rest(&self) {
        let is_gone = async {
            loop {
                match self.desk.stream.ready(tokio::io::Interest::WRITABLE).await {
                    Ok(ready) if !ready.is_write_closed() => {}
                    _ => return,
                }
                tokio::select! {
                    () = self.desk.handle.closed() => return,
                    () = self.desk.front.closing.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_millis(100)) => {}
                }
            }
        };
        tokio::select! {
            biased;
            () = self.tasks.wait() => self.flush().await,
            () = is_gone => {}
        }
    }

    /// Waits until everything queued has been written, bounded, and says that no more comes.
    async fn flush(&self) {
        let written = async {
            while self.desk.handle.front().is_some() && !self.desk.handle.is_closed() {
                tokio::select! {
                    () = self.desk.handle.closed() => {}
                    () = tokio::time::sleep(Duration::from_millis(2)) => {}
                }
            }
        };
        let _ = timeout(Duration::from_millis(LINGER_MS_MAX), written).await;
        let _ = shutdown(self.desk.stream.as_raw_fd(), Shutdown::Write);
    }

    /// Takes in what the client is still sending, bounded, so that it can read the error before the end.
    async fn discard_input(&self) {
        let discard = async {
            let mut sink = [0_u8; 16 << 10];
            while self.desk.stream.readable().await.is_ok() {
                match self.desk.stream.try_read(&mut sink) {
                    Ok(0) => return,
                    Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return,
                    _ => {}
                }
            }
        };
        let _ = timeout(Duration::from_millis(LINGER_MS_MAX), discard).await;
    }
}

/// The answer to `initialize`: waits for the store.
async fn initialize(desk: &Desk, agreement: &Agreement) -> Result<Value, ErrorObject> {
    let service = desk.front.reception.service().await?;
    write_result(handshake::result(agreement, service.store_info()))
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
