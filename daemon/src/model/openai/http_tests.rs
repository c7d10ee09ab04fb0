//! The provider against a tiny server on loopback that misbehaves in every way of case A8.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{OpenAi, OpenAiConfig};
use crate::limits;
use crate::model::error::ErrorClass;
use crate::model::provider::{ModelEvent, Provider};
use crate::model::secret::ApiKey;
use crate::model::{ChatMessage, ChatRequest};

/// What the server does with one connection, after it read the request.
#[derive(Clone)]
enum Act {
    /// Answers with these bytes and closes.
    Say(Vec<u8>),
    /// Says this and then nothing, for ever.
    Stall(Vec<u8>),
    /// Says this over and over.
    Endless(Vec<u8>, Vec<u8>),
}

struct Server {
    base_url: String,
    served: Arc<AtomicUsize>,
    bodies: mpsc::UnboundedReceiver<String>,
}

/// Plays `acts` one connection each, the last for ever.
async fn serve(acts: Vec<Act>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = Arc::new(AtomicUsize::new(0));
    let (sender, bodies) = mpsc::unbounded_channel();
    let count = Arc::clone(&served);
    tokio::spawn(async move {
        loop {
            let (peer, _) = listener.accept().await.unwrap();
            let act = acts[count.fetch_add(1, Ordering::SeqCst).min(acts.len() - 1)].clone();
            tokio::spawn(answer(peer, act, sender.clone()));
        }
    });
    Server { base_url, served, bodies }
}

async fn answer(mut peer: TcpStream, act: Act, bodies: mpsc::UnboundedSender<String>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = peer.read(&mut buffer).await.unwrap_or(0);
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let wanted = text.lines().find_map(|l| l.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
        if let (Some((_, body)), Some(wanted)) = (text.split_once("\r\n\r\n"), wanted)
            && body.len() >= wanted
        {
            let _ = bodies.send(text);
            break;
        }
        if read == 0 {
            return;
        }
    }
    match act {
        Act::Say(bytes) => drop(peer.write_all(&bytes).await),
        Act::Stall(bytes) => {
            let _ = peer.write_all(&bytes).await;
            // Ends when the client goes away.
            let _ = peer.read(&mut buffer).await;
        }
        Act::Endless(first, again) => {
            let _ = peer.write_all(&first).await;
            while peer.write_all(&again).await.is_ok() {}
        }
    }
}

fn head(status: &str, extra: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\nconnection: close\r\n{extra}\r\n").into_bytes()
}

fn stream(events: &[String]) -> Vec<u8> {
    [head("200 OK", ""), events.concat().into_bytes()].concat()
}

fn text(piece: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]}))
}

fn a_call() -> String {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]}))
}

fn stop() -> String {
    format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

fn good() -> Act {
    Act::Say(stream(&[text("hello"), stop()]))
}

fn refuse(status: &str, extra: &str, body: &str) -> Act {
    Act::Say([head(status, extra), body.as_bytes().to_vec()].concat())
}

fn model(base_url: &str) -> OpenAi {
    let mut config = OpenAiConfig::new(base_url, "m", Some(ApiKey::new("sk-secret")));
    config.backoff.base_ms = 2;
    config.backoff.cap_ms = 4;
    config.timeouts.idle = Duration::from_millis(150);
    config.timeouts.first_event = Duration::from_millis(300);
    OpenAi::new(config).unwrap()
}

fn request() -> ChatRequest {
    ChatRequest { messages: vec![ChatMessage::User("hi".to_owned())], ..ChatRequest::default() }
}

/// Outcome of one call: the class of its failure or its text, the partial text, and how often the server was asked.
async fn outcome(acts: Vec<Act>) -> (Result<String, ErrorClass>, String, usize) {
    let server = serve(acts).await;
    let finished = model(&server.base_url).chat(request()).finish().await;
    let asked = server.served.load(Ordering::SeqCst);
    match finished {
        Ok(reply) => (Ok(reply.text), String::new(), asked),
        Err(error) => {
            assert!(!error.to_string().contains("sk-secret"), "{error}");
            (Err(error.class), error.partial_text, asked)
        }
    }
}

// A8, LOOP-5
#[tokio::test]
async fn before_anything_was_shown_a_transient_failure_is_tried_again() {
    let all = 1 + limits::MODEL_RETRIES_MAX as usize;
    let table: Vec<(Act, usize, Result<&str, ErrorClass>)> = vec![
        (refuse("429 Too Many Requests", "", "{}"), all, Err(ErrorClass::RateLimited)),
        (refuse("429 Too Many Requests", "retry-after: 0\r\n", "{}"), all, Err(ErrorClass::RateLimited)),
        (refuse("429 Too Many Requests", "retry-after: 3600\r\n", "{}"), 1, Err(ErrorClass::RateLimited)),
        (refuse("500 Internal Server Error", "", "sk-secret broke"), all, Err(ErrorClass::Overloaded)),
        (refuse("503 Service Unavailable", "", ""), all, Err(ErrorClass::Overloaded)),
        (refuse("400 Bad Request", "", "{\"error\":{\"message\":\"no\"}}"), 1, Err(ErrorClass::BadRequest)),
        (refuse("401 Unauthorized", "", "{}"), 1, Err(ErrorClass::Unauthorized)),
        (refuse("302 Found", "location: http://127.0.0.1:1/\r\n", ""), 1, Err(ErrorClass::BadRequest)),
        (Act::Say(Vec::new()), all, Err(ErrorClass::Network)),
        (Act::Say(head("200 OK", "")), all, Err(ErrorClass::CutShort)),
        (Act::Say(stream(&["data: {nonsense\n\n".to_owned()])), 1, Err(ErrorClass::Malformed)),
        (Act::Stall(Vec::new()), 1, Err(ErrorClass::Timeout)),
        (Act::Stall(head("200 OK", "")), 1, Err(ErrorClass::Timeout)),
    ];
    for (number, (act, asked, expected)) in table.into_iter().enumerate() {
        let expected = expected.map(str::to_owned);
        assert_eq!(outcome(vec![act.clone()]).await, (expected, String::new(), asked), "row {number}");
        if asked > 1 {
            assert_eq!(outcome(vec![act, good()]).await, (Ok("hello".to_owned()), String::new(), 2), "row {number}, then good");
        }
    }
}

// A8
#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again_and_named() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let error = model(&format!("http://user:pass@{address}/v1")).chat(request()).finish().await.unwrap_err();
    assert_eq!((error.class, error.attempts), (ErrorClass::Network, 1 + limits::MODEL_RETRIES_MAX));
    assert!(error.message.contains(&address.to_string()) && !error.message.contains("pass"), "{error}");
}

