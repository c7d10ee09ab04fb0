//! Ids made of where something comes from: the same each time, on every machine.
//!
//! Must not know: formats.

use uuid::Uuid;

/// The id of what these words name, in their order. The words should begin with the space and the format: ids are unique in a store.
pub fn of(words: &[&str]) -> Uuid {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for word in words {
        hash.update(&(word.len() as u64).to_le_bytes());
        hash.update(word.as_bytes());
    }
    uuid::Builder::from_custom_bytes(hash.digest128().to_be_bytes()).into_uuid()
}

/// A short name of the same, 8 hexadecimal digits.
pub fn short(words: &[&str]) -> String {
    of(words).simple().to_string()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_apart_and_their_id_never_changes() {
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        // What is stored under it would be taken for something new if this changed.
        assert_eq!(of(&["personal", "chatgpt", "c", "m", "0"]), of(&["personal", "chatgpt", "c", "m", "0"]));
        assert_eq!(short(&["x"]).len(), 8);
    }
}
