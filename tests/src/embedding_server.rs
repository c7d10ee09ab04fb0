//! An OpenAI-compatible embeddings server on loopback whose answers a test chooses: right ones from a small model of its own, or bad ones.
//!
//! Its model knows words in common and a few synonyms, so that what it finds no other leg does. Must not know: the daemon.

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How requests are answered from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Well.
    Well,
    /// The word `NaN` where a number belongs.
    NotANumber,
    /// A number over the range of f32.
    Infinite,
    /// Vectors of zeros.
    Zero,
    /// Vectors one component too long.
    TooLong,
    /// Right vectors times 1,000.
    Unnormalised,
    /// A vector less than texts.
    TooFew,
    /// Status 500.
    Status500,
    /// Not at all, until the mood changes.
    Hang,
    /// Half an answer, then the connection is cut.
    Cut,
}

/// What the server saw.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Texts embedded or refused, with their prefixes, in order.
    pub texts: Vec<String>,
    /// Calls.
    pub calls: usize,
    /// `Authorization` of the last call.
    pub authorization: Option<String>,
    /// Body of the last call.
    pub body: Value,
}

struct Shared {
    mood: Mutex<Mood>,
    changed: Condvar,
    seen: Mutex<Seen>,
    /// Texts that hold this word get a vector of zeros, whatever the mood.
    poison: Mutex<Option<String>>,
    /// Calls until it hangs.
    calls_left: Mutex<Option<usize>>,
    dimension: usize,
    gone: AtomicBool,
}

/// The server. Dropped, it answers no more.
pub struct EmbeddingServer {
    /// Base URL for a configuration.
    pub base_url: String,
    shared: Arc<Shared>,
}

impl EmbeddingServer {
    /// Starts one whose vectors have this length.
    pub fn start(dimension: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("invariant: it is bound"));
        let shared = Arc::new(Shared {
            mood: Mutex::new(Mood::Well),
            changed: Condvar::new(),
            seen: Mutex::default(),
            poison: Mutex::default(),
            calls_left: Mutex::default(),
            dimension,
            gone: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if of_thread.gone.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&of_thread);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { base_url, shared }
    }

    /// How requests are answered from now on.
    pub fn mood(&self, mood: Mood) {
        *self.shared.mood.lock() = mood;
        self.shared.changed.notify_all();
    }

    /// Texts that hold this word are answered with zeros.
    pub fn poison(&self, word: &str) {
        *self.shared.poison.lock() = Some(word.to_owned());
    }

    /// After so many more calls it hangs, until its mood is set.
    pub fn hang_after(&self, calls: usize) {
        *self.shared.calls_left.lock() = Some(calls);
    }

    /// Whether it hangs.
    pub fn hangs(&self) -> bool {
        *self.shared.mood.lock() == Mood::Hang
    }

    /// What it saw so far.
    pub fn seen(&self) -> Seen {
        self.shared.seen.lock().clone()
    }

    /// The `[embedding]` section for it.
    pub fn config(&self, model: &str) -> String {
        let base_url = &self.base_url;
        format!(
            "[model]\nprovider = \"none\"\n[embedding]\nprovider = \"openai\"\nbaseUrl = \"{base_url}\"\nmodel = \"{model}\"\n"
        )
    }
}

impl Drop for EmbeddingServer {
    fn drop(&mut self) {
        self.shared.gone.store(true, Ordering::SeqCst);
        self.mood(Mood::Status500);
        // Wakes the listener, which then ends.
        if let Some(address) = self.base_url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1")) {
            drop(TcpStream::connect(address));
        }
    }
}

/// Words that mean the same to this model.
const SYNONYMS: [(&str, &str); 3] = [("automobile", "car"), ("physician", "doctor"), ("汽车", "car")];

/// A vector of a text: one component for each word, by its hash, and a little of the same for every text, as real models have it.
fn vector(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.05_f32; dimension];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = SYNONYMS.iter().find(|(one, _)| *one == word).map_or(word, |(_, same)| same);
        let hash =
            word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let place = usize::try_from(hash % dimension as u64).expect("invariant: below the dimension");
        vector[place] += 1.0;
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / norm).collect()
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let Ok(mut reader) = stream.try_clone().map(BufReader::new) else { return };
    while let Some((body, authorization)) = read_request(&mut reader) {
        let texts: Vec<String> =
            body["input"].as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect();
        {
            let mut seen = shared.seen.lock();
            seen.texts.extend(texts.iter().cloned());
            (seen.calls, seen.authorization, seen.body) = (seen.calls + 1, authorization, body);
        }
        let mood = {
            let mut mood = shared.mood.lock();
            let mut left = shared.calls_left.lock();
            if *left == Some(0) {
                (*mood, *left) = (Mood::Hang, None);
            }
            *left = left.map(|left| left - 1);
            drop(left);
            if *mood == Mood::Hang {
                shared.changed.wait_while(&mut mood, |mood| *mood == Mood::Hang);
            }
            *mood
        };
        if answer(stream, shared, mood, &texts).is_none() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<(Value, Option<String>)> {
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "authorization" => authorization = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((serde_json::from_slice(&body).unwrap_or_default(), authorization))
}

/// Answers; none when the connection is to be closed.
fn answer(mut stream: &TcpStream, shared: &Shared, mood: Mood, texts: &[String]) -> Option<()> {
    if shared.gone.load(Ordering::SeqCst) {
        return None;
    }
    let poison = shared.poison.lock().clone();
    let row = |(index, text): (usize, &String)| {
        let mut vector = vector(text, shared.dimension);
        let poisoned = poison.as_ref().is_some_and(|word| text.contains(word.as_str()));
        match mood {
            Mood::TooLong => vector.push(0.1),
            Mood::Unnormalised => vector.iter_mut().for_each(|x| *x *= 1_000.0),
            Mood::Zero => vector.fill(0.0),
            _ if poisoned => vector.fill(0.0),
            _ => {}
        }
        let mut numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
        match mood {
            Mood::NotANumber => numbers[0] = "NaN".to_owned(),
            Mood::Infinite => numbers[0] = "1e300".to_owned(),
            _ => {}
        }
        format!(r#"{{"object":"embedding","index":{index},"embedding":[{}]}}"#, numbers.join(","))
    };
    let few = if mood == Mood::TooFew { texts.len().saturating_sub(1) } else { texts.len() };
    let rows: Vec<String> = texts.iter().take(few).enumerate().map(row).collect();
    let (status, body) = match mood {
        Mood::Status500 => (500, json!({"error": {"message": "out of order"}}).to_string()),
        _ => (200, format!(r#"{{"object":"list","model":"test","data":[{}]}}"#, rows.join(","))),
    };
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok()?;
    if mood == Mood::Cut {
        stream.write_all(&body.as_bytes()[..body.len() / 2]).ok()?;
        return None;
    }
    stream.write_all(body.as_bytes()).ok()
}
