//! Chat completions as OpenAI, Ollama, llama.cpp, vLLM and many others speak them.
//! It must not know where its configuration comes from, nor what the tools do.

mod accumulate;
mod attempt;
mod body;
pub(super) mod failure;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::error::{ErrorClass, ModelError};
use super::provider::{EventSink, ModelEvent, ModelStream, Provider};
use super::request::ChatRequest;
use super::retry::Backoff;
use super::secret::{ApiKey, display_url};
use crate::limits;

/// How long a call may take, by part.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// To connect.
    pub connect: Duration,
    /// From sending to the first event.
    pub first_event: Duration,
    /// Between two pieces of the stream.
    pub idle: Duration,
    /// In all, retries included.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_millis(limits::MODEL_CONNECT_TIMEOUT_MS),
            first_event: Duration::from_millis(limits::MODEL_FIRST_EVENT_TIMEOUT_MS),
            idle: Duration::from_millis(limits::MODEL_IDLE_TIMEOUT_MS),
            whole: Duration::from_millis(limits::MODEL_WHOLE_TIMEOUT_MS),
        }
    }
}

/// Where and how to call.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// Such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// The key, if the server wants one.
    pub key: Option<ApiKey>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Retries and waits.
    pub backoff: Backoff,
}

impl OpenAiConfig {
    /// A configuration with default limits.
    pub fn new(base_url: &str, model: &str, key: Option<ApiKey>) -> OpenAiConfig {
        OpenAiConfig {
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
            key,
            timeouts: Timeouts::default(),
            backoff: Backoff::new(0),
        }
    }

    fn endpoint(&self) -> String {
        format!("{}/chat/completions", self.base_url)
    }

    fn shown_url(&self) -> String {
        display_url(&self.endpoint())
    }
}

/// What a server turned out not to take; learnt from its refusals, kept for later calls.
#[derive(Debug, Default)]
struct Quirks {
    no_temperature: AtomicBool,
    no_stream_options: AtomicBool,
    max_completion_tokens: AtomicBool,
}

impl Quirks {
    /// Learns from a refusal; true if asking again another way makes sense.
    fn learn(&self, error: &ModelError, request: &ChatRequest) -> bool {
        if error.status != Some(400) || error.class != ErrorClass::BadRequest {
            return false;
        }
        let said = error.message.to_lowercase();
        let flips = |flag: &AtomicBool, applies: bool| applies && !flag.swap(true, Ordering::Relaxed);
        flips(&self.max_completion_tokens, request.max_output_tokens.is_some() && said.contains("max_completion_tokens"))
            || flips(&self.no_temperature, request.temperature.is_some() && said.contains("temperature"))
            || flips(&self.no_stream_options, said.contains("stream_options"))
    }
}

/// A provider over chat completions.
#[derive(Debug)]
pub struct OpenAi {
    client: reqwest::Client,
    config: Arc<OpenAiConfig>,
    quirks: Arc<Quirks>,
}

impl OpenAi {
    /// Prepares a client: no proxy, no redirects (a key must not travel elsewhere). Errors: no TLS set-up, or a base
    /// URL that is none.
    pub fn new(config: OpenAiConfig) -> Result<OpenAi, ModelError> {
        let refused = |what: &str| ModelError::new(ErrorClass::BadRequest, what).into_final();
        let url = reqwest::Url::parse(&config.endpoint()).map_err(|_| refused("the model's base url is not a url"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("the model's base url must be http or https"));
        }
        let client = http_client(config.timeouts.connect)?;
        Ok(OpenAi { client, config: Arc::new(config), quirks: Arc::default() })
    }
}

/// A client without proxies and redirects. The TLS provider is installed once for the process.
pub(super) fn http_client(connect: Duration) -> Result<reqwest::Client, ModelError> {
    // An error means that one is installed already, which is all that is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect)
        .build()
        .map_err(|error| ModelError::new(ErrorClass::Network, format!("no http client: {}", error.without_url())))
}

impl Provider for OpenAi {
    fn chat(&self, request: ChatRequest) -> ModelStream {
        let call =
            Call { client: self.client.clone(), config: Arc::clone(&self.config), quirks: Arc::clone(&self.quirks), request };
        ModelStream::spawn(move |sink| async move {
            let event = match call.run(&sink).await {
                Ok(done) => done,
                Err(error) => ModelEvent::Failed(Box::new(error)),
            };
            sink.send(event).await;
        })
    }

    fn model(&self) -> &str {
        &self.config.model
    }

    fn kind(&self) -> &'static str {
        "openai"
    }
}

/// One call with its retries.
struct Call {
    client: reqwest::Client,
    config: Arc<OpenAiConfig>,
    quirks: Arc<Quirks>,
    request: ChatRequest,
}

impl Call {
    async fn run(self, sink: &EventSink) -> Result<ModelEvent, ModelError> {
        let deadline = Instant::now() + self.config.timeouts.whole;
        let mut backoff = self.config.backoff.clone();
        let mut retry = 0;
        let model = self.request.model.as_deref().unwrap_or(&self.config.model);
        loop {
            let attempt = attempt::Attempt {
                client: &self.client,
                config: &self.config,
                model,
                body: body::build(model, &self.request, &self.quirks),
                taken: self.request.call_ids().map(str::to_owned).collect(),
                deadline,
            };
            let (mut error, was_shown) = match attempt.run(sink).await {
                Ok(reply) => return Ok(ModelEvent::Done(Box::new(reply))),
                Err(failed) => failed,
            };
            error.attempts = retry + 1;
            if was_shown {
                return Err(error);
            }
            if self.quirks.learn(&error, &self.request) {
                continue;
            }
            retry += 1;
            let delay = if error.is_retryable() { backoff.delay_ms(retry, error.retry_after_ms) } else { None };
            let Some(delay_ms) = delay else { return Err(error) };
            let until = Instant::now() + Duration::from_millis(delay_ms);
            if until >= deadline || !sink.send(ModelEvent::Retrying { class: error.class, delay_ms }).await {
                return Err(error);
            }
            tracing::info!(class = error.class.as_str(), status = error.status, retry, delay_ms, "model call failed, retrying");
            tokio::time::sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod http_tests;
