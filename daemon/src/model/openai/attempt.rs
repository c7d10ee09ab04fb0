//! One attempt at a call: send, read the stream within its time limits, hand events on.
//! It must not decide about retries.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::accumulate::Accumulator;
use super::{OpenAiConfig, failure};
use crate::limits;
use crate::model::error::{ErrorClass, ModelError};
use crate::model::provider::EventSink;
use crate::model::reply::ModelReply;
use crate::model::sse::{SseError, SseLimits, SseParser};

/// What one attempt needs.
pub(super) struct Attempt<'a> {
    pub client: &'a reqwest::Client,
    pub config: &'a OpenAiConfig,
    /// The model asked.
    pub model: &'a str,
    pub body: Value,
    /// Call ids in use in the context.
    pub taken: HashSet<String>,
    /// The end of the whole call.
    pub deadline: Instant,
}

/// A failure, and whether something had been shown before it.
type Failed = (ModelError, bool);

impl Attempt<'_> {
    /// Runs to a reply or a failure.
    pub async fn run(self, sink: &EventSink) -> Result<ModelReply, Failed> {
        let first_event_by = self.deadline.min(Instant::now() + self.config.timeouts.first_event);
        let response = self.open(first_event_by).await.map_err(|error| (error, false))?;
        let is_stream = response.headers().get(CONTENT_TYPE).is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json"));
        let mut accumulator = Accumulator::new(self.model);
        let read = if is_stream {
            self.read_stream(response, first_event_by, &mut accumulator, sink).await
        } else {
            self.read_whole(response, &mut accumulator, sink).await
        };
        let was_shown = accumulator.was_shown;
        match read {
            Ok(()) => accumulator.finish(&self.taken).map_err(|error| (error, was_shown)),
            Err(error) => Err((accumulator.fail(error), was_shown)),
        }
    }

    async fn open(&self, first_event_by: Instant) -> Result<reqwest::Response, ModelError> {
        let request = self
            .client
            .post(self.config.endpoint())
            .header(ACCEPT, "text/event-stream, application/json")
            .headers(self.authorization()?)
            .json(&self.body);
        let sent = timeout_at(first_event_by, request.send()).await;
        let response = sent
            .map_err(|_| self.silent("no answer"))?
            .map_err(|error| failure::from_transport(&error, &self.config.shown_url()))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let body = self.error_body(response, first_event_by).await;
        let mut error = failure::from_response(status, retry_after.as_deref(), &body);
        if let Some(key) = &self.config.key {
            error.message = key.redact(&error.message);
        }
        Err(error)
    }

    fn authorization(&self) -> Result<reqwest::header::HeaderMap, ModelError> {
        let mut headers = reqwest::header::HeaderMap::new();
        if let Some(key) = &self.config.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                ModelError::new(ErrorClass::Unauthorized, "the model's key holds characters no header may hold").into_final()
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// As much of a refusal's body as is wanted and comes in time.
    async fn error_body(&self, mut response: reqwest::Response, by: Instant) -> Vec<u8> {
        let by = by.min(Instant::now() + self.config.timeouts.idle);
        let mut body = Vec::new();
        while let Ok(Ok(Some(bytes))) = timeout_at(by, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() >= limits::MODEL_ERROR_BODY_BYTES_MAX {
                body.truncate(limits::MODEL_ERROR_BODY_BYTES_MAX);
                break;
            }
        }
        body
    }

    async fn read_stream(
        &self,
        mut response: reqwest::Response,
        first_event_by: Instant,
        accumulator: &mut Accumulator,
        sink: &EventSink,
    ) -> Result<(), ModelError> {
        let mut parser = SseParser::new(SseLimits::default());
        let mut events = Vec::new();
        let mut has_begun = false;
        loop {
            let by = if has_begun { self.deadline.min(Instant::now() + self.config.timeouts.idle) } else { first_event_by };
            let read = timeout_at(by, response.chunk()).await.map_err(|_| self.silent("silence inside the stream"))?;
            let is_end = match read {
                Ok(Some(bytes)) => {
                    parser.feed(&bytes, &mut events).map_err(unreadable)?;
                    false
                }
                Ok(None) => {
                    parser.finish(&mut events).map_err(unreadable)?;
                    true
                }
                // What was promised after the finish reason is missed, but the reply is whole: `finish` decides.
                Err(error) if !accumulator.has_finish() => {
                    return Err(failure::from_transport(&error, &self.config.shown_url()));
                }
                Err(_) => true,
            };
            has_begun |= !events.is_empty();
            for data in events.drain(..) {
                let taken = accumulator.take(&data).map_err(|error| if is_end { as_cut(error) } else { error })?;
                for event in taken {
                    sink.send(event).await;
                }
            }
            if is_end || accumulator.is_done() {
                return Ok(());
            }
        }
    }

    /// A server that does not stream answers with one object.
    async fn read_whole(
        &self,
        mut response: reqwest::Response,
        accumulator: &mut Accumulator,
        sink: &EventSink,
    ) -> Result<(), ModelError> {
        let mut body = Vec::new();
        loop {
            let by = self.deadline.min(Instant::now() + self.config.timeouts.first_event);
            let read = timeout_at(by, response.chunk()).await.map_err(|_| self.silent("silence inside the answer"))?;
            match read.map_err(|error| failure::from_transport(&error, &self.config.shown_url()))? {
                Some(bytes) => body.extend_from_slice(&bytes),
                None => break,
            }
            if body.len() > limits::MODEL_SSE_LINE_BYTES_MAX {
                return Err(unreadable(SseError::StreamTooLong(limits::MODEL_SSE_LINE_BYTES_MAX)));
            }
        }
        let text = std::str::from_utf8(&body).map_err(|_| unreadable(SseError::NotUtf8))?;
        for event in accumulator.take(text)? {
            sink.send(event).await;
        }
        Ok(())
    }

    fn silent(&self, what: &str) -> ModelError {
        let is_whole = Instant::now() + Duration::from_millis(1) >= self.deadline;
        let limit = if is_whole { "the call's whole time is used up" } else { "the time limit passed" };
        ModelError::new(ErrorClass::Timeout, format!("{what} from {}: {limit}", self.config.shown_url()))
    }
}

/// What is broken at the very end of a stream was cut there.
fn as_cut(error: ModelError) -> ModelError {
    match error.class {
        ErrorClass::Malformed => ModelError::new(ErrorClass::CutShort, "the stream ended inside an event"),
        _ => error,
    }
}

fn unreadable(error: SseError) -> ModelError {
    let class = match error {
        SseError::NotUtf8 => ErrorClass::Malformed,
        SseError::LineTooLong(_) | SseError::StreamTooLong(_) => ErrorClass::CutShort,
    };
    ModelError::new(class, error.to_string()).into_final()
}
