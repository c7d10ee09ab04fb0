//! Models that run in the daemon, as far as that can be seen without ONNX Runtime: what is missing is said and stops nothing, and who
//! makes vectors changes while the daemon runs.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::path::Path;
use tiro_tests::embedding_server::EmbeddingServer;
use tiro_tests::tiro::Tiro;
use tiro_tests::{DEADLINE, DaemonSetup, Rpc, TestDaemon, check, wait_for};

/// Checksums of `x` and of `{}`.
const SUMS: [&str; 2] = [
    "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
];

fn embedding(rpc: &mut Rpc) -> Value {
    rpc.ask::<Value>("daemon/status", json!({}))["embedding"].take()
}

fn recalled(rpc: &mut Rpc, query: &str) -> Value {
    rpc.ask("memory/recall", json!({"query": query, "threshold": 0, "explain": true}))
}

fn degraded(answer: &Value) -> &str {
    answer["degraded"].as_str().unwrap_or_default()
}

/// Puts a folder where added models stand, without trying it out.
fn placed(home: &Path, name: &str) {
    let folder = home.join("data/models").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.onnx"), "x").unwrap();
    std::fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    let manifest = format!(
        "name = \"{name}\"\nkind = \"e5\"\ndimension = 4\nqueryPrefix = \"query: \"\npassagePrefix = \"passage: \"\npooling = \"mean\"\n\
         maxTokens = 512\nmodel = \"model.onnx\"\ntokenizer = \"tokenizer.json\"\n[sha256]\n\"model.onnx\" = \"{}\"\n\
         \"tokenizer.json\" = \"{}\"\n",
        SUMS[0], SUMS[1]
    );
    std::fs::write(folder.join("tiro-model.toml"), manifest).unwrap();
}

fn with_onnx(more: &str, model: Option<&str>) -> TestDaemon {
    let config = format!("[model]\nprovider = \"none\"\n[embedding]\nprovider = \"onnx\"\n{more}");
    let mut daemon = DaemonSetup::new().config(&config).env("ORT_DYLIB_PATH", "").prepare();
    model.iter().for_each(|name| placed(daemon.home(), name));
    daemon.start();
    daemon
}

// MEM-3, M28: neither a missing library nor a missing model keeps a daemon from starting, keeping and finding
#[test]
fn what_is_missing_is_said_and_stops_nothing() {
    for (more, model, state, words) in [
        (
            "model = \"e5\"\nlibrary = \"/nowhere/libonnxruntime.so\"\n",
            Some("e5"),
            "waiting",
            ["ONNX Runtime", "/nowhere/libonnxruntime.so"],
        ),
        ("model = \"e5\"\n", None, "unusable", ["e5", "tiro model add"]),
        ("", None, "unusable", ["`model`", "tiro model list"]),
        ("model = \"../e5\"\n", None, "unusable", ["../e5", "no name"]),
    ] {
        let daemon = with_onnx(more, model);
        let mut rpc = daemon.rpc();
        check::remember(&mut rpc, "the ladder is in the shed");
        let shown = wait_for("the trouble", DEADLINE, || Some(embedding(&mut rpc)).filter(|shown| shown["trouble"].is_string()));
        assert_eq!(shown["state"], state, "{shown}");
        let answer = recalled(&mut rpc, "the ladder");
        assert_eq!(answer["hits"][0]["text"], "the ladder is in the shed", "{answer}");
        for word in words {
            assert!(shown["trouble"].as_str().unwrap().contains(word), "{word}: {shown}");
            assert!(degraded(&answer).contains(word), "{word}: {answer}");
        }
    }
}

// M28
#[test]
fn a_file_that_is_no_library_is_said_to_be_none() {
    let library = tempfile::NamedTempFile::new().unwrap();
    let daemon = with_onnx(&format!("model = \"e5\"\nlibrary = {:?}\n", library.path()), Some("e5"));
    let mut rpc = daemon.rpc();
    let shown = wait_for("the trouble", DEADLINE, || Some(embedding(&mut rpc)).filter(|shown| shown["trouble"].is_string()));
    assert!(shown["trouble"].as_str().unwrap().contains(&*library.path().to_string_lossy()), "{shown}");
    let refused = rpc.refused("embedder/check", json!({"name": "e5"}));
    assert!(refused.message.contains("ONNX Runtime"), "{refused:?}");
}

