//! How lines become requests and answers, over a real socket.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{DEADLINE, InsideDaemon, Rpc, check};

const STATUS: &str = r#"{"jsonrpc":"2.0","id":"s","method":"daemon/status"}"#;

fn status_after(rpc: &mut Rpc, bytes: &[u8]) {
    rpc.write(bytes).expect("the connection is open");
    let answer = rpc.line().expect("the connection is open").expect("an answer");
    assert_eq!(answer["id"], "s", "{answer}");
    assert_eq!(answer["result"]["state"], "ready", "{answer}");
}

// API-1, A40
#[test]
fn crlf_blank_lines_and_one_byte_a_write_are_understood() {
    let daemon = InsideDaemon::start();
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    status_after(&mut rpc, format!("{STATUS}\r\n").as_bytes());
    status_after(&mut rpc, format!("\n \r\n{STATUS}\n").as_bytes());
    for byte in STATUS.as_bytes() {
        rpc.write(&[*byte]).unwrap();
    }
    status_after(&mut rpc, b"\n");
}

// API-1, A40: whatever the split, the character comes back whole (an unknown method's name is echoed).
#[test]
fn characters_split_over_writes_and_line_separators_in_strings_are_kept() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"桂花/\u{2028}茶👩\u{200d}🚀\"}\n".as_bytes();
    for cut in 1..line.len() {
        rpc.write(&line[..cut]).unwrap();
        rpc.write(&line[cut..]).unwrap();
        let answer = rpc.line().unwrap().expect("an answer");
        assert_eq!(answer["error"]["code"], -32601);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("桂花/") && message.contains('茶'), "{message}");
    }
}

// API-1
#[test]
fn several_requests_in_one_write_are_all_answered_under_their_ids() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let ids: Vec<i64> = (0..40).map(|_| rpc.send("daemon/status", json!({})).unwrap()).collect();
    for id in ids.into_iter().rev() {
        assert_eq!(rpc.answer(id).unwrap()["state"], "ready");
    }
}

// API-1
#[test]
fn what_is_not_a_request_gets_the_error_of_json_rpc_and_the_connection_goes_on() {
    let daemon = InsideDaemon::start();
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    let cases: &[(&[u8], i64, Value)] = &[
        (b"nonsense", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"", -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\"}]", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (b"{\"id\":1,\"method\":\"daemon/status\"}", -32600, json!(1)),
        (b"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"daemon/status\"}", -32600, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"daemon/status\"}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"daemon/status\"}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\",\"params\":[]}", -32602, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\",\"method\":\"x\"}", -32600, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"memory/recall\"}", -32100, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", -32100, json!(1)),
    ];
    for (line, code, id) in cases {
        let shown = String::from_utf8_lossy(line).into_owned();
        rpc.write(line).unwrap();
        rpc.write(b"\n").unwrap();
        let answer = rpc.line().unwrap_or_else(|_| panic!("closed after {shown}")).expect("an answer");
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{shown}: {answer}");
        assert!(answer["error"]["data"]["hint"].is_string(), "{answer}");
    }
    status_after(&mut rpc, format!("{STATUS}\n").as_bytes());
}

// API-1: a notification is never answered, known or not.
#[test]
fn notifications_are_never_answered() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    rpc.notify("no/such", json!({}));
    rpc.notify("daemon/status", json!({}));
    rpc.notify("$/cancel_request", json!({"requestId": "never sent"}));
    rpc.notify("$/cancel_request", json!({"nonsense": 1}));
    rpc.write(b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n").unwrap();
    let id = rpc.send("daemon/status", json!({})).unwrap();
    let line = rpc.line().unwrap().expect("an answer");
    assert_eq!(line["id"], id);
}

// API-1, API-2, A39
#[test]
fn only_status_shutdown_and_initialize_come_before_initialize_and_it_comes_once() {
    let daemon = InsideDaemon::start();
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    check::is_error(&rpc.refused("daemon/schema", json!({})), ErrorKind::NotInitialized);
    // A write that is refused before it is looked at says that nothing was done.
    let write = rpc.refused("memory/remember", json!({"text": "x"}));
    assert_eq!(write.data.unwrap().outcome, Some(tiro_schema::WriteOutcome::NotDone));
    assert!(rpc.call("daemon/status", json!({"of": "a newer client"})).is_ok());
    let result = rpc.initialize();
    assert_eq!(result["protocol"], 1);
    assert!(result["limits"]["frameBytesMax"].is_u64(), "{result}");
    assert!(result["features"].as_array().is_some_and(|features| features.contains(&json!("memory"))), "{result}");
    let again = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "x"}});
    assert_eq!(rpc.refused("initialize", again).code, -32600);
    check::is_error(&rpc.refused("no/such", json!({})), ErrorKind::MethodNotFound);
}

