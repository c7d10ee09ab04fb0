//! `tiro export`: memories as JSON Lines.
//!
//! Must not know: what a line holds.

use super::filter::FilterArgs;
use super::{Exit, Failure, Outcome, Shell};
use crate::limits::PAGE_ITEMS;
use crate::render::size;
use clap::Args;
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tiro_schema::wire::Page;
use tiro_schema::wire::memory::ExportParams;

const EXAMPLES: &str = "\
Examples:
  tiro export > memories.jsonl
  tiro export --space work -o work.jsonl
  tiro export -c preference | tiro import - --space team";

/// Memories of a space as JSON Lines, every status, oldest versions left out
///
/// Each line is what `tiro import` takes. With --json: one object {\"items\": [...]}.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// File to write, readable by you only; standard output when absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ExportArgs) -> Outcome {
    let mut sink = Sink::open(args.output.as_deref(), shell.global.json && args.output.is_none())?;
    let mut params =
        ExportParams { space: shell.space()?, filter: args.filter.to_filter(), cursor: None, limit: Some(PAGE_ITEMS) };
    let mut daemon = shell.daemon().await?;
    let mut count = 0u64;
    loop {
        let page: Page<Value> = daemon.call("memory/export", &params).await?;
        for item in &page.items {
            sink.line(item)?;
        }
        count += page.items.len() as u64;
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    sink.end(args.output.as_deref())?;
    match &args.output {
        Some(path) if shell.global.json => shell.print_json(&serde_json::json!({"path": path, "count": count}))?,
        Some(path) => shell.note(&format!("wrote {} to {}", size::count(count, "memory", "memories"), path.display())),
        None => {}
    }
    Ok(Exit::Done)
}

/// Where lines go: standard output, or a file that appears whole or not at all.
struct Sink {
    out: BufWriter<Box<dyn Write>>,
    file: Option<tempfile::TempPath>,
    as_value: bool,
    first: bool,
}

impl Sink {
    fn open(path: Option<&Path>, as_value: bool) -> Result<Self, Failure> {
        let (out, file): (Box<dyn Write>, _) = match path {
            None => (Box::new(std::io::stdout()), None),
            Some(path) => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let made = tempfile::Builder::new().prefix(".tiro-export-").tempfile_in(folder);
                let made = made.map_err(|error| {
                    Failure::failed(format!("cannot write in {}", folder.display())).because(error.to_string())
                })?;
                let (file, path) = made.into_parts();
                (Box::new(file), Some(path))
            }
        };
        let mut sink = Sink { out: BufWriter::new(out), file, as_value, first: true };
        if as_value {
            sink.out.write_all(b"{\"items\":[")?;
        }
        Ok(sink)
    }

    fn line(&mut self, item: &Value) -> Result<(), Failure> {
        if self.as_value && !self.first {
            self.out.write_all(b",")?;
        }
        self.first = false;
        let text = item.to_string();
        self.out.write_all(text.as_bytes())?;
        if !self.as_value {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(mut self, path: Option<&Path>) -> Result<(), Failure> {
        if self.as_value {
            self.out.write_all(b"]}\n")?;
        }
        self.out.flush()?;
        if let (Some(file), Some(path)) = (self.file, path) {
            file.persist(path)
                .map_err(|error| Failure::failed(format!("cannot write {}", path.display())).because(error.error.to_string()))?;
        }
        Ok(())
    }
}