// M29, API-1: the verbs refuse what cannot be, and leave the configuration as it was
#[test]
fn the_verbs_refuse_what_cannot_be_and_change_nothing() {
    let config = "# mine\n[model]\nprovider = \"none\"\n[embedding]\nprovider = \"onnx\" # for now\nmodel = \"gone\"\n";
    let daemon = DaemonSetup::new().config(config).env("ORT_DYLIB_PATH", "/nowhere/lib.so").spawn();
    let mut rpc = daemon.rpc();
    let kept = || std::fs::read_to_string(daemon.home().join("config.toml")).unwrap();
    let empty = tempfile::tempdir().unwrap();
    for (method, params, kind, word) in [
        ("embedder/add", json!({"path": "relative"}), "invalidParams", "absolute"),
        ("embedder/add", json!({"path": empty.path()}), "invalidParams", "--kind"),
        ("embedder/add", json!({"path": empty.path(), "kind": "e5", "name": "e5"}), "invalidParams", "model.onnx"),
        ("embedder/add", json!({"path": "/nowhere/e5"}), "invalidParams", "no folder"),
        ("embedder/check", json!({"name": "e5"}), "notFound", "tiro model add"),
        ("embedder/use", json!({"name": "e5"}), "notFound", "e5"),
        ("embedder/use", json!({"name": "openai"}), "invalidParams", "baseUrl"),
        ("embedder/use", json!({"name": "openai", "baseUrl": "nonsense", "model": "m"}), "invalidParams", "url"),
        ("embedder/use", json!({"name": "e5", "model": "m"}), "invalidParams", "openai"),
        ("embedder/remove", json!({"name": "e5"}), "notFound", "e5"),
        ("embedder/remove", json!({"name": "gone"}), "policyDenied", "in use"),
        ("embedder/remove", json!({"name": "../data"}), "invalidParams", "no name"),
        ("embedder/forget", json!({}), "methodNotFound", "no method"),
    ] {
        let refused = rpc.refused(method, params.clone());
        assert_eq!(refused.data.as_ref().unwrap().kind, kind, "{method} {params}: {refused:?}");
        assert!(refused.message.contains(word), "{method} {params}: {refused:?}");
        assert_eq!(kept(), config, "{method}");
    }
    placed(daemon.home(), "e5");
    let refused = rpc.refused("embedder/use", json!({"name": "e5"}));
    assert!(refused.message.contains("/nowhere/lib.so") && kept() == config, "what does not run is not chosen: {refused:?}");
    // Back to the table, without a restart: the rest of the file is as it was.
    let used: Value = rpc.ask("embedder/use", json!({"name": "static"}));
    assert!(used.get("embedding").is_none(), "{used}");
    assert_eq!(kept(), config.replace("\"onnx\"", "\"static\""));
    check::remember(&mut rpc, "the ladder is in the shed");
    assert_eq!(degraded(&recalled(&mut rpc, "ladder")), "");
    let removed: Value = rpc.ask("embedder/remove", json!({"name": "e5"}));
    assert_eq!(removed["name"], "e5");
}

// M29: from one server's model to another's and back to the table while the daemon runs; a restart finds what was chosen
#[test]
fn another_model_is_chosen_while_the_daemon_runs() {
    let (old, new) = (EmbeddingServer::start(48), EmbeddingServer::start(48));
    let mut daemon = DaemonSetup::new().config(&old.config("old")).spawn();
    let mut rpc = daemon.rpc();
    let items: Vec<Value> = (0..200).map(|n| json!({"text": format!("note {n} about subject{n}"), "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let whole = |rpc: &mut Rpc, model: &str| {
        wait_for("the model's vectors", DEADLINE, || {
            let state = embedding(rpc);
            (state["model"] == model && state["state"] == "ready" && state["done"] == 200).then_some(())
        });
    };
    whole(&mut rpc, "openai/old");
    let base_url =
        new.config("new").lines().find_map(|line| line.strip_prefix("baseUrl = ").map(|url| url.trim_matches('"').to_owned()));
    new.hang_after(18);
    let _: Value = rpc.ask("embedder/use", json!({"name": "openai", "baseUrl": base_url.unwrap(), "model": "new"}));
    wait_for("the new model to be half way", DEADLINE, || new.hangs().then_some(()));
    let state = embedding(&mut rpc);
    let done = state["done"].as_u64().unwrap();
    assert!(done > 0 && done < 200 && state["model"] == "openai/new", "{state}");
    let answer = recalled(&mut rpc, "subject7");
    assert_eq!(answer["hits"][0]["text"], "note 7 about subject7", "{answer}");
    assert!(degraded(&answer).contains("openai/new"), "{answer}");
    let asked_of_the_old = old.seen().calls;
    daemon.kill9();
    new.mood(tiro_tests::embedding_server::Mood::Well);
    daemon.start();
    rpc = daemon.rpc();
    whole(&mut rpc, "openai/new");
    assert_eq!(old.seen().calls, asked_of_the_old, "the one before is asked no more");
    let listed: Value = rpc.ask("embedder/list", json!({}));
    let in_use: Vec<&Value> = listed["items"].as_array().unwrap().iter().filter(|item| item["inUse"] == true).collect();
    assert_eq!(in_use.iter().map(|item| item["name"].as_str().unwrap()).collect::<Vec<_>>(), ["openai"], "{listed}");
    let _: Value = rpc.ask("embedder/use", json!({"name": "static"}));
    assert!(embedding(&mut rpc).is_null());
    let answer = recalled(&mut rpc, "subject77");
    assert!(!answer["servedBy"].as_array().unwrap().iter().any(|by| by == "model"), "{answer}");
    wait_for("the vectors to go", DEADLINE, || {
        let log = daemon.log();
        log.contains("removing the vectors of a model that is not used any more model=\"openai/new\"").then_some(())
    });
    let verified: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(verified["ok"], true, "{verified}");
}

// API-1: what a person and a script see
#[test]
fn the_command_line_lists_and_refuses() {
    let tiro = Tiro::new();
    let listed = tiro.run(&["model", "list", "--json"]);
    let value: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(
        (value["items"][0]["name"].as_str(), value["items"][0]["inUse"].as_bool()),
        (Some("static"), Some(true)),
        "{value}"
    );
    assert!(tiro.run(&["model", "list"]).stdout.starts_with("static\tstatic\tin use\t192\t"));
    let empty = tempfile::tempdir().unwrap();
    let refused = tiro.run(&["model", "add", &empty.path().display().to_string()]);
    assert!(refused.code == 2 && refused.stderr.contains("--kind"), "{refused:?}");
    let refused = tiro.run(&["model", "check", "e5"]);
    assert!(refused.code == 5 && refused.stderr.contains("tiro model add"), "{refused:?}");
    let used = tiro.run(&["model", "use", "static", "--wait", "--json"]);
    assert_eq!(used.code, 0, "{used:?}");
    let config = std::fs::read_to_string(tiro.home().join("config.toml")).unwrap();
    assert_eq!(config, "[embedding]\nprovider = \"static\"\n");
}
