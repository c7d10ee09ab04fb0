//! Typed JSON-RPC calls over one stream to the daemon: answers by id, notifications in order, cancellation, time-outs.
//!
//! One task reads, one writes; every queue between them and the callers is bounded. Must not know: which verbs there
//! are, where the socket is, or who starts the daemon.

use crate::limits::{FRAME_BYTES_MAX, NOTIFICATIONS_MAX, OUTGOING_FRAMES_MAX};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tiro_schema::ErrorObject;
use tiro_schema::wire::{JSONRPC, Notification, RequestId};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot, watch};

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The daemon answered with an error.
    #[error("{0}")]
    Refused(Box<ErrorObject>),
    /// The connection ended before the answer came. A write may or may not have happened.
    #[error("the daemon closed the connection before it answered {method}")]
    Closed {
        /// The method called.
        method: String,
    },
    /// No answer within the time given; the request was cancelled.
    #[error("the daemon did not answer {method} within {} ms", after.as_millis())]
    TimedOut {
        /// The method called.
        method: String,
        /// How long was waited.
        after: Duration,
    },
    /// The answer does not fit the type this client expects.
    #[error("the answer of {method} cannot be read: {source}")]
    Unreadable {
        /// The method called.
        method: String,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The params could not be written as JSON.
    #[error("the params of {method} cannot be written: {source}")]
    Unwritable {
        /// The method called.
        method: String,
        /// What cannot be written.
        source: serde_json::Error,
    },
}

/// How one call is made.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// How long to wait; without end when absent.
    pub timeout: Option<Duration>,
    /// Sent as `_meta.progressToken`, so that `progress` notifications come.
    pub progress_token: Option<String>,
}

type Answer = Result<Value, ErrorObject>;
/// Callers that wait, by request id; none at all once the stream has ended.
type Waiting = Arc<Mutex<Option<HashMap<i64, oneshot::Sender<Answer>>>>>;

/// One connection. Dropping it closes the stream; dropping the future of a call cancels the request.
pub struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    waiting: Waiting,
    next_id: AtomicI64,
    notifications: Mutex<Option<mpsc::Receiver<Notification>>>,
    notifications_wanted: Arc<AtomicBool>,
    reader: tokio::task::JoinHandle<()>,
    ended: watch::Receiver<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Connection {
    /// Takes a stream over. Has to be called inside a tokio runtime.
    pub fn over<S>(stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (read, write) = tokio::io::split(stream);
        let (outgoing, frames) = mpsc::channel(OUTGOING_FRAMES_MAX);
        let (notify, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (ending, ended) = watch::channel(());
        let wanted = Arc::new(AtomicBool::new(false));
        tokio::spawn(write_frames(write, frames));
        let incoming = Incoming { waiting: Arc::clone(&waiting), notify, wanted: Arc::clone(&wanted), _ending: ending };
        let reader = tokio::spawn(incoming.read(read));
        Connection {
            outgoing,
            waiting,
            next_id: AtomicI64::new(1),
            notifications: Mutex::new(Some(notifications)),
            notifications_wanted: wanted,
            reader,
            ended,
        }
    }

    /// The stream of notifications, in order; once only. Until it is taken notifications are dropped; whoever takes
    /// it has to keep reading it, since answers come behind them on the same stream.
    pub fn notifications(&self) -> Option<mpsc::Receiver<Notification>> {
        let taken = self.notifications.lock().ok()?.take();
        if taken.is_some() {
            self.notifications_wanted.store(true, Ordering::SeqCst);
        }
        taken
    }

    /// Calls a method and waits for its answer without end.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call<P: Serialize, R: DeserializeOwned>(&self, method: &str, params: &P) -> Result<R, CallError> {
        self.call_with(method, params, CallOptions::default()).await
    }

    /// Calls a method; a time-out cancels the request.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call_with<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
        options: CallOptions,
    ) -> Result<R, CallError> {
        let params =
            serde_json::to_value(params).map_err(|source| CallError::Unwritable { method: method.to_owned(), source })?;
        let value = self.call_value(method, with_meta(params, options.progress_token), options.timeout).await?;
        serde_json::from_value(value).map_err(|source| CallError::Unreadable { method: method.to_owned(), source })
    }

    /// Calls a method with raw params and gives its raw result.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call_value(&self, method: &str, params: Value, timeout: Option<Duration>) -> Result<Value, CallError> {
        let closed = || CallError::Closed { method: method.to_owned() };
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut frame = serde_json::to_vec(&json!({"jsonrpc": JSONRPC, "id": id, "method": method, "params": params}))
            .map_err(|source| CallError::Unwritable { method: method.to_owned(), source })?;
        frame.push(b'\n');
        let (answer, answered) = oneshot::channel();
        match self.waiting.lock() {
            Ok(mut waiting) => drop(waiting.as_mut().ok_or_else(closed)?.insert(id, answer)),
            Err(_) => return Err(closed()),
        }
        let mut pending = Pending { id, connection: self, answered: false };
        if self.outgoing.send(frame).await.is_err() {
            return Err(closed());
        }
        let answer = match timeout {
            None => answered.await,
            Some(after) => match tokio::time::timeout(after, answered).await {
                Ok(answer) => answer,
                Err(_) => return Err(CallError::TimedOut { method: method.to_owned(), after }),
            },
        };
        pending.answered = true;
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(CallError::Refused(Box::new(error))),
            Err(_) => Err(closed()),
        }
    }

    /// Waits until the daemon has closed the connection.
    pub async fn closed(&self) {
        let mut ended = self.ended.clone();
        while ended.changed().await.is_ok() {}
    }
}

