//! What the fuzz targets drive, driven by seeded chance for a bounded time: lines in any pieces, lines that are nearly requests,
//! and texts with secrets in them. `tests/fuzz` holds the same for a coverage-guided fuzzer.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::panic::catch_unwind;
use tiro_daemon::memory::secrets::{find, redact, redact_json};
use tiro_daemon::rpc::frame::FrameBuffer;
use tiro_daemon::rpc::message::{Incoming, read};
use tiro_daemon::rpc::request::answer_line;
use tiro_tests::heavy;
use tiro_tests::rng::Rng;

/// How many inputs each reader gets.
fn rounds() -> usize {
    if heavy() { 2_000_000 } else { 30_000 }
}

/// The seeds of a fuzz target, and the words it is given.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut seeds: Vec<Vec<u8>> = std::fs::read_dir(folder.join("corpus").join(target))
        .unwrap()
        .map(|f| std::fs::read(f.unwrap().path()).unwrap())
        .collect();
    let words = std::fs::read_to_string(folder.join("methods.dict")).unwrap();
    let line =
        |word: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{word},\"params\":{{\"_meta\":{{\"a\":[1,\"é\"]}}}}}}\n");
    seeds.extend(words.lines().filter(|word| word.starts_with('"')).map(|word| line(word).into_bytes()));
    assert!(seeds.len() > 5, "the corpus is gone");
    seeds
}

/// A seed with a few bytes changed, cut, doubled or joined to another.
fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = rng.pick(seeds).clone();
    for _ in 0..rng.below(6) {
        let at = rng.below(bytes.len().max(1)).min(bytes.len());
        match rng.below(6) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << rng.below(8)),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, *rng.pick(b"{}[]\",:\\\0\xff\xe2\n\r0-e.")),
            3 => drop(bytes.splice(at..at, rng.pick(seeds).clone())),
            4 => drop(bytes.splice(at..at, b"[".repeat(rng.below(80)))),
            _ => drop(
                bytes.splice(at..at, rng.pick(&["null", "1e999", "\"\\ud800\"", "-0", "{\"a\":1,\"a\":2}", "\u{2028}"]).bytes()),
            ),
        }
    }
    bytes
}

fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let (mut buffer, mut lines) = (FrameBuffer::default(), Vec::new());
    for piece in pieces {
        buffer.make_room().extend_from_slice(piece);
        while let Ok(Some(range)) = buffer.next_line() {
            lines.push(buffer.bytes()[range].to_vec());
        }
    }
    lines
}

// API-3, A40, A41
#[test]
fn bytes_in_any_pieces_come_out_as_the_same_lines() {
    let (seeds, mut rng) = (seeds("frame"), Rng::new(0xF0A1));
    for _ in 0..rounds() {
        let bytes = mutated(&mut rng, &seeds);
        let size = 1 + rng.below(40);
        assert_eq!(lines(bytes.chunks(size)), lines(std::iter::once(bytes.as_slice())), "{size} of {bytes:?}");
    }
}

// API-3, A41
#[test]
fn no_line_makes_the_reader_panic_and_every_request_keeps_its_id() {
    let (seeds, mut rng) = (seeds("request"), Rng::new(0xF0A2));
    let (mut requests, mut refusals) = (0, 0);
    for _ in 0..rounds() {
        let bytes = mutated(&mut rng, &seeds);
        match catch_unwind(|| read(&bytes)).unwrap_or_else(|_| panic!("a panic on {bytes:?}")) {
            Ok(Incoming::Request(request)) => {
                requests += 1;
                let line = answer_line(Some(&request.id), Ok(&true.into())).unwrap();
                let answer: Value = serde_json::from_slice(&line).unwrap();
                assert_eq!(answer["id"], serde_json::to_value(&request.id).unwrap());
                assert!(line.ends_with(b"\n") && !line[..line.len() - 1].contains(&b'\n'));
            }
            Ok(_) => {}
            Err(refusal) => {
                refusals += 1;
                assert!(refusal.error.kind().is_some(), "{refusal:?}");
            }
        }
    }
    assert!(requests > rounds() / 20 && refusals > rounds() / 20, "{requests} requests and {refusals} refusals say little");
}

/// Secrets, words around them, and what dresses them up.
const PIECES: &[&str] = &[
    "AKIAIOSFODNN7EXAMPL2",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "password: hunter2hunter2",
    "密码是Tr0ub4dor&3",
    "4111 1111 1111 1111",
    "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n",
    "-----END PRIVATE KEY-----",
    "postgres://me:s3cr3tpw@db/x",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk",
    "Authorization: Bearer abcdefghijklmnop1234",
    "ＡＫＩＡＩＯＳＦＯＤＮＮ７ＥＸＡＭＰＬ２",
    "\u{200B}",
    " ",
    "\n",
    "the key is ",
    "用户的",
    "\"",
    "tea",
];

// MEM-10, A32: whatever secrets stand beside one another, what is kept holds none
#[test]
fn what_was_redacted_holds_no_secret_any_more() {
    let mut rng = Rng::new(0xF0A3);
    let mut redacted = 0;
    for _ in 0..rounds() / 10 {
        let text: String = (0..1 + rng.below(8)).map(|_| *rng.pick(PIECES)).collect();
        let clean = redact(&text);
        redacted += usize::from(clean.is_some());
        assert_eq!(clean.is_some(), find(&text).is_some(), "{text:?}");
        let clean = clean.unwrap_or_else(|| text.clone());
        assert_eq!(find(&clean), None, "{text:?} became {clean:?}");
        let mut value = serde_json::json!({"text": text, "list": [text], "n": 1});
        redact_json(&mut value);
        assert_eq!(find(&value.to_string()), None, "{text:?} became {value}");
    }
    assert!(redacted > rounds() / 40, "{redacted}");
}
