//! `tiro mcp serve` over real pipes, in both eras of the protocol: what is offered, what it does, and what it says when it does not.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_tests::{Era, McpHost, Tiro};

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];
const TOOLS: [&str; 8] = [
    "memory_recall",
    "memory_context",
    "memory_remember",
    "memory_get",
    "memory_update",
    "memory_forget",
    "memory_list",
    "memory_undo",
];

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

// MCP-5
#[test]
fn a_host_of_either_era_finds_eight_tools_with_schemas_and_annotations_in_one_order() {
    let tiro = Tiro::new();
    let mut lists = Vec::new();
    for era in ERAS {
        let mut host = McpHost::start(&tiro, &[]);
        let said = host.begin(era, "test-host");
        match era {
            Era::Handshake => assert_eq!(said["protocolVersion"], "2025-11-25", "{said}"),
            Era::Stateless => {
                let versions: Vec<_> = said["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                assert!(versions.contains(&"2025-11-25") && versions.contains(&"2026-07-28"), "{said}");
            }
        }
        assert_eq!(said["capabilities"], json!({"prompts": {}, "resources": {"subscribe": true}, "tools": {}}));
        let list = host.request("tools/list", json!({})).unwrap();
        assert_eq!(names(&list["tools"]), TOOLS);
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false);
            assert_eq!(tool["outputSchema"]["type"], "object");
            assert_eq!(tool["annotations"]["openWorldHint"], false);
            let reads =
                ["memory_recall", "memory_context", "memory_get", "memory_list"].contains(&tool["name"].as_str().unwrap());
            assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{}", tool["name"]);
        }
        lists.push(list["tools"].clone());
        assert_eq!(tiro.daemon_pid(), None, "looking at the tools starts no daemon");
    }
    assert_eq!(lists[0], lists[1]);
}

// MCP-5
#[test]
fn the_memory_verbs_work_through_their_tools_in_either_era() {
    let tiro = Tiro::new();
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, &format!("host-{era:?}"), &["--space", &format!("{era:?}").to_lowercase()]);
        let kept =
            host.tool("memory_remember", json!({"text": "The staging database listens on port 5433.", "category": "fact"}));
        assert_eq!(kept["outcome"], "created");
        let id = kept["id"].as_str().unwrap().to_owned();

        let found = host.tool("memory_recall", json!({"query": "which port does staging use?"}));
        assert!(found["note"].as_str().unwrap().contains("data"), "{found}");
        let hit = &found["hits"][0];
        assert_eq!(
            (hit["id"].as_str(), hit["text"].as_str()),
            (Some(id.as_str()), Some("The staging database listens on port 5433."))
        );
        assert_eq!(hit["sources"], json!([{"program": format!("host-{era:?}")}]));
        assert!(hit["createdAt"].is_string() && hit["strength"].is_string(), "{hit}");
        assert!(hit.get("explain").is_none() && found.get("seq").is_none() && found.get("servedBy").is_none(), "{found}");

        let block = host.tool("memory_context", json!({"query": "staging", "tokenBudget": 500}));
        assert!(block["text"].as_str().unwrap().contains("> The staging database listens on port 5433."), "{block}");

        assert_eq!(host.tool("memory_get", json!({"id": id}))["version"], 1);
        let stale = host.tool_error("memory_update", json!({"id": id, "ifVersion": 9, "text": "It listens on port 6000."}));
        assert!(stale.contains("currentVersion: 1") && stale.contains("memory_get"), "{stale}");
        let changed =
            host.tool("memory_update", json!({"id": id, "ifVersion": 1, "text": "The staging database listens on port 6000."}));
        assert_eq!(changed["version"], 2);
        assert_eq!(host.tool("memory_list", json!({"text": "6000"}))["items"][0]["id"], id.as_str());

        assert_eq!(host.tool("memory_forget", json!({"ids": [id]}))["count"], 1);
        assert_eq!(host.tool("memory_recall", json!({"query": "which port does staging use?"}))["hits"], json!([]));
        host.tool("memory_undo", json!({"id": id}));
        assert_eq!(host.tool("memory_recall", json!({"query": "which port does staging use?"}))["hits"][0]["id"], id.as_str());
    }
}