/// Puts `_meta.progressToken` beside the params.
fn with_meta(params: Value, progress_token: Option<String>) -> Value {
    let Some(token) = progress_token else { return params };
    let mut members = match params {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.insert("_meta".to_owned(), json!({ "progressToken": token }));
    Value::Object(members)
}

/// A request that is out: forgotten when answered, cancelled when dropped before.
struct Pending<'a> {
    id: i64,
    connection: &'a Connection,
    answered: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Ok(mut waiting) = self.connection.waiting.lock()
            && let Some(waiting) = waiting.as_mut()
        {
            waiting.remove(&self.id);
        }
        if self.answered {
            return;
        }
        let note = json!({"jsonrpc": JSONRPC, "method": "$/cancel_request", "params": {"requestId": self.id}});
        // A full queue means the daemon reads nothing: it would not read the cancellation either.
        let _ = self.connection.outgoing.try_send(format!("{note}\n").into_bytes());
    }
}

/// Writes frames in order until the stream or the queue ends; closing the queue tells callers.
async fn write_frames<W: AsyncWrite>(write: W, mut frames: mpsc::Receiver<Vec<u8>>) {
    tokio::pin!(write);
    while let Some(frame) = frames.recv().await {
        if write.write_all(&frame).await.is_err() || write.flush().await.is_err() {
            break;
        }
    }
    let _ = write.shutdown().await;
}

/// The reading half.
struct Incoming {
    waiting: Waiting,
    notify: mpsc::Sender<Notification>,
    wanted: Arc<AtomicBool>,
    /// Dropped at the end, which [`Connection::closed`] waits for.
    _ending: watch::Sender<()>,
}

impl Incoming {
    /// Reads lines until the stream ends, then lets every caller that still waits know.
    async fn read<R: AsyncRead>(self, read: R) {
        tokio::pin!(read);
        let mut lines = BufReader::with_capacity(64 << 10, read);
        let mut line = Vec::new();
        loop {
            line.clear();
            let taken = (&mut lines).take(FRAME_BYTES_MAX as u64).read_until(b'\n', &mut line).await;
            if !matches!(taken, Ok(n) if n > 0) || line.last() != Some(&b'\n') {
                break;
            }
            if let Ok(message) = serde_json::from_slice::<Value>(&line) {
                self.take(message).await;
            }
        }
        if let Ok(mut waiting) = self.waiting.lock() {
            *waiting = None;
        }
    }

    async fn take(&self, message: Value) {
        let Value::Object(mut members) = message else { return };
        if members.contains_key("method") {
            if self.wanted.load(Ordering::SeqCst)
                && !members.contains_key("id")
                && let Ok(note) = serde_json::from_value::<Notification>(Value::Object(members))
            {
                let _ = self.notify.send(note).await;
            }
            return;
        }
        let id = members.remove("id").and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let answer = match members.remove("error") {
            None => Ok(members.remove("result").unwrap_or(Value::Null)),
            Some(error) => Err(read_error(error)),
        };
        match id {
            Some(RequestId::Number(id)) => {
                let waits = self.waiting.lock().ok().and_then(|mut waiting| waiting.as_mut()?.remove(&id));
                if let Some(waits) = waits {
                    let _ = waits.send(answer);
                }
            }
            // An error without an id ends the connection: everybody who waits gets it.
            _ => {
                let Err(error) = answer else { return };
                if let Ok(mut waiting) = self.waiting.lock() {
                    for (_, waits) in waiting.iter_mut().flat_map(HashMap::drain) {
                        let _ = waits.send(Err(error.clone()));
                    }
                }
            }
        }
    }
}

