//! What is left of `tiro`: help, usage, completions, configuration, units, demo.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::Read;
use std::time::{Duration, Instant};
use tiro_tests::{DEADLINE, Tiro, wait_for};

#[test]
fn without_arguments_it_is_friendly_and_help_has_examples() {
    let tiro = Tiro::new();
    assert!(tiro.ok(&[]).contains("tiro remember"));
    assert!(tiro.ok(&["--help"]).contains("Exit codes"));
    for command in ["remember", "recall", "ask", "import", "forget", "demo"] {
        assert!(tiro.ok(&[command, "--help"]).contains("Examples:"), "{command}");
    }
    for words in [&["help", "recall"][..], &["help", "store", "restore"]] {
        assert!(tiro.ok(words).contains("Examples:"), "{words:?}");
    }
    assert!(tiro.ok(&["--version"]).starts_with("tiro "));
    assert!(tiro.daemon_pid().is_none(), "help starts nothing");
}

#[test]
fn a_usage_error_is_exit_code_2_and_one_value_with_json() {
    let tiro = Tiro::new();
    let wrong = tiro.run(&["recall"]).exits(2);
    assert!(wrong.stdout.is_empty() && wrong.stderr.contains("Usage"), "{}", wrong.stderr);
    assert_eq!(tiro.run(&["--json", "recal"]).exits(2).value()["error"]["data"]["kind"], "usage");
    tiro.run(&["remember", "x", "--importance", "7"]).exits(2);
    tiro.run(&["recall", "x", "--after", "soon"]).exits(2);
}

#[test]
fn completions_come_for_every_shell() {
    let tiro = Tiro::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = tiro.ok(&["completions", shell]);
        assert!(script.contains("remember") && script.contains("daemon"), "{shell}");
    }
}

#[test]
fn the_configuration_is_begun_shown_and_never_replaced_unasked() {
    let tiro = Tiro::new();
    let path = tiro.ok(&["config", "path"]);
    assert_eq!(path.trim(), tiro.home().join("config.toml").to_str().unwrap());
    tiro.ok(&["config", "init"]);
    tiro.run(&["config", "init"]).exits(1);
    tiro.ok(&["config", "init", "--force"]);
    std::fs::write(path.trim(), "[model]\nname = \"m\"\napiKey = \"sk-very-secret\"\n").unwrap();
    let shown = tiro.run(&["config", "show"]).exits(0);
    assert!(!shown.stdout.contains("sk-very") && shown.stderr.contains("apiKeyEnv"), "{shown:?}");
    assert_eq!(tiro.json(&["config", "show"])["model"]["name"], "m");
}

// A name that is misspelt changed nothing and nobody was told.
#[test]
fn a_name_that_does_not_belong_into_the_configuration_is_told_by_config_doctor_and_daemon() {
    let tiro = Tiro::new();
    std::fs::write(tiro.home().join("config.toml"), "[model]\nprovider = \"none\"\nbaseurl = \"x\"\n[memry]\nsteps = 1\n")
        .unwrap();
    let shown = tiro.run(&["config", "show"]).exits(0);
    for part in ["model.baseurl is not a setting", "baseUrl", "memry is not a section"] {
        assert!(shown.stderr.contains(part), "{part} in {}", shown.stderr);
    }
    let report = tiro.json(&["doctor"]);
    let config = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "config").unwrap();
    assert_eq!(config["verdict"], "warn");
    assert!(config["found"].as_str().unwrap().contains("model.baseurl"), "{config}");
    let log = std::fs::read_to_string(tiro.home().join("state/daemon.log")).unwrap();
    assert_eq!(log.matches("model.baseurl is not a setting").count(), 1, "{log}");
}

#[test]
fn the_units_are_printed_and_installing_says_what_it_did() {
    let tiro = Tiro::new().env("PATH", "/nonexistent");
    let units = tiro.ok(&["daemon", "install", "--print"]);
    assert!(units.contains("ListenStream=") && units.contains("ExecStart="), "{units}");
    let done = tiro.ok(&["daemon", "install"]);
    assert!(done.contains("systemd's user instance does not answer here"), "{done}");
    assert!(tiro.home().join(".config/systemd/user/tiro.socket").exists());
    tiro.ok(&["daemon", "uninstall"]);
    assert!(!tiro.home().join(".config/systemd/user/tiro.socket").exists());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let tiro = Tiro::new();
    let lines: String = (0..3000).map(|n| format!("{{\"text\":\"line {n} {}\"}}\n", "padding ".repeat(20))).collect();
    tiro.run_with(&lines, &["import", "-"]).exits(0);
    let mut child = tiro.command(&["export"]).spawn().unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

/// Folders of demos, and processes whose home is one.
fn left_by_demos(folder: &std::path::Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_demo_ends_in_seconds_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let tiro = Tiro::new().env("TMPDIR", temporary.path()).env("TIRO_MODEL_BASE_URL", "");
    let began = Instant::now();
    let shown = tiro.ok(&["demo"]);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(60), "{took:?}");
    for part in ["PostgreSQL 而不是 MongoDB", "Mei is allergic to peanuts", "REQ-2041", "LX-77310", "nothing found", "relevance"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe");
    assert_eq!(left_by_demos(temporary.path()), Vec::<String>::new());
    assert!(!tiro.home().join("data").exists(), "the person's own home is not touched");
    let value: Value = tiro.json(&["demo"]);
    assert_eq!(value["recalls"].as_array().unwrap().len(), 5);
    assert!(value["recalls"][4]["hits"].as_array().unwrap().is_empty(), "{}", value["recalls"][4]);
}

#[test]
fn an_interrupted_demo_leaves_nothing_either() {
    let temporary = tempfile::tempdir().unwrap();
    let tiro = Tiro::new().env("TMPDIR", temporary.path());
    let mut child = tiro.command(&["demo"]).spawn().unwrap();
    let socket = wait_for("the demo's daemon", DEADLINE, || {
        let home = std::fs::read_dir(temporary.path()).unwrap().flatten().next()?.path();
        Some(home.join("run/daemon.sock")).filter(|socket| std::os::unix::net::UnixStream::connect(socket).is_ok())
    });
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), nix::sys::signal::Signal::SIGINT)
        .unwrap();
    child.wait().unwrap();
    assert!(std::os::unix::net::UnixStream::connect(socket).is_err());
    assert_eq!(left_by_demos(temporary.path()), Vec::<String>::new());
}
