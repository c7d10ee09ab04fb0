//! Keys: byte strings in the order of their parts.
//!
//! Must not know: tables or records.

/// Joins the parts of a key.
fn join<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut key = [0; N];
    let mut at = 0;
    for part in parts {
        key[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    debug_assert_eq!(at, N);
    key
}

/// A u64.
pub(super) fn u64(a: u64) -> [u8; 8] {
    a.to_be_bytes()
}

/// A u32.
pub(super) fn u32(a: u32) -> [u8; 4] {
    a.to_be_bytes()
}

/// A u64, then a u32.
pub(super) fn u64_u32(a: u64, b: u32) -> [u8; 12] {
    join(&[&a.to_be_bytes(), &b.to_be_bytes()])
}

/// A u32, then a u64.
pub(super) fn u32_u64(a: u32, b: u64) -> [u8; 12] {
    join(&[&a.to_be_bytes(), &b.to_be_bytes()])
}

/// Two u64.
pub(super) fn u64_u64(a: u64, b: u64) -> [u8; 16] {
    join(&[&a.to_be_bytes(), &b.to_be_bytes()])
}

/// (u64, u64, u32).
pub(super) fn u64_u64_u32(a: u64, b: u64, c: u32) -> [u8; 20] {
    join(&[&a.to_be_bytes(), &b.to_be_bytes(), &c.to_be_bytes()])
}

/// A u32, then 16 bytes.
pub(super) fn u32_16(a: u32, b: &[u8; 16]) -> [u8; 20] {
    join(&[&a.to_be_bytes(), b])
}

/// A u64, then 16 bytes.
pub(super) fn u64_16(a: u64, b: &[u8; 16]) -> [u8; 24] {
    join(&[&a.to_be_bytes(), b])
}

/// Memory key, version, passage.
pub(super) fn passage(key: u64, version: u32, passage: u16) -> [u8; 14] {
    join(&[&key.to_be_bytes(), &version.to_be_bytes(), &passage.to_be_bytes()])
}

/// Model, memory key, version, passage.
pub(super) fn model_passage(model: u32, key: u64, version: u32, passage: u16) -> [u8; 18] {
    join(&[&model.to_be_bytes(), &key.to_be_bytes(), &version.to_be_bytes(), &passage.to_be_bytes()])
}

/// Two u32.
pub(super) fn u32_u32(a: u32, b: u32) -> [u8; 8] {
    join(&[&a.to_be_bytes(), &b.to_be_bytes()])
}

/// Session, time, turn.
pub(super) fn session_turn(session: u64, at_ms: i64, turn: &[u8; 16]) -> [u8; 32] {
    join(&[&session.to_be_bytes(), &time(at_ms), turn])
}

/// Time, then 32 bytes.
pub(super) fn time_32(at_ms: i64, hash: &[u8; 32]) -> [u8; 40] {
    join(&[&time(at_ms), hash])
}

/// A time, in order also where it is negative.
pub(super) fn time(at_ms: i64) -> [u8; 8] {
    (at_ms.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// The u64 that starts at `at`, if the key is long enough.
pub(super) fn u64_at(key: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(at..at + 8)?.try_into().ok()?))
}

/// The u32 that starts at `at`, if the key is long enough.
pub(super) fn u32_at(key: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(at..at + 4)?.try_into().ok()?))
}

/// The `N` bytes that start at `at`, if the key is long enough.
pub(super) fn bytes_at<const N: usize>(key: &[u8], at: usize) -> Option<[u8; N]> {
    key.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_order_as_their_parts_do() {
        assert!(u64_u32(1, u32::MAX) < u64_u32(2, 0));
        assert!(time(-1) < time(0) && time(0) < time(1) && time(i64::MIN) < time(-1));
        assert_eq!(u64_at(&u32_u64(7, 9), 4).unwrap(), 9);
        assert_eq!(u32_at(&u64_u32(7, 9), 8).unwrap(), 9);
        assert_eq!(u64_at(&[1, 2], 0), None);
    }
}