/// Reads an error object; one that does not fit keeps its text.
fn read_error(error: Value) -> ErrorObject {
    serde_json::from_value(error.clone()).unwrap_or_else(|_| ErrorObject {
        code: error.get("code").and_then(Value::as_i64).and_then(|c| i32::try_from(c).ok()).unwrap_or(0),
        message: error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned),
        data: None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tokio::io::DuplexStream;

    struct Peer(BufReader<DuplexStream>);

    impl Peer {
        async fn next(&mut self) -> Value {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            serde_json::from_str(&line).unwrap()
        }
        async fn send(&mut self, text: &str) {
            self.0.get_mut().write_all(format!("{text}\n").as_bytes()).await.unwrap();
        }
    }

    fn pair() -> (Connection, Peer) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        (Connection::over(ours), Peer(BufReader::new(theirs)))
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn answers_find_their_calls_in_any_order() {
        run(async {
            let (connection, mut peer) = pair();
            let (a, b) = (json!({"n": 1}), json!({"n": 2}));
            let calls = async { tokio::join!(connection.call::<_, Value>("a", &a), connection.call::<_, Value>("b", &b)) };
            let answers = async {
                let (first, second) = (peer.next().await, peer.next().await);
                peer.send(&json!({"jsonrpc": "2.0", "id": second["id"], "result": second["params"]}).to_string()).await;
                peer.send(&json!({"jsonrpc": "2.0", "id": first["id"], "result": first["params"]}).to_string()).await;
            };
            let ((a, b), ()) = tokio::join!(calls, answers);
            assert_eq!((a.unwrap()["n"].clone(), b.unwrap()["n"].clone()), (json!(1), json!(2)));
        });
    }

    #[test]
    fn a_dropped_call_and_a_timed_out_one_are_cancelled() {
        // API-1
        run(async {
            let (connection, mut peer) = pair();
            let options = CallOptions { timeout: Some(Duration::from_millis(5)), progress_token: None };
            let error = connection.call_with::<_, Value>("slow", &json!({}), options).await.unwrap_err();
            assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
            let request = peer.next().await;
            let cancel = peer.next().await;
            assert_eq!(cancel["method"], "$/cancel_request");
            assert_eq!(cancel["params"]["requestId"], request["id"]);
        });
    }

    #[test]
    fn a_closed_stream_fails_the_calls_that_wait() {
        run(async {
            let (connection, mut peer) = pair();
            let params = json!({});
            let (answer, ()) = tokio::join!(connection.call::<_, Value>("x", &params), async move {
                peer.next().await;
                drop(peer);
            });
            assert!(matches!(answer.unwrap_err(), CallError::Closed { .. }));
        });
    }

    #[test]
    fn errors_keep_their_data_and_an_error_without_id_reaches_the_caller() {
        run(async {
            let (connection, mut peer) = pair();
            let params = json!({});
            let refusal = ErrorObject::new(tiro_schema::ErrorKind::TooLarge, "frame over the limit");
            let line = json!({"jsonrpc": "2.0", "id": null, "error": refusal}).to_string();
            let (answer, ()) = tokio::join!(connection.call::<_, Value>("x", &params), async {
                peer.next().await;
                peer.send(&line).await;
            });
            let CallError::Refused(error) = answer.unwrap_err() else { panic!("refused") };
            assert_eq!(error.kind(), Some(tiro_schema::ErrorKind::TooLarge));
        });
    }

    #[test]
    fn notifications_are_dropped_until_somebody_wants_them() {
        run(async {
            let (connection, mut peer) = pair();
            let params = json!({});
            for round in 0..2 {
                let mut notes = if round == 1 { connection.notifications() } else { None };
                let (answer, ()) = tokio::join!(connection.call::<_, Value>("x", &params), async {
                    let id = peer.next().await["id"].clone();
                    peer.send(r#"{"jsonrpc":"2.0","method":"progress","params":{"done":1}}"#).await;
                    peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
                });
                answer.unwrap();
                match &mut notes {
                    Some(notes) => assert_eq!(notes.recv().await.unwrap().method, "progress"),
                    None => assert_eq!(round, 0),
                }
            }
        });
    }
}
