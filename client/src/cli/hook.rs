//! What `tiro context --hook` and `tiro import --hook` share: what a host tells on standard input, and saying nothing when nothing can be
//! done in time.
//!
//! Must not know: which hosts there are.

use super::{Exit, Failure, Outcome, Shell, import};
use crate::limits::HOOK_BYTES_MAX;
use crate::workspace;
use serde::Deserialize;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// What a host tells: the names that Claude Code and those who follow it use.
#[derive(Debug, Default, Deserialize)]
pub struct Told {
    /// What the person typed.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Where the work is.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The file of the session.
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
}

impl Told {
    /// Reads what is told on standard input, where something is told; text that is no JSON is the prompt.
    pub fn read() -> Told {
        let mut text = String::new();
        let stdin = std::io::stdin();
        if stdin.is_terminal() || stdin.take(HOOK_BYTES_MAX).read_to_string(&mut text).is_err() {
            return Told::default();
        }
        Told::of(&text)
    }

    fn of(text: &str) -> Told {
        let text = text.trim();
        match serde_json::from_str(text) {
            Ok(told) => told,
            Err(_) if text.starts_with('{') || text.is_empty() => Told::default(),
            Err(_) => Told { prompt: Some(text.to_owned()), ..Told::default() },
        }
    }

    /// The folder of the work: as told, else this one.
    pub fn folder(&self) -> PathBuf {
        self.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// What to ask memory for: the prompt, else the name of the work's folder.
    pub fn question(&self) -> Option<String> {
        let prompt = self.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        prompt.map(str::to_owned).or_else(|| self.folder().file_name().map(|name| name.to_string_lossy().into_owned()))
    }
}

/// The space of a hook: as the command line says, else as the folder of the work does.
///
/// # Errors
/// When several spaces were named, or the folder's file cannot be followed.
pub fn space(shell: &Shell, folder: &Path) -> Result<Option<String>, Failure> {
    match shell.named_space()? {
        Some(space) => Ok(Some(space)),
        None => folder_space(folder),
    }
}

/// The space that a folder asks for.
///
/// # Errors
/// When its file cannot be followed.
pub fn folder_space(folder: &Path) -> Result<Option<String>, Failure> {
    let found = workspace::lookup(folder).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(found.and_then(|found| found.space))
}

/// Imports the transcript that the host names. Whatever happens, nothing is said and the host goes on.
pub async fn import(shell: &Shell) -> Outcome {
    let told = Told::read();
    if let Some(path) = told.transcript_path.clone().filter(|path| path.is_file())
        && let Ok(space) = space(shell, &told.folder())
    {
        let _ = import::transcript(shell, path, space).await;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_in_every_form() {
        assert_eq!(Told::of("plain words").question().as_deref(), Some("plain words"));
        let told = Told::of("{\"prompt\":\" how? \",\"cwd\":\"/work/shop\",\"session_id\":\"s\",\"hook_event_name\":\"x\"}");
        assert_eq!((told.question().as_deref(), told.folder()), (Some("how?"), PathBuf::from("/work/shop")));
        let begin = Told::of("{\"cwd\":\"/work/shop\",\"source\":\"startup\"}");
        assert_eq!(begin.question().as_deref(), Some("shop"));
        assert!(Told::of("{broken").prompt.is_none() && Told::of("").prompt.is_none());
    }
}
