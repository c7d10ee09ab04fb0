//! Real peers: the Inspector's command line, the Python SDK, Codex and the conformance suite against `tiro mcp serve`.
//!
//! They stand in the folder that `TIRO_REAL_MCP` names (`.ci/real-mcp` fills it): `node_modules` with Node 22 among them, and `venv`.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tiro_client::mcp::{HttpServer, Token};
use tiro_tests::mcp_fixtures::Fixtures;
use tiro_tests::{Tiro, binary, skipped, workspace};
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "0123456789abcdef-a-token";
/// A peer that takes longer is at fault.
const PEER_MAX: Duration = Duration::from_secs(300);

fn peers(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("TIRO_REAL_MCP").map(PathBuf::from);
    if found.is_none() {
        skipped(what, "TIRO_REAL_MCP names no folder with the peers; .ci/real-mcp makes one");
    }
    found
}

/// A process and all it started, ended when this is dropped.
struct Group(Child);

impl Group {
    fn start(mut command: Command) -> Self {
        Group(command.process_group(0).spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}")))
    }

    /// Waits for the end; its exit code and what it wrote.
    fn output(mut self, what: &str) -> (i32, String) {
        let (stdout, stderr) = (self.0.stdout.take().unwrap(), self.0.stderr.take().unwrap());
        let (sender, written) = channel();
        for (mut stream, sender) in
            [(Box::new(stdout) as Box<dyn std::io::Read + Send>, sender.clone()), (Box::new(stderr), sender)]
        {
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = stream.read_to_string(&mut text);
                let _ = sender.send(text);
            });
        }
        let end = Instant::now() + PEER_MAX;
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "{what} did not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        drop(self);
        (status.code().unwrap_or(-1), written.iter().collect())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// A peer's program, in the environment of this home.