// API-2, A39: an old daemon and a new client, and the reverse.
#[test]
fn versions_without_overlap_are_told_with_both_ranges_and_status_and_shutdown_still_work() {
    let daemon = InsideDaemon::start();
    for (min, max) in [(2, 9), (0, 0)] {
        let mut rpc = Rpc::connect(daemon.socket()).unwrap();
        let params = json!({"protocol": {"min": min, "max": max}, "client": {"name": "other"}});
        let error = rpc.refused("initialize", params);
        check::is_error(&error, ErrorKind::VersionUnsupported);
        let details = error.data.unwrap().details;
        assert_eq!(details["client"], json!({"min": min, "max": max}));
        assert_eq!(details["daemon"]["min"], 1);
        assert!(rpc.call("daemon/status", json!({})).is_ok());
        check::is_error(&rpc.refused("memory/list", json!({})), ErrorKind::NotInitialized);
    }
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    assert_eq!(rpc.call("daemon/shutdown", json!({})).unwrap(), json!({"stopping": true}));
}

// API-1
#[test]
fn malformed_params_name_their_path() {
    let daemon = InsideDaemon::start();
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    check::refuses_path(&mut rpc, "initialize", json!({"client": {"name": "x"}}), "protocol");
    check::refuses_path(
        &mut rpc,
        "initialize",
        json!({"protocol": {"min": 1, "max": "1"}, "client": {"name": "x"}}),
        "protocol.max",
    );
    let extra = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "x", "colour": 1}});
    check::refuses_path(&mut rpc, "initialize", extra, "client.colour");
    rpc.initialize();
    check::refuses_path(&mut rpc, "daemon/schema", json!({"colour": 1}), "colour");
    assert!(rpc.call("daemon/schema", json!({"_meta": {"traceparent": "00-0-0-00"}})).is_ok());
}

// API-1: a client may close its writing half and still read its answers.
#[test]
fn a_client_that_has_said_all_gets_its_answers() {
    let daemon = InsideDaemon::start();
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    rpc.write(format!("{STATUS}\n").as_bytes()).unwrap();
    rpc.finish_writing();
    let lines = rpc.until_closed();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["result"]["state"], "ready");
}
// API-1: every method of the description is answered by something other than methodNotFound.
#[test]
fn the_description_lists_exactly_what_is_answered() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    rpc.deadline = DEADLINE;
    let description: Value = rpc.ask("daemon/schema", json!({}));
    let methods = description["methods"].as_array().expect("methods");
    let mut absent = Vec::new();
    for method in methods {
        let name = method["name"].as_str().expect("a name");
        if matches!(name, "daemon/shutdown" | "store/restore") {
            continue;
        }
        let outcome = rpc.call(name, json!({"noSuchMember": 1}));
        match outcome {
            Err(error) if error.code == ErrorKind::MethodNotFound.code() => absent.push(name.to_owned()),
            Err(error) if name == "initialize" => assert_eq!(error.code, -32600),
            Err(error) => check::is_error(&error, ErrorKind::InvalidParams),
            Ok(_) => assert_eq!(name, "daemon/status", "took a member it does not know"),
        }
    }
    assert!(absent.is_empty(), "described but not answered: {absent:?}");
}
