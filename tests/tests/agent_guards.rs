//! How a turn that leads nowhere ends: its kind and steps, calls that repeat, answers that say nothing new, budgets.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_tests::agent::{call, ended, history, results, scripted, session, start, wait, with_tools};
use tiro_tests::check;
use tiro_tests::client::Rpc;

fn begin(rpc: &mut Rpc, params: Value) -> Value {
    let started: Value = rpc.ask("turn/start", params);
    wait(rpc, started["turnId"].as_str().unwrap())
}

// LOOP-2, LOOP-7: the kind says how many steps, is told with the turn, and gives way to the caller's
#[test]
fn the_kind_of_a_task_says_how_many_steps_it_gets() {
    let look = |n: usize| call(&format!("c{n}"), "look", json!({ "n": n }));
    let mut replies: Vec<Value> = (0..15).map(look).collect();
    replies.push(json!({"text": "all I have"}));
    let tools = json!([{"name": "look", "results": (0..20).map(|n| json!({"text": format!("finding number {n}: {}", "xyz".repeat(n + 1))})).collect::<Vec<_>>()}]);
    for (input, more, kind, steps) in [
        ("What is my favourite tea?", json!({}), "question", 3),
        ("Compare the two proposals.", json!({}), "multiHop", 8),
        ("Collect the figures, build a table and mail it to the board.", json!({}), "orchestration", 15),
        ("hello", json!({"taskKind": "orchestration"}), "orchestration", 15),
        ("hello", json!({"budget": {"steps": 2}}), "question", 2),
    ] {
        let mut replies = replies.clone();
        replies.truncate(steps);
        replies.push(json!({"text": "all I have"}));
        let daemon = with_tools(&json!(replies), &tools);
        let mut rpc = daemon.rpc();
        let session = session(&mut rpc);
        let mut params = json!({"sessionId": session, "input": input});
        more.as_object().unwrap().iter().for_each(|(name, value)| params[name] = value.clone());
        let turn = begin(&mut rpc, params);
        ended(&turn, "completed", "stepLimit");
        let told = (turn["taskKind"].as_str().unwrap(), turn["stepsMax"].as_u64().unwrap(), turn["steps"].as_u64().unwrap());
        assert_eq!(told, (kind, steps as u64, steps as u64 + 1), "{input}: {turn}");
        assert_eq!(turn["text"], "all I have");
        assert_eq!(turn["taskKindBy"] == "caller", more["taskKind"].is_string(), "{turn}");
        let again: Value = rpc.ask("turn/get", json!({"turnId": turn["turnId"]}));
        assert_eq!(again, turn, "stored with the turn");
    }
}

