//! Checks that ask the daemon: reachable, of our version, store, indexes, embedder, model, backups.
//!
//! Must not know: this machine's files.

use super::super::exit::{Exit, Failure};
use super::super::shell::{CLIENT, Daemon};
use super::super::store::REBUILD;
use super::super::{Shell, progress};
use super::Check;
use crate::render::{size, time};
use crate::{handshake, launch};
use tiro_schema::place::Places;
use tiro_schema::wire::daemon::StatusResult;
use tiro_schema::wire::store::{StoreParams, VerifyResult};

/// All of them; the first that fails hides those behind it.
pub async fn checks(shell: &Shell, places: &Places) -> Vec<Check> {
    let running = launch::connect(places).await.is_ok();
    let mut daemon = match Daemon::reach(places.clone()).await {
        Ok(daemon) => daemon,
        Err(failure) => return vec![unreachable(&failure)],
    };
    let mut checks = Vec::new();
    match handshake::status(daemon.connection()).await {
        Ok(status) => {
            checks.push(reached(&status, running));
            checks.push(version(&status));
            let (store, astray) = store(shell, &mut daemon).await;
            checks.push(store);
            checks.push(index(&status, &astray));
            checks.push(embedder(&status));
            checks.push(model(&status));
            checks.push(backup(shell, &status));
        }
        Err(error) => checks.push(unreachable(&error.into())),
    }
    checks
}

fn unreachable(failure: &Failure) -> Check {
    let found = std::iter::once(&failure.what).chain(&failure.why).map(String::as_str).collect::<Vec<_>>().join(": ");
    let name = if failure.exit == Exit::Damaged { "store" } else { "daemon" };
    let exit = if failure.exit == Exit::Damaged { Exit::Damaged } else { Exit::Unreachable };
    Check::fail(name, exit, found, failure.hint.clone())
}

fn reached(status: &StatusResult, running: bool) -> Check {
    let how = if running { "runs" } else { "was started" };
    let found = format!("{how} (pid {}, {}, {})", status.pid, status.state, size::bytes(status.resident_bytes));
    match status.state.as_str() {
        "ready" | "starting" => Check::ok("daemon", found),
        "readOnly" => {
            Check::fail("daemon", Exit::Failed, found, "it takes no writes: see tiro daemon logs, then tiro daemon stop")
        }
        _ => Check::warn("daemon", found, "tiro daemon logs says more"),
    }
}

fn embedder(status: &StatusResult) -> Check {
    let Some(state) = &status.embedding else { return Check::ok("embedder", status.embedder.clone()) };
    let found = format!("{} beside {}: {}, {} of {}", state.model, status.embedder, state.state, state.done, state.total);
    match &state.trouble {
        None => Check::ok("embedder", found),
        Some(trouble) => {
            Check::warn("embedder", format!("{found}; {trouble}"), "words and the built-in table serve; tiro model list")
        }
    }
}

fn version(status: &StatusResult) -> Check {
    let (ours, theirs) = (env!("CARGO_PKG_VERSION"), status.daemon.version.as_str());
    if ours == theirs {
        return Check::ok("versions", format!("{CLIENT} {ours}, tirod {theirs}"));
    }
    Check::warn(
        "versions",
        format!("{CLIENT} {ours}, tirod {theirs}"),
        "tiro daemon stop: the next command starts the tirod that came with tiro",
    )
}

/// The store, and where the index does not match it.
async fn store(shell: &Shell, daemon: &mut Daemon) -> (Check, Vec<String>) {
    let answer: Result<VerifyResult, Failure> =
        progress::call(shell, daemon, "store/verify", &StoreParams::default(), "verifying").await;
    match answer {
        Ok(result) if result.problems.is_empty() => {
            let memories = size::count(result.memories, "memory", "memories");
            let records = size::count(result.records, "record", "records");
            let took = time::milliseconds(result.elapsed_ms);
            (Check::ok("store", format!("whole: {records}, {memories}, {took}")), result.index_problems)
        }
        Ok(result) => {
            let first = result.problems.first().cloned().unwrap_or_default();
            let found = format!("damaged: {}, first: {first}", size::count(result.problems.len() as u64, "problem", "problems"));
            let advice = "put the last good backup in its place: tiro store restore";
            (Check::fail("store", Exit::Damaged, found, advice), Vec::new())
        }
        Err(failure) => (unverified(failure), Vec::new()),
    }
}

fn unverified(failure: Failure) -> Check {
    let mut check = unreachable(&failure);
    check.name = "store";
    if check.exit == Some(Exit::Unreachable as u8) && failure.exit != Exit::Unreachable {
        check.exit = Some(Exit::Failed as u8);
    }
    check
}

fn index(status: &StatusResult, astray: &[String]) -> Check {
    if let Some(first) = astray.first() {
        let problems = size::count(astray.len() as u64, "problem", "problems");
        let found = format!("does not match the store: {problems}, first: {first}");
        return Check::fail("index", Exit::Failed, found, format!("it is derived: {REBUILD}"));
    }
    let Some(state) = &status.index else { return Check::warn("index", "not told by this daemon", "") };
    let found = format!(
        "{}, {} waiting, {}",
        size::count(state.documents, "document", "documents"),
        state.overlay,
        size::bytes(status.index_bytes.unwrap_or(0))
    );
    match &state.degraded {
        None => Check::ok("index", found),
        Some(why) => Check::warn("index", format!("{found}: {why}"), "tiro store rebuild makes it again"),
    }
}

fn model(status: &StatusResult) -> Check {
    let model = &status.model;
    if !model.configured {
        let found = if model.reason.is_empty() { "none" } else { &model.reason };
        return Check::warn("model", format!("{found} (only tiro ask needs one)"), HOW_TO_SET_UP);
    }
    let name = model.name.clone().unwrap_or_else(|| "a model".to_owned());
    let at = model.base_url.as_ref().map_or_else(String::new, |url| format!(" at {url}"));
    Check::ok("model", format!("{name}{at} ({})", model.reason))
}

/// The ways to a model.
const HOW_TO_SET_UP: &str =
    "start Ollama, or set TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME, or write [model] with tiro config init; then tiro daemon stop";

fn backup(shell: &Shell, status: &StatusResult) -> Check {
    match &status.last_backup_at {
        Some(at) => Check::ok("backup", format!("last {}", time::minute(at, &shell.out))),
        None => Check::ok("backup", "none yet: the daemon makes one a day (tiro store backup makes one now)"),
    }
}
