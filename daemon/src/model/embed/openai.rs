//! `/v1/embeddings` as OpenAI, Ollama, llama.cpp, vLLM and many others speak it.
//! It must not know where its configuration comes from, nor retries.

use super::{Embedding, TextEmbedder, TextSide};
use crate::limits;
use crate::model::error::{ErrorClass, ModelError};
use crate::model::openai::{failure, http_client};
use crate::model::secret::{ApiKey, display_url};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Where and how to call.
#[derive(Debug, Clone, Default)]
pub struct OpenAiEmbedderConfig {
    /// Such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// The key, if the server wants one.
    pub key: Option<ApiKey>,
    /// Written before what is looked for.
    pub query_prefix: String,
    /// Written before what is stored.
    pub passage_prefix: String,
    /// Length asked for, of models that can cut their vectors.
    pub dimension: Option<u32>,
    /// Whether `input_type` tells the server the side (`query`, `passage`), where it writes prefixes itself.
    pub input_type: bool,
}

/// An embedder over `/v1/embeddings`.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    client: reqwest::Client,
    config: OpenAiEmbedderConfig,
    endpoint: reqwest::Url,
    id: String,
    location: String,
}

impl OpenAiEmbedder {
    /// Prepares a client: no proxy, no redirects (a key must not travel elsewhere).
    ///
    /// # Errors
    /// No TLS set-up, or a base URL that is none.
    pub fn new(config: OpenAiEmbedderConfig) -> Result<Self, ModelError> {
        let refused = |what: &str| ModelError::new(ErrorClass::BadRequest, what).into_final();
        let endpoint = format!("{}/embeddings", config.base_url.trim_end_matches('/'));
        let endpoint = reqwest::Url::parse(&endpoint).map_err(|_| refused("[embedding] baseUrl is not a url"))?;
        if !matches!(endpoint.scheme(), "http" | "https") {
            return Err(refused("[embedding] baseUrl must be http or https"));
        }
        let client = http_client(Duration::from_millis(limits::EMBED_CONNECT_MS_MAX))?;
        Ok(Self { client, id: id_of(&config), location: display_url(&config.base_url), endpoint, config })
    }

    async fn call(&self, side: TextSide, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let deadline = Instant::now() + Duration::from_millis(limits::EMBED_BATCH_MS_MAX);
        let request = self.client.post(self.endpoint.clone()).headers(self.authorization()?).json(&self.body(side, texts));
        let late = || ModelError::new(ErrorClass::Timeout, format!("no answer from {} in time", self.location));
        let broken = |error: reqwest::Error| failure::from_transport(&error, &self.location);
        let mut response = timeout_at(deadline, request.send()).await.map_err(|_| late())?.map_err(broken)?;
        let refusal = (!response.status().is_success()).then(|| {
            let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            (response.status().as_u16(), retry_after.map(str::to_owned))
        });
        let most = if refusal.is_some() { limits::MODEL_ERROR_BODY_BYTES_MAX } else { limits::EMBED_ANSWER_BYTES_MAX };
        let mut body = Vec::new();
        while let Some(bytes) = timeout_at(deadline, response.chunk()).await.map_err(|_| late())?.map_err(broken)? {
            body.extend_from_slice(&bytes);
            if body.len() > most && refusal.is_none() {
                return Err(ModelError::new(ErrorClass::Malformed, format!("an answer of more than {most} bytes")));
            }
            if body.len() > most {
                break;
            }
        }
        match refusal {
            Some((status, retry_after)) => {
                let mut error = failure::from_response(status, retry_after.as_deref(), &body[..body.len().min(most)]);
                error.message = self.config.key.as_ref().map_or(error.message.clone(), |key| key.redact(&error.message));
                Err(error)
            }
            None => read(&body, texts.len()),
        }
    }

    fn body(&self, side: TextSide, texts: &[String]) -> Value {
        let (prefix, name) = match side {
            TextSide::Query => (&self.config.query_prefix, "query"),
            TextSide::Passage => (&self.config.passage_prefix, "passage"),
        };
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut body = json!({"model": self.config.model, "input": input, "encoding_format": "float"});
        if let Some(dimension) = self.config.dimension {
            body["dimensions"] = dimension.into();
        }
        if self.config.input_type {
            body["input_type"] = name.into();
        }
        body
    }

