//! Rows of the rules of spaces.
//!
//! Must not know: who keeps them.

use super::error::StoreError;
use super::rows::Rows;
use super::write_tx::WriteTx;
use super::{keys, tables};
use tiro_schema::record::SpaceRulesRecord;

/// Reads of rules. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait RuleReads: Rows + Sized {
    /// The rules of a space; none when it never had any.
    fn space_rules(&self, space: u32) -> Result<Option<SpaceRulesRecord>, StoreError> {
        self.record(tables::SPACE_RULES, &keys::u32(space))
    }
}

impl<T: Rows> RuleReads for T {}

impl WriteTx {
    /// Writes the rules of a space.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_space_rules(&mut self, space: u32, rules: &SpaceRulesRecord) -> Result<(), StoreError> {
        self.put(tables::SPACE_RULES, &keys::u32(space), rules)
    }
}
