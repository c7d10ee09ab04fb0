//! What commands work with: the global flags, the two output streams, and the daemon.
//!
//! Must not know: any command.

use super::{Exit, Failure, Global, Outcome};
use crate::connection::{CallError, CallOptions, Connection};
use crate::handshake::program;
use crate::launch::{self, Session};
use crate::limits::WAIT_TOLD;
use crate::place;
use crate::render::{Style, problem};
use crate::workspace;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{IsTerminal, Write};
use tiro_schema::ErrorKind;
use tiro_schema::place::Places;
use tiro_schema::wire::ClientCapabilities;

/// Name this program gives in `initialize`, for the audit.
pub const CLIENT: &str = "tiro";

/// Flags and streams of one run.
pub struct Shell {
    /// What every command takes.
    pub global: Global,
    /// What standard output can show.
    pub out: Style,
    /// What standard error can show.
    pub err: Style,
}

impl Shell {
    /// Looks at the streams.
    pub fn new(global: Global) -> Self {
        Shell { global, out: Style::of_stdout(), err: Style::of_stderr() }
    }

    /// Whether a person can be asked something.
    pub fn can_ask(&self) -> bool {
        self.err.terminal && std::io::stdin().is_terminal() && !self.global.json
    }

    /// The space of a command that works in one: as the command line says, else as the working folder does.
    ///
    /// # Errors
    /// When several were named, or what the working folder says cannot be followed.
    pub fn space(&self) -> Result<Option<String>, Failure> {
        match self.named_space()? {
            Some(space) => Ok(Some(space)),
            None => self.folder_space(),
        }
    }

    /// The space that the working folder asks for, by the nearest `.tiro.toml`.
    ///
    /// # Errors
    /// When that file cannot be followed: what is written would land where it was not meant.
    pub fn folder_space(&self) -> Result<Option<String>, Failure> {
        let Ok(folder) = std::env::current_dir() else { return Ok(None) };
        workspace::lookup(&folder)
            .map(|found| found.and_then(|found| found.space))
            .map_err(|error| Failure::usage(error.to_string()).hint("mend the file, or name the space: --space NAME"))
    }

    /// The space that the command line names.
    ///
    /// # Errors
    /// When several were named.
    pub fn named_space(&self) -> Result<Option<String>, Failure> {
        match self.global.space.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            _ => {
                Err(Failure::usage("this command works in one space")
                    .hint("give --space once; only recall and context take several"))
            }
        }
    }

    /// The name of that space, said or not.
    ///
    /// # Errors
    /// When several were named.
    pub fn space_name(&self) -> Result<String, Failure> {
        Ok(self.space()?.unwrap_or_else(|| tiro_schema::DEFAULT_SPACE.to_owned()))
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// As the stream says; a broken pipe ends the command quietly.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from)
    }

    /// Writes the one value of `--json`: on several lines for a person, on one for a program.
    ///
    /// # Errors
    /// As the stream says.
    pub fn print_json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let text = if self.out.terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        let text = text.map_err(|error| Failure::failed(format!("cannot write the answer as JSON: {error}")))?;
        self.print(&format!("{text}\n"))
    }

    /// Writes the value with `--json`, else what `text` makes of it.
    ///
    /// # Errors
    /// As the stream says.
    pub fn answer<T: Serialize>(&self, value: &T, text: impl FnOnce(&T, &Style) -> String) -> Result<(), Failure> {
        if self.global.json { self.print_json(value) } else { self.print(&text(value, &self.out)) }
    }

    /// Says something beside the answer, on standard error; nothing with `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.global.quiet {
            let _ = writeln!(std::io::stderr(), "{}", self.err.dim(text));
        }
    }

    /// The places of this run.
    ///
    /// # Errors
    /// When no place can be found.
    pub fn places(&self) -> Result<Places, Failure> {
        place::places(self.global.socket.as_deref()).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Reaches the daemon, starting it when it is not running.
    ///
    /// # Errors
    /// As [`launch::reach`].
    pub async fn daemon(&self) -> Result<Daemon, Failure> {
        self.reach(ClientCapabilities::default()).await
    }

    /// The same as a client that puts questions of the daemon to the person at this terminal, if there is one.
    ///
    /// # Errors
    /// As [`launch::reach`].
    pub async fn daemon_that_asks(&self) -> Result<Daemon, Failure> {
        self.reach(ClientCapabilities { questions: self.can_ask(), ..ClientCapabilities::default() }).await
    }

    async fn reach(&self, capabilities: ClientCapabilities) -> Result<Daemon, Failure> {
        let reach = Daemon::reach_with(self.places()?, capabilities);
        tokio::pin!(reach);
        tokio::select! {
            biased;
            daemon = &mut reach => return daemon,
            () = tokio::time::sleep(WAIT_TOLD), if self.err.terminal => self.note("waiting for the daemon to open the store"),
        }
        reach.await
    }

    /// Tells how the command ended.
    pub fn end(&self, outcome: Outcome) -> Exit {
        let failure = match outcome {
            Ok(exit) => return exit,
            Err(failure) if failure.broken_pipe => return Exit::Done,
            Err(failure) => failure,
        };
        if self.global.json {
            let _ = self.print_json(&failure.to_json());
        }
        let text = problem::problem(&failure.what, &failure.why, &failure.hint, &self.err);
        let _ = std::io::stderr().write_all(text.as_bytes());
        failure.exit
    }
}

/// The daemon, reached. A call that meets a daemon on its way out is repeated once on the next one: every write
/// carries a key, so it cannot happen twice.
pub struct Daemon {
    places: Places,
    capabilities: ClientCapabilities,
    session: Session,
}

impl Daemon {
    /// Reaches the daemon of these places.
    ///
    /// # Errors
    /// As [`launch::reach`].
    pub async fn reach(places: Places) -> Result<Self, Failure> {
        Self::reach_with(places, ClientCapabilities::default()).await
    }

    /// The same, and what this client offers to the daemon.
    async fn reach_with(places: Places, capabilities: ClientCapabilities) -> Result<Self, Failure> {
        let session = launch::reach_with(&places, &program(CLIENT), capabilities.clone()).await?;
        Ok(Daemon { places, capabilities, session })
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.session.connection
    }

    /// Where it is.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// What the daemon said at the start.
    pub fn hello(&self) -> &tiro_schema::wire::InitializeResult {
        &self.session.hello
    }

    /// Calls a method.
    ///
    /// # Errors
    /// As the daemon answers.
    pub async fn call<P: Serialize, R: DeserializeOwned>(&mut self, method: &str, params: &P) -> Result<R, Failure> {
        self.call_with(method, params, CallOptions::default()).await
    }

    /// Calls a method.
    ///
    /// # Errors
    /// As the daemon answers.
    pub async fn call_with<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
        options: CallOptions,
    ) -> Result<R, Failure> {
        match self.session.connection.call_with(method, params, options.clone()).await {
            Err(error) if leaves(&error) => {
                self.session = launch::reach_with(&self.places, &program(CLIENT), self.capabilities.clone()).await?;
                Ok(self.session.connection.call_with(method, params, options).await?)
            }
            answer => Ok(answer?),
        }
    }
}

/// Whether the error says that the daemon is on its way out.
fn leaves(error: &CallError) -> bool {
    match error {
        CallError::Closed { .. } => true,
        CallError::Refused(error) => error.kind() == Some(ErrorKind::Draining),
        _ => false,
    }
}

/// A new idempotency key.
pub fn fresh_key() -> Option<String> {
    Some(uuid::Uuid::new_v4().to_string())
}