// A10, LOOP-3: the same call with its keys in another order ran again, five times
#[test]
fn the_same_call_five_times_is_answered_refused_and_ends_the_turn() {
    let one = json!({"city": "Paris", "unit": {"scale": "C", "digits": 1}});
    let other = json!({"unit": {"digits": 1.0, "scale": "C"}, "city": "Paris"});
    let daemon = with_tools(
        &json!([call("a", "weather", one.clone()), call("b", "weather", other.clone()), call("c", "weather", one.clone()),
            call("d", "weather", other), {"text": "21 degrees, as far as I know"}]),
        &json!([{"name": "weather", "results": [{"text": "21 degrees"}, {"text": "never asked twice"}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = begin(&mut rpc, json!({"sessionId": session, "input": "weather?", "taskKind": "multiHop"}));
    ended(&turn, "failed", "duplicateCall");
    let told = results(&mut rpc, &session);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0], "21 degrees");
    assert!(told[1].starts_with("The same call as a, not run again") && told[1].ends_with("21 degrees"), "{}", told[1]);
    assert!(told[2].starts_with("Refused:"), "{}", told[2]);
    assert_eq!(turn["usage"]["toolCalls"], 1);
    assert!(turn["error"]["message"].as_str().unwrap().contains("weather"), "{turn}");
}

// A11, LOOP-3: two writes that undo each other took turns for ever, as each let the other run again
#[test]
fn two_calls_in_turn_for_ever_end_with_their_reason() {
    let replies: Vec<Value> = (0..12).map(|n| call(&format!("c{n}"), "lamp", json!({"on": n % 2 == 0}))).collect();
    let daemon = with_tools(
        &json!(replies),
        &json!([{"name": "lamp", "sideEffect": "external", "results": [{"text": "switched", "append": "lamp.txt"}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = begin(&mut rpc, json!({"sessionId": session, "input": "make light", "taskKind": "orchestration"}));
    ended(&turn, "failed", "noProgress");
    assert!(turn["error"]["message"].as_str().unwrap().contains("circle of 2 calls"), "{turn}");
    let switched = std::fs::read_to_string(daemon.home().join("lamp.txt")).unwrap();
    assert_eq!(switched.lines().count(), 5, "the sixth does not run: {switched}");
}

// A11, LOOP-3: answers that differ in a number of the request alone; a tool that always fails the same way; a name that is not offered
#[test]
fn answers_that_say_nothing_new_and_failures_that_repeat_end_with_their_reason() {
    let shelf = "Nothing on this shelf fits what you look for; the catalogue lists no other shelf on this floor, and what is on loan is not \
                 shown to visitors until it is back at its place. (request {n})";
    let tools = json!([
        {"name": "look", "results": [{"text": shelf}]},
        {"name": "post", "sideEffect": "external", "results": [{"text": "the server answered 503 to request {n}: it is being repaired until further notice, so nothing was posted and nothing will be", "isError": true}]},
        {"name": "watch", "polls": true, "results": [{"text": "not yet"}]},
    ]);
    let replies = |name: &str, last: &str| {
        let calls = (0..9).map(|n| call(&format!("c{n}"), name, json!({ "n": n })));
        json!(calls.chain([json!({"when": "never", "text": last})]).collect::<Vec<_>>())
    };
    for (tool, status, reason, ran) in [
        ("look", "failed", "noProgress", 3),
        ("post", "failed", "repeatedError", 3),
        ("nonesuch", "failed", "repeatedError", 0),
        ("watch", "completed", "stepLimit", 8),
    ] {
        let daemon = with_tools(&replies(tool, "never"), &tools);
        let mut rpc = daemon.rpc();
        let session = session(&mut rpc);
        let turn = begin(&mut rpc, json!({"sessionId": session, "input": "go", "taskKind": "multiHop"}));
        ended(&turn, status, reason);
        assert_eq!(turn["usage"]["toolCalls"], ran, "{tool}: {turn}");
    }
}

// LOOP-3, LOOP-7: a turn that leads nowhere still says what it has
#[test]
fn a_turn_that_leads_nowhere_concludes_in_words() {
    let calls = (0..3).map(|n| call(&format!("c{n}"), "look", json!({ "n": n })));
    let replies: Vec<Value> = calls.chain([json!({"text": "There is nothing on that shelf."})]).collect();
    let daemon = with_tools(&json!(replies), &json!([{"name": "look", "results": [{"text": "nothing here"}]}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = begin(&mut rpc, json!({"sessionId": session, "input": "go", "taskKind": "multiHop"}));
    ended(&turn, "failed", "noProgress");
    assert_eq!(turn["text"], "There is nothing on that shelf.");
    assert_eq!(history(&mut rpc, &session).last().unwrap(), "assistant: There is nothing on that shelf.");
}

// LOOP-2, LOOP-7: budgets of tokens and of time
#[test]
fn a_budget_that_is_used_up_ends_the_turn() {
    let spend = |n: u32| json!({"toolCalls": [{"id": format!("c{n}"), "name": "memory_recall", "arguments": {"query": format!("q{n}")}}], "usage": {"inputTokens": 60, "outputTokens": 10}});
    let daemon = scripted(&json!([spend(1), spend(2), {"when": "slow", "hang": true}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = begin(&mut rpc, json!({"sessionId": session, "input": "go", "budget": {"tokens": 100}}));
    ended(&turn, "failed", "budget");
    assert_eq!((&turn["usage"]["modelCalls"], &turn["usage"]["inputTokens"]), (&json!(2), &json!(120)));
    let begun = Instant::now();
    let turn = begin(&mut rpc, json!({"sessionId": session, "input": "slow", "budget": {"ms": 300}}));
    ended(&turn, "failed", "budget");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    check::refuses_path(&mut rpc, "turn/start", json!({"sessionId": session, "input": "x", "taskKind": "huge"}), "taskKind");
}

// A20, SES-9: a cancelled call leaves no process behind, and what it would have done later is never done
#[test]
fn a_cancelled_command_takes_its_whole_process_group_along() {
    let daemon = with_tools(
        &json!([call("a", "shell", json!({}))]),
        &json!([{"name": "shell", "sideEffect": "external", "timeoutMs": 60000, "results": [
            {"command": "echo $$ > group.txt; (sleep 3; touch late.txt) & sleep 120 && touch x.txt"}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "run it");
    let group = daemon.home().join("group.txt");
    let pid: i32 = tiro_tests::wait_for("the command to run", Duration::from_secs(20), || {
        std::fs::read_to_string(&group).ok().and_then(|text| text.trim().parse().ok())
    });
    let begun = Instant::now();
    let turn: Value = rpc.ask("turn/interrupt", json!({"turnId": turn}));
    ended(&turn, "cancelled", "cancelled");
    assert_eq!(turn["error"], Value::Null);
    let group = nix::unistd::Pid::from_raw(pid);
    tiro_tests::wait_for("the group to end", Duration::from_secs(2).saturating_sub(begun.elapsed()), || {
        nix::sys::signal::killpg(group, None).is_err().then_some(())
    });
    assert!(!daemon.home().join("x.txt").exists() && !daemon.home().join("late.txt").exists());
    assert_eq!(history(&mut rpc, &session).last().unwrap(), "tool: result a error");
}
