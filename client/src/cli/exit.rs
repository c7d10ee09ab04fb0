//! How a command can end: exit codes, and failures with what, why and what to do.
//!
//! Must not know: any command.

use crate::connection::CallError;
use crate::handshake::HandshakeError;
use crate::launch::LaunchError;
use serde_json::{Value, json};
use std::io;
use std::process::ExitCode;
use tiro_schema::{ErrorKind, ErrorObject, WriteOutcome};

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// The command line was wrong.
    Usage = 2,
    /// The store is damaged.
    Damaged = 3,
    /// The daemon is not there and cannot be started.
    Unreachable = 4,
    /// Nothing fits.
    NothingFound = 5,
    /// A rule forbids it.
    Refused = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// How a command ends.
pub type Outcome = Result<Exit, Failure>;

/// A command that failed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What failed.
    pub what: String,
    /// Why, a line a cause.
    pub why: Vec<String>,
    /// What to do; empty when there is nothing better than the message.
    pub hint: String,
    /// What the daemon answered, where it did.
    pub error: Option<Box<ErrorObject>>,
    /// Nobody reads the answer any more: nothing is told.
    pub broken_pipe: bool,
}

impl Failure {
    /// A failure with its exit code.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Failure { exit, what: what.into(), why: Vec::new(), hint: String::new(), error: None, broken_pipe: false }
    }

    /// A mistake in the command line.
    pub fn usage(what: impl Into<String>) -> Self {
        Failure::new(Exit::Usage, what)
    }

    /// Anything else.
    pub fn failed(what: impl Into<String>) -> Self {
        Failure::new(Exit::Failed, what)
    }

    /// The same with a cause.
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    /// The same with what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The failure as the one value of `--json`: `{"error": {code, message, data}}`.
    pub fn to_json(&self) -> Value {
        match &self.error {
            Some(error) => json!({ "error": error }),
            None => {
                let kind = match self.exit {
                    Exit::Usage => "usage",
                    Exit::Damaged => "storeDamaged",
                    Exit::Unreachable => "unreachable",
                    Exit::NothingFound => "notFound",
                    Exit::Refused => "policyDenied",
                    Exit::Done | Exit::Failed => "failed",
                };
                let message = std::iter::once(&self.what).chain(&self.why).map(String::as_str).collect::<Vec<_>>().join(": ");
                json!({"error": {"message": message, "data": {"kind": kind, "hint": self.hint}}})
            }
        }
    }
}

/// The exit code of an error kind.
pub fn exit_of(kind: Option<ErrorKind>) -> Exit {
    match kind {
        Some(ErrorKind::StoreDamaged) => Exit::Damaged,
        Some(ErrorKind::NotFound) => Exit::NothingFound,
        Some(ErrorKind::PolicyDenied | ErrorKind::SecretRefused) => Exit::Refused,
        Some(ErrorKind::VersionUnsupported | ErrorKind::Draining) => Exit::Unreachable,
        Some(ErrorKind::InvalidParams | ErrorKind::Ambiguous) => Exit::Usage,
        _ => Exit::Failed,
    }
}

impl From<ErrorObject> for Failure {
    fn from(error: ErrorObject) -> Self {
        let mut failure = Failure::new(exit_of(error.kind()), error.message.clone());
        if let Some(data) = &error.data {
            failure.hint = hint(error.kind(), &data.hint);
            // The message begins with the path of what is wrong.
            let details = data.details.iter().filter(|(name, _)| *name != "path");
            failure.why.extend(details.filter_map(|(name, value)| detail(name, value)));
            match data.outcome {
                Some(WriteOutcome::NotDone) => failure.why.push("nothing was written".to_owned()),
                Some(WriteOutcome::Unknown) => failure.why.push("it may or may not have been written".to_owned()),
                None => {}
            }
        }
        failure.error = Some(Box::new(error));
        failure
    }
}

/// The daemon's hint in the words of the shell: its own speak of methods and params.
fn hint(kind: Option<ErrorKind>, said: &str) -> String {
    let of_kind = match kind {
        Some(ErrorKind::InvalidParams) => "the command's --help says what it takes",
        Some(ErrorKind::MethodNotFound) => "the daemon is older than this client: tiro daemon stop, then repeat the command",
        Some(ErrorKind::NotFound) => "check the id: tiro list and tiro session list show what there is",
        Some(ErrorKind::KeyReused) => "give another --key, or none: this one stands for another text",
        Some(ErrorKind::SessionBusy) => "wait for the running turn, or begin another conversation: --new",
        Some(ErrorKind::TurnNotActive) => "the turn has ended: tiro session show ID says how",
        Some(ErrorKind::TooLarge) => "make it smaller",
        _ => said,
    };
    let is_usual = kind.is_some_and(|kind| kind.hint() == said);
    if is_usual { of_kind } else { said }.replace("daemon/status", "tiro daemon status")
}