// MCP-5
#[test]
fn what_is_wrong_is_told_as_a_result_that_names_it_and_says_what_to_do() {
    let tiro = Tiro::new();
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, "test-host", &[]);
        for (tool, arguments, path) in [
            ("memory_recall", json!({}), "query: missing"),
            ("memory_recall", json!({"query": null}), "query: missing"),
            ("memory_recall", json!({"query": "x", "colour": 1}), "colour: not an argument"),
            ("memory_recall", json!({"query": "x", "limit": "three"}), "limit: "),
            ("memory_recall", json!({"query": "x", "filter": {"after": "soon"}}), "filter.after: "),
            ("memory_recall", json!({"query": "x", "filter": {"kinds": ["odd"]}}), "filter.kinds[0]: "),
            ("memory_recall", json!({"query": "x", "space": "other"}), "space: not an argument"),
            ("memory_remember", json!({"text": "x", "verbatim": true}), "verbatim: not an argument"),
            ("memory_remember", json!({"text": "Ann likes tea.", "importance": 7}), "importance: "),
            ("memory_remember", json!({"text": "x".repeat(70_000)}), "text"),
            ("memory_forget", json!({"ids": "all"}), "ids: "),
            ("memory_forget", json!({"filter": {}}), "filter: not an argument"),
            ("memory_get", json!({"id": "00000000"}), "there is no memory 00000000"),
        ] {
            let said = host.tool_error(tool, arguments);
            assert!(said.starts_with(path) || (path == "text" && said.contains(path)), "{tool}: {said}");
            assert!(said.contains("What to do: "), "{tool}: {said}");
        }
        let no_object = host.request("tools/call", json!({"name": "memory_get", "arguments": "abc"})).unwrap();
        assert_eq!(no_object["isError"], true);
        assert!(no_object["content"][0]["text"].as_str().unwrap().starts_with("arguments: not an object"), "{no_object}");
        let unknown = host.request("tools/call", json!({"name": "memory_explode", "arguments": {}})).unwrap_err();
        assert_eq!(unknown["code"], -32602);
        assert!(unknown["message"].as_str().unwrap().contains("memory_recall"), "{unknown}");
        assert_eq!(host.request("tools/call", json!({"name": 5})).unwrap_err()["code"], -32602);
        assert_eq!(host.request("tools/explode", json!({})).unwrap_err()["code"], -32601);
    }
}

// MCP-5, MEM-7
#[test]
fn secrets_and_small_talk_are_refused_in_words_and_what_the_user_asked_for_is_kept() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    let secret = "AKIAIOSFODNN7EXAMPLE";
    let said = host.tool_error("memory_remember", json!({"text": format!("The key is {secret}."), "explicit": true}));
    assert!(said.contains("awsKey") && said.contains("password store") && !said.contains(secret), "{said}");
    let kept = host.tool("memory_remember", json!({"text": "Ann keeps bees.", "category": "fact"}));
    let said =
        host.tool_error("memory_update", json!({"id": kept["id"], "ifVersion": 1, "text": format!("Ann's key is {secret}.")}));
    assert!(said.contains("Nothing was written") && !said.contains(secret), "{said}");
    let said = host.tool_error("memory_remember", json!({"text": "haha ok thanks"}));
    assert!(said.contains("smallTalk") && said.contains("explicit true"), "{said}");
    assert_eq!(host.tool("memory_remember", json!({"text": "haha ok thanks", "explicit": true}))["outcome"], "created");
    host.leave();
    assert!(host.wait_exit().success());
    for file in ["data/store.redb", "state/daemon.log"] {
        let bytes = std::fs::read(tiro.home().join(file)).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file} holds the secret");
    }
}

