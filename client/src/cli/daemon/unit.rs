//! `tiro daemon install` and `uninstall`: the daemon as a systemd user service that its socket starts.
//!
//! Must not know: how the daemon takes the socket over.

use super::super::{Exit, Failure, Outcome, Shell};
use super::shut_down;
use crate::launch::{self, LaunchError};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;
use tiro_schema::place::{Places, SocketRule};

const EXAMPLES: &str = "\
Examples:
  tiro daemon install
  tiro daemon install --print
  loginctl enable-linger            keeps it running while you are logged out";

/// Name of the socket unit.
const SOCKET_UNIT: &str = "tiro.socket";
/// Name of the service unit.
const SERVICE_UNIT: &str = "tiro.service";

/// Let systemd start the daemon when its socket is used
///
/// Writes tiro.service and tiro.socket into the user's systemd folder, turns the socket on, and says what it did. Where
/// there is no systemd the daemon is started on demand by every command anyway.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InstallArgs {
    /// Only print the units
    #[arg(long)]
    print: bool,
}

/// Take the units away again
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon uninstall")]
pub struct UninstallArgs {}

/// The units as text.
pub struct Units {
    /// tiro.socket.
    pub socket: String,
    /// tiro.service.
    pub service: String,
}

/// Writes the units for these places.
pub fn units(places: &Places, program: &Path) -> Units {
    let listen = match places.socket_rule {
        SocketRule::RuntimeDir => "%t/tiro/daemon.sock".to_owned(),
        _ => escaped(&places.socket.to_string_lossy()),
    };
    let socket = format!(
        "[Unit]\nDescription=Socket of the Tiro memory daemon\n\n[Socket]\nListenStream={listen}\nSocketMode=0600\nDirectoryMode=0700\n\n[Install]\nWantedBy=sockets.target\n"
    );
    let mut environment = String::new();
    if let Some(home) = &places.home {
        environment.push_str(&format!("Environment=\"TIRO_HOME={}\"\n", escaped(&home.to_string_lossy())));
    }
    if places.socket_rule == SocketRule::Named {
        environment.push_str(&format!("Environment=\"TIRO_SOCKET={}\"\n", escaped(&places.socket.to_string_lossy())));
    }
    let log = escaped(&places.log_file().to_string_lossy());
    let service = format!(
        "[Unit]\nDescription=Tiro memory daemon\nRequires={SOCKET_UNIT}\nAfter={SOCKET_UNIT}\n\n[Service]\nType=exec\nExecStart=\"{}\"\n{environment}UMask=0077\nStandardError=append:{log}\nTimeoutStopSec=40\nRestart=on-failure\nRestartPreventExitStatus=2 3 7\n\n[Install]\nAlso={SOCKET_UNIT}\n",
        escaped(&program.to_string_lossy())
    );
    Units { socket, service }
}

/// `%` begins a specifier and `\` an escape in a unit.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "%%").replace('"', "\\\"")
}

/// The folder of the user's units.
fn folder() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let config =
        config.ok_or_else(|| Failure::usage("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for the units"))?;
    Ok(config.join("systemd/user"))
}

/// A unit is text: a path that is no Unicode would stand for another one in it.
fn check_unicode(places: &Places, program: &Path) -> Result<(), Failure> {
    let named = [Some(program), places.home.as_deref(), Some(places.socket.as_path()), Some(places.state_dir.as_path())];
    match named.into_iter().flatten().find(|path| path.to_str().is_none()) {
        Some(path) => {
            Err(Failure::usage(format!("{} is no Unicode path, and cannot stand in a unit of systemd", path.display()))
                .hint("start the daemon otherwise (commands do it), or give the folder another name"))
        }
        None => Ok(()),
    }
}

