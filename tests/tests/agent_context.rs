//! What a model is given of a long conversation: order, budgets, summary and fields, compaction between steps; and sessions forked, searched,
//! exported.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, ended, history, pairs, session, start, wait};
use tiro_tests::model_server::ModelServer;
use tiro_tests::{DaemonSetup, InsideDaemon, TestDaemon, check};

/// A daemon with this model server, its window, and tools of a script.
fn daemon_of(server: &ModelServer, window: u32, tools: &Value) -> TestDaemon {
    let config = format!("{}contextTokens = {window}\n[agent]\ntoolScript = \"tools.json\"\n", server.config());
    let mut daemon = DaemonSetup::new().config(&config).prepare();
    std::fs::write(daemon.home().join("tools.json"), json!({ "tools": tools }).to_string()).unwrap();
    daemon.start();
    daemon
}

fn told(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

// SES-3, SES-4, SES-6: a parameter of turn 5 stands word for word in the context of turn 30, and every context stays under half the window
#[test]
fn a_parameter_of_turn_5_stands_in_turn_30_under_half_the_window() {
    let server = ModelServer::start();
    let daemon = daemon_of(&server, 6_000, &json!([]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let parameter = "The retry ceiling of the billing job is 41.7 seconds, and it must never be raised.";
    for number in 1..=30 {
        server.reply(&format!("Reply {number}. {}", "I have thought about this at length and have much to say. ".repeat(12)));
        let input = match number {
            5 => parameter.to_owned(),
            7 => "订单号是OD2024001，请记一下。".to_owned(),
            n => format!("Tell me more about topic {}.", ["rivers", "glass", "bees", "clocks"][n % 4]),
        };
        let turn = ask(&mut rpc, &session, &input);
        ended(&turn, "completed", "completed");
        let context = &turn["context"];
        assert_eq!(context["window"], 6_000);
        assert!(context["tokens"].as_u64().unwrap() <= 3_000 && context["isOver"] == false, "turn {number}: {context}");
        let sum: u64 = context["parts"].as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
        assert_eq!(context["tokens"], sum);
        let told = told(&server.asked().body);
        if number >= 5 {
            assert!(told.contains(parameter), "turn {number}: {told}");
        }
        if number >= 20 {
            assert!(told.contains("订单号: OD2024001") && context["turnsFolded"].as_u64().unwrap() > 8, "turn {number}: {told}");
        }
    }
    let fields: Value = rpc.ask("session/fields", json!({"sessionId": session}));
    let order = fields["items"].as_array().unwrap().iter().find(|field| field["name"] == "订单号").unwrap();
    assert_eq!((&fields["task"], &order["value"], &order["turn"]), (&json!("done"), &json!("OD2024001"), &json!(7)), "{fields}");
    assert_eq!(history(&mut rpc, &session).len(), 60, "nothing is lost of the conversation itself");
}

// SES-7: the whole context, word for word: system, recalled memory, summary and fields, history, the newest input last
#[test]
fn a_context_is_laid_out_in_its_order() {
    let server = ModelServer::start();
    let url = server.base_url.clone();
    let daemon = InsideDaemon::start_with(|seams| {
        seams.env.insert("TIRO_MODEL_BASE_URL".to_owned(), url.into());
        seams.env.insert("TIRO_MODEL_NAME".to_owned(), "golden".into());
    });
    let mut rpc = daemon.rpc();
    let tea = check::remember(&mut rpc, "The user's favourite tea is oolong.");
    let session = session(&mut rpc);
    for number in 1..=10 {
        server.reply(&format!("Reply {number}."));
        let input = match number {
            1 => "Hello! The port must be 8080. Let's go with Postgres. We need to update the runbook.".to_owned(),
            10 => "Which is my favourite tea?".to_owned(),
            n => format!("Question number {n}"),
        };
        ask(&mut rpc, &session, &input);
        if number < 10 {
            server.asked();
        }
    }
    let body = server.asked().body;
    let tools: Vec<&str> =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    let messages: Vec<String> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| format!("## {}\n{}", m["role"].as_str().unwrap(), m["content"].as_str().unwrap()))
        .collect();
    let context = format!("tools: {}\n{}", tools.join(" "), messages.join("\n"));
    // Ids are drawn anew in each run.
    insta::assert_snapshot!(context.replace(&tea[..8], "[id]"));
}

// A15, A17: forty calls inside one turn pass the threshold; earlier results give way between the steps and every call stays paired
#[test]
fn forty_calls_in_one_turn_are_made_to_fit_between_steps() {
    let server = ModelServer::start();
    // No two of them alike.
    let result = |n: usize| {
        let words: Vec<String> = (0..150).map(|k| format!("w{n}x{k}")).collect();
        json!({"text": format!("finding {n}: {}", words.join(" "))})
    };
    let daemon = daemon_of(&server, 8_000, &json!([{"name": "look", "results": (0..40).map(result).collect::<Vec<_>>()}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    for n in 0..20 {
        let ids = [format!("a{n}"), format!("b{n}")];
        server.reply_calls(&[(&ids[0], "look", json!({"n": 2 * n})), (&ids[1], "look", json!({"n": 2 * n + 1}))]);
    }
    server.reply("all seen");
    let started: Value =
        rpc.ask("turn/start", json!({"sessionId": session, "input": "look at everything", "budget": {"steps": 30}}));
    let turn = wait(&mut rpc, started["turnId"].as_str().unwrap());
    ended(&turn, "completed", "completed");
    assert_eq!(turn["usage"]["toolCalls"], 40);
    let context = &turn["context"];
    assert!(context["tokens"].as_u64().unwrap() <= 4_000 && context["resultsLeftOut"].as_u64().unwrap() > 0, "{context}");
    let asked = server.asked_so_far();
    asked.iter().for_each(|asked| pairs(&asked.body));
    let last = told(&asked.last().unwrap().body);
    assert!(last.matches("left out to make room").count() > 20 && last.contains("finding 39: w39x0"), "{last}");
}

// A14: the newest turn alone is over the budget: it is sent once, with one warning
#[test]
fn a_turn_that_is_over_the_budget_alone_warns_once() {
    let server = ModelServer::start();
    let daemon = daemon_of(&server, 1_024, &json!([]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    server.reply("too much");
    let turn = start(&mut rpc, &session, &"word ".repeat(1_500));
    let turn = wait(&mut rpc, &turn);
    ended(&turn, "completed", "completed");
    assert_eq!((&turn["context"]["isOver"], &turn["usage"]["modelCalls"]), (&json!(true), &json!(1)));
    let notice = rpc.notification_where("item/completed", |item| item["kind"] == "notice");
    assert!(notice["content"]["text"].as_str().unwrap().contains("1024"), "{notice}");
    rpc.notification("turn/completed");
    let is_notice = |(method, item): &(String, Value)| method == "item/completed" && item["kind"] == "notice";
    let more = rpc.take_notifications().iter().filter(|note| is_notice(note)).count();
    assert_eq!(more, 0, "one warning");
}

// SES-9: list, show, rename, fork at a turn, search, export, delete
#[test]
fn sessions_are_forked_found_and_exported() {
    let server = ModelServer::start();
    let daemon = daemon_of(&server, 16_000, &json!([]));
    let mut rpc = daemon.rpc();
    let first = session(&mut rpc);
    let mut turns = Vec::new();
    for (input, reply) in
        [("The harbour code is HB-4711.", "Noted."), ("And the second?", "It is unknown."), ("Forget the harbour.", "Done.")]
    {
        server.reply(reply);
        turns.push(ask(&mut rpc, &first, input));
        server.asked();
    }
    let fork = json!({"sessionId": first, "turnId": turns[1]["turnId"], "title": "another way", "key": "f"});
    let forked: Value = rpc.ask("session/fork", fork.clone());
    assert_eq!(rpc.ask::<Value>("session/fork", fork), forked, "a repeated key forks once");
    let second = forked["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(history(&mut rpc, &second), history(&mut rpc, &first)[..4]);
    let about: Value = rpc.ask("session/get", json!({"sessionId": second}));
    assert_eq!((&about["title"], &about["turnCount"], &about["messageCount"]), (&json!("another way"), &json!(2), &json!(4)));
    server.reply("Still HB-4711.");
    ask(&mut rpc, &second, "What is the code?");
    assert!(told(&server.asked().body).contains("The harbour code is HB-4711."));
    assert_eq!(history(&mut rpc, &first).len(), 6, "the first one goes its own way");
    let found: Value = rpc.ask("session/search", json!({"query": "harbour code HB-4711", "limit": 10}));
    let sessions: Vec<&str> = found["items"].as_array().unwrap().iter().map(|item| item["sessionId"].as_str().unwrap()).collect();
    assert!(sessions.contains(&first.as_str()) && sessions.contains(&second.as_str()), "{found}");
    assert!(found["items"][0]["text"].as_str().unwrap().contains("HB-4711"), "{found}");
    let none: Value = rpc.ask("session/search", json!({"query": "harbour", "space": "elsewhere"}));
    assert_eq!(none["items"], json!([]));
    let page: Value = rpc.ask("session/export", json!({"sessionId": first, "limit": 4}));
    let rest: Value = rpc.ask("session/export", json!({"sessionId": first, "cursor": page["nextCursor"]}));
    assert_eq!((page["lines"].as_array().unwrap().len(), rest["lines"].as_array().unwrap().len()), (5, 2));
    assert_eq!(page["lines"][0]["session"]["sessionId"], json!(first));
    let renamed: Value = rpc.ask("session/update", json!({"sessionId": second, "title": "harbours"}));
    assert_eq!(renamed["title"], "harbours");
    rpc.ask::<Value>("session/delete", json!({"sessionId": first}));
    assert_eq!(history(&mut rpc, &second).len(), 6, "a fork stands by itself");
    let gone = rpc.refused("session/fork", json!({"sessionId": second, "turnId": turns[0]["turnId"]}));
    check::is_error(&gone, ErrorKind::NotFound);
}
