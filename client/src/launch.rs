//! Reaching the daemon, and starting it when it is not there.
//!
//! Connect; if nobody listens take the start lock, look again, spawn `tirod` and wait until it listens or ends. The
//! lock makes twenty clients that come together start one daemon. Must not know: what is called over the connection.

use crate::connection::{CallError, Connection};
use crate::handshake::{self, HandshakeError};
use crate::limits::{
    HELD_MAX, LOG_BYTES_MAX, LOG_TAIL_LINES, PROBE_MAX, PROBE_MIN, START_MAX, START_PAUSE_MAX, START_TRIES_MAX, STOP_MAX,
    UNREACHED_MAX,
};
use crate::trust::{self, TrustError};
use crate::{detach, log, owner, place};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tiro_schema::ErrorKind;
use tiro_schema::owner::Owner;
use tiro_schema::place::{Places, SocketRule};
use tiro_schema::wire::{ClientCapabilities, InitializeResult, ProgramInfo};
use tokio::net::UnixStream;

/// The environment variable with the token of `tiro mcp serve --http`.
pub const MCP_TOKEN_ENV: &str = "TIRO_MCP_TOKEN";
/// Exit code of `tirod` when the store is damaged.
const DAMAGED: i32 = 3;
/// Exit code of `tirod` when another daemon is there already.
pub const ANOTHER_THERE: i32 = 7;

/// Why the daemon is not reached.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Nobody listens, and nobody was to be started.
    #[error("no daemon answers at {}", socket.display())]
    NotRunning {
        /// Where it was looked for.
        socket: PathBuf,
    },
    /// A daemon serves the store, and answers nowhere.
    #[error(
        "a daemon{} serves the store in {}, but nobody answers at {}",
        pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(), data_dir.display(), socket.display()
    )]
    Held {
        /// The daemon, where it said.
        pid: Option<u32>,
        /// The folder of the store.
        data_dir: PathBuf,
        /// Where it said that it answers, else where it was looked for.
        socket: PathBuf,
    },
    /// The socket is not to be trusted.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// There is no `tirod`.
    #[error("tirod was found neither beside {} nor in PATH", beside.display())]
    NoProgram {
        /// The folder of this program.
        beside: PathBuf,
    },
    /// A file or folder that a start needs.
    #[error("{what} {}: {source}", path.display())]
    Files {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The daemon ended before it listened.
    #[error("the daemon ended at once ({status})")]
    Ended {
        /// How.
        status: ExitStatus,
        /// The last lines of its log.
        tail: Vec<String>,
        /// Its log.
        log: PathBuf,
    },
    /// It did not listen in time.
    #[error("the daemon did not answer within {} s", START_MAX.as_secs())]
    TooSlow {
        /// Its log.
        log: PathBuf,
    },
    /// They could not begin to talk.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
}

impl LaunchError {
    /// Whether nobody answers, for whatever reason.
    pub fn is_absence(&self) -> bool {
        matches!(self, LaunchError::NotRunning { .. } | LaunchError::Held { .. })
    }

    /// Whether the daemon refused to open a damaged store.
    pub fn is_damage(&self) -> bool {
        matches!(self, LaunchError::Ended { status, .. } if status.code() == Some(DAMAGED))
    }
}

/// A connection ready for calls.
pub struct Session {
    /// The connection.
    pub connection: Connection,
    /// What the daemon said about itself.
    pub hello: InitializeResult,
    /// Whether the daemon was started for it.
    pub started: bool,
}

/// Connects without starting anything and without a word; the socket and its owner are checked first. A daemon that serves
/// the store at another socket is reached there.
///
/// # Errors
/// [`LaunchError::NotRunning`] when there is no daemon, [`LaunchError::Held`] when there is one that answers nowhere.
pub async fn connect(places: &Places) -> Result<Connection, LaunchError> {
    Ok(Connection::over(settled(places, UNREACHED_MAX).await?))
}

/// Connects; a daemon that holds the store but answers nowhere (it is on its way, or makes its socket again) gets some time.
async fn settled(places: &Places, held_max: Duration) -> Result<UnixStream, LaunchError> {
    let deadline = Instant::now() + held_max;
    loop {
        match stream(places).await {
            Err(LaunchError::Held { .. }) if Instant::now() < deadline => tokio::time::sleep(PROBE_MAX).await,
            answer => return answer,
        }
    }
}

/// Connects at the socket of these places, else where the daemon that holds the store says that it answers.
async fn stream(places: &Places) -> Result<UnixStream, LaunchError> {
    let absent = match stream_at(&places.socket).await {
        Err(absent @ LaunchError::NotRunning { .. }) => absent,
        answer => return answer,
    };
    let Some(owner) = owner::of(&places.store_lock()) else { return Err(absent) };
    match stream_at(owner.socket.as_ref().unwrap_or(&places.socket)).await {
        Err(LaunchError::NotRunning { .. }) => Err(held_by(owner, places)),
        answer => answer,
    }
}

