//! The rules of spaces, over the socket: who may do what, by every method there is; quotas, gate, secrets, retention.

use crate::{all_pages, kept};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tiro_schema::{ErrorKind, ErrorObject};
use tiro_tests::inside::NOON_MS;
use tiro_tests::{DEADLINE, InsideDaemon, Rpc, check, wait_for};

const DAY_MS: i64 = 86_400_000;

/// A client that declares this name.
pub fn client(daemon: &InsideDaemon, name: &str) -> Rpc {
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    let hello = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": name, "version": "1"}, "capabilities": {}});
    rpc.call("initialize", hello).unwrap();
    rpc
}

pub fn ruled(rpc: &mut Rpc, rules: Value) -> Value {
    rpc.ask("space/update", rules)
}

fn code_and_message(error: &ErrorObject, id: &str) -> (i32, String) {
    (error.code, error.message.replace(id, "ID"))
}

/// A space that only `insider` may read and write, with things in it.
struct Vault {
    daemon: InsideDaemon,
    insider: Rpc,
    outsider: Rpc,
    first: String,
    second: String,
    conflict: String,
    session: String,
    recall: String,
}

impl Vault {
    fn new() -> Self {
        let daemon = InsideDaemon::start();
        let (mut insider, outsider) = (client(&daemon, "insider"), client(&daemon, "outsider"));
        let told = |rpc: &mut Rpc, text: &str| -> String {
            let params = json!({"text": text, "space": "vault", "explicit": true});
            rpc.ask::<Value>("memory/remember", params)["id"].as_str().unwrap().to_owned()
        };
        let first = told(&mut insider, "Deploys on Friday are allowed");
        let second = told(&mut insider, "Deploys on Friday are not allowed");
        let open: Value = insider.ask("memory/conflicts", json!({"space": "vault"}));
        let conflict = open["items"][0]["id"].as_str().unwrap().to_owned();
        let session: Value = insider.ask("session/new", json!({"space": "vault"}));
        let found: Value = insider.ask("memory/recall", json!({"query": "deploys", "space": "vault", "threshold": 0}));
        let only = json!([{"client": "insider"}]);
        ruled(&mut insider, json!({"space": "vault", "readers": only, "writers": only}));
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let recall = found["recallId"].as_str().unwrap().to_owned();
        Vault { daemon, insider, outsider, first, second, conflict, session, recall }
    }