    fn authorization(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.config.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                ModelError::new(ErrorClass::Unauthorized, "the embedder's key holds characters no header may hold").into_final()
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }
}

impl TextEmbedder for OpenAiEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn embed<'a>(&'a self, side: TextSide, texts: &'a [String]) -> Embedding<'a> {
        Box::pin(self.call(side, texts))
    }
}

/// The model's name; what else makes its vectors others than those of the same name stands in the mark behind it.
fn id_of(config: &OpenAiEmbedderConfig) -> String {
    let plain = config.query_prefix.is_empty() && config.passage_prefix.is_empty() && !config.input_type;
    if plain && config.dimension.is_none() {
        return format!("openai/{}", config.model);
    }
    let more = json!([config.query_prefix, config.passage_prefix, config.dimension, config.input_type]);
    let mark = Sha256::digest(more.to_string());
    format!("openai/{}#{:02x}{:02x}{:02x}{:02x}", config.model, mark[0], mark[1], mark[2], mark[3])
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Vectors in the order of the texts.
fn read(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let malformed = |what: String| ModelError::new(ErrorClass::Malformed, what);
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| malformed(format!("the answer is no list of vectors: {error}")))?;
    if answer.data.len() != texts {
        return Err(malformed(format!("{} vectors for {texts} texts", answer.data.len())));
    }
    let mut vectors = vec![None; texts];
    for (place, row) in answer.data.into_iter().enumerate() {
        let place = row.index.unwrap_or(place);
        match vectors.get_mut(place) {
            Some(empty @ None) => *empty = Some(row.embedding),
            _ => return Err(malformed(format!("index {place} twice, or of no text"))),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // M27
    #[test]
    fn an_answer_is_read_by_its_indexes_or_refused() {
        let two = br#"{"object":"list","data":[{"index":1,"embedding":[0.5]},{"index":0,"embedding":[1]}]}"#;
        assert_eq!(read(two, 2).unwrap(), [[1.0], [0.5]]);
        assert_eq!(read(br#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, 2).unwrap(), [[1.0], [2.0]]);
        for bad in [
            &br#"{"data":[{"index":0,"embedding":[NaN]}]}"#[..],
            br#"{"data":[{"index":0,"embedding":[null]}]}"#,
            br#"{"data":[{"index":7,"embedding":[1]}]}"#,
            br#"{"data":[]}"#,
            br#"{"data":"AAAA"}"#,
            b"<html>",
        ] {
            assert_eq!(read(bad, 1).unwrap_err().class, ErrorClass::Malformed, "{}", String::from_utf8_lossy(bad));
        }
        let twice = br#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        assert!(read(twice, 2).is_err());
    }

    #[test]
    fn what_changes_vectors_changes_the_id() {
        let config = OpenAiEmbedderConfig { base_url: "http://h/v1".into(), model: "m".into(), ..Default::default() };
        assert_eq!(id_of(&config), "openai/m");
        let with = |change: &dyn Fn(&mut OpenAiEmbedderConfig)| {
            let mut config = config.clone();
            change(&mut config);
            id_of(&config)
        };
        let ids = [
            with(&|c| c.query_prefix = "query: ".into()),
            with(&|c| c.passage_prefix = "query: ".into()),
            with(&|c| c.dimension = Some(256)),
            with(&|c| c.input_type = true),
        ];
        for (at, id) in ids.iter().enumerate() {
            assert!(id.starts_with("openai/m#") && !ids[at + 1..].contains(id), "{id}");
        }
        assert_eq!(with(&|c| c.base_url = "http://other/v1".into()), "openai/m");
    }

    #[test]
    fn a_base_url_that_is_none_is_refused() {
        for base_url in ["nonsense", "ftp://h/v1"] {
            assert!(OpenAiEmbedder::new(OpenAiEmbedderConfig { base_url: base_url.into(), ..Default::default() }).is_err());
        }
    }
}
