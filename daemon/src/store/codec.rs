//! How a record becomes bytes: one byte of record version, eight of checksum, then bincode.
//!
//! The only place that names bincode (format of 1.3.3: fixed integers, little-endian, limit, no trailing bytes). The checksum
//! covers table, version and key too, so that a good row in the wrong place is noticed:
//! `xxh3(payload, seed = xxh3(key, seed = version << 8 | tag))`. Must not know: which records there are.

use super::error::StoreError;
use super::tables::Table;
use crate::limits::RECORD_BYTES_MAX;
use bincode::Options;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes before the payload.
pub const ENVELOPE_BYTES: usize = 9;

fn options() -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding().with_limit(RECORD_BYTES_MAX).reject_trailing_bytes()
}

fn checksum(table: Table, version: u8, key: &[u8], payload: &[u8]) -> u64 {
    let place = xxh3_64_with_seed(key, u64::from(version) << 8 | u64::from(table.tag));
    xxh3_64_with_seed(payload, place)
}

/// A record as the bytes kept under `key` in `table`.
///
/// # Errors
/// `TooLarge` when it is over `RECORD_BYTES_MAX`.
pub fn seal<R: Serialize + ?Sized>(table: Table, key: &[u8], record: &R) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![0; ENVELOPE_BYTES];
    write(table, record, &mut bytes)?;
    let sum = checksum(table, table.version, key, &bytes[ENVELOPE_BYTES..]);
    bytes[0] = table.version;
    bytes[1..ENVELOPE_BYTES].copy_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// A record's bytes without envelope, for hashes over it.
///
/// # Errors
/// `TooLarge` when it is over `RECORD_BYTES_MAX`.
pub fn canonical<R: Serialize + ?Sized>(table: Table, record: &R) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    write(table, record, &mut bytes)?;
    Ok(bytes)
}

fn write<R: Serialize + ?Sized>(table: Table, record: &R, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
    options().serialize_into(bytes, record).map_err(|_| StoreError::TooLarge {
        table: table.name,
        bytes: bincode::serialized_size(record).unwrap_or(u64::MAX),
        limit_bytes: RECORD_BYTES_MAX,
    })
}

/// The payload of the bytes kept under `key` in `table`, once version and checksum are right.
///
/// # Errors
/// `Damaged`, naming table and key.
pub fn payload<'a>(table: Table, key: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], StoreError> {
    let (Some(&version), Some(sum), Some(payload)) = (bytes.first(), bytes.get(1..ENVELOPE_BYTES), bytes.get(ENVELOPE_BYTES..))
    else {
        return Err(damaged(table, key, "the row is cut short"));
    };
    if sum != checksum(table, version, key, payload).to_le_bytes() {
        return Err(damaged(table, key, "its checksum is wrong"));
    } else if version != table.version {
        return Err(damaged(table, key, &format!("record version {version} is not known")));
    }
    Ok(payload)
}

/// Whether damage is looked for. Tests of damage run once with the defence off, to show that they can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checks {
    /// The file is checked when it is opened, every record when it is read.
    #[default]
    On,
    /// Neither.
    OffForTests,
}

/// The record in the bytes kept under `key` in `table`.
///
/// # Errors
/// `Damaged`, naming table and key.
pub fn unseal<R: DeserializeOwned>(table: Table, key: &[u8], bytes: &[u8], checks: Checks) -> Result<R, StoreError> {
    let payload = match checks {
        Checks::On => payload(table, key, bytes)?,
        Checks::OffForTests => bytes.get(ENVELOPE_BYTES..).unwrap_or_default(),
    };
    options().deserialize(payload).map_err(|error| damaged(table, key, &format!("the record does not decode: {error}")))
}

/// Damage of one row.
pub(super) fn damaged(table: Table, key: &[u8], what: &str) -> StoreError {
    let key = key.iter().take(40).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    StoreError::Damaged { table: table.name, key, what: what.to_owned() }
}