    /// A call about what is in the vault, of every method that touches memories or sessions; and the id in it, where it goes by one.
    fn calls(&self) -> BTreeMap<&'static str, (Value, Option<String>)> {
        let (id, ids, space) = (json!({"id": self.first}), json!({"ids": [self.first]}), json!({"space": "vault"}));
        let by = |params: &Value, more: Value, id: &String| {
            let mut params = params.clone();
            more.as_object().unwrap().iter().for_each(|(name, value)| params[name] = value.clone());
            (params, Some(id.clone()))
        };
        let first = &self.first;
        let session = json!({"sessionId": self.session});
        let named = |more: Value| {
            let mut params = space.clone();
            more.as_object().unwrap().iter().for_each(|(name, value)| params[name] = value.clone());
            (params, None)
        };
        BTreeMap::from([
            ("memory/remember", named(json!({"text": "something to keep", "explicit": true}))),
            ("memory/rememberMany", (json!({"items": [{"text": "fine"}, {"text": "something", "space": "vault"}]}), None)),
            ("memory/recall", (json!({"query": "deploys", "spaces": ["personal", "vault"]}), None)),
            ("memory/context", named(json!({"query": "deploys"}))),
            ("memory/get", by(&id, json!({}), first)),
            ("memory/list", named(json!({}))),
            ("memory/update", by(&id, json!({"importance": 0.1}), first)),
            ("memory/supersede", by(&id, json!({"memory": {"text": "another"}}), first)),
            ("memory/pin", by(&ids, json!({}), first)),
            ("memory/archive", by(&ids, json!({}), first)),
            ("memory/restore", by(&ids, json!({}), first)),
            ("memory/forget", by(&ids, json!({}), first)),
            ("memory/undo", by(&id, json!({}), first)),
            ("memory/history", by(&id, json!({}), first)),
            ("memory/conflicts", named(json!({}))),
            ("memory/resolve", by(&json!({"id": self.conflict}), json!({"keep": "first"}), &self.conflict)),
            ("memory/merge", by(&json!({"ids": [self.first, self.second]}), json!({}), first)),
            ("memory/feedback", by(&json!({"recallId": self.recall}), json!({"wrong": [self.first]}), first)),
            ("memory/stats", named(json!({}))),
            ("memory/audit", named(json!({}))),
            ("memory/export", named(json!({}))),
            ("memory/import", named(json!({"lines": [{"text": "a line"}]}))),
            ("space/update", named(json!({"gate": "off"}))),
            ("space/delete", named(json!({}))),
            ("memory/receipts", (json!({}), None)),
            ("store/verify", (json!({"absent": "Deploys on Friday are allowed"}), None)),
            ("store/purge", (json!({}), None)),
            ("store/backup", (json!({}), None)),
            ("store/restore", (json!({}), None)),
            ("session/new", named(json!({}))),
            ("session/list", named(json!({}))),
            ("session/get", by(&session, json!({}), &self.session)),
            ("session/update", by(&session, json!({"title": "t"}), &self.session)),
            ("session/delete", by(&session, json!({}), &self.session)),
            ("session/messages", by(&session, json!({}), &self.session)),
            ("session/attach", by(&session, json!({}), &self.session)),
            ("session/detach", by(&session, json!({}), &self.session)),
            ("session/fork", by(&session, json!({}), &self.session)),
            ("session/fields", by(&session, json!({}), &self.session)),
            ("session/search", named(json!({"query": "harbour"}))),
            ("session/export", by(&session, json!({}), &self.session)),
            ("question/list", by(&session, json!({}), &self.session)),
            ("result/get", by(&json!({"ref": format!("{}:r1", self.session)}), json!({}), &self.session)),
            ("result/search", by(&session, json!({"query": "harbour"}), &self.session)),
            ("turn/start", by(&session, json!({"input": "hello"}), &self.session)),
        ])
    }
}

/// Methods that show nothing of any one space; those of a turn and of its questions are asked about where there is a model.
const ELSEWHERE: [&str; 8] =
    ["initialize", "space/list", "store/rebuild", "turn/wait", "turn/get", "turn/interrupt", "turn/steer", "question/respond"];

// MEM-11, M25: whoever the rules of a space leave out gets nothing of it by any method of the schema, and learns of no id whether it is there
#[test]
fn no_method_passes_by_the_rules_of_a_space() {
    let mut vault = Vault::new();
    let schema: Value = vault.outsider.ask("daemon/schema", json!({}));
    let calls = vault.calls();
    let before: Value = vault.insider.ask("memory/list", json!({"space": "vault"}));
    for method in schema["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        if ELSEWHERE.contains(&name) || name.starts_with("daemon/") || name.starts_with("embedder/") {
            continue;
        }
        let (params, id) =
            calls.get(name).unwrap_or_else(|| panic!("{name} is a new method: say here how it asks about a space"));
        let error = vault.outsider.refused(name, params.clone());
        let Some(id) = id else {
            check::is_error(&error, ErrorKind::PolicyDenied);
            continue;
        };
        // An id of nothing gets the same answer, word for word.
        let other = "7f8e2b4a-4c11-4d0a-9f6f-0b9a7c553f2a";
        let nothing: Value = serde_json::from_str(&params.to_string().replace(id.as_str(), other)).unwrap();
        let unknown = vault.outsider.refused(name, nothing);
        assert_eq!(code_and_message(&error, id), code_and_message(&unknown, other), "{name}");
        check::is_error(&error, ErrorKind::NotFound);
        if method["write"] == true {
            assert_eq!(serde_json::to_value(&error).unwrap()["data"]["outcome"], "notDone", "{name}");
        }
    }
    for prefix in [&vault.first[..8], &vault.second[..13]] {
        check::is_error(&vault.outsider.refused("memory/get", json!({"id": prefix})), ErrorKind::NotFound);
    }
    let purge = vault.outsider.refused("memory/forget", json!({"ids": [vault.first], "purge": true}));
    check::is_error(&purge, ErrorKind::NotFound);
    assert_eq!(vault.outsider.ask::<Value>("store/verify", json!({}))["ok"], true, "it tells nothing of a space");
    let names: Vec<Value> = all_pages(&mut vault.outsider, "space/list", &json!({}));
    assert_eq!(names, Vec::<Value>::new(), "it is not even listed");
    // Nothing was done, and every attempt is in the audit of the space.
    let after: Value = vault.insider.ask("memory/list", json!({"space": "vault"}));
    assert_eq!(before, after);
    let denied = wait_for("the attempts in the audit", DEADLINE, || {
        let rows = all_pages(&mut vault.insider, "memory/audit", &json!({"space": "vault", "client": "outsider"}));
        let denied: Vec<Value> =
            rows.into_iter().filter(|row| row["outcome"].as_str().unwrap().starts_with("denied: ")).collect();
        (denied.len() >= 20).then_some(denied)
    });
    assert!(denied.iter().all(|row| row["ids"] == json!([])), "{denied:?}");
    assert_eq!(vault.insider.ask::<Value>("memory/get", json!({"id": vault.first}))["version"], 1);
    drop(vault.daemon);
}

