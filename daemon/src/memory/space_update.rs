//! `space/update`: the rules of a space change.
//!
//! Must not know: who enforces them.

use super::draft::space_name;
use super::place::ensure_space;
use super::rules::{Right, Ruled};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::{PRINCIPAL_BYTES_MAX, PRINCIPALS_MAX, RETENTION_DAYS_MAX};
use crate::store::RuleReads;
use tiro_schema::convert;
use tiro_schema::record::{PrincipalRecord, SpaceRecord, SpaceRulesRecord};
use tiro_schema::wire::space::{
    Gate, Principal, Quota, Retention, RetentionAct, Secrets, SpaceRule, SpaceRules, SpaceUpdateParams, SpaceUpdateResult,
};

const METHOD: &str = "space/update";

impl Memory {
    /// Changes the rules that are given, takes away those named in `clear`, and leaves the others. A space that is not there is made.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, also where the caller would shut itself out; `Key`, and the store's.
    pub async fn space_update(&self, caller: &Caller, params: SpaceUpdateParams) -> Result<SpaceUpdateResult, MemoryError> {
        let name = space_name("space", Some(&params.space))?;
        if let Some(secret) = super::secrets::find(&name) {
            return Err(MemoryError::Secret { path: "space", secret });
        }
        check(&params)?;
        let key = Key::of(METHOD, &name, params.key.as_deref(), &params)?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let space = ensure_space(tx, &name)?;
                let known = tx.space_rules(space.id)?.unwrap_or_default();
                let (rules, redact) = changed(&params, known, space.redact_secrets);
                let ruled = Ruled { name: name.clone(), rules, redact };
                if !ruled.allows(&caller.actor, Right::Manage) {
                    let message = "this would shut you out of changing it back: name yourself too";
                    return Err(MemoryError::invalid("writers", message));
                }
                if redact != space.redact_secrets {
                    tx.put_space(&SpaceRecord { redact_secrets: redact, ..space.clone() })?;
                }
                tx.put_space_rules(space.id, &ruled.rules)?;
                ledger::wrote(tx, &caller, METHOD, &[(space.id, 0)])?;
                let seq = tx.next_seq();
                let result = SpaceUpdateResult {
                    space: name.clone(),
                    rules: wire_rules(&ruled.rules, redact),
                    seq: memory.store().seq_token(seq),
                };
                let memory = memory.clone();
                tx.after_commit(Box::new(move || {
                    memory.inner.rules.set(space.id, ruled);
                    memory.inner.retention.notify_one();
                }));
                Ok::<_, MemoryError>(result)
            })
        });
        Ok(written.await?)
    }
}

fn check(params: &SpaceUpdateParams) -> Result<(), MemoryError> {
    let p = params;
    let lists = [("readers", &p.readers), ("writers", &p.writers)];
    let changes = p.retention.is_some() || p.gate.is_some() || p.secrets.is_some() || p.quota.is_some() || p.clear.is_some();
    if !changes && lists.iter().all(|(_, list)| list.is_none()) {
        return Err(MemoryError::invalid("", "nothing to change: give at least one rule, or clear"));
    }
    for (path, list) in lists {
        let Some(list) = list else { continue };
        if list.is_empty() {
            return Err(MemoryError::invalid(path, format!("name somebody; to let everybody, put {path} in clear")));
        }
        if list.len() > PRINCIPALS_MAX {
            return Err(MemoryError::too_large(path, "principalsMax", PRINCIPALS_MAX));
        }
        for (n, one) in list.iter().enumerate() {
            let path = format!("{path}[{n}]");
            let size = |text: &Option<String>| text.as_ref().is_none_or(|text| (1..=PRINCIPAL_BYTES_MAX).contains(&text.len()));
            if one.executable.is_none() && one.client.is_none() {
                return Err(MemoryError::invalid(path, "give executable, client, or both"));
            }
            if !size(&one.executable) || !size(&one.client) {
                return Err(MemoryError::invalid(path, format!("1 to {PRINCIPAL_BYTES_MAX} bytes")));
            }
            if one.executable.as_ref().is_some_and(|path| !path.starts_with('/')) {
                return Err(MemoryError::invalid(format!("{path}.executable"), "an absolute path, as the kernel names it"));
            }
        }
    }
    if let Some(retention) = &p.retention
        && !(1..=RETENTION_DAYS_MAX).contains(&retention.days)
    {
        return Err(MemoryError::invalid("retention.days", format!("1 to {RETENTION_DAYS_MAX}")));
    }
    if p.quota.as_ref().is_some_and(|quota| quota.memories.is_none() && quota.bytes.is_none()) {
        return Err(MemoryError::invalid("quota", "give memories, bytes, or both"));
    }
    Ok(())
}

fn changed(params: &SpaceUpdateParams, mut rules: SpaceRulesRecord, mut redact: bool) -> (SpaceRulesRecord, bool) {
    for rule in params.clear.iter().flatten() {
        match rule {
            SpaceRule::Retention => (rules.retention_days, rules.retention_act) = (None, 0),
            SpaceRule::Gate => rules.gate = 0,
            SpaceRule::Secrets => redact = false,
            SpaceRule::Readers => rules.readers = None,
            SpaceRule::Writers => rules.writers = None,
            SpaceRule::Quota => (rules.memories_max, rules.bytes_max) = (None, None),
        }
    }
    if let Some(Retention { days, then }) = params.retention {
        (rules.retention_days, rules.retention_act) = (Some(days), convert::retention_code(then.unwrap_or_default()));
    }
    rules.gate = params.gate.map_or(rules.gate, convert::gate_code);
    redact = params.secrets.map_or(redact, |secrets| secrets == Secrets::Redact);
    let stored = |list: &Vec<Principal>| {
        let one = |one: &Principal| PrincipalRecord { executable: one.executable.clone(), client: one.client.clone() };
        list.iter().map(one).collect()
    };
    rules.readers = params.readers.as_ref().map(stored).or(rules.readers);
    rules.writers = params.writers.as_ref().map(stored).or(rules.writers);
    if let Some(quota) = &params.quota {
        (rules.memories_max, rules.bytes_max) = (quota.memories, quota.bytes);
    }
    (rules, redact)
}

/// Rules as the wire shows them.
pub(super) fn wire_rules(rules: &SpaceRulesRecord, redact: bool) -> SpaceRules {
    let shown = |list: &Vec<PrincipalRecord>| {
        let one = |one: &PrincipalRecord| Principal { executable: one.executable.clone(), client: one.client.clone() };
        list.iter().map(one).collect::<Vec<_>>()
    };
    let act = convert::retention_of(rules.retention_act).unwrap_or(RetentionAct::Archive);
    let quota = Quota { memories: rules.memories_max, bytes: rules.bytes_max };
    SpaceRules {
        retention: rules.retention_days.map(|days| Retention { days, then: Some(act) }),
        gate: convert::gate_of(rules.gate).unwrap_or(Gate::Normal),
        secrets: if redact { Secrets::Redact } else { Secrets::Refuse },
        readers: rules.readers.as_ref().map(shown),
        writers: rules.writers.as_ref().map(shown),
        quota: (quota != Quota::default()).then_some(quota),
    }
}
