//! `tiro edit`: change a memory, in an editor or by flags.
//!
//! Must not know: how versions are kept.

use super::input::{self, CATEGORIES, KINDS};
use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell};
use crate::render::id;
use clap::Args;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use tiro_schema::ErrorKind;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Category, GetParams, Kind, Memory, UpdateParams, VersionResult};

const EXAMPLES: &str = "\
Examples:
  tiro edit 3f2a9c1d                      opens $VISUAL or $EDITOR
  tiro edit 3f2a9c1d --text \"staging uses port 5434\"
  tiro edit 3f2a9c1d -c constraint --importance 0.9
  tiro edit 3f2a9c1d --text - < note.txt";

/// Change a memory
///
/// Without flags its text opens in $VISUAL or $EDITOR. The change is made only if nobody else changed the memory
/// meanwhile; tiro undo takes it back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EditArgs {
    /// The memory, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
    /// New text; - reads standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// New category
    #[arg(long, short, value_parser = input::one_of::<Category>(&CATEGORIES))]
    category: Option<Category>,
    /// New kind
    #[arg(long, value_parser = input::one_of::<Kind>(&KINDS))]
    kind: Option<Kind>,
    /// Tags in place of the old ones; may be repeated, "" for none
    #[arg(long, short, value_name = "TAG")]
    tag: Vec<String>,
    /// Entities in place of the old ones; may be repeated, "" for none
    #[arg(long, value_name = "NAME")]
    entity: Vec<String>,
    /// New importance, 0 to 1
    #[arg(long, value_name = "0..1", value_parser = input::unit)]
    importance: Option<f32>,
    /// New time it happened
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    occurred_at: Option<Timestamp>,
    /// Only if this is still its version
    #[arg(long, value_name = "N")]
    if_version: Option<u32>,
}

impl EditArgs {
    fn changes(&self) -> UpdateParams {
        UpdateParams {
            id: self.id.clone(),
            if_version: self.if_version,
            text: None,
            kind: self.kind,
            category: self.category,
            tags: replaced(&self.tag),
            entities: replaced(&self.entity),
            importance: self.importance,
            occurred_at: self.occurred_at.clone(),
            valid_from: None,
            valid_to: None,
            key: fresh_key(),
        }
    }

    /// Whether nothing but the memory was named, so that an editor is meant.
    fn wants_editor(&self) -> bool {
        let bare = UpdateParams { id: self.id.clone(), if_version: self.if_version, key: None, ..UpdateParams::default() };
        self.text.is_none() && UpdateParams { key: None, ..self.changes() } == bare
    }
}

/// A repeated flag as a new list: one empty value stands for none.
fn replaced(list: &[String]) -> Option<Vec<String>> {
    input::given(list).map(|list| list.into_iter().filter(|value| !value.is_empty()).collect())
}

/// Runs the command.
pub async fn run(shell: &Shell, args: EditArgs) -> Outcome {
    let mut params = args.changes();
    let mut daemon = shell.daemon().await?;
    let old: Memory = daemon.call("memory/get", &GetParams { id: args.id.clone() }).await?;
    params.id.clone_from(&old.id);
    let in_editor = args.wants_editor();
    if in_editor {
        if shell.global.json || !shell.out.terminal {
            return Err(Failure::usage("an editor needs a terminal")
                .hint("give the new text: --text TEXT, or --text - for standard input"));
        }
        params.text = edited(&old.text)?;
        if params.text.is_none() {
            shell.note("nothing was changed");
            return Ok(Exit::Done);
        }
    } else if let Some(text) = &args.text {
        params.text = Some(input::text(std::slice::from_ref(text))?);
    }
    params.if_version = params.if_version.or(Some(old.version));
    let answer: Result<VersionResult, Failure> = daemon.call("memory/update", &params).await;
    let written = params.text.as_deref().filter(|_| in_editor);
    let result = answer.map_err(|failure| explained(failure, &params.id, written))?;
    shell.answer(&result, |result, style| {
        if style.terminal {
            format!("changed {}, now version {}\n", style.cyan(id(&result.id, style)), result.version)
        } else {
            format!("{}\n", result.id)
        }
    })?;
    Ok(Exit::Done)
}