/// Runs `install`.
pub async fn install(shell: &Shell, args: InstallArgs) -> Outcome {
    let places = shell.places()?;
    let program = launch::program()?;
    check_unicode(&places, &program)?;
    let units = units(&places, &program);
    if args.print {
        let value = serde_json::json!({"socket": units.socket, "service": units.service});
        shell.answer(&value, |_, _| format!("# {SOCKET_UNIT}\n{}\n# {SERVICE_UNIT}\n{}", units.socket, units.service))?;
        return Ok(Exit::Done);
    }
    let folder = folder()?;
    let mut done = Vec::new();
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    crate::place::make_private(&places.state_dir).map_err(|error| unwritable(&places.state_dir, &error))?;
    for (name, text) in [(SOCKET_UNIT, &units.socket), (SERVICE_UNIT, &units.service)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        done.push(format!("wrote {}", path.display()));
    }
    // Systemd takes the socket's path over; a daemon that holds it has to let go first.
    let taken_over = systemctl(&["daemon-reload"]).is_ok();
    if taken_over {
        match shut_down(&places).await {
            Ok(_) => done.push("stopped the daemon that ran".to_owned()),
            Err(LaunchError::NotRunning { .. }) => {}
            Err(other) => return Err(other.into()),
        }
        match systemctl(&["enable", "--now", SOCKET_UNIT]) {
            Ok(()) => done.push(format!("turned {SOCKET_UNIT} on: systemd starts the daemon when it is used")),
            Err(why) => return Err(Failure::failed(format!("{SOCKET_UNIT} was written but cannot be turned on")).because(why)),
        }
    } else {
        done.push(format!(
            "systemd's user instance does not answer here: the units wait for it (systemctl --user enable --now {SOCKET_UNIT})"
        ));
        done.push("until then every command starts the daemon on demand".to_owned());
    }
    told(shell, &done, taken_over)
}

/// Runs `uninstall`.
pub async fn uninstall(shell: &Shell, _args: UninstallArgs) -> Outcome {
    let folder = folder()?;
    let mut done = Vec::new();
    let answered = systemctl(&["disable", "--now", SOCKET_UNIT, SERVICE_UNIT]).is_ok();
    if answered {
        done.push(format!("turned {SOCKET_UNIT} and {SERVICE_UNIT} off"));
    }
    for name in [SOCKET_UNIT, SERVICE_UNIT] {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Ok(()) => done.push(format!("removed {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritable(&path, &error)),
        }
    }
    let _ = systemctl(&["daemon-reload"]);
    if done.is_empty() {
        shell.note("nothing was installed");
    }
    told(shell, &done, answered)
}

fn told(shell: &Shell, done: &[String], systemd: bool) -> Outcome {
    shell.answer(&serde_json::json!({"done": done, "systemd": systemd}), |_, _| {
        done.iter().map(|line| format!("{line}\n")).collect()
    })?;
    Ok(Exit::Done)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}", path.display())).because(error.to_string())
}

/// Asks the user's systemd; why not, when it does not do it.
pub fn systemctl(args: &[&str]) -> Result<(), String> {
    match Command::new("systemctl").arg("--user").args(args).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("systemctl: {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn units_name_the_socket_the_program_and_the_home() {
        let places = crate::place::places_of_home(Path::new("/srv/100% mine")).unwrap();
        let units = units(&places, Path::new("/opt/tiro/tirod"));
        assert!(
            units.socket.contains("ListenStream=/srv/100%% mine/run/daemon.sock\nSocketMode=0600\nDirectoryMode=0700"),
            "{}",
            units.socket
        );
        assert!(
            units.service.contains("ExecStart=\"/opt/tiro/tirod\"\nEnvironment=\"TIRO_HOME=/srv/100%% mine\"\nUMask=0077"),
            "{}",
            units.service
        );
        assert!(units.service.contains("RestartPreventExitStatus=2 3"));
    }

    #[test]
    fn a_path_that_is_no_unicode_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let plain = crate::place::places_of_home(Path::new("/h")).unwrap();
        assert!(check_unicode(&plain, Path::new("/b/tirod")).is_ok());
        let raw = crate::place::places_of_home(Path::new(std::ffi::OsStr::from_bytes(b"/h\xff"))).unwrap();
        assert!(check_unicode(&raw, Path::new("/b/tirod")).is_err_and(|failure| failure.exit == Exit::Usage));
    }
}
