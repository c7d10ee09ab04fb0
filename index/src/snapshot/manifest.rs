//! What a snapshot says about itself. It must not know the layout of the state.

use crate::settings::Identity;
use crate::tokenize::TOKENIZER_VERSION;

/// Version of the layout of the state. A snapshot of another version is rebuilt.
const FORMAT_VERSION: u32 = 3;

/// The manifest, written last.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Manifest {
    format: u32,
    tokenizer: u32,
    store: String,
    epoch: u64,
    model: String,
    dim: usize,
    /// Store sequence up to which every change is in the state.
    pub(super) seq: u64,
    /// Documents in the state.
    pub(super) documents: usize,
    /// Length of the state, bytes.
    pub(super) bytes: u64,
    /// XXH3-64 of the state, hexadecimal.
    pub(super) checksum: String,
}

impl Manifest {
    /// The manifest of a state of this identity.
    pub(super) fn of(identity: &Identity, seq: u64, documents: usize, bytes: u64, checksum: u64) -> Self {
        Self {
            format: FORMAT_VERSION,
            tokenizer: TOKENIZER_VERSION,
            store: identity.store_id.iter().map(|byte| format!("{byte:02x}")).collect(),
            epoch: identity.epoch,
            model: identity.model_id.clone(),
            dim: identity.dim,
            seq,
            documents,
            bytes,
            checksum: format!("{checksum:016x}"),
        }
    }

    /// Why this is not a snapshot of `identity` for a store that stands at `store_seq`, if it is not.
    pub(super) fn unfit(&self, identity: &Identity, store_seq: u64) -> Option<&'static str> {
        let wanted = Self::of(identity, 0, 0, 0, 0);
        match () {
            () if self.format != wanted.format => Some("its format has another version"),
            () if self.tokenizer != wanted.tokenizer => Some("its tokenizer has another version"),
            () if self.store != wanted.store => Some("it belongs to another store"),
            () if self.epoch != wanted.epoch => Some("it belongs to another epoch of the store"),
            () if self.model != wanted.model || self.dim != wanted.dim => Some("its vectors are of another model"),
            () if self.seq > store_seq => Some("it is ahead of the store"),
            () => None,
        }
    }
}
