//! `tiro daemon logs`: the end of the daemon's log, and what comes after.
//!
//! Must not know: what the lines mean.

use super::super::{Exit, Failure, Outcome, Shell};
use crate::limits::PROBE_MAX;
use crate::log;
use crate::render::escape;
use clap::Args;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Show the end of the daemon's log
///
/// The log of a daemon in the background; one that runs in a terminal logs there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon logs\n  tiro daemon logs -f -n 100")]
pub struct LogsArgs {
    /// Lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Go on as lines are written, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: LogsArgs) -> Outcome {
    let path = shell.places()?.log_file();
    let (lines, length) = match log::last_lines(&path, args.lines) {
        Ok(read) => read,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::new(Exit::NothingFound, format!("there is no log at {}", path.display()))
                .hint("the daemon has not run in the background yet; under systemd or in a terminal it logs there"));
        }
        Err(error) => return Err(Failure::failed(format!("cannot read {}", path.display())).because(error.to_string())),
    };
    if shell.global.json {
        shell.print_json(&serde_json::json!({"path": path, "lines": lines}))?;
        return Ok(Exit::Done);
    }
    shell.print(&lines.iter().map(|line| shown(shell, line) + "\n").collect::<String>())?;
    if args.follow { follow(shell, &path, length).await } else { Ok(Exit::Done) }
}

fn shown(shell: &Shell, text: &str) -> String {
    if shell.out.terminal { escape::terminal(text).into_owned() } else { text.to_owned() }
}

/// Prints what is appended; begins anew when the file is replaced by a shorter one.
async fn follow(shell: &Shell, path: &Path, mut at: u64) -> Outcome {
    loop {
        tokio::time::sleep(PROBE_MAX * 4).await;
        let Ok(mut file) = File::open(path) else { continue };
        let length = file.metadata()?.len();
        if length < at {
            at = 0;
        }
        if length == at {
            continue;
        }
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        file.take(length - at).read_to_end(&mut bytes)?;
        // Whole lines only, so that no character is cut.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        at += whole as u64;
        shell.print(&shown(shell, &String::from_utf8_lossy(&bytes[..whole])))?;
    }
}
