//! A look at a line before it is parsed: how deep it nests and how many values it holds.
//!
//! Counts by brackets and commas outside strings, in one pass and without memory of its own, so that a hostile line
//! is refused before anything is built from it. Must not know: whether the line is JSON.

use crate::limits::{FRAME_DEPTH_MAX, FRAME_ELEMENTS_MAX};

/// Which limit a line is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanFault {
    /// Deeper than [`FRAME_DEPTH_MAX`].
    Depth,
    /// More values than [`FRAME_ELEMENTS_MAX`].
    Elements,
}

/// Looks over a line.
///
/// # Errors
/// The first limit it is over.
pub fn scan(line: &[u8]) -> Result<(), ScanFault> {
    let (mut depth, mut elements) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in line {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                elements += 1;
                if depth > FRAME_DEPTH_MAX {
                    return Err(ScanFault::Depth);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => elements += 1,
            _ => {}
        }
        if elements > FRAME_ELEMENTS_MAX {
            return Err(ScanFault::Elements);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_size_are_counted_outside_strings_only() {
        // API-3, A41, C3
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(scan(nested(FRAME_DEPTH_MAX).as_bytes()), Ok(()));
        assert_eq!(scan(nested(FRAME_DEPTH_MAX + 1).as_bytes()), Err(ScanFault::Depth));
        assert_eq!(scan("[".repeat(10_000).as_bytes()), Err(ScanFault::Depth));
        assert_eq!(scan(format!("[{}0]", "0,".repeat(1_000_000)).as_bytes()), Err(ScanFault::Elements));
        assert_eq!(scan(format!("[{}[]]", "[],".repeat(200_000)).as_bytes()), Err(ScanFault::Elements));
        assert_eq!(scan(format!("\"{}\\\"{}\"", "[".repeat(1000), ",".repeat(200_000)).as_bytes()), Ok(()));
    }
}
