//! What a space may be called: one rule for memories and sessions. Must not know: spaces.

use crate::limits::SPACE_NAME_CHARS_MAX;

/// Whether a space may have this name: flat, one to 64 letters, digits, `.`, `_`, `-` and `@`, of any script.
pub fn fits(name: &str) -> bool {
    let length = name.chars().count();
    (1..=SPACE_NAME_CHARS_MAX).contains(&length)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@'))
        && !name.chars().all(|c| c == '.')
}

/// The rule in words.
pub fn rule() -> String {
    format!("a space has a flat name of 1 to {SPACE_NAME_CHARS_MAX} letters, digits and . _ - @")
}