/// Says what to do when somebody else was faster, and keeps what was written in an editor; a secret is never kept.
fn explained(failure: Failure, id: &str, written: Option<&str>) -> Failure {
    let kind = failure.error.as_ref().and_then(|error| error.kind());
    let kept = written.filter(|_| kind != Some(ErrorKind::SecretRefused)).and_then(keep);
    let kept = kept.map(|path| format!("your text is kept in {path}")).unwrap_or_default();
    match kind {
        Some(ErrorKind::VersionMismatch) => {
            let id = id.get(..8).unwrap_or(id);
            let hint = format!(
                "somebody changed it meanwhile: look at it (tiro show {id}), then make your change again (tiro edit {id}). {kept}"
            );
            failure.hint(hint.trim_end().to_owned())
        }
        _ if kept.is_empty() => failure,
        _ => failure.because(kept),
    }
}

/// Keeps a text in a file of its own, for this user only.
fn keep(text: &str) -> Option<String> {
    let mut file = tempfile::Builder::new().prefix("tiro-edit-").suffix(".txt").tempfile().ok()?;
    file.write_all(text.as_bytes()).ok()?;
    let (_, path) = file.keep().ok()?;
    Some(path.display().to_string())
}

/// Opens the text in the person's editor; none when it comes back as it was.
fn edited(old: &str) -> Result<Option<String>, Failure> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut file = tempfile::Builder::new().prefix("tiro-").suffix(".txt").tempfile()?;
    writeln!(file, "{old}")?;
    file.flush()?;
    let run = run_editor(&editor, file.path());
    let status = run.map_err(|error| {
        Failure::failed(format!("cannot run the editor {editor}")).because(error.to_string()).hint("set EDITOR, or give --text")
    })?;
    if !status.success() {
        return Err(Failure::failed(format!("the editor {editor} ended with {status}")).hint("nothing was changed"));
    }
    let new = std::fs::read_to_string(file.path())
        .map_err(|error| Failure::failed(format!("the edited text cannot be read: {error}")))?;
    let new = new.trim_end_matches(['\r', '\n']);
    if new.trim().is_empty() {
        return Err(Failure::usage("the edited text is empty").hint("nothing was changed; tiro forget takes a memory away"));
    }
    Ok((new != old.trim_end_matches(['\r', '\n'])).then(|| new.to_owned()))
}

/// An editor may come with arguments (`code --wait`), so the shell splits it; the path is handed over as `$1`.
fn run_editor(editor: &str, path: &Path) -> std::io::Result<std::process::ExitStatus> {
    Command::new("/bin/sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        edit: EditArgs,
    }

    fn parse(args: &[&str]) -> EditArgs {
        Only::try_parse_from([&["x", "3f2a9c1d"], args].concat()).unwrap().edit
    }

    #[test]
    fn an_editor_is_meant_only_when_nothing_else_is() {
        assert!(parse(&[]).wants_editor());
        assert!(parse(&["--if-version", "3"]).wants_editor());
        assert!(!parse(&["--text", "x"]).wants_editor());
        assert!(!parse(&["-c", "fact"]).wants_editor());
    }

    #[test]
    fn an_empty_tag_takes_the_tags_away() {
        assert_eq!(parse(&["-t", ""]).changes().tags, Some(vec![]));
        assert_eq!(parse(&[]).changes().tags, None);
    }

    #[test]
    fn a_mismatch_says_what_to_do_and_keeps_the_text() {
        let error = tiro_schema::ErrorObject::new(ErrorKind::VersionMismatch, "version 2 is not the current one");
        let failure = explained(error.into(), "3f2a9c1d-1", Some("new words"));
        assert!(failure.hint.contains("tiro show 3f2a9c1d"), "{}", failure.hint);
        let path = failure.hint.rsplit(' ').next().unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "new words");
        std::fs::remove_file(path).unwrap();
    }

    // MEM-10
    #[test]
    fn a_refused_secret_is_not_kept_in_a_file() {
        let error = tiro_schema::ErrorObject::new(ErrorKind::SecretRefused, "the text holds a secret");
        let failure = explained(error.into(), "3f2a9c1d-1", Some("password: hunter2hunter2"));
        assert!(!format!("{failure:?}").contains("kept in"), "{failure:?}");
    }
}
