//! The second look at what a pattern found: check digits, issuers, entropy, placeholders.
//!
//! Must not know: the patterns.

use super::values::{Value, digits, entropy, has_digit, has_letter, has_lower, has_upper, is_placeholder, is_uuid, is_words};

/// The pattern alone decides.
pub(super) fn always(_: &Value<'_>) -> bool {
    true
}

/// A long token behind a known prefix: not a sample, and not words.
pub(super) fn token(value: &Value<'_>) -> bool {
    let v = value.get();
    !is_placeholder(v) && entropy(v) >= 2.5
}

/// `sk-` and what follows: one run of letters and digits that is no word.
pub(super) fn sk_token(value: &Value<'_>) -> bool {
    let v = value.get();
    let run = v.split(['-', '_']).max_by_key(|part| part.len()).unwrap_or("");
    !v.to_ascii_lowercase().contains("xxxx")
        && ((run.len() >= 12 && has_digit(run) && has_letter(run))
            || (run.len() >= 20 && has_upper(run) && has_lower(run))
            || (run.len() >= 16 && run.bytes().all(|b| b.is_ascii_digit())))
}

/// A payment card: Luhn, an issuer's prefix and length, and groups as cards are written.
pub(super) fn card(value: &Value<'_>) -> bool {
    let v = value.get();
    if value.before().is_some_and(|c| matches!(c, '.' | '-' | '+' | '/' | '#' | '=' | '_') || c.is_ascii_alphanumeric()) {
        return false;
    }
    let mut after = value.after().chars();
    match (after.next(), after.next()) {
        (Some('.' | '-' | '/'), Some(c)) if c.is_ascii_alphanumeric() => return false,
        (Some(c), _) if c.is_ascii_alphanumeric() || c == '_' => return false,
        _ => {}
    }
    let groups: Vec<usize> = v.split([' ', '-']).map(str::len).collect();
    let written = groups.len() == 1
        || groups[..groups.len() - 1].iter().all(|n| *n == 4) && groups[groups.len() - 1] <= 4
        || matches!(groups.as_slice(), [4, 6, 5] | [4, 6, 4] | [6, 13] | [6, 10]);
    // Round numbers side by side: a table, not a card.
    let round = groups.len() > 1 && v.split([' ', '-']).all(|group| group.ends_with("00"));
    let d = digits(v);
    written && !round && !is_order_number(value) && luhn(&d) && issuer(&d) && d.iter().any(|x| *x != d[0])
}

/// The Luhn check (ISO/IEC 7812-1).
fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits.iter().rev().enumerate().map(|(i, d)| if i % 2 == 0 { *d } else { d * 2 / 10 + d * 2 % 10 }).sum();
    sum.is_multiple_of(10)
}

/// Whether prefix and length are those of a card network.
fn issuer(digits: &[u32]) -> bool {
    let prefix = |n: usize| digits.iter().take(n).fold(0, |p, d| p * 10 + d);
    let n = digits.len();
    let (p1, p2, p3, p4) = (prefix(1), prefix(2), prefix(3), prefix(4));
    (p1 == 4 && (n == 16 || n == 19))
        || (n == 16 && ((51..=55).contains(&p2) || (2221..=2720).contains(&p4)))
        || (n == 15 && (p2 == 34 || p2 == 37))
        || (n == 16 && (p4 == 6011 || p2 == 65 || (644..=649).contains(&p3)))
        || (n == 16 && (3528..=3589).contains(&p4))
        || (n == 14 && (p2 == 36 || p2 == 38 || (300..=305).contains(&p3)))
        || ((16..=19).contains(&n) && p2 == 62)
        || (n == 16 && (2200..=2204).contains(&p4))
}

/// Whether what stands before names the number of an order, a parcel, a ticket: such numbers pass check digits by chance.
fn is_order_number(value: &Value<'_>) -> bool {
    const ORDERS: &[&str] = &[
        "order",
        "invoice",
        "tracking",
        "shipment",
        "parcel",
        "ticket",
        "reference",
        "transaction",
        "serial",
        "isbn",
        "imei",
        "case",
        "sku",
        "batch",
        "booking",
        "account id",
        "user id",
        "request id",
        "订单",
        "运单",
        "快递",
        "单号",
        "流水",
        "编号",
        "发票",
        "工单",
        "序列号",
        "批次",
        "物流",
    ];
    let start = value.text[..value.range.start].char_indices().rev().nth(ORDER_CHARS_MAX).map_or(0, |(at, _)| at);
    let before = value.text[start..value.range.start].to_lowercase();
    let card = ["card", "visa", "mastercard", "amex", "卡"].iter().any(|word| before.contains(word));
    !card && ORDERS.iter().any(|word| before.contains(word))
}