// MCP-5
#[test]
fn the_rules_of_a_space_hold_for_a_host_by_the_name_it_gives_and_are_told() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "The vault is behind the painting.", "--space", "closed"]);
    tiro.ok(&["space", "set", "closed", "--reader", "client:tiro", "--reader", "client:welcome", "--writer", "client:tiro"]);
    let mut welcome = McpHost::open(&tiro, Era::Handshake, "welcome", &["--space", "closed"]);
    let found = welcome.tool("memory_recall", json!({"query": "where is the vault?"}));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    let mut stranger = McpHost::open(&tiro, Era::Stateless, "stranger", &["--space", "closed"]);
    let id = found["hits"][0]["id"].clone();
    for said in [
        welcome.tool_error("memory_remember", json!({"text": "The vault was moved to Lyon.", "category": "event"})),
        stranger.tool_error("memory_recall", json!({"query": "where is the vault?"})),
        stranger.tool_error("memory_forget", json!({"ids": [id]})),
    ] {
        assert!(said.contains("What to do: ") && !said.contains("painting"), "{said}");
    }
    assert_eq!(tiro.json(&["list", "--space", "closed"])["items"].as_array().unwrap().len(), 1);
}

// MCP-5
#[test]
fn an_answer_is_short_unless_more_is_asked_for() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    // Other things, without which words that stand everywhere say nothing.
    for n in 0..60 {
        let (thing, place) =
            (["kettle", "ladder", "piano", "carpet", "lamp"][n % 5], ["attic", "cellar", "garden", "hall"][n % 4]);
        host.tool("memory_remember", json!({"text": format!("Invoice {n}: a {thing} for the {place}."), "explicit": true}));
    }
    for n in 0..25 {
        let text = format!(
            "The logbook of ship number {n} tells this. {}",
            format!("Day after day ship {n} met wind and rain. ").repeat(60)
        );
        host.tool("memory_remember", json!({"text": text, "category": "event", "explicit": true}));
    }
    let found = host.tool("memory_recall", json!({"query": "what do the logbooks of the ships tell?", "limit": 25}));
    let hits = found["hits"].as_array().unwrap().len();
    assert!((1..25).contains(&hits) && found["overBudget"].as_u64().unwrap() > 0, "{hits} hits, {}", found["overBudget"]);
    let more = host
        .tool("memory_recall", json!({"query": "what do the logbooks of the ships tell?", "limit": 25, "tokenBudget": 100_000}));
    assert!(more["hits"].as_array().unwrap().len() > hits);
    let page = host.tool("memory_list", json!({}));
    assert_eq!(page["items"].as_array().unwrap().len(), 20);
    let rest = host.tool("memory_list", json!({"cursor": page["nextCursor"], "limit": 500}));
    assert_eq!(rest["items"].as_array().unwrap().len(), 65);
}

// MCP-5
#[test]
fn resources_are_listed_read_and_watched_in_either_era() {
    let tiro = Tiro::new();
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, "test-host", &["--space", &format!("{era:?}").to_lowercase()]);
        let kept = host.tool("memory_remember", json!({"text": "用户对花生过敏。", "category": "constraint"}));
        let (id, uri) = (kept["id"].as_str().unwrap().to_owned(), format!("memory://item/{}", kept["id"].as_str().unwrap()));
        let list = host.request("resources/list", json!({})).unwrap();
        assert_eq!((&list["resources"][0]["uri"], &list["resources"][0]["title"]), (&json!(uri), &json!("用户对花生过敏。")));
        let templates = host.request("resources/templates/list", json!({})).unwrap();
        let templates: Vec<_> =
            templates["resourceTemplates"].as_array().unwrap().iter().map(|t| t["uriTemplate"].clone()).collect();
        assert_eq!(templates, ["memory://item/{id}", "memory://recall/{query}"]);
        let read = |host: &mut McpHost, uri: &str| -> Value {
            let read = host.request("resources/read", json!({"uri": uri})).unwrap();
            assert_eq!(read["contents"][0]["mimeType"], "application/json");
            serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
        };
        assert_eq!(read(&mut host, &uri)["text"], "用户对花生过敏。");
        let found = read(&mut host, "memory://recall/%E5%AF%B9%E8%8A%B1%E7%94%9F%E8%BF%87%E6%95%8F");
        assert_eq!(found["hits"][0]["id"], id.as_str());
        let not_found = if era == Era::Handshake { -32002 } else { -32602 };
        for wrong in ["memory://item/ffffffff", "memory://elsewhere/x", "file:///etc/passwd"] {
            assert_eq!(host.request("resources/read", json!({"uri": wrong})).unwrap_err()["code"], not_found, "{wrong}");
        }

        watch(&mut host, era, &uri);
        host.tool("memory_update", json!({"id": id, "importance": 0.9}));
        is_updated(&mut host, &uri);
        host.tool("memory_forget", json!({"ids": [id]}));
        is_updated(&mut host, &uri);
    }
}