/// A member of an error's data as a line.
fn detail(name: &str, value: &Value) -> Option<String> {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            items.join(", ")
        }
        Value::Null => return None,
        other => other.to_string(),
    };
    Some(format!("{name}: {shown}"))
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(error) => (*error).into(),
            CallError::Closed { .. } => Failure::new(Exit::Unreachable, error.to_string())
                .hint("the daemon's log says why it ended (tiro daemon logs); repeating the command is safe"),
            CallError::TimedOut { .. } => Failure::failed(error.to_string()).hint("tiro daemon status shows whether it is busy"),
            CallError::Unreadable { .. } => Failure::failed(error.to_string())
                .hint("client and daemon may be of different versions: tiro daemon stop, then repeat the command"),
            CallError::Unwritable { .. } => Failure::failed(error.to_string()),
        }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let what = "cannot reach the daemon";
        let damage = error.is_damage();
        let failure = Failure::new(Exit::Unreachable, what).because(error.to_string());
        match error {
            LaunchError::NotRunning { .. } => Failure::new(Exit::Unreachable, error.to_string()).hint("start it: tiro daemon start"),
            LaunchError::Held { pid, .. } => failure.hint(match pid {
                Some(pid) => format!("it makes its socket again within seconds where it can (tiro daemon logs): repeat the command; else end it: kill {pid}, which it takes as tiro daemon stop"),
                None => "repeat the command in some seconds; tiro daemon logs says more".to_owned(),
            }),
            LaunchError::Trust(_) => failure.hint("this may be somebody else's folder or socket: look at it, remove it if it is not yours to keep, or set TIRO_SOCKET to a path in a folder of mode 0700"),
            LaunchError::NoProgram { .. } => failure.hint("tirod comes with tiro: put both in one folder, or tirod in PATH"),
            LaunchError::Files { .. } => failure.hint("tiro doctor checks the folders"),
            LaunchError::TooSlow { log } => failure.hint(format!("its log says what it is doing: {}", log.display())),
            LaunchError::Ended { tail, log, .. } => {
                let exit = if damage { Exit::Damaged } else { Exit::Unreachable };
                let what = if damage { "the store is damaged and was not opened" } else { "the daemon cannot start" };
                let mut failure = Failure::new(exit, what).hint(if damage {
                    "the newest good backup is put in its place by: tiro store restore; one from elsewhere by: tiro store restore PATH (a damaged file is kept aside)".to_owned()
                } else {
                    format!("the whole log: {}", log.display())
                });
                failure.why = tail;
                if failure.why.is_empty() {
                    failure.why.push("it left nothing in its log".to_owned());
                }
                failure
            }
            LaunchError::Handshake(HandshakeError::Skew { .. }) => Failure::new(Exit::Unreachable, "client and daemon are of different versions")
                .because(error.to_string())
                .hint("update the older of the two; tiro daemon status and tiro daemon stop work with any version"),
            LaunchError::Handshake(HandshakeError::Draining) => failure.hint("it takes unusually long to stop: tiro daemon logs"),
            LaunchError::Handshake(HandshakeError::Call(error)) => error.into(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let mut failure = Failure::failed(error.to_string());
        failure.broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn error_kinds_have_their_exit_codes() {
        let expected = [
            (ErrorKind::StoreDamaged, 3),
            (ErrorKind::NotFound, 5),
            (ErrorKind::SecretRefused, 6),
            (ErrorKind::PolicyDenied, 6),
            (ErrorKind::InvalidParams, 2),
            (ErrorKind::StorageFull, 1),
        ];
        for (kind, code) in expected {
            assert_eq!(Failure::from(ErrorObject::new(kind, "x")).exit as u8, code, "{kind:?}");
        }
    }

    #[test]
    fn a_daemon_error_says_what_why_and_what_to_do() {
        let error = ErrorObject::new(ErrorKind::Ambiguous, "the prefix fits 2 memories")
            .with("candidates", vec!["aaaa", "aaab"])
            .with_outcome(WriteOutcome::NotDone);
        let failure = Failure::from(error);
        assert_eq!(failure.why, ["candidates: aaaa, aaab", "nothing was written"]);
        assert!(failure.hint.contains("more characters"));
        assert_eq!(failure.to_json()["error"]["data"]["kind"], "ambiguous");
    }

    #[test]
    fn a_hint_speaks_of_commands_and_not_of_methods_and_params() {
        let wrong = Failure::from(
            ErrorObject::new(ErrorKind::InvalidParams, "filter.after: not an instant").with("path", "filter.after"),
        );
        assert!(wrong.why.is_empty() && wrong.hint.contains("--help"), "{wrong:?}");
        let own = Failure::from(ErrorObject::new(ErrorKind::Overloaded, "x").with_hint("daemon/status says how far it is"));
        assert_eq!(own.hint, "tiro daemon status says how far it is");
        for kind in ErrorKind::ALL {
            let hint = Failure::from(ErrorObject::new(*kind, "x")).hint;
            assert!(
                !["params", "daemon/", "turn/", "initialize lists"].iter().any(|word| hint.contains(word)),
                "{kind:?}: {hint}"
            );
        }
    }

    #[test]
    fn a_failure_of_the_client_is_a_json_error_too() {
        let value = Failure::usage("no text").hint("say something").to_json();
        assert_eq!(value["error"]["data"]["kind"], "usage");
        assert_eq!(value["error"]["message"], "no text");
    }
}
