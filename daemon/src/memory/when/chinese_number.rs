//! Numbers in Chinese text: digits of any width, and numerals up to ninety-nine or digit by digit.
//!
//! Must not know: what is counted.

/// A number at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numeral {
    pub value: i32,
    /// Characters that it is written with.
    pub chars: usize,
    /// Bytes that it takes.
    pub bytes: usize,
}

/// Most characters of a number that is read.
const CHARS_MAX: usize = 6;

/// The number a text begins with.
pub(super) fn numeral(text: &str) -> Option<Numeral> {
    let digit = |c: char| c.to_digit(10).or_else(|| ('０'..='９').contains(&c).then(|| c as u32 - '０' as u32));
    run(text, digit, |digits| Some(by_digit(digits))).or_else(|| run(text, sign, numerals))
}

/// Whether a character is part of a number.
pub(super) fn is_numeral(c: char) -> bool {
    c.is_ascii_digit() || ('０'..='９').contains(&c) || sign(c).is_some()
}

const TEN: u32 = 10;

fn sign(c: char) -> Option<u32> {
    Some(match c {
        '〇' | '零' => 0,
        '一' => 1,
        '二' | '两' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        '十' => TEN,
        _ => return None,
    })
}

/// The longest run of signs at the beginning, as a number.
fn run(text: &str, sign: impl Fn(char) -> Option<u32>, value: impl Fn(&[u32]) -> Option<i32>) -> Option<Numeral> {
    let (mut signs, mut chars, mut bytes) = ([0; CHARS_MAX], 0, 0);
    for c in text.chars() {
        let Some(n) = sign(c) else { break };
        *signs.get_mut(chars)? = n;
        chars += 1;
        bytes += c.len_utf8();
    }
    (chars > 0).then(|| value(&signs[..chars])).flatten().map(|value| Numeral { value, chars, bytes })
}

fn by_digit(digits: &[u32]) -> i32 {
    digits.iter().fold(0, |n, d| n * 10 + *d as i32)
}

/// `二〇二三` digit by digit, else tens and ones: `十`, `十二`, `三十`, `三十一`.
fn numerals(signs: &[u32]) -> Option<i32> {
    let Some(ten) = signs.iter().position(|n| *n == TEN) else { return Some(by_digit(signs)) };
    let tens = match signs[..ten] {
        [] => 1,
        [n] if n > 0 => n,
        _ => return None,
    };
    let ones = match signs[ten + 1..] {
        [] => 0,
        [n] if (1..TEN).contains(&n) => n,
        _ => return None,
    };
    Some((tens * 10 + ones) as i32)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_every_writing() {
        for (text, value, chars) in [
            ("2023年", 2023, 4),
            ("０８月", 8, 2),
            ("二〇二三年", 2023, 4),
            ("二零二三", 2023, 4),
            ("十", 10, 1),
            ("十二月", 12, 2),
            ("三十一日", 31, 3),
            ("两天", 2, 1),
            ("廿", 0, 0),
        ] {
            let read = numeral(text);
            assert_eq!(read.map_or((0, 0), |n| (n.value, n.chars)), (value, chars), "{text}");
        }
        for text in ["", "十十", "三百", "二十十", "12345678"] {
            assert!(numeral(text).is_none_or(|n| n.value == 3), "{text}");
        }
    }
}