/// Characters before a number in which its name is looked for.
const ORDER_CHARS_MAX: usize = 32;

/// A number as the US social security administration issues them.
pub(super) fn social_security(value: &Value<'_>) -> bool {
    let v = value.get();
    let area = &v[..3];
    let around = value.before().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '#' | '+'))
        || value.after().starts_with(['-', '/', '.']) && value.after()[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    !around
        && area != "000"
        && area != "666"
        && !area.starts_with('9')
        && &v[4..6] != "00"
        && &v[7..] != "0000"
        && !is_order_number(value)
}

/// A Hong Kong identity card: letters as 10 to 35, weights 9 to 1, modulo 11.
pub(super) fn hong_kong_id(value: &Value<'_>) -> bool {
    let v: Vec<u8> = value.get().bytes().filter(u8::is_ascii_alphanumeric).collect();
    let number = |b: u8| if b.is_ascii_digit() { u32::from(b - b'0') } else { u32::from(b - b'A') + 10 };
    let padded = if v.len() == 8 { 36 * 9 } else { 0 };
    let weights = (2..=u32::try_from(v.len()).unwrap_or(9)).rev();
    let sum: u32 = padded + v.iter().take(v.len() - 1).zip(weights).map(|(b, w)| number(*b) * w).sum::<u32>();
    let check = v.last().map_or(0, |b| if *b == b'A' { 10 } else { u32::from(b.saturating_sub(b'0')) });
    (sum + check).is_multiple_of(11)
}

/// A Chinese resident identity number: ISO 7064 MOD 11-2 check character (GB 11643-1999).
pub(super) fn chinese_id(value: &Value<'_>) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECK: &[u8; 11] = b"10X98765432";
    let v = value.get().as_bytes();
    if value.before().is_some_and(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_') || v.len() != 18 {
        return false;
    }
    let sum: u32 = v.iter().take(17).zip(WEIGHTS).map(|(b, w)| u32::from(b - b'0') * w).sum();
    CHECK[(sum % 11) as usize] == v[17].to_ascii_uppercase()
}

/// An IBAN: the country's length where known, MOD 97-10 (ISO 13616).
pub(super) fn iban(value: &Value<'_>) -> bool {
    let v: Vec<u8> = value.get().bytes().filter(|b| *b != b' ').collect();
    if !(15..=34).contains(&v.len()) || !v[4..].iter().any(u8::is_ascii_digit) {
        return false;
    }
    let rest = v[4..].iter().chain(&v[..4]).fold(0u32, |r, b| match b {
        b'0'..=b'9' => (r * 10 + u32::from(b - b'0')) % 97,
        _ => (r * 100 + u32::from(b - b'A') + 10) % 97,
    });
    rest == 1
}

/// A bearer or basic credential: long and not words.
pub(super) fn credential(value: &Value<'_>) -> bool {
    let v = value.get();
    !is_placeholder(v) && !is_words(v) && entropy(v) >= 2.5
}

/// The password inside a URL; the sample `user:password@` is none.
pub(super) fn url_password(value: &Value<'_>) -> bool {
    let v = value.get();
    let head = &value.text[..value.range.start.saturating_sub(1)];
    let user = head.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    let sample_user = ["user", "username", "usr", "name", "login", "u"].contains(&user.as_str());
    let sample_password = ["password", "passwd", "pass", "pwd", "pw", "secret", "p"].contains(&v.to_ascii_lowercase().as_str());
    !(is_placeholder(v) || sample_user && sample_password)
}

/// Words that follow "password is" or "password:" in ordinary sentences.
const NOT_PASSWORDS: &[&str] = &[
    "required",
    "optional",
    "wrong",
    "incorrect",
    "invalid",
    "expired",
    "changed",
    "reset",
    "rotated",
    "stored",
    "managed",
    "protected",
    "encrypted",
    "hashed",
    "hidden",
    "missing",
    "empty",
    "unknown",
    "disabled",
    "enabled",
    "string",
    "text",
    "null",
    "none",
    "true",
    "false",
    "same",
    "shared",
    "different",
    "strong",
    "weak",
    "short",
    "long",
    "secure",
    "needed",
    "there",
    "correct",
    "right",
    "safe",
    "kept",
    "written",
    "sent",
    "given",
    "asked",
    "checked",
    "validated",
    "rejected",
    "accepted",
    "blank",
    "masked",
    "redacted",
    "undefined",
    "default",
    "nowhere",
    "inside",
    "always",
    "never",
    "already",
    "mandatory",
    "forgotten",
    "compromised",
    "leaked",
    "rotation",
    "quarterly",
    "monthly",
    "something",
    "anything",
];

