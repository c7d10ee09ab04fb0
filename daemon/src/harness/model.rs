//! The model in use, and another look for one while there is none.
//!
//! Must not know: turns.

use crate::limits;
use crate::model::Provider;
use crate::model::discover::{ModelConfig, Probe, Selection, discover};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiro_schema::wire::daemon::ModelState;

/// Where a model is looked for.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The `[model]` table.
    pub config: ModelConfig,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Loopback servers to ask.
    pub probes: Vec<Probe>,
    /// Seed of the jitter of retries.
    pub seed: u64,
}

/// The model in use.
pub struct ModelSlot {
    discovery: Discovery,
    current: Mutex<(Selection, Instant)>,
}

impl ModelSlot {
    /// Looks for a model.
    pub async fn find(discovery: Discovery) -> ModelSlot {
        let found = discover(&discovery.config, &discovery.env, &discovery.probes, discovery.seed).await;
        tracing::info!(reason = found.reason, "model");
        ModelSlot { discovery, current: Mutex::new((found, Instant::now())) }
    }

    /// The model; while there is none and none was named, looks again, not more often than it makes sense.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn provider(&self) -> Result<Arc<dyn Provider>, String> {
        let (selection, at) = self.current.lock().clone();
        if let Some(provider) = selection.provider {
            return Ok(provider);
        }
        let is_named = selection.is_broken || self.discovery.config.provider.is_some();
        if is_named || at.elapsed() < Duration::from_millis(limits::MODEL_LOOK_AGAIN_MS) {
            return Err(selection.reason);
        }
        let discovery = &self.discovery;
        let found = discover(&discovery.config, &discovery.env, &discovery.probes, discovery.seed).await;
        let answer = found.provider.clone().ok_or_else(|| found.reason.clone());
        *self.current.lock() = (found, Instant::now());
        answer
    }

    /// What `daemon/status` says of it.
    pub fn state(&self) -> ModelState {
        let (selection, _) = self.current.lock().clone();
        ModelState {
            configured: selection.provider.is_some(),
            provider: selection.provider.as_ref().map(|p| p.kind().to_owned()),
            name: selection.provider.as_ref().map(|p| p.model().to_owned()),
            base_url: (!selection.location.is_empty()).then_some(selection.location),
            reason: match selection.notes.is_empty() || selection.provider.is_some() {
                true => selection.reason,
                false => format!("{} ({})", selection.reason, selection.notes.join("; ")),
            },
        }
    }

    /// Tokens of its window.
    pub fn window_tokens(&self) -> u32 {
        let configured = self.discovery.config.context_tokens.unwrap_or(limits::CONTEXT_WINDOW_TOKENS_DEFAULT);
        configured.max(limits::CONTEXT_WINDOW_TOKENS_MIN)
    }

    /// Most tokens of one reply; the provider's own limit if `None`.
    pub fn output_tokens_max(&self) -> Option<u32> {
        self.discovery.config.max_output_tokens
    }
}
