//! `memory/get`: one memory, whole.
//!
//! Must not know: pages.

use super::resolve::resolve;
use super::show::{show, space_name_of};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use tiro_schema::wire::memory::{GetParams, Memory as WireMemory};

impl Memory {
    /// The memory of an id, or of a prefix that fits one memory.
    ///
    /// # Errors
    /// `NotFound`, `Ambiguous`, `Invalid`, and the store's.
    pub async fn get(&self, caller: &Caller, params: GetParams) -> Result<WireMemory, MemoryError> {
        let (record, shown) = self.store().read(|tx| {
            let record = resolve(tx, &params.id, "id")?;
            let space = space_name_of(tx, record.space)?;
            let shown = show(tx, &record, &space)?;
            Ok::<_, MemoryError>((record, shown))
        })?;
        self.audit_read(caller, "memory/get", &ledger::touched([&record]));
        Ok(shown)
    }
}
