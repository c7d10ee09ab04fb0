//! Bytes and counts for people.
//!
//! Must not know: what is counted.

/// Bytes as `512 B`, `3.4 MiB`, ….
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A count with its noun: `1 memory`, `2 memories`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!((bytes(3), bytes(2048), bytes(5 << 30)), ("3 B".into(), "2.0 KiB".into(), "5.0 GiB".into()));
        assert_eq!((count(1, "memory", "memories"), count(0, "memory", "memories")), ("1 memory".into(), "0 memories".into()));
    }
}
