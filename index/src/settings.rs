//! What the index belongs to and how it is set up. It must not know where settings come from.

use crate::embed::{ScriptScales, ZScale};
use crate::limits::{DIRECT_DOCUMENTS_MAX, GRAPH_VECTORS_NEVER};
use std::sync::Arc;

/// What an index folder belongs to. A folder of another identity is rebuilt, never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Id of the store.
    pub store_id: [u8; 16],
    /// Epoch of the store; a restore changes it.
    pub epoch: u64,
    /// Id of the embedding model.
    pub model_id: String,
    /// Length of its vectors.
    pub dim: usize,
}

/// Settings with measured defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Share of the lexical leg in the hybrid score; the vector leg has the rest.
    pub lexical_weight: f32,
    /// Vectors in one space from which the approximate graph may serve, up to [`GRAPH_VECTORS_MAX`](crate::limits::GRAPH_VECTORS_MAX).
    pub graph_vectors_min: usize,
    /// Eligible documents of a space up to which every one is scored from memory, without the full-text index.
    pub direct_documents_max: usize,
    /// Changes after which a snapshot is written in the background, at least; it is a tenth of the documents where that is more.
    pub snapshot_changes_min: usize,
    /// Documents after which the full-text index is committed.
    pub batch_documents: usize,
    /// Time after which the full-text index is committed, milliseconds.
    pub batch_interval_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lexical_weight: 0.6,
            graph_vectors_min: GRAPH_VECTORS_NEVER,
            direct_documents_max: DIRECT_DOCUMENTS_MAX,
            snapshot_changes_min: 4_096,
            batch_documents: 256,
            batch_interval_ms: 1_000,
        }
    }
}

/// A model in use beside the built-in one. Its cosines are never compared with the other's: both are taken as standard scores.
#[derive(Clone)]
pub struct ModelLeg {
    /// Length of its vectors.
    pub dim: usize,
    /// Scales of its cosines.
    pub calibration: ModelCalibration,
    /// Share of the lexical leg in the hybrid score where this model serves the other.
    pub lexical_weight: f32,
}

/// The scale of a query vector's cosines against the model's background sample, as `|q| background.z(q)` gives it.
pub type Calibration = Arc<dyn Fn(&[f32]) -> ZScale + Send + Sync>;

/// The same for a model beside the built-in one, by script of the text.
pub type ModelCalibration = Arc<dyn Fn(&[f32]) -> ScriptScales + Send + Sync>;
