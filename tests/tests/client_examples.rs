//! The example clients, run against a real daemon; what each sends and gets is held against `daemon/schema`.
//!
//! Needs Python, and socat or nc, for the two that are no Rust: without, they are skipped with a line that says so.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use tiro_tests::{Rpc, TestDaemon, binary};

/// Every line that went over the wire: whether the client sent it, and what it holds.
type Heard = Arc<Mutex<Vec<(bool, Value)>>>;

/// Listens in a private folder, passes lines on to the daemon and back, and keeps them.
fn between(daemon: &Path) -> (tempfile::TempDir, PathBuf, Heard) {
    let folder = tempfile::tempdir().unwrap();
    let private = folder.path().join("run");
    std::fs::DirBuilder::new().mode(0o700).create(&private).unwrap();
    let path = private.join("daemon.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let heard: Heard = Heard::default();
    let (kept, daemon) = (Arc::clone(&heard), daemon.to_owned());
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = UnixStream::connect(&daemon).unwrap();
            for (from, to, is_sent) in [(&client, &server, true), (&server, &client, false)] {
                let (from, mut to, kept) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&kept));
                std::thread::spawn(move || {
                    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
                        let value = serde_json::from_slice(&line).expect("a line is JSON");
                        kept.lock().unwrap().push((is_sent, value));
                        if to.write_all(&[&line[..], b"\n"].concat()).is_err() {
                            return;
                        }
                    }
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    (folder, path, heard)
}

/// Where a value does not fit a schema: the part of JSON Schema that the description uses.
fn misfit(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let found = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} leads nowhere"));
        return misfit(root, found, value, at);
    }
    for all in schema["allOf"].as_array().into_iter().flatten() {
        if let Some(why) = misfit(root, all, value, at) {
            return Some(why);
        }
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(list) = schema[choice].as_array()
            && list.iter().all(|one| misfit(root, one, value, at).is_some())
        {
            return Some(format!("{at}: {value} fits none of {schema}"));
        }
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a type of no name: {other}"),
    };
    if !kinds.is_empty() && !kinds.iter().any(is) {
        return Some(format!("{at}: {value} is not of {kinds:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Some(format!("{at}: {value} is not among {allowed:?}"));
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Some(format!("{at}: {value} is not {}", schema["const"]));
    }
    if let (Some(members), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                return Some(format!("{at}: {name} is missing"));
            }
        }
        for (name, member) in members {
            match properties.get(name) {
                Some(schema) => {
                    if let Some(why) = misfit(root, schema, member, &format!("{at}.{name}")) {
                        return Some(why);
                    }
                }
                None if schema["additionalProperties"] == false => return Some(format!("{at}: {name} is not known")),
                None => {}
            }
        }
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        return list.iter().enumerate().find_map(|(n, item)| misfit(root, items, item, &format!("{at}[{n}]")));
    }
    None
}

/// Holds everything that was said against the description; the methods that were called.
fn check_against_schema(daemon: &TestDaemon, heard: &Heard) -> Vec<String> {
    let described: Value = Rpc::open(&daemon.socket()).ask("daemon/schema", json!({}));
    let methods: BTreeMap<&str, &Value> =
        described["methods"].as_array().unwrap().iter().map(|method| (method["name"].as_str().unwrap(), method)).collect();
    let mut called: BTreeMap<String, String> = BTreeMap::new();
    let mut names = Vec::new();
    for (is_sent, line) in heard.lock().unwrap().iter() {
        let id = line["id"].to_string();
        if *is_sent {
            let name = line["method"].as_str().unwrap();
            let method = methods.get(name).unwrap_or_else(|| panic!("{name} is not described"));
            let why = misfit(&method["params"], &method["params"], &line["params"], "params");
            assert!(why.is_none(), "{name}: {why:?}");
            called.insert(id, name.to_owned());
            names.push(name.to_owned());
        } else if !line["result"].is_null() {
            let method = methods[called[&id].as_str()];
            let why = misfit(&method["result"], &method["result"], &line["result"], "result");
            assert!(why.is_none(), "{}: {why:?}", called[&id]);
        } else {
            let known = described["errors"].as_array().unwrap().iter().any(|error| error["code"] == line["error"]["code"]);
            assert!(known, "{line} is no error of the description");
        }
    }
    names
}

fn run(mut command: Command, socket: &Path) -> Output {
    let output = command.env("TIRO_SOCKET", socket).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?} ended with {}: {said}", output.status);
    output
}

fn docs(name: &str) -> PathBuf {
    tiro_tests::workspace().join("docs/clients").join(name)
}

fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_python_client_does_what_it_says_and_what_the_description_says() {
    if !is_here("python3") {
        eprintln!("SKIPPED the Python client: python3 is not here");
        return;
    }
    let daemon = TestDaemon::spawn();
    let (_folder, socket, heard) = between(&daemon.socket());
    let mut command = Command::new("python3");
    command.arg("-B").arg(docs("tiro.py"));
    let said = stdout(&run(command, &socket));
    assert!(said.contains("The Python example feeds the parrot at seven.") && said.contains("as it should: notFound"), "{said}");
    let called = check_against_schema(&daemon, &heard);
    assert_eq!(called[..3], ["initialize", "memory/remember", "memory/recall"]);
    assert!(called.len() >= 6, "{called:?}");
}

#[test]
fn the_shell_client_does_what_it_says_and_what_the_description_says() {
    if !is_here("socat") && !is_here("nc") {
        eprintln!("SKIPPED the shell client: neither socat nor nc is here");
        return;
    }
    let daemon = TestDaemon::spawn();
    let (_folder, socket, heard) = between(&daemon.socket());
    let mut command = Command::new("sh");
    command.arg(docs("tiro.sh"));
    let said = stdout(&run(command, &socket));
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[1]["result"]["hits"][0]["text"], "The shell example waters the \"big\" fern on Sundays.");
    assert_eq!(answers[2]["error"]["data"]["kind"], "notFound");
    let called = check_against_schema(&daemon, &heard);
    assert_eq!(called.iter().filter(|name| *name == "initialize").count(), 3, "{called:?}");
}

#[test]
fn the_library_example_does_what_it_says_and_what_the_description_says() {
    let example = binary::folder().join("examples/notes");
    if !example.is_file() {
        eprintln!("SKIPPED the library's example: it is not built ({})", example.display());
        return;
    }
    let daemon = TestDaemon::spawn();
    let (_folder, socket, heard) = between(&daemon.socket());
    let mut command = Command::new(example);
    command.env("TIRO_HOME", daemon.home());
    let said = stdout(&run(command, &socket));
    assert!(said.contains("oils the loom") && said.contains("as it should"), "{said}");
    assert!(check_against_schema(&daemon, &heard).contains(&"memory/forget".to_owned()));
}

#[test]
fn the_description_is_held_to() {
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
        "a": {"type": ["string", "null"]}, "b": {"items": {"$ref": "#/$defs/n"}}}, "$defs": {"n": {"type": "integer"}}});
    let of = |value: Value| misfit(&schema, &schema, &value, "v");
    assert_eq!(of(json!({"a": null, "b": [1]})), None);
    assert_eq!(of(json!({"b": [1]})).as_deref(), Some("v: a is missing"));
    assert_eq!(of(json!({"a": "x", "c": 1})).as_deref(), Some("v: c is not known"));
    assert!(of(json!({"a": "x", "b": [1, "2"]})).is_some_and(|why| why.starts_with("v.b[1]")));
}