// MEM-11: who may read and not write is told so; the rules stand after a restart; taking them away lets everybody in again
#[test]
fn readers_read_and_writers_write() {
    let mut daemon = InsideDaemon::start();
    let (mut writer, mut reader) = (client(&daemon, "writer"), client(&daemon, "reader"));
    let id = kept(&mut writer, "shared", "the launch is on the ninth");
    let only = json!([{"client": "writer"}]);
    let told = ruled(&mut writer, json!({"space": "shared", "writers": only}));
    assert_eq!((&told["rules"]["writers"], told["rules"].get("readers")), (&only, None));
    assert_eq!(reader.ask::<Value>("memory/get", json!({"id": id}))["text"], "the launch is on the ninth");
    for (method, params) in [("memory/forget", json!({"ids": [id], "purge": true})), ("store/purge", json!({"dryRun": true}))] {
        check::is_error(&reader.refused(method, params), ErrorKind::PolicyDenied);
    }
    let found: Value = reader.ask("store/verify", json!({"absent": "the launch is on the ninth"}));
    assert_eq!(found["absent"]["ok"], false);
    let error = reader.refused("memory/forget", json!({"ids": [id]}));
    check::is_error(&error, ErrorKind::PolicyDenied);
    assert!(error.message.contains("shared"), "{error:?}");
    check::is_error(&reader.refused("memory/remember", json!({"text": "x", "space": "shared"})), ErrorKind::PolicyDenied);
    check::is_error(&reader.refused("space/update", json!({"space": "shared", "clear": ["writers"]})), ErrorKind::PolicyDenied);
    // Nobody shuts themselves out by mistake.
    check::refuses_path(&mut writer, "space/update", json!({"space": "shared", "writers": [{"client": "reader"}]}), "writers");
    drop((writer, reader));
    daemon.stop();
    daemon.start_again();
    let (mut writer, mut reader) = (client(&daemon, "writer"), client(&daemon, "reader"));
    check::is_error(&reader.refused("memory/pin", json!({"ids": [id]})), ErrorKind::PolicyDenied);
    let shown = all_pages(&mut reader, "space/list", &json!({}));
    assert_eq!(shown[0]["rules"]["writers"], only);
    // A program is known by its path, too: both clients are this one.
    let path = std::env::current_exe().unwrap().display().to_string();
    ruled(&mut writer, json!({"space": "shared", "writers": [{"executable": path}]}));
    let _: Value = reader.ask("memory/pin", json!({"ids": [id]}));
    ruled(&mut writer, json!({"space": "shared", "clear": ["writers"]}));
    let _: Value = reader.ask("memory/forget", json!({"ids": [id]}));
    let found: Value = reader.ask("store/verify", json!({}));
    assert_eq!(found["problems"], json!([]));
}

