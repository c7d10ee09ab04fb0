//! Where a page ended: opaque to callers and bound to the call it came from.
//!
//! Must not know: what is paged.

use super::error::MemoryError;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

/// What a cursor is bound to: the call's filter, order and space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Binding(u64);

impl Binding {
    /// Of a method and what shapes its pages.
    pub fn of(method: &str, shape: &impl Serialize) -> Binding {
        let shape = serde_json::to_string(shape).unwrap_or_default();
        Binding(xxh3_64(format!("{method}\n{shape}").as_bytes()))
    }

    /// A cursor that goes on after `last`.
    pub fn cursor(self, last: u64) -> String {
        let body = format!("{:016x}{last:016x}", self.0);
        format!("{body}{:08x}", xxh3_64(body.as_bytes()) as u32)
    }

    /// The place of a cursor.
    pub fn place(self, cursor: Option<&str>) -> Result<Option<u64>, MemoryError> {
        let Some(cursor) = cursor else { return Ok(None) };
        let refused = || {
            MemoryError::invalid(
                "cursor",
                "not a cursor of this call: repeat the call that gave it with the same filter, or begin without one",
            )
        };
        if cursor.len() != 40 || !cursor.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refused());
        }
        let (body, check) = cursor.split_at(32);
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| refused());
        let whole = number(check)? == u64::from(xxh3_64(body.as_bytes()) as u32);
        if !whole || number(&body[..16])? != self.0 {
            return Err(refused());
        }
        Ok(Some(number(&body[16..])?))
    }
}

/// The limit of a page: the default when absent, within the bound.
pub(super) fn page_limit(limit: Option<u32>, default: u32, max: u32) -> Result<usize, MemoryError> {
    match limit {
        None => Ok(default as usize),
        Some(n) if (1..=max).contains(&n) => Ok(n as usize),
        Some(_) => Err(MemoryError::invalid("limit", format!("between 1 and {max}"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_serves_its_own_call_only() {
        let a = Binding::of("memory/list", &("personal", 1));
        let b = Binding::of("memory/list", &("personal", 2));
        for place in [0, 7, u64::MAX] {
            assert_eq!(a.place(Some(&a.cursor(place))).unwrap(), Some(place));
        }
        assert!(b.place(Some(&a.cursor(7))).is_err());
        assert_eq!(a.place(None).unwrap(), None);
        for bad in ["", "x", "0000", &"z".repeat(40), &"é".repeat(20), &a.cursor(7).replace('7', "8")] {
            assert!(a.place(Some(bad)).is_err(), "{bad}");
        }
    }
}
