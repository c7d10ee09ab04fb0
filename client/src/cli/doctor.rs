//! `tiro doctor`: is everything as it should be, and what to do where it is not.
//!
//! Must not know: how anything is repaired.

mod daemon;
mod machine;

use super::{Exit, Outcome, Shell};
use crate::render::{Style, escape, wrap};
use clap::Args;
use serde::Serialize;

/// Check this machine, the daemon and the store
///
/// Every line is ok, warn or fail, and says what to do. Starts the daemon when it does not run. Exit code 0 when nothing
/// failed, 3 for a damaged store, 4 when the daemon cannot be reached, else 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro doctor\n  tiro doctor --json | jq '.checks[] | select(.verdict != \"ok\")'")]
pub struct DoctorArgs {}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Works, but should be looked at.
    Warn,
    /// Does not work.
    Fail,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    #[serde(skip)]
    exit: Option<u8>,
}

impl Check {
    /// A line that is fine.
    pub fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Check { name, verdict: Verdict::Ok, found: found.into(), advice: None, exit: None }
    }

    /// A line to look at.
    pub fn warn(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Check { name, verdict: Verdict::Warn, found: found.into(), advice: Some(advice.into()), exit: None }
    }

    /// A line that failed, and the exit code it calls for.
    pub fn fail(name: &'static str, exit: Exit, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Check { name, verdict: Verdict::Fail, found: found.into(), advice: Some(advice.into()), exit: Some(exit as u8) }
    }
}

/// Runs the command.
pub async fn run(shell: &Shell, _args: DoctorArgs) -> Outcome {
    let mut checks = Vec::new();
    match shell.places() {
        Ok(places) => {
            checks.extend(machine::checks(&places));
            checks.extend(daemon::checks(shell, &places).await);
            checks.push(machine::systemd());
        }
        Err(failure) => checks.push(Check::fail("places", Exit::Failed, failure.what, "set HOME or TIRO_HOME")),
    }
    let exit = worst(&checks);
    let report = serde_json::json!({"ok": exit == Exit::Done, "checks": checks});
    shell.answer(&report, |_, style| checks.iter().map(|check| line(check, style)).collect())?;
    Ok(exit)
}

fn line(check: &Check, style: &Style) -> String {
    let verdict = match check.verdict {
        Verdict::Ok => style.green("ok  "),
        Verdict::Warn => style.yellow("warn"),
        Verdict::Fail => style.red("fail"),
    };
    let mut text = format!("{verdict}  {} {}\n", wrap::pad(check.name, 12), escape::terminal(&check.found));
    if let Some(advice) = check.advice.as_ref().filter(|advice| !advice.is_empty()) {
        text.push_str(&format!("{}{}\n", " ".repeat(19), style.dim(&format!("-> {}", escape::terminal(advice)))));
    }
    text
}

/// A damaged store before an unreachable daemon before anything else.
fn worst(checks: &[Check]) -> Exit {
    let has = |exit: Exit| checks.iter().any(|check| check.exit == Some(exit as u8));
    match () {
        () if has(Exit::Damaged) => Exit::Damaged,
        () if has(Exit::Unreachable) => Exit::Unreachable,
        () if checks.iter().any(|check| check.verdict == Verdict::Fail) => Exit::Failed,
        () => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_check_decides_and_every_line_says_what_to_do() {
        let fine = Check::ok("tirod", "found");
        let look = Check::warn("model", "none", "set one up");
        let gone = Check::fail("daemon", Exit::Unreachable, "no answer", "start it");
        let torn = Check::fail("store", Exit::Damaged, "checksum", "restore");
        assert_eq!(worst(&[fine.clone(), look.clone()]), Exit::Done);
        assert_eq!(worst(&[fine, gone.clone()]), Exit::Unreachable);
        assert_eq!(worst(&[gone, torn]), Exit::Damaged);
        assert_eq!(line(&look, &Style::PLAIN), "warn  model        none\n                   -> set one up\n");
    }
}
