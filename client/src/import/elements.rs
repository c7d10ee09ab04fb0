//! The values of a JSON stream one by one, as bytes: the elements of an array, of named arrays in an object, or values one after another.
//!
//! Only the nesting is looked at, so a value that is no JSON is refused by whoever parses it and the next one is still found; memory
//! holds one value, and of one that is too long nothing. Must not know: what the values are.

use crate::limits::IMPORT_LINE_BYTES_MAX;
use std::io::{self, BufRead};

/// Which values are wanted.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Elements of top-level arrays, and other top-level values as they are.
    Values,
    /// The elements of the arrays under these names in the top-level object.
    Members(&'static [&'static str]),
}

/// A value of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Element {
    /// Its bytes; of a named array, with the name's number.
    Whole(Vec<u8>, usize),
    /// It is longer than was allowed.
    TooLong,
    /// The stream ends in it.
    Cut,
}

/// What surrounds the next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Array(usize),
    Object,
}

/// Reads values and counts bytes.
pub struct Elements<'a> {
    input: &'a mut dyn BufRead,
    shape: Shape,
    max: usize,
    around: Around,
    is_begun: bool,
    /// Bytes read so far.
    pub read: u64,
    /// Values given so far.
    pub number: u64,
}

impl<'a> Elements<'a> {
    /// Values of at most `max` bytes.
    pub fn new(input: &'a mut dyn BufRead, shape: Shape, max: usize) -> Self {
        Elements { input, shape, max, around: Around::Nothing, is_begun: false, read: 0, number: 0 }
    }

    /// The next value; none at the end.
    ///
    /// # Errors
    /// As the stream says.
    pub fn next_value(&mut self) -> io::Result<Option<Element>> {
        loop {
            let Some(byte) = self.peek()? else {
                let is_open = self.around != Around::Nothing;
                self.around = Around::Nothing;
                return Ok(is_open.then_some(Element::Cut));
            };
            match (byte, self.around) {
                (b',' | b':', _) => self.step(),
                (b']', Around::Array(_)) => {
                    self.step();
                    self.around = if matches!(self.shape, Shape::Members(_)) { Around::Object } else { Around::Nothing };
                }
                (b'}', Around::Object) => {
                    self.step();
                    self.around = Around::Nothing;
                }
                (b'[', Around::Nothing) if matches!(self.shape, Shape::Values) => {
                    self.step();
                    self.around = Around::Array(0);
                }
                (b'{', Around::Nothing) if matches!(self.shape, Shape::Members(_)) => {
                    self.step();
                    self.around = Around::Object;
                }
                (_, Around::Object) => self.member()?,
                (_, Around::Array(name)) => return self.value(name).map(Some),
                (_, Around::Nothing) => return self.value(0).map(Some),
            }
        }
    }

    /// A member of the top-level object: its array is entered where its name is wanted, else its value is passed over.
    fn member(&mut self) -> io::Result<()> {
        let mut name = Vec::new();
        self.take(&mut name, IMPORT_LINE_BYTES_MAX)?;
        while self.peek()? == Some(b':') {
            self.step();
        }
        let Shape::Members(wanted) = self.shape else { return Ok(()) };
        let name = serde_json::from_slice::<String>(&name).unwrap_or_default();
        match (wanted.iter().position(|w| *w == name), self.peek()?) {
            (Some(number), Some(b'[')) => {
                self.step();
                self.around = Around::Array(number);
            }
            (_, Some(_)) => {
                self.take(&mut Vec::new(), 0)?;
            }
            (_, None) => {}
        }
        Ok(())
    }

    fn value(&mut self, name: usize) -> io::Result<Element> {
        let mut bytes = Vec::new();
        self.number += 1;
        Ok(match self.take(&mut bytes, self.max)? {
            Taken::Whole => Element::Whole(bytes, name),
            Taken::TooLong => Element::TooLong,
            Taken::Cut => {
                self.around = Around::Nothing;
                Element::Cut
            }
        })
    }

    /// Takes one value, keeping at most `max` bytes of it.
    fn take(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<Taken> {
        let mut walk = Walk::default();
        let mut is_long = false;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(if walk.is_scalar { Taken::of(is_long) } else { Taken::Cut });
            }
            let (used, ended) = walk.over(buffer);
            is_long |= into.len() + used > max;
            if !is_long {
                into.extend_from_slice(&buffer[..used]);
            } else if !into.is_empty() {
                *into = Vec::new();
            }
            self.input.consume(used);
            self.read += used as u64;
            if ended {
                return Ok(Taken::of(is_long));
            }
        }
    }

    /// The next byte that is no white space; nothing is taken.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let is_first = !std::mem::replace(&mut self.is_begun, true);
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let mark = if is_first && buffer.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let blank = mark + buffer[mark..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = buffer.get(blank).copied();
            self.input.consume(blank);
            self.read += blank as u64;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn step(&mut self) {
        self.input.consume(1);
        self.read += 1;
    }
}

