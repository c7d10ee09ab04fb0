//! Secrets that were refused are nowhere under the daemon's home: not in the store, the index, the log.

use serde_json::{Value, json};
use std::path::Path;
use tiro_tests::{Rpc, TestDaemon, check};

/// Secrets of many shapes with what must not be found of each. Put together here so that this file holds none.
fn planted() -> Vec<(String, String)> {
    let a = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3";
    let whole = |secret: String, around: &str| (around.replace("{}", &secret), secret);
    vec![
        whole(format!("sk-{a}"), "my key is {} please keep it"),
        whole(["4111", "1111", "1111", "1111"].join(" "), "the card is {} until May"),
        whole("11010519491231002X".to_owned(), "我的身份证号是{}。"),
        whole(format!("-----BEGIN RSA PRIVATE {}-----\nMIIEowIBAAKCAQEA{a}", "KEY"), "keep this:\n{}"),
        whole(format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}", &a[..43]), "the token {} is in use"),
        whole(format!("ghp_{}", &a[..36]), "push with {}"),
        whole("S3cr3tP4ss".to_owned(), "postgres://admin:{}@db.internal/app"),
        whole("hunter2-Xk9".to_owned(), "the password is {}"),
        whole("Qwe123Abc999".to_owned(), "数据库密码是{}"),
        whole(format!("AKIA{}", "QZKMWPXNBRTYHJDF"), "aws {} for backups"),
    ]
}

/// Tries to get a text in through every verb that takes one.
fn try_every_way(rpc: &mut Rpc, id: &str, text: &str, n: usize) {
    let calls = [
        ("memory/remember", json!({"text": text, "explicit": true, "verbatim": true, "key": format!("a{n}")})),
        ("memory/remember", json!({"text": "a note", "tags": [text.replace('\n', " ")]})),
        ("memory/remember", json!({"text": "a note", "entities": [text.replace('\n', " ")]})),
        (
            "memory/remember",
            json!({"text": "a note", "source": {"session": text, "speaker": text, "program": text, "uri": text}}),
        ),
        (
            "memory/rememberMany",
            json!({"items": [{"text": text}, {"text": "ok", "source": {"uri": text}}], "key": format!("b{n}")}),
        ),
        (
            "memory/import",
            json!({"lines": [{"text": text}, {"text": "ok", "moreSources": [{"speaker": text}]}], "key": format!("c{n}")}),
        ),
        ("memory/update", json!({"id": id, "text": text, "ifVersion": 1, "key": format!("d{n}")})),
        ("memory/update", json!({"id": id, "tags": [text.replace('\n', " ")]})),
        ("memory/supersede", json!({"id": id, "memory": {"text": text}, "key": format!("e{n}")})),
    ];
    for (method, params) in calls {
        match rpc.call(method, params.clone()) {
            Err(error) => assert!(
                error.data.as_ref().is_some_and(|d| d.kind == "secretRefused" || d.kind == "invalidParams"),
                "{method}: {error:?}"
            ),
            Ok(result) => assert!(
                !result.to_string().contains("\"created\",") && result.get("created").is_none_or(|c| c == 0),
                "{method} {params}: {result}"
            ),
        }
    }
}

// M31, MEM-10
#[test]
fn a_refused_secret_is_nowhere_on_the_disk() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let id = check::remember(&mut rpc, "an ordinary marker-zebra note");
    let planted = planted();
    for (n, (text, secret)) in planted.iter().enumerate() {
        try_every_way(&mut rpc, &id, text, n);
        // A question may hold one too: it is answered, and not written down.
        let _: Value = rpc.ask("memory/recall", json!({"query": text, "use": true}));
        let _: Value = rpc.ask("memory/context", json!({"query": secret}));
        let _: Value = rpc.ask("memory/list", json!({"text": secret}));
    }
    assert_eq!(rpc.ask::<Value>("memory/get", json!({"id": id}))["version"], 1);
    check::recall_contains(&mut rpc, "marker-zebra", "an ordinary marker-zebra note");
    daemon.restart();
    daemon.terminate();
    let needles: Vec<&[u8]> = planted.iter().map(|(_, secret)| secret.as_bytes()).collect();
    let (mut files, mut marker) = (0, false);
    visit(daemon.home(), &mut |path, bytes| {
        files += 1;
        marker |= contains(bytes, b"an ordinary marker-zebra note");
        for needle in &needles {
            // The head of a key block names no secret; its body does.
            let needle = needle.rsplit(|b| *b == b'\n').next().unwrap();
            assert!(!contains(bytes, needle), "{} holds {:?}", path.display(), String::from_utf8_lossy(needle));
        }
    });
    assert!(files >= 3 && marker, "the search sees what was kept: {files} files, marker {marker}");
}

fn visit(folder: &Path, look: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            visit(&path, look);
        } else if kind.is_file() {
            look(&path, &std::fs::read(&path).unwrap());
        }
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