fn held_by(owner: Owner, places: &Places) -> LaunchError {
    let socket = owner.socket.unwrap_or_else(|| places.socket.clone());
    LaunchError::Held { pid: owner.pid, data_dir: places.data_dir.clone(), socket }
}

async fn stream_at(socket: &Path) -> Result<UnixStream, LaunchError> {
    match trust::check_path(socket) {
        Err(TrustError::Look { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Err(LaunchError::NotRunning { socket: socket.to_owned() });
        }
        checked => checked?,
    }
    match UnixStream::connect(socket).await {
        Ok(stream) => {
            trust::check_peer(&stream, socket)?;
            Ok(stream)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Err(LaunchError::NotRunning { socket: socket.to_owned() })
        }
        Err(source) => Err(LaunchError::Files { what: "cannot connect to", path: socket.to_owned(), source }),
    }
}

/// Connects and shakes hands, starting the daemon when nobody listens. A daemon that is stopping, or still opening its
/// store, is waited for.
///
/// # Errors
/// See [`LaunchError`].
pub async fn reach(places: &Places, client: &str) -> Result<Session, LaunchError> {
    reach_as(places, &handshake::program(client)).await
}

/// The same in the name of another program, as whose bridge this one stands.
///
/// # Errors
/// See [`LaunchError`].
pub async fn reach_as(places: &Places, client: &ProgramInfo) -> Result<Session, LaunchError> {
    reach_with(places, client, ClientCapabilities::default()).await
}

/// The same, and what this client offers to the daemon.
///
/// # Errors
/// See [`LaunchError`].
pub async fn reach_with(places: &Places, client: &ProgramInfo, capabilities: ClientCapabilities) -> Result<Session, LaunchError> {
    let deadline = Instant::now() + START_MAX;
    let mut pause = PROBE_MIN;
    let mut start: Option<Start> = None;
    loop {
        let stream = match (settled(places, HELD_MAX).await, &mut start) {
            (Err(error), Some(start)) if error.is_absence() => return Err(start.ended(places).await),
            (Err(held @ LaunchError::Held { .. }), None) => return Err(held),
            (Err(LaunchError::NotRunning { .. }), None) => {
                let (begun, stream) = begin(places).await?;
                start = begun;
                stream
            }
            (other, _) => other?,
        };
        let connection = Connection::over(stream);
        match handshake::initialize_with(&connection, client, capabilities.clone()).await {
            Ok(hello) => return Ok(Session { connection, hello, started: start.is_some() }),
            Err(error) if passes(&error) && Instant::now() < deadline => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PROBE_MAX);
    }
}

/// Whether the daemon may answer if it is asked again.
fn passes(error: &HandshakeError) -> bool {
    match error {
        HandshakeError::Draining | HandshakeError::Call(CallError::Closed { .. }) => true,
        HandshakeError::Call(CallError::Refused(error)) => error.kind() == Some(ErrorKind::Overloaded),
        _ => false,
    }
}

/// A daemon this process started. Other clients wait at the lock until it answers or has ended.
struct Start {
    child: Child,
    log_begins_at: u64,
    _lock: Flock<File>,
}

impl Start {
    /// The daemon listened and does not any more: how it ended.
    async fn ended(&mut self, places: &Places) -> LaunchError {
        let deadline = Instant::now() + STOP_MAX;
        let log = places.log_file();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let held = owner::of(&places.store_lock()).filter(|_| status.code() == Some(ANOTHER_THERE));
                    if let Some(owner) = held {
                        return held_by(owner, places);
                    }
                    let tail = log::last_lines_since(&log, self.log_begins_at, LOG_TAIL_LINES);
                    return LaunchError::Ended { status, tail, log };
                }
                Ok(None) if Instant::now() < deadline => tokio::time::sleep(PROBE_MAX).await,
                _ => return LaunchError::TooSlow { log },
            }
        }
    }
}