enum Taken {
    Whole,
    TooLong,
    Cut,
}

impl Taken {
    fn of(is_long: bool) -> Taken {
        if is_long { Taken::TooLong } else { Taken::Whole }
    }
}

/// Where in a value one is.
#[derive(Default)]
struct Walk {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    is_begun: bool,
    /// A number or a word: it ends where something else begins.
    is_scalar: bool,
}

impl Walk {
    /// Goes over bytes: how many belong to the value, and whether it has ended.
    fn over(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if self.in_text {
                if self.is_escaped {
                    self.is_escaped = false;
                } else if byte == b'\\' {
                    self.is_escaped = true;
                } else if byte == b'"' {
                    self.in_text = false;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                } else {
                    // Most bytes of an export stand in texts.
                    at += bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(bytes.len() - at);
                    continue;
                }
            } else {
                match byte {
                    b'"' => self.in_text = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' | b',' | b':' if self.is_scalar => return (at, true),
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ if self.is_scalar && byte.is_ascii_whitespace() => return (at, true),
                    _ if !self.is_begun => self.is_scalar = true,
                    _ => {}
                }
            }
            self.is_begun = true;
            at += 1;
        }
        (at, false)
    }
}

/// The bytes of a value with escapes of lone surrogates replaced by U+FFFD: exports hold halves of characters where a text was cut.
pub fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6).filter(|six| six.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], unit(at)) {
            (_, Some(0xd800..=0xdbff)) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => {
                out.extend_from_slice(&bytes[at..at + 12]);
                at += 12;
            }
            (_, Some(0xd800..=0xdfff)) => {
                out.extend_from_slice(b"\\ufffd");
                at += 6;
            }
            (b'\\', _) => {
                out.extend_from_slice(&bytes[at..(at + 2).min(bytes.len())]);
                at += 2;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// Parses a value; where it fails, once more with its halves of characters replaced.
///
/// # Errors
/// What does not fit.
pub fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| serde_json::from_slice(&mended(bytes)).map_err(|_| error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::BufReader;

    /// Every value, read through a buffer of `capacity` bytes.
    fn all(text: &[u8], shape: Shape, max: usize, capacity: usize) -> Vec<String> {
        let mut input = BufReader::with_capacity(capacity, text);
        let mut elements = Elements::new(&mut input, shape, max);
        let mut found = Vec::new();
        while let Some(element) = elements.next_value().unwrap() {
            found.push(match element {
                Element::Whole(bytes, name) => format!("{name}:{}", String::from_utf8(bytes).unwrap()),
                other => format!("{other:?}"),
            });
        }
        assert!(elements.read as usize <= text.len());
        found
    }

    #[test]
    fn elements_are_found_however_the_buffer_falls() {
        let text = "\u{feff} [ {\"a\": \"]}\\\"\", \"b\": [1, {}]} , \"x,\\\\\" ,3,null, [] ]\n".as_bytes();
        for capacity in 4..40 {
            let found = all(text, Shape::Values, 100, capacity);
            assert_eq!(found, ["0:{\"a\": \"]}\\\"\", \"b\": [1, {}]}", "0:\"x,\\\\\"", "0:3", "0:null", "0:[]"], "{capacity}");
        }
    }

    #[test]
    fn one_value_several_and_named_arrays_are_read() {
        assert_eq!(all(b"{\"a\":1}\n{\"a\":2}", Shape::Values, 100, 8), ["0:{\"a\":1}", "0:{\"a\":2}"]);
        let text = b"{\"count\": 2, \"next\": null, \"results\": [{\"id\":1}, {\"id\":2}], \"more\": {\"results\": [9]}, \"relations\": [3]}";
        assert_eq!(all(text, Shape::Members(&["results", "relations"]), 100, 8), ["0:{\"id\":1}", "0:{\"id\":2}", "1:3"]);
        assert_eq!(all(b"", Shape::Values, 9, 8), Vec::<String>::new());
        assert_eq!(all(b"[]", Shape::Values, 9, 8), Vec::<String>::new());
    }

    #[test]
    fn a_value_that_is_too_long_or_cut_is_told_and_the_others_are_found() {
        let text = format!("[1, {{\"long\": \"{}\"}}, 2, {{\"cut\": [", "x".repeat(200));
        assert_eq!(all(text.as_bytes(), Shape::Values, 50, 16), ["0:1", "TooLong", "0:2", "Cut"]);
        assert_eq!(all(b"[1, 2", Shape::Values, 50, 16), ["0:1", "0:2", "Cut"]);
    }

    #[test]
    fn halves_of_characters_do_not_stop_a_value() {
        let value: serde_json::Value = parse(br#"{"a":"x \ud83d y \ud83d\ude00 \\ud83d"}"#).unwrap();
        assert_eq!(value["a"], "x \u{fffd} y \u{1f600} \\ud83d");
        assert!(parse::<serde_json::Value>(b"{").is_err());
    }
}