fn peer(tiro: &Tiro, peers: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = format!("{}:{}", peers.join("node_modules/node/bin").display(), std::env::var("PATH").unwrap_or_default());
    command.env_clear().env("PATH", path).env("HOME", tiro.home()).env("TIRO_HOME", tiro.home()).env("TIRO_MCP_TOKEN", TOKEN);
    command.current_dir(tiro.home()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn node(tiro: &Tiro, peers: &Path, script: &Path) -> Command {
    let mut command = peer(tiro, peers, &peers.join("node_modules/node/bin/node"));
    command.arg(script);
    command
}

/// `tiro mcp serve --http` with the token; its URL.
fn serve_http(tiro: &Tiro, peers: &Path) -> (Group, String) {
    let mut command = peer(tiro, peers, &binary::tiro());
    command.args(["--json", "mcp", "serve", "--http", "0"]).stderr(Stdio::inherit());
    let mut server = Group::start(command);
    let said: Value = serde_json::from_str(&first_line(&mut server.0)).unwrap();
    (server, said["url"].as_str().unwrap().to_owned())
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line
}

// MCP-5
#[test]
fn the_inspector_lists_calls_and_reads() {
    let Some(peers) = peers("the Inspector") else { return };
    let tiro = Tiro::new();
    let inspect = |arguments: &[&str]| -> Value {
        let script = peers.join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        let mut command = node(&tiro, &peers, &script);
        // It hands on no environment but what it is told.
        command.arg("--cli").args(["-e", &format!("TIRO_HOME={}", tiro.home().display())]);
        command.arg(binary::tiro()).args(["mcp", "serve"]).args(arguments);
        let (code, text) = Group::start(command).output("the Inspector");
        assert_eq!(code, 0, "{arguments:?}: {text}");
        let begins = text.find('{').unwrap_or_else(|| panic!("{arguments:?}: {text}"));
        serde_json::Deserializer::from_str(&text[begins..]).into_iter().next().unwrap().unwrap()
    };
    // Strict: a schema that some model provider does not take is an error.
    assert_eq!(inspect(&["--method", "tools/list", "--strict"])["tools"].as_array().unwrap().len(), 8);
    let call = |tool: &str, arguments: &[&str]| {
        inspect(&[&["--method", "tools/call", "--tool-name", tool], arguments].concat())["structuredContent"].clone()
    };
    let kept = call("memory_remember", &["--tool-arg", "text=The ferry leaves at seven.", "category=fact"]);
    assert_eq!(kept["outcome"], "created");
    let found = call("memory_recall", &["--tool-arg", "query=when does the ferry leave?", "limit=3"]);
    assert_eq!((&found["hits"][0]["id"], &found["hits"][0]["sources"]), (&kept["id"], &json!([{"program": "inspector-cli"}])));
    let read = inspect(&["--method", "resources/read", "--uri", "memory://recall/ferry"]);
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("leaves at seven"), "{read}");
    assert_eq!(inspect(&["--method", "prompts/list"])["prompts"].as_array().unwrap().len(), 2);
    assert!(tiro.daemon_pid().is_some(), "it was this home's daemon that answered");
}

// MCP-5
#[test]
fn the_python_sdk_speaks_both_eras_over_both_transports() {
    let Some(peers) = peers("the Python SDK") else { return };
    let tiro = Tiro::new();
    let (_server, url) = serve_http(&tiro, &peers);
    for (kind, place) in [("stdio", binary::tiro().display().to_string()), ("http", url)] {
        let mut command = peer(&tiro, &peers, &peers.join("venv/bin/python"));
        command.arg(workspace().join("tests/data/mcp/client.py")).args([kind, &place]);
        let (code, text) = Group::start(command).output("the Python SDK");
        assert_eq!(code, 0, "{kind}: {text}");
        for line in ["legacy: 2025-11-25", "auto: 2026-07-28", "2026-07-28: 2026-07-28"] {
            assert!(text.contains(&format!("{kind} {line}")), "{text}");
        }
    }
}

// MCP-5
#[test]
fn codex_calls_tools_and_reads_resources() {
    let Some(peers) = peers("Codex") else { return };
    let vendor = peers.join("node_modules/@openai/codex-linux-x64/vendor");
    let Some(codex) =
        std::fs::read_dir(vendor).ok().and_then(|mut found| found.next()).map(|found| found.unwrap().path().join("bin/codex"))
    else {
        skipped("Codex", "its package has no program for this machine");
        return;
    };
    let tiro = Tiro::new();
    let home = tiro.home().join("codex");
    std::fs::create_dir(&home).unwrap();
    let config = format!(
        "[mcp_servers.tiro]\ncommand = {:?}\nargs = [\"mcp\", \"serve\"]\nenv = {{ TIRO_HOME = {:?} }}\n",
        binary::tiro(),
        tiro.home()
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    // The program itself and not its launcher, which would leave it behind.
    let mut command = peer(&tiro, &peers, &codex);
    command.arg("app-server").env("CODEX_HOME", &home).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut server = Group::start(command);
    let mut stdin = server.0.stdin.take().unwrap();
    let (sender, lines) = channel();
    let stdout = server.0.stdout.take().unwrap();
    std::thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut id = 0;
    let mut call = |method: &str, params: Value| -> Value {
        id += 1;
        writeln!(stdin, "{}", json!({"id": id, "method": method, "params": params})).unwrap();
        loop {
            let line = lines.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("Codex did not answer {method}"));
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{method}: {message}");
                break message["result"].clone();
            }
        }
    };
    call("initialize", json!({"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {"experimentalApi": true}}));
    let thread = call("thread/start", json!({"cwd": home}))["thread"]["id"].clone();
    let mut tool = |name: &str, arguments: Value| {
        let params = json!({"threadId": thread, "server": "tiro", "tool": name, "arguments": arguments});
        call("mcpServer/tool/call", params)["structuredContent"].clone()
    };
    let kept = tool("memory_remember", json!({"text": "The ferry leaves at seven.", "category": "fact"}));
    let found = tool("memory_recall", json!({"query": "when does the ferry leave?"}));
    assert_eq!((&found["hits"][0]["id"], &found["hits"][0]["sources"]), (&kept["id"], &json!([{"program": "codex-mcp-client"}])));
    let read = call("mcpServer/resource/read", json!({"threadId": thread, "server": "tiro", "uri": "memory://recall/ferry"}));
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("leaves at seven"), "{read}");
}

/// Runs both requirement sets of the suite against a server; what is in the baseline of this name is expected to fail, and that alone.
fn conformance(tiro: &Tiro, peers: &Path, url: &str, baseline: &str) {
    let mut command = node(tiro, peers, &workspace().join("tests/data/mcp/with_token.mjs"));
    command.arg(url).stderr(Stdio::inherit());
    let mut proxy = Group::start(command);
    let port = first_line(&mut proxy.0).trim().to_owned();
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut command = node(tiro, peers, &peers.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command.args([
            "server",
            "--url",
            &format!("http://127.0.0.1:{port}/mcp"),
            "--requirements",
            revision,
            "--expected-failures",
        ]);
        command.arg(workspace().join(format!("tests/data/mcp/{baseline}-{revision}.yml"))).args(["--timeout", "15000"]);
        let results = tiro.home().join(format!("{baseline}-{revision}"));
        command.arg("--output-dir").arg(&results);
        let (code, text) = Group::start(command).output("the conformance suite");
        let summary = text.split_once("=== SUMMARY ===").map_or(text.as_str(), |(_, summary)| summary);
        assert_eq!(code, 0, "{baseline} {revision}: {summary}\n{}", failures(&results));
        println!("{baseline} {revision}: {}", summary.lines().find(|line| line.starts_with("Total: ")).unwrap_or_default());
    }
}

/// What failed, a check a line.
fn failures(results: &Path) -> String {
    let mut lines = Vec::new();
    for folder in std::fs::read_dir(results).unwrap().flatten() {
        let Ok(text) = std::fs::read(folder.path().join("checks.json")) else { continue };
        let checks: Value = serde_json::from_slice(&text).unwrap();
        for check in checks.as_array().unwrap().iter().filter(|check| check["status"] == "FAILURE") {
            lines.push(format!("{} {} {}", folder.file_name().display(), check["id"], check["errorMessage"]));
        }
    }
    lines.sort();
    lines.join("\n")
}

// MCP-5
#[test]
fn the_conformance_suite_finds_nothing_but_missing_fixtures() {
    let Some(peers) = peers("the conformance suite") else { return };
    let tiro = Tiro::new();
    let (_server, url) = serve_http(&tiro, &peers);
    conformance(&tiro, &peers, &url, "conformance");
}

// MCP-5
#[test]
fn the_conformance_suite_passes_through_the_same_door_where_its_fixtures_stand_behind_it() {
    let Some(peers) = peers("the conformance suite with fixtures") else { return };
    let tiro = Tiro::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let token = Token::find(None, Some(TOKEN.to_owned())).unwrap();
    let server = runtime.block_on(HttpServer::listen(([127, 0, 0, 1], 0).into(), token)).unwrap();
    let url = server.url();
    let gone = CancellationToken::new();
    let serving = runtime.spawn(server.serve(|| Fixtures, gone.clone()));
    conformance(&tiro, &peers, &url, "fixtures");
    gone.cancel();
    runtime.block_on(serving).unwrap();
}
