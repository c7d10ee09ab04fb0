//! What a character is to the tokenizer. It must not know how runs of characters become tokens.

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Part of a word: letters, digits and marks of scripts written with spaces.
    Word,
    /// Han characters.
    Han,
    /// Hiragana and katakana.
    Kana,
    /// Hangul syllables and letters.
    Hangul,
    /// Other scripts written without spaces between words.
    Unspaced,
    /// Emoji and pictographs, each a token.
    Symbol,
    /// Anything else: ends what stands before it.
    Other,
}

/// Class of a character.
pub(super) fn class_of(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Other };
    }
    match c as u32 {
        0x3005 | 0x3007 | 0x2E80..=0x2FDF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Class::Han,
        0x3041..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0x3105..=0x312F => Class::Kana,
        0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97F | 0xAC00..=0xD7FF => Class::Hangul,
        0x0E01..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17D3 => Class::Unspaced,
        0x1F000..=0x1FAFF | 0x2600..=0x27BF => Class::Symbol,
        _ if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) => Class::Word,
        _ => Class::Other,
    }
}

/// Whether the character takes no room and means nothing to a search: it is dropped wherever it stands.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0x1F3FB..=0x1F3FF | 0xE0000..=0xE0FFF)
}
