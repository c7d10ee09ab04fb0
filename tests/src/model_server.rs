//! An OpenAI-compatible model server on loopback that says what a test tells it to, well or badly.
//!
//! Each request is answered by the next play; its body and its key are kept. Must not know: the daemon.

use crate::wait::DEADLINE;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What one request gets.
pub enum Play {
    /// These events, then the end marker.
    Events(Vec<Value>),
    /// These events, then the connection is cut.
    Cut(Vec<Value>),
    /// A refusal: status, further header lines, body.
    Status(u16, String, String),
    /// Whatever the test says while it goes on.
    Live(Receiver<Value>, Sender<()>),
}

/// A request, as the server read it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its body.
    pub body: Value,
    /// Its `Authorization` header.
    pub authorization: Option<String>,
}

/// The server. It ends with the test program.
pub struct ModelServer {
    /// Base URL for a configuration.
    pub base_url: String,
    plays: Arc<Mutex<VecDeque<Play>>>,
    asked: Receiver<Asked>,
}

/// A reply under the test's control. Dropped without [`Live::finish`], it is cut.
pub struct Live {
    events: Sender<Value>,
    gone: Receiver<()>,
}

impl Live {
    /// Sends an event.
    pub fn event(&self, event: Value) {
        // When the daemon hung up nobody takes it, which is what some tests want.
        let _ = self.events.send(event);
    }

    /// Sends a piece of text.
    pub fn say(&self, text: &str) {
        self.event(text_event(text));
    }

    /// Ends the reply well.
    pub fn finish(self) {
        self.event(finish_event("stop"));
        self.event(Value::Null);
    }

    /// Waits until the daemon hangs up.
    pub fn wait_hung_up(&self) {
        self.gone.recv_timeout(DEADLINE).expect("the daemon hangs up");
    }
}

impl ModelServer {
    /// Starts one.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("its address"));
        let plays: Arc<Mutex<VecDeque<Play>>> = Arc::default();
        let (sender, asked) = channel();
        let queue = Arc::clone(&plays);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (queue, sender) = (Arc::clone(&queue), sender.clone());
                std::thread::spawn(move || serve(stream, &queue, &sender));
            }
        });
        ModelServer { base_url, plays, asked }
    }

    /// Adds a play for one more request.
    pub fn play(&self, play: Play) {
        self.plays.lock().push_back(play);
    }

    /// Adds a whole reply of text.
    pub fn reply(&self, text: &str) {
        self.play(Play::Events(vec![text_event(text), finish_event("stop"), usage_event(7, 3)]));
    }

    /// Adds a reply of calls: id, tool, arguments.
    pub fn reply_calls(&self, calls: &[(&str, &str, Value)]) {
        let event =
            |(at, (id, name, arguments)): (usize, &(&str, &str, Value))| call_event(at as u64, id, name, &arguments.to_string());
        let mut events: Vec<Value> = calls.iter().enumerate().map(event).collect();
        events.push(finish_event("tool_calls"));
        self.play(Play::Events(events));
    }

    /// Adds a reply under the test's control.
    pub fn live(&self) -> Live {
        let ((events, to_send), (hung_up, gone)) = (channel(), channel());
        self.play(Play::Live(to_send, hung_up));
        Live { events, gone }
    }

    /// Waits for the next request.
    pub fn asked(&self) -> Asked {
        self.asked.recv_timeout(DEADLINE).expect("the daemon asks the model")
    }

    /// Requests that came and were not taken by [`ModelServer::asked`].
    pub fn asked_so_far(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }

    /// The `[model]` section for it.
    pub fn config(&self) -> String {
        format!("[model]\nprovider = \"openai\"\nbaseUrl = \"{}\"\nname = \"test-model\"\n", self.base_url)
    }
}

/// An event with a piece of text.
pub fn text_event(text: &str) -> Value {
    delta_event(json!({"content": text}))
}

/// An event with a call, or a piece of one.
pub fn call_event(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    delta_event(
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]}),
    )
}

/// An event with any delta.
pub fn delta_event(delta: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// The event that ends a reply.
pub fn finish_event(reason: &str) -> Value {
    json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// An event with token counts.
pub fn usage_event(prompt: u64, completion: u64) -> Value {
    json!({"id": "x", "choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})
}

fn serve(stream: TcpStream, plays: &Mutex<VecDeque<Play>>, asked: &Sender<Asked>) {
    let Ok(mut reader) = stream.try_clone().map(BufReader::new) else { return };
    while let Some(request) = read_request(&mut reader) {
        let _ = asked.send(request);
        let play = plays.lock().pop_front();
        let play =
            play.unwrap_or_else(|| Play::Status(400, String::new(), r#"{"error":{"message":"nothing to play"}}"#.to_owned()));
        if perform(&stream, play).is_none() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Asked> {
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
    Some(Asked { body: serde_json::from_slice(&body).unwrap_or_default(), authorization })
}

/// Answers; none when the connection is to be closed.
fn perform(mut stream: &TcpStream, play: Play) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    match play {
        Play::Status(status, headers, body) => {
            let answer = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).ok()
        }
        Play::Events(events) => {
            stream.write_all(head.as_bytes()).ok()?;
            events.iter().try_for_each(|event| write_event(stream, event))?;
            write_event(stream, &Value::Null);
            None
        }
        Play::Cut(events) => {
            stream.write_all(head.as_bytes()).ok()?;
            events.iter().try_for_each(|event| write_event(stream, event))?;
            None
        }
        Play::Live(events, hung_up) => {
            stream.write_all(head.as_bytes()).ok()?;
            let watched = stream.try_clone().ok()?;
            std::thread::spawn(move || {
                let mut watched = watched;
                while watched.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
                let _ = hung_up.send(());
            });
            while let Ok(event) = events.recv() {
                write_event(stream, &event)?;
                if event.is_null() {
                    return None;
                }
            }
            None
        }
    }
}

/// Writes an event; null is the end marker.
fn write_event(mut stream: &TcpStream, event: &Value) -> Option<()> {
    let data = if event.is_null() { "[DONE]".to_owned() } else { event.to_string() };
    stream.write_all(format!("data: {data}\n\n").as_bytes()).ok()
}
