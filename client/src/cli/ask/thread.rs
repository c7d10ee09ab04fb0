//! Which conversation a question belongs to: the one named, a new one, or the last asked from here in this space.
//!
//! Must not know: what is asked.

use super::super::shell::{Daemon, fresh_key};
use super::super::{Failure, Shell};
use crate::place;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tiro_schema::ErrorKind;
use tiro_schema::wire::session::{Session, SessionIdParams, SessionNewParams, SessionNewResult};

/// Characters of a prompt that become the title of the conversation it begins.
const TITLE_CHARS_MAX: usize = 60;

/// A conversation to ask in.
pub struct Thread {
    /// Its id.
    pub session_id: String,
    /// It was begun for this question.
    pub is_new: bool,
}

impl Thread {
    fn continued(session: Session) -> Self {
        Thread { session_id: session.session_id, is_new: false }
    }
}

/// Finds or begins the conversation.
///
/// # Errors
/// When the one named is not there.
pub async fn find(shell: &Shell, daemon: &mut Daemon, named: Option<&str>, new: bool, prompt: &str) -> Result<Thread, Failure> {
    if let Some(named) = named {
        let session: Session = daemon.call("session/get", &SessionIdParams { session_id: named.to_owned() }).await?;
        return Ok(Thread::continued(session));
    }
    let space = shell.space_name()?;
    let file = shell.places()?.state_dir.join("ask.json");
    let mut last = read(&file);
    if let (Some(id), false) = (last.get(&space), new) {
        match daemon.call::<_, Session>("session/get", &SessionIdParams { session_id: id.clone() }).await {
            Ok(session) if session.space == space => {
                if shell.err.terminal {
                    shell.note(&format!(
                        "continuing {} (--new begins another)",
                        &session.session_id[..session.session_id.len().min(8)]
                    ));
                }
                return Ok(Thread::continued(session));
            }
            Err(failure) if failure.error.as_ref().and_then(|error| error.kind()) != Some(ErrorKind::NotFound) => {
                return Err(failure);
            }
            _ => {}
        }
    }
    let id = begin(daemon, space.clone(), prompt).await?;
    last.insert(space, id.clone());
    // Only convenience hangs on this file: a home that cannot be written to still gets its answer.
    if let Err(error) = write(&file, &last) {
        shell.note(&format!("cannot note the conversation in {}: {error}", file.display()));
    }
    Ok(Thread { session_id: id, is_new: true })
}

/// Begins a conversation titled by its first prompt.
///
/// # Errors
/// As the daemon answers.
pub async fn begin(daemon: &mut Daemon, space: String, prompt: &str) -> Result<String, Failure> {
    let title: String = prompt.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect();
    let cwd = std::env::current_dir().ok().map(|dir| dir.to_string_lossy().into_owned());
    let params = SessionNewParams { space: Some(space), title: Some(title), cwd, model: None, also_read: None, key: fresh_key() };
    Ok(daemon.call::<_, SessionNewResult>("session/new", &params).await?.session_id)
}

fn read(file: &PathBuf) -> BTreeMap<String, String> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Replaces the file whole: two questions at once may lose a note, never break the file.
fn write(file: &PathBuf, last: &BTreeMap<String, String>) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(std::path::Path::new("."));
    place::make_private(folder)?;
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut made, last)?;
    made.persist(file).map(drop).map_err(|error| error.error)
}