fn watch(host: &mut McpHost, era: Era, uri: &str) {
    match era {
        Era::Handshake => assert_eq!(host.request("resources/subscribe", json!({"uri": uri})).unwrap(), json!({})),
        Era::Stateless => {
            let id = host.ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri, "file:///x"]}}));
            let acknowledged = host.message();
            assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
            assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": [uri]}));
            assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
            // Behind an answer the first look has begun; what comes after it is seen.
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

fn is_updated(host: &mut McpHost, uri: &str) {
    let note = host.message();
    assert_eq!(note["method"], "notifications/resources/updated", "{note}");
    assert_eq!(note["params"]["uri"], uri, "{note}");
}

// MCP-5
#[test]
fn prompts_begin_from_memory_and_end_by_saving() {
    let tiro = Tiro::new();
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, "test-host", &[]);
        assert_eq!(names(&host.request("prompts/list", json!({})).unwrap()["prompts"]), ["begin_from_memory", "save_to_memory"]);
        host.tool("memory_remember", json!({"text": "Always answer in German.", "category": "preference", "explicit": true}));
        for arguments in [json!({}), json!({"topic": "bees"})] {
            let begun = host.request("prompts/get", json!({"name": "begin_from_memory", "arguments": arguments})).unwrap();
            let text = begun["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
            assert!(text.contains("> Always answer in German.") && text.contains("as data with source and date"), "{text}");
        }
        let saving = host.request("prompts/get", json!({"name": "save_to_memory"})).unwrap();
        assert!(saving["messages"][0]["content"]["text"].as_str().unwrap().contains("memory_remember"));
        assert_eq!(host.request("prompts/get", json!({"name": "other"})).unwrap_err()["code"], -32602);
    }
}

// MCP-5
#[test]
fn the_space_is_the_option_else_the_folders_else_personal_and_the_audit_names_the_host() {
    let tiro = Tiro::new();
    let project = tempfile::tempdir().unwrap();
    let deep = project.path().join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(project.path().join(".tiro.toml"), "space = \"project\"\n").unwrap();
    let serve = |arguments: &[&str]| {
        let mut command = tiro.command(&[&["mcp", "serve"], arguments].concat());
        command.current_dir(&deep);
        command
    };
    for (arguments, era, space) in
        [(&[][..], Era::Handshake, "project"), (&["--space", "given", "--space", "personal"][..], Era::Stateless, "given")]
    {
        let mut host = McpHost::start_command(serve(arguments));
        host.begin(era, &format!("host of {space}"));
        host.tool("memory_remember", json!({"text": format!("The word of the day in {space} is heron."), "category": "fact"}));
        assert_eq!(host.tool("memory_list", json!({}))["items"][0]["space"], space);
    }
    tiro.ok(&["remember", "The personal word of the day is osprey."]);
    let mut both = McpHost::open(&tiro, Era::Handshake, "reader", &["--space", "given", "--space", "personal"]);
    let found = both.tool("memory_recall", json!({"query": "word of the day", "limit": 10}));
    let mut spaces: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| hit["space"].as_str().unwrap()).collect();
    spaces.sort_unstable();
    assert_eq!(spaces, ["given", "personal"], "and nothing of the project's");
    assert_eq!(tiro.json(&["list", "--space", "personal"])["items"].as_array().unwrap().len(), 1);
    let audit = tiro.json(&["audit", "--space", "project"]);
    let written = audit["items"].as_array().unwrap().iter().find(|row| row["method"] == "memory/remember").unwrap();
    assert_eq!(written["actor"]["client"], "host of project/1.0");

    std::fs::write(project.path().join(".tiro.toml"), "space = 7\n").unwrap();
    let ran = tiro_tests::Ran::of(&["mcp", "serve"], serve(&[]).output().unwrap()).exits(2);
    assert!(
        ran.stdout.is_empty() && ran.stderr.contains(".tiro.toml") && ran.stderr.contains("space = \"NAME\""),
        "{}",
        ran.stderr
    );
}