/// Something that reads as a password after `password is`, `password:` and the like.
pub(super) fn password(value: &Value<'_>) -> bool {
    let v = value.get().trim_end_matches(['.', ',', ';', ':', ')', ']', '!', '?']);
    let lower = v.to_ascii_lowercase();
    if v.len() < 4 || is_placeholder(v) || NOT_PASSWORDS.contains(&lower.as_str()) || lower.contains("://") {
        return false;
    }
    let counted = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    if counted.len() < lower.len()
        && [
            "-char", "-digit", "-day", "-bit", "-letter", "-word", "-month", "-hour", "bits", "chars", "days", "hours", "-step",
            "-factor",
        ]
        .iter()
        .any(|u| counted.starts_with(u))
    {
        return false;
    }
    let quoted = value.before().is_some_and(|c| matches!(c, '"' | '\'' | '`' | '“' | '「'));
    let assigned = value.text[..value.range.start].trim_end_matches([' ', '"', '\'', '`']).ends_with(['=', ':', '：']);
    if assigned && (is_sample(v) || (!quoted && is_expression(value.get()))) {
        return false;
    }
    let symbol =
        v.bytes().any(|b| b.is_ascii_punctuation() && !matches!(b, b'\'' | b'-' | b'_' | b'/' | b'.' | b'(' | b')' | b','));
    let hyphens = v.matches('-').count();
    let dialled = v.trim_matches(['#', '*']);
    let all_digits = dialled.len() >= 4 && dialled.bytes().all(|b| b.is_ascii_digit());
    let alone = value.after().trim_start_matches(['"', '\'', '`', '.', '!', '。']).trim_start_matches([' ', '\t']);
    (has_digit(v) && has_letter(v) && !is_identifier(v))
        || (all_digits && !(v.len() == 4 && is_year(v)))
        || (symbol && has_letter(v) && !v.ends_with("()"))
        || (quoted && has_letter(v))
        || (hyphens >= 3 && assigned)
        || (assigned && v.len() >= 6 && has_letter(v) && (alone.is_empty() || alone.starts_with(['\n', '\r'])))
}

/// A literal of sample code that names itself, such as `testpassword` or `wrong_password`.
fn is_sample(v: &str) -> bool {
    let lower = v.to_ascii_lowercase();
    let plain = lower.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    plain && (lower.contains("password") || lower.contains("passwd") || lower.starts_with("test"))
}

/// Code that computes a value instead of being one: a call, an index, a member, a variable.
fn is_expression(v: &str) -> bool {
    let closed = v.ends_with([')', ']', '}', ',', ';']);
    let head = v.split(['(', '[']).next().unwrap_or("").trim_end_matches([')', ']', '}', ',', ';']);
    let path = head.split('.').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let called = v[head.len()..].starts_with(['(', '[']);
    path && (called || (head.contains(['.', '_']) && closed && !has_digit(head)))
}

/// A password where nothing but its name says so: letters with digits or marks, as no word has.
pub(super) fn spoken_password(value: &Value<'_>) -> bool {
    let v = value.get().trim_end_matches(['.', ',', ';', ':', ')', ']', '!', '?']);
    let marks = v.bytes().any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*'));
    let mixed = has_letter(v) && (has_digit(v) || (marks && v.len() >= 6));
    v.len() >= 6 && mixed && !is_measured(v) && !v.contains(['/', '\\']) && !is_versioned(v) && password(value)
}

/// `30days`, `12-char`, `256bit`, `90s`: a number with its unit.
fn is_measured(v: &str) -> bool {
    let unit = v.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | ','));
    unit.len() < v.len()
        && (unit.len() <= 2 || unit.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        && v.starts_with(|c: char| c.is_ascii_digit())
}

/// `v1.2.3`, `NIST-800-63b`, `python3.12`, `2024-05-01`: names and numbers of versions and standards.
fn is_versioned(v: &str) -> bool {
    let parts: Vec<&str> = v.split(['-', '.', '_', ':']).collect();
    let plain = |part: &str| {
        part.bytes().all(|b| b.is_ascii_digit())
            || (part.len() <= 4 && part.bytes().all(|b| b.is_ascii_alphanumeric()))
            || part.bytes().all(|b| b.is_ascii_alphabetic())
    };
    parts.len() >= 3 && parts.iter().all(|part| plain(part))
}

