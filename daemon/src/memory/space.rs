//! `space/list` and `space/delete`.
//!
//! Must not know: sessions of a space.

use super::cursor::{Binding, page_limit};
use super::draft::space_name;
use super::filter::{Sieve, Unnamed};
use super::rules::Right;
use super::space_update::wire_rules;
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::clock;
use crate::idempotency::Key;
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::store::{Reads, StoreError};
use tiro_schema::wire::memory::ForgetResult;
use tiro_schema::wire::space::{SpaceDeleteParams, SpaceItem, SpaceListParams, SpaceListResult};

const DELETE: &str = "space/delete";

impl Memory {
    /// The spaces that hold memories or have rules, oldest first; those that the caller may not read are left out.
    ///
    /// # Errors
    /// `Invalid` about params, and the store's.
    pub async fn space_list(&self, caller: &Caller, params: SpaceListParams) -> Result<SpaceListResult, MemoryError> {
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        let binding = Binding::of("space/list", &());
        let after = binding.place(params.cursor.as_deref())?.unwrap_or(0);
        let caller = caller.clone();
        self.blocking(move |memory| {
            let page = memory.store().read(|tx| {
                let mut items = Vec::new();
                let (mut next_cursor, mut last) = (None, after);
                for space in tx.spaces()?.into_iter().filter(|s| u64::from(s.id) > after) {
                    let ruled = memory.inner.rules.of(space.id);
                    let seen = [Right::Read, Right::Manage].iter().any(|right| memory.may(&caller.actor, space.id, *right));
                    let memories = if seen { tx.counts(space.id)?.shown() } else { 0 };
                    if !seen || memories == 0 && ruled.is_none() {
                        continue;
                    }
                    if items.len() == limit {
                        next_cursor = Some(binding.cursor(last));
                        break;
                    }
                    last = u64::from(space.id);
                    items.push(SpaceItem {
                        name: space.name,
                        memories,
                        created_at: clock::format(space.created_at_ms, None),
                        rules: ruled.map(|ruled| wire_rules(&ruled.rules, ruled.redact)),
                    });
                }
                Ok::<_, StoreError>(SpaceListResult { items, next_cursor })
            })?;
            memory.audit_read(&caller, "space/list", &[(0, 0)]);
            Ok(page)
        })
        .await
    }

    /// Forgets every memory of a space, as `forget` does. A space that does not exist has none.
    ///
    /// # Errors
    /// `Invalid` about params, `Key`, `Cancelled`, and the store's.
    pub async fn space_delete(&self, caller: &Caller, params: SpaceDeleteParams) -> Result<ForgetResult, MemoryError> {
        let space = space_name("space", Some(&params.space))?;
        let key = Key::of(DELETE, &space, params.key.as_deref(), &params)?;
        if let Some(answer) = self.answered(key.as_ref())? {
            return Ok(answer);
        }
        let sieve = Sieve::new(None, Unnamed::Every)?;
        let records = self.blocking(move |memory| memory.matching(&space, &sieve)).await?;
        if params.dry_run.unwrap_or(false) {
            return Ok(self.forgotten(&records, None));
        }
        self.forget_records(caller, DELETE, records, Vec::new(), key).await
    }
}
