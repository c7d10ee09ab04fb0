//! A write repeated with the same key is done once: the answer is kept in the transaction that did the work.
//!
//! Scope is space, method and key; the body is hashed over canonical JSON without `key`. Must not know: any verb.

use crate::limits::KEY_BYTES_MAX;
use crate::store::{Reads, StoreError, WriteTx};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A caller's key with its scope, and the body it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    scope: [u8; 32],
    body: [u8; 32],
}

/// SHA-256 of a value as canonical JSON.
pub fn hash_of(value: &Value) -> [u8; 32] {
    Sha256::digest(canonical_json(value)).into()
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The same key came with another body before.
    #[error("the key was used with another body")]
    Reused,
    /// The key is empty or over the limit.
    #[error("a key has 1 to {KEY_BYTES_MAX} bytes")]
    Size,
    /// The body has no JSON form.
    #[error("the call has no JSON form")]
    Body,
}

impl Key {
    /// The key of a call, when it has one.
    ///
    /// # Errors
    /// `Size` or `Body`.
    pub fn of<P: Serialize>(method: &str, space: &str, key: Option<&str>, params: &P) -> Result<Option<Key>, KeyError> {
        let Some(key) = key else { return Ok(None) };
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return Err(KeyError::Size);
        }
        let mut body = serde_json::to_value(params).map_err(|_| KeyError::Body)?;
        if let Value::Object(members) = &mut body {
            members.shift_remove("key");
        }
        Ok(Some(Key { scope: hash_parts(&[space, method, key]), body: Sha256::digest(canonical_json(&body)).into() }))
    }

    /// The key of one part of a call that is done in several transactions. It stands for the same body.
    pub fn part(&self, number: usize) -> Key {
        let mut hash = Sha256::new();
        hash.update(self.scope);
        hash.update((number as u64).to_be_bytes());
        Key { scope: hash.finalize().into(), body: self.body }
    }

    /// The answer kept under the key, if the call was done before.
    ///
    /// # Errors
    /// `Reused`, or the store's.
    pub fn answered<R: DeserializeOwned, E: From<StoreError> + From<KeyError>>(
        &self,
        tx: &impl Reads,
        now_ms: i64,
    ) -> Result<Option<R>, E> {
        let Some(kept) = tx.idempotency(&self.scope, now_ms)? else { return Ok(None) };
        if kept.body_hash != self.body {
            return Err(KeyError::Reused.into());
        }
        serde_json::from_str(&kept.result_json)
            .map(Some)
            .map_err(|_| StoreError::Invalid("a kept answer cannot be read".to_owned()).into())
    }

    /// Keeps an answer under the key.
    ///
    /// # Errors
    /// The store's.
    pub fn keep<R: Serialize>(&self, tx: &mut WriteTx, answer: &R) -> Result<(), StoreError> {
        let json = serde_json::to_string(answer).map_err(|e| StoreError::Invalid(format!("the answer has no JSON form: {e}")))?;
        tx.put_idempotency(&self.scope, self.body, json)
    }
}

/// Does the work unless the key says that it was done, and keeps the answer with it.
///
/// # Errors
/// `Reused`, or those of the work.
pub fn idempotent<R, E>(tx: &mut WriteTx, key: Option<&Key>, work: impl FnOnce(&mut WriteTx) -> Result<R, E>) -> Result<R, E>
where
    R: Serialize + DeserializeOwned,
    E: From<StoreError> + From<KeyError>,
{
    let Some(key) = key else { return work(tx) };
    let now_ms = tx.now_ms();
    if let Some(answer) = key.answered::<R, E>(tx, now_ms)? {
        return Ok(answer);
    }
    let answer = work(tx)?;
    key.keep(tx, &answer)?;
    Ok(answer)
}

fn hash_parts(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// JSON without white space and with the members of every object in order of their names.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            out.push('{');
            for (i, name) in names.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(name.clone()).to_string());
                out.push(':');
                write_canonical(&members[name], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_json_does_not_depend_on_order_or_space() {
        let a: Value = serde_json::from_str(r#"{"b":1, "a":[{"y":2,"x":"é"}]}"#).unwrap();
        assert_eq!(canonical_json(&a), r#"{"a":[{"x":"é","y":2}],"b":1}"#);
    }

    #[test]
    fn the_key_itself_is_no_part_of_the_body() {
        let of = |key: &str, text: &str, space: &str| {
            Key::of("memory/remember", space, Some(key), &json!({"text": text, "key": key})).unwrap().unwrap()
        };
        assert_eq!(of("k", "a", "s"), of("k", "a", "s"));
        assert_eq!(of("k", "a", "s").body, of("l", "a", "s").body);
        assert_ne!(of("k", "a", "s").scope, of("l", "a", "s").scope);
        assert_ne!(of("k", "a", "s").scope, of("k", "a", "t").scope);
        assert_ne!(of("k", "a", "s").body, of("k", "b", "s").body);
        assert_ne!(of("k", "a", "s").part(1), of("k", "a", "s").part(2));
        assert_eq!(Key::of("m", "s", None, &json!({})).unwrap(), None);
        assert_eq!(Key::of("m", "s", Some(""), &json!({})), Err(KeyError::Size));
    }
}