// A8: cut or silent after every event: no second request once something was shown, and the partial text is marked
#[tokio::test]
async fn after_something_was_shown_nothing_is_tried_again() {
    let events = [text("one "), text("two"), a_call()];
    let partial = ["one ", "one two", "one two"];
    for shown in 1..=events.len() {
        let said = stream(&events[..shown]);
        let half = [&said[..], b"data: {\"choi"].concat();
        let rows = [
            (Act::Say(said.clone()), ErrorClass::CutShort),
            (Act::Say(half), ErrorClass::CutShort),
            (Act::Stall(said), ErrorClass::Timeout),
        ];
        for (act, class) in rows {
            let expected = (Err(class), partial[shown - 1].to_owned(), 1);
            assert_eq!(outcome(vec![act, good()]).await, expected, "{class:?} after {shown} events");
        }
    }
}

// A8
#[tokio::test]
async fn an_endless_stream_ends() {
    let line = Act::Endless(stream(&[]), vec![b'x'; 1 << 16]);
    // Which bound is met first, size or time, is the machine's affair; one of them has to be.
    let bounded = |result: &Result<String, ErrorClass>| matches!(result, Err(ErrorClass::CutShort | ErrorClass::Timeout));
    let ended = outcome(vec![line]).await.0;
    assert!(bounded(&ended), "{ended:?}");
    let big = text(&"x".repeat(1 << 16)).into_bytes();
    let (result, partial, asked) = outcome(vec![Act::Endless(stream(&[]), big)]).await;
    assert!(bounded(&result) && asked == 1, "{result:?} after {asked} requests");
    assert!(partial.len() <= limits::MODEL_TEXT_BYTES_MAX);
    let comments = Act::Endless(stream(&[]), b": still here\n\n".repeat(1 << 12));
    let server = serve(vec![comments]).await;
    assert!(model(&server.base_url).chat(request()).finish().await.is_err());
}

// LOOP-5: a server that does not stream, and one that does not know some fields
#[tokio::test]
async fn plain_answers_and_learnt_refusals() {
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "plain"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
    let plain = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{whole}");
    let refusal = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0.5"}}).to_string();
    let acts = vec![refuse("400 Bad Request", "", &refusal), Act::Say(plain.into_bytes())];
    let mut server = serve(acts).await;
    let asked = ChatRequest { temperature: Some(0.5), ..request() };
    let provider = model(&server.base_url);
    let reply = provider.chat(asked.clone()).finish().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.input_tokens), ("plain", 3));
    provider.chat(asked).finish().await.unwrap();
    let mut sent = Vec::new();
    while let Ok(request) = server.bodies.try_recv() {
        assert!(request.contains("authorization: Bearer sk-secret"));
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        sent.push(body.get("temperature").is_some());
    }
    assert_eq!(sent, [true, false, false], "learnt once, kept for later calls");
}

// LOOP-4, LOOP-5
#[tokio::test]
async fn events_come_before_the_stream_ends_and_dropping_it_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut events = model(&base_url).chat(request());
    let (mut peer, _) = listener.accept().await.unwrap();
    let mut buffer = [0; 4096];
    assert!(peer.read(&mut buffer).await.unwrap() > 0);
    peer.write_all(&stream(&[text("early")])).await.unwrap();
    assert_eq!(events.next().await, Some(ModelEvent::TextDelta("early".to_owned())));
    drop(events);
    let hung_up = async { while peer.read(&mut buffer).await.unwrap_or(0) > 0 {} };
    tokio::time::timeout(Duration::from_secs(5), hung_up).await.expect("the connection is closed");
}