/// Starts the daemon unless one listens meanwhile; gives what was started, if something was, and a connection.
async fn begin(places: &Places) -> Result<(Option<Start>, UnixStream), LaunchError> {
    let socket_dir = places.socket_dir();
    place::make_private(socket_dir).map_err(|source| files("cannot make the folder", socket_dir, source))?;
    trust::check_path(&places.socket)?;
    let lock = start_lock(places).await?;
    match stream(places).await {
        Err(error) if error.is_absence() => {}
        Ok(stream) => return Ok((None, stream)),
        Err(other) => return Err(other),
    }
    let program = program()?;
    let (child, log_begins_at) = spawn(&program, places)?;
    let mut start = Start { child, log_begins_at, _lock: lock };
    let deadline = Instant::now() + START_MAX;
    let mut tries = 1;
    let mut again_at: Option<Instant> = None;
    let mut wait = PROBE_MAX;
    let mut pause = PROBE_MIN;
    loop {
        let ended = start.child.try_wait().map_err(|source| files("cannot wait for", &program, source))?;
        match stream(places).await {
            Err(error) if error.is_absence() => {}
            Ok(stream) => return Ok((ended.is_none().then_some(start), stream)),
            Err(other) => return Err(other),
        }
        if let Some(status) = ended {
            // One that found another daemon there leaves the field to it: that one may be about to listen, or be ending
            // (killed, its lock not yet given up), and then it takes another start.
            if status.code() != Some(ANOTHER_THERE) {
                return Err(start.ended(places).await);
            }
            match again_at {
                None => again_at = Some(Instant::now() + wait),
                Some(at) if Instant::now() < at => {}
                Some(_) if tries >= START_TRIES_MAX || Instant::now() > deadline => return Err(start.ended(places).await),
                Some(_) => {
                    (start.child, start.log_begins_at) = spawn(&program, places)?;
                    tries += 1;
                    again_at = None;
                    wait = (wait * 2).min(START_PAUSE_MAX);
                    pause = PROBE_MIN;
                }
            }
        } else if Instant::now() > deadline {
            return Err(LaunchError::TooSlow { log: places.log_file() });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PROBE_MAX);
    }
}

/// Runs the daemon in the background; gives it and the length of its log before it.
fn spawn(program: &Path, places: &Places) -> Result<(Child, u64), LaunchError> {
    let (file, log_begins_at) = open_log(places)?;
    let child = detach::spawn(&mut background(program, places, file)).map_err(|source| files("cannot run", program, source))?;
    Ok((child, log_begins_at))
}

fn files(what: &'static str, path: &Path, source: io::Error) -> LaunchError {
    LaunchError::Files { what, path: path.to_owned(), source }
}

/// The file of the lock that starting clients take.
pub fn start_lock_path(places: &Places) -> PathBuf {
    let mut name = places.socket.clone().into_os_string();
    name.push(".start");
    name.into()
}

/// Takes the lock that only starting clients take; held by one at a time, for as long as a start may take.
async fn start_lock(places: &Places) -> Result<Flock<File>, LaunchError> {
    let path = start_lock_path(places);
    let failed = |source: io::Error| files("cannot lock", &path, source);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(&path)
        .map_err(failed)?;
    let locked =
        tokio::task::spawn_blocking(|| Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| io::Error::from(errno)));
    locked.await.map_err(|gone| failed(io::Error::other(gone))).and_then(|locked| locked.map_err(failed))
}

/// Opens the daemon's log for appending; gives its length so far. A long log is kept once as `.old`.
fn open_log(places: &Places) -> Result<(File, u64), LaunchError> {
    let (dir, path) = (&places.state_dir, places.log_file());
    place::make_private(dir).map_err(|source| files("cannot make the folder", dir, source))?;
    let length = std::fs::metadata(&path).map_or(0, |found| found.len());
    if length > LOG_BYTES_MAX {
        let old = path.with_extension("log.old");
        std::fs::rename(&path, &old).map_err(|source| files("cannot set aside", &path, source))?;
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    let file = file.map_err(|source| files("cannot open", &path, source))?;
    let length = file.metadata().map_or(0, |found| found.len());
    Ok((file, length))
}

/// Finds `tirod`: beside this program, else in `PATH`.
///
/// # Errors
/// [`LaunchError::NoProgram`].
pub fn program() -> Result<PathBuf, LaunchError> {
    let ours = std::env::current_exe().unwrap_or_default();
    let beside = ours.parent().unwrap_or(Path::new("/")).to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(beside.clone())
        .chain(std::env::split_paths(&path).filter(|dir| dir.is_absolute()))
        .map(|dir| dir.join("tirod"))
        .find(|file| file.is_file())
        .ok_or(LaunchError::NoProgram { beside })
}

/// The command that runs the daemon for these places, in this terminal.
pub fn foreground(program: &Path, places: &Places) -> Command {
    let mut command = Command::new(program);
    // A secret of this program's own, which the daemon has no use for.
    command.env_remove(MCP_TOKEN_ENV);
    if let Some(home) = &places.home {
        command.env("TIRO_HOME", home);
    }
    match places.socket_rule {
        SocketRule::Named => command.env("TIRO_SOCKET", places.socket_wanted.as_ref().unwrap_or(&places.socket)),
        _ => command.env_remove("TIRO_SOCKET"),
    };
    command
}

fn background(program: &Path, places: &Places, log: File) -> Command {
    let mut command = foreground(program, places);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log)).current_dir("/");
    command
}