// MEM-7, MEM-10: a space has its own gate, its own word on secrets, and its own bounds
#[test]
fn gate_secrets_and_quota_are_of_the_space() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let told =
        |rpc: &mut Rpc, space: &str, text: &str| -> Value { rpc.ask("memory/remember", json!({"text": text, "space": space})) };
    ruled(&mut rpc, json!({"space": "open", "gate": "off"}));
    ruled(&mut rpc, json!({"space": "narrow", "gate": "strict"}));
    assert_eq!(told(&mut rpc, "personal", "thanks a lot!")["reason"], "gate:smallTalk");
    assert_eq!(told(&mut rpc, "open", "thanks a lot!")["outcome"], "created");
    let fact = "The staging database listens on port 5433";
    assert_eq!(told(&mut rpc, "personal", fact)["outcome"], "created");
    assert_eq!(told(&mut rpc, "narrow", fact)["reason"], "gate:strict");
    assert_eq!(told(&mut rpc, "narrow", "I prefer oolong tea to coffee")["outcome"], "created");
    let secret = format!("the database password is {}", "hunter2hunter2");
    assert_eq!(told(&mut rpc, "personal", &secret)["reason"], "secret:password");
    ruled(&mut rpc, json!({"space": "open", "secrets": "redact"}));
    let redacted = told(&mut rpc, "open", &secret);
    assert_eq!((redacted["outcome"].as_str(), redacted["reason"].as_str()), (Some("created"), Some("redacted:password")));
    let shown: Value = rpc.ask("memory/get", json!({"id": redacted["id"]}));
    assert!(shown["text"].as_str().unwrap().contains("[redacted:password]"), "{shown}");
    assert!(!shown.to_string().contains("hunter2"));
    ruled(&mut rpc, json!({"space": "small", "quota": {"memories": 2, "bytes": 100}}));
    let first = kept(&mut rpc, "small", "one of two");
    let full = rpc.refused("memory/remember", json!({"text": "x".repeat(200), "space": "small", "verbatim": true}));
    check::is_error(&full, ErrorKind::PolicyDenied);
    kept(&mut rpc, "small", "two of two");
    let many: Value = rpc.ask(
        "memory/rememberMany",
        json!({"items": [{"text": "three of two", "space": "small", "verbatim": true}, {"text": "elsewhere", "space": "open"}]}),
    );
    assert_eq!(
        (many["results"][0]["outcome"].as_str(), many["results"][1]["outcome"].as_str()),
        (Some("failed"), Some("created"))
    );
    // What is forgotten makes room.
    let _: Value = rpc.ask("memory/forget", json!({"ids": [first]}));
    kept(&mut rpc, "small", "three of two");
}

// MEM-9: what is older than its space keeps, and not pinned, is archived or forgotten by the job, which says so in the audit
#[test]
fn what_outlives_the_retention_of_its_space_is_put_away() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (old, pinned) = (kept(&mut rpc, "notes", "an old note"), kept(&mut rpc, "notes", "an old note that is pinned"));
    let other = kept(&mut rpc, "elsewhere", "as old as these");
    let _: Value = rpc.ask("memory/pin", json!({"ids": [pinned]}));
    daemon.clock.set(NOON_MS + 31 * DAY_MS);
    let young = kept(&mut rpc, "notes", "a young note");
    ruled(&mut rpc, json!({"space": "notes", "retention": {"days": 30}}));
    let status = |rpc: &mut Rpc, id: &str| rpc.ask::<Value>("memory/get", json!({"id": id}))["status"].clone();
    wait_for("the old note to be archived", DEADLINE, || (status(&mut rpc, &old) == "archived").then_some(()));
    for id in [&pinned, &young, &other] {
        assert_eq!(status(&mut rpc, id), "active");
    }
    ruled(&mut rpc, json!({"space": "notes", "retention": {"days": 30, "then": "forget"}}));
    wait_for("the old note to be forgotten", DEADLINE, || rpc.call("memory/get", json!({"id": old})).is_err().then_some(()));
    let rows = all_pages(&mut rpc, "memory/audit", &json!({"space": "notes", "method": "space/retention"}));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|row| row["ids"] == json!([old]) && row["actor"]["client"] == "tirod"), "{rows:?}");
    let _: Value = rpc.ask("memory/undo", json!({"id": old}));
}
