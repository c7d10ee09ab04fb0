//! Refuses params that hold a secret, wherever in them it stands, before anything of them is kept or sent to a model.
//!
//! Must not know: what the params mean.

use crate::memory::secrets;
use serde_json::Value;
use tiro_schema::{ErrorKind, ErrorObject};

/// Passes params without a secret on.
///
/// # Errors
/// `secretRefused` with the path and the kind of the first one found, never its value.
pub(super) fn without_secrets(params: Value) -> Result<Value, ErrorObject> {
    match search(&params, String::new()) {
        None => Ok(params),
        Some((path, secret)) => Err(ErrorObject::new(ErrorKind::SecretRefused, format!("{path} holds a secret ({secret})"))
            .with("path", path)
            .with("secret", secret)),
    }
}

/// A name that a client gave itself; `redacted` where it holds a secret, since it goes into the audit.
pub fn safe_name(name: String) -> String {
    if secrets::find(&name).is_some() { "redacted".to_owned() } else { name }
}

/// Nesting is bounded where frames are read.
fn search(value: &Value, path: String) -> Option<(String, &'static str)> {
    match value {
        Value::String(text) => secrets::find(text).map(|kind| (path, kind)),
        Value::Array(items) => items.iter().enumerate().find_map(|(n, item)| search(item, format!("{path}[{n}]"))),
        Value::Object(members) => members
            .iter()
            .find_map(|(name, member)| search(member, if path.is_empty() { name.clone() } else { format!("{path}.{name}") })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    // MEM-10
    #[test]
    fn a_secret_in_a_prompt_is_refused_by_its_path_and_never_repeated() {
        let params = json!({"sessionId": "s", "input": [{"type": "text", "text": "my key is AKIAIOSFODNN7EXAMPL2"}]});
        let error = without_secrets(params).unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::SecretRefused));
        let told = serde_json::to_string(&error).unwrap();
        assert!(told.contains("input[0].text") && !told.contains("AKIA"), "{told}");
        assert_eq!(safe_name("sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD".to_owned()), "redacted");
        assert!(without_secrets(json!({"input": "how do I keep a key safe?"})).is_ok());
    }
}