/// The value of something that is called an API key, a secret, an access token, even where it is short.
pub(super) fn short_secret(value: &Value<'_>) -> bool {
    let v = value.get().trim_end_matches(['.', ',', ';']);
    let lower = v.to_ascii_lowercase();
    let sample =
        ["test", "demo", "sample", "foo", "bar", "none", "null", "todo", "version", "rotat"].iter().any(|s| lower.starts_with(s));
    v.len() >= 6
        && has_digit(v)
        && has_letter(v)
        && !sample
        && !is_placeholder(v)
        && !is_identifier(v)
        && !is_measured(v)
        && !is_versioned(v)
        && !is_expression(v)
        && !(v.contains(['-', '_', '/', '.']) && is_words(v))
}

/// A code that opens an account once: groups of letters and digits.
pub(super) fn recovery_code(value: &Value<'_>) -> bool {
    let v = value.get();
    v.len() >= 8
        && has_digit(v)
        && !is_placeholder(v)
        && !is_measured(v)
        && v.split(['-', ' ']).all(|part| has_digit(part) || part.len() >= 4)
}

/// A base32 seed: long, and no words.
pub(super) fn totp_seed(value: &Value<'_>) -> bool {
    let v: String = value.get().chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let upper = v.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    v.len() >= 16 && upper && entropy(&v) >= 2.5 && (has_digit(&v) || v.len() >= 16)
}

/// A code for one login; years, ports and numbers of errors are none.
pub(super) fn one_time_code(value: &Value<'_>) -> bool {
    let v = value.get();
    let unit = value.after().trim_start();
    let counted = ["位", "个", "次", "分钟", "秒", "天", "digit", "char", "minute", "second", "day", "time", "hour"]
        .iter()
        .any(|u| unit.starts_with(u));
    let year = v.len() == 4 && is_year(v);
    let within_a_word = value.before().is_some_and(|c| c.is_ascii_alphabetic() || c == '-');
    !counted && !year && !within_a_word
}

/// Twelve to twenty-four words of a wallet: no sentence, since the words that join sentences are none of them.
pub(super) fn recovery_phrase(value: &Value<'_>) -> bool {
    const JOINTS: &[&str] = &[
        "the", "and", "for", "with", "your", "you", "should", "must", "never", "are", "was", "were", "from", "have", "has",
        "not", "which", "when", "but", "its", "our",
    ];
    !value.get().split([' ', ',', '、']).any(|word| JOINTS.contains(&word.to_ascii_lowercase().as_str()))
}

fn is_year(v: &str) -> bool {
    v.starts_with("19") || v.starts_with("20")
}

/// `v2`, `1password`, `sha256`, `REQ-2041`: words with a number that are no passwords.
fn is_identifier(v: &str) -> bool {
    let lower = v.to_ascii_lowercase();
    [
        "1password",
        "sha256",
        "sha512",
        "md5",
        "base64",
        "utf8",
        "utf-8",
        "oauth2",
        "argon2",
        "argon2id",
        "pbkdf2",
        "bcrypt2",
        "keepass2",
        "wpa2",
        "wpa3",
        "2fa",
        "s3",
    ]
    .contains(&lower.as_str())
        || lower.starts_with("pbkdf2")
        || lower.starts_with("argon2")
        || (v.len() <= 12
            && v.split_once('-').is_some_and(|(head, tail)| {
                !head.is_empty()
                    && head.bytes().all(|b| b.is_ascii_uppercase())
                    && tail.len() >= 2
                    && tail.bytes().all(|b| b.is_ascii_digit())
            }))
}

/// The value of something called a secret, an API key, a client secret: any long token that is no name.
pub(super) fn named_secret(value: &Value<'_>) -> bool {
    let v = value.get().trim_end_matches(['.', ',', ';']);
    v.len() >= 12 && !is_placeholder(v) && has_digit(v) && has_letter(v) && (is_uuid(v) || (!is_words(v) && entropy(v) >= 3.0))
}

/// The value of something called just a key or a token: only what could be nothing else.
pub(super) fn named_token(value: &Value<'_>) -> bool {
    let v = value.get().trim_end_matches(['.', ',', ';']);
    let hex = v.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    v.len() >= 20
        && !hex
        && !v.contains('/')
        && !is_placeholder(v)
        && !is_words(v)
        && has_digit(v)
        && has_upper(v)
        && has_lower(v)
        && entropy(v) >= 3.5
}

/// Three or four digits called a card's security code.
pub(super) fn not_in_word(value: &Value<'_>) -> bool {
    !value.after().starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
}
