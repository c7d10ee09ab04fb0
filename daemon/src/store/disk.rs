//! How much room the disk has left.
//!
//! Must not know: what is written.

use super::error::StoreError;
use crate::limits::{DISK_RESERVE_BYTES_MAX, DISK_RESERVE_BYTES_MIN, DISK_RESERVE_DIVISOR};
use std::path::Path;

/// Room on a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes free.
    pub(super) free_bytes: u64,
    /// Bytes that writes leave free, so that the daemon can stop cleanly.
    pub(super) reserve_bytes: u64,
}

impl Room {
    /// Room on the volume that holds `dir`; none when the system does not say.
    pub(super) fn of(dir: &Path) -> Option<Room> {
        let volume = nix::sys::statvfs::statvfs(dir).ok()?;
        let block = volume.fragment_size();
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
        let (free, total) = (volume.blocks_available() as u64, volume.blocks() as u64);
        #[allow(clippy::unnecessary_cast)]
        let block = block as u64;
        (total > 0).then(|| Room { free_bytes: free.saturating_mul(block), reserve_bytes: reserve(total.saturating_mul(block)) })
    }

    /// Refuses when less than the reserve is left.
    pub(super) fn check(dir: &Path) -> Result<(), StoreError> {
        match Room::of(dir) {
            Some(Room { free_bytes, reserve_bytes }) if free_bytes < reserve_bytes => {
                Err(StoreError::Full { free_bytes, reserve_bytes })
            }
            _ => Ok(()),
        }
    }

    /// The same error with this volume's figures.
    pub(super) fn describe(dir: &Path, error: StoreError) -> StoreError {
        match (error, Room::of(dir)) {
            (StoreError::Full { .. }, Some(Room { free_bytes, reserve_bytes })) => StoreError::Full { free_bytes, reserve_bytes },
            (other, _) => other,
        }
    }
}

/// The reserve on a volume of this size.
fn reserve(total_bytes: u64) -> u64 {
    (total_bytes / DISK_RESERVE_DIVISOR).clamp(DISK_RESERVE_BYTES_MIN, DISK_RESERVE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_fits_the_volume() {
        assert_eq!(reserve(8 << 20), 1 << 20);
        assert_eq!(reserve(24 << 20), (24 << 20) / 16);
        assert_eq!(reserve(1 << 40), 32 << 20);
    }
}
