//! A cheap hasher for keys that are numbers: sequences, slots, hashes of words. It must not be used for a map without a bound whose keys an
//! attacker could choose freely and cheaply.

use std::hash::{BuildHasherDefault, Hasher};

/// A set of numbers.
pub type NumberSet<K> = std::collections::HashSet<K, BuildHasherDefault<NumberHasher>>;

/// A map keyed by numbers.
pub type NumberMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Multiplies and folds, so that both ends of the hash depend on every bit of the key.
#[derive(Debug, Default, Clone, Copy)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xA076_1D64_78BD_642F_E703_7ED1_A0B4_28DB);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}
