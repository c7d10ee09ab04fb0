//! `tiro model`: models that make vectors, listed, added from folders, checked, chosen and removed.
//!
//! Must not know: how a model runs, nor the configuration's file.

use super::shell::Daemon;
use super::{Exit, Failure, Outcome, Shell, progress};
use crate::connection::CallOptions;
use crate::handshake;
use crate::limits::EMBEDDING_LOOK;
use crate::render::{Style, escape, size, wrap};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tiro_schema::wire::daemon::{EmbeddingState, NoParams};
use tiro_schema::wire::embedder::{
    EmbedderAddParams, EmbedderItem, EmbedderListResult, EmbedderNameParams, EmbedderRemoveResult, EmbedderReport,
    EmbedderUseParams, EmbedderUseResult,
};

/// Add, check and choose the model that makes vectors
///
/// The built-in table needs nothing and always serves. A model of your own can serve beside it: one in a folder (an ONNX graph with
/// its tokenizer.json), which the daemon runs with ONNX Runtime's library, or a server's. The model that answers `tiro ask` is
/// another: see `tiro config`.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    List(ListArgs),
    Add(AddArgs),
    Check(CheckArgs),
    Use(UseArgs),
    Remove(RemoveArgs),
}

/// Embedders there are, which serves, and how far its vectors are
///
/// In a pipe each is one line of tab-separated fields: name, provider, `in use` or nothing, dimension, where it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro model list\n  tiro model list --json | jq .embedding")]
pub struct ListArgs {}

/// Try a folder's model out and copy it into the data folder
///
/// The folder holds model.onnx (or onnx/model.onnx, model_quantized.onnx, …) and tokenizer.json, as multilingual-e5-small and
/// all-MiniLM-L6-v2 are published, and, where those are not known by the folder's name, tiro-model.toml: name, kind (e5, minilm,
/// other), queryPrefix, passagePrefix, pooling (mean, cls), maxTokens, licence, model, tokenizer, sha256 of the files. English and
/// Chinese sentences are run through it first. Needs ONNX Runtime 1.22 or newer: the file libonnxruntime.so, named by `library` in
/// [embedding], by ORT_DYLIB_PATH where the daemon is started, or in the usual places.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro model add ~/models/multilingual-e5-small\n  tiro model add ./minilm --name minilm --kind minilm"
)]
pub struct AddArgs {
    /// The folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Its name here; the folder's when absent
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What kind of model it is: e5, minilm, other
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// Check a model's files and measure it
///
/// Its files are held against their checksums, English and Chinese sentences are run through it, and its speed is measured.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro model check multilingual-e5-small\n  tiro model check e5 --json | jq .sentencesPerS")]
pub struct CheckArgs {
    /// The model
    #[arg(value_name = "NAME")]
    name: String,
}

/// Choose who makes vectors, now and at every start
///
/// NAME is a model that was added, `static` (the built-in table alone) or `openai` (a server's). It is tried out, written into the
/// configuration, and makes its vectors behind the answers: until it is through, words and the built-in table serve. That goes on
/// when the daemon is restarted. The vectors of the model before are removed at the end.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro model use multilingual-e5-small --wait\n  tiro model use static\n  tiro model use openai --base-url http://127.0.0.1:8000/v1 --model e5"
)]
pub struct UseArgs {
    /// The embedder
    #[arg(value_name = "NAME")]
    name: String,
    /// openai: address of the server, up to /v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// openai: name of the server's model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Wait until every memory has its vector; a terminal shows how far it is
    #[arg(long)]
    wait: bool,
}

/// Remove a model that is not in use
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro model remove minilm")]
pub struct RemoveArgs {
    /// The model
    #[arg(value_name = "NAME")]
    name: String,
}

/// Runs the command.
pub async fn run(shell: &Shell, command: ModelCommand) -> Outcome {
    match command {
        ModelCommand::List(_) => list(shell).await,
        ModelCommand::Add(args) => add(shell, args).await,
        ModelCommand::Check(args) => check(shell, args).await,
        ModelCommand::Use(args) => choose(shell, args).await,
        ModelCommand::Remove(args) => remove(shell, args).await,
    }
}

async fn list(shell: &Shell) -> Outcome {
    let result: EmbedderListResult = shell.daemon().await?.call("embedder/list", &NoParams {}).await?;
    shell.answer(&result, |result, style| {
        let state = result.embedding.as_ref();
        result.items.iter().map(|item| line(item, state.filter(|_| item.in_use), style)).collect()
    })?;
    Ok(Exit::Done)
}

fn line(item: &EmbedderItem, state: Option<&EmbeddingState>, style: &Style) -> String {
    let dimension = item.dimension.map(|n| n.to_string()).unwrap_or_default();
    let place = item.location.clone().unwrap_or_default();
    if !style.terminal {
        let in_use = if item.in_use { "in use" } else { "" };
        return format!("{}\t{}\t{in_use}\t{dimension}\t{}\n", escape::field(&item.name), item.provider, escape::field(&place));
    }
    let mut about =
        vec![if dimension.is_empty() { item.provider.clone() } else { format!("{}, {dimension} dimensions", item.provider) }];
    about.extend(item.bytes.map(size::bytes));
    about.extend(item.licence.clone());
    about.push(place);
    let mark = if item.in_use { style.green("*") } else { " ".to_owned() };
    let mut text = format!(
        "{mark} {}  {}\n",
        style.cyan(&wrap::pad(&escape::terminal_line(&item.name), 24)),
        style.dim(&escape::terminal_line(&about.join(", ")))
    );
    let trouble = item.trouble.as_ref().or(state.and_then(|state| state.trouble.as_ref()));
    if let Some(state) = state {
        text.push_str(&format!("    {}\n", standing(state)));
    }
    if let Some(trouble) = trouble {
        text.push_str(&format!("    {}\n", style.yellow(&escape::terminal_line(trouble))));
    }
    text
}

/// How far the vectors are, in one line.
fn standing(state: &EmbeddingState) -> String {
    let far =
        format!("{} of {}", state.done, size::count(state.total, "document has its vector", "documents have their vectors"));
    match state.state.as_str() {
        "ready" if state.refused == 0 => far,
        "ready" => format!("{far}; {} refused", state.refused),
        "preparing" => "being prepared".to_owned(),
        "embedding" => format!("{far}; the others follow"),
        "waiting" => format!("{far}; it does not answer, and is asked again"),
        _ => format!("{far}; it is not used: {}", state.state),
    }
}

async fn add(shell: &Shell, args: AddArgs) -> Outcome {
    let folder = std::fs::canonicalize(&args.folder)
        .map_err(|error| Failure::failed(format!("cannot open {}", args.folder.display())).because(error.to_string()))?;
    let path = folder.to_str().map(str::to_owned).ok_or_else(|| Failure::usage("the folder's path is not UTF-8"))?;
    let params = EmbedderAddParams { path, name: args.name, kind: args.kind };
    let mut daemon = shell.daemon().await?;
    let report: EmbedderReport = long(shell, &mut daemon, "embedder/add", &params, "trying the model out").await?;
    shell.answer(&report, |report, style| reported(report, "added", style))?;
    shell.note(&format!("tiro model use {} lets it serve", report.item.name));
    Ok(Exit::Done)
}

async fn check(shell: &Shell, args: CheckArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params = EmbedderNameParams { name: args.name };
    let report: EmbedderReport = long(shell, &mut daemon, "embedder/check", &params, "running sentences through it").await?;
    shell.answer(&report, |report, style| reported(report, "is well", style))?;
    Ok(Exit::Done)
}

fn reported(report: &EmbedderReport, how: &str, style: &Style) -> String {
    let item = &report.item;
    let rows = [
        ("dimension", item.dimension.unwrap_or(0).to_string()),
        ("speed", format!("{} sentences/s, {} ms a query", report.sentences_per_s, report.query_ms)),
        ("library", format!("{} ({})", report.library_version, report.library)),
        ("folder", item.location.clone().unwrap_or_default()),
    ];
    let rows =
        rows.iter().map(|(name, value)| format!("  {} {}\n", style.dim(&wrap::pad(name, 10)), escape::terminal_line(value)));
    format!("{} {how}\n{}", escape::terminal_line(&item.name), rows.collect::<String>())
}

async fn choose(shell: &Shell, args: UseArgs) -> Outcome {
    let UseArgs { name, base_url, model, wait } = args;
    let mut daemon = shell.daemon().await?;
    let params = EmbedderUseParams { name, base_url, model };
    let mut result: EmbedderUseResult = long(shell, &mut daemon, "embedder/use", &params, "trying the model out").await?;
    if wait && result.embedding.is_some() {
        result.embedding = until_whole(shell, &daemon).await?;
    }
    shell.answer(&result, |result, _| {
        let far = result.embedding.as_ref().map(|state| format!("; {}", standing(state))).unwrap_or_default();
        format!("{} makes the vectors now{far}\n", escape::terminal_line(&result.name))
    })?;
    if !wait && result.embedding.is_some() {
        shell.note("its vectors follow behind the answers: tiro model list shows how far it is");
    }
    Ok(Exit::Done)
}

/// Looks again and again until every document has its vector.
async fn until_whole(shell: &Shell, daemon: &Daemon) -> Result<Option<EmbeddingState>, Failure> {
    let bar = progress::bar(shell, "vectors");
    loop {
        let state = handshake::status(daemon.connection()).await?.embedding;
        match &state {
            Some(now) if now.state == "unusable" || now.state == "givenUp" => {
                let why = now.trouble.clone().unwrap_or_default();
                return Err(Failure::failed("the model does not go on").because(why).hint("tiro model list, tiro daemon logs"));
            }
            Some(now) if now.state != "ready" || now.done + now.refused < now.total => {
                progress::set_total(&bar, now.total);
                bar.set_position(now.done);
                bar.set_message(now.trouble.clone().map_or("vectors".to_owned(), |why| format!("waiting: {why}")));
            }
            _ => {
                bar.finish_and_clear();
                return Ok(state);
            }
        }
        tokio::time::sleep(EMBEDDING_LOOK).await;
    }
}

async fn remove(shell: &Shell, args: RemoveArgs) -> Outcome {
    let params = EmbedderNameParams { name: args.name };
    let result: EmbedderRemoveResult = shell.daemon().await?.call("embedder/remove", &params).await?;
    shell.answer(&result, |result, _| format!("removed {}\n", escape::terminal_line(&result.name)))?;
    Ok(Exit::Done)
}

/// A call that loads a model: as long as it takes, with a sign of life on a terminal.
async fn long<P: serde::Serialize, R: serde::de::DeserializeOwned>(
    shell: &Shell,
    daemon: &mut Daemon,
    method: &str,
    params: &P,
    stage: &str,
) -> Result<R, Failure> {
    let bar = progress::bar(shell, stage);
    bar.enable_steady_tick(EMBEDDING_LOOK);
    let answer = daemon.call_with(method, params, CallOptions { timeout: None, progress_token: None }).await;
    bar.finish_and_clear();
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> EmbedderItem {
        EmbedderItem {
            name: "e5".into(),
            provider: "onnx".into(),
            in_use: true,
            dimension: Some(384),
            location: Some("/m/e5".into()),
            ..EmbedderItem::default()
        }
    }

    #[test]
    fn a_pipe_gets_one_line_an_embedder() {
        assert_eq!(line(&item(), None, &Style::PLAIN), "e5\tonnx\tin use\t384\t/m/e5\n");
    }

    #[test]
    fn a_terminal_is_told_how_far_it_is_and_what_is_wrong() {
        let state = EmbeddingState {
            state: "waiting".into(),
            done: 1,
            total: 3,
            trouble: Some("no library".into()),
            ..EmbeddingState::default()
        };
        let text = line(&item(), Some(&state), &Style { terminal: true, colour: false, width: 80 });
        assert!(text.contains("1 of 3 documents") && text.contains("no library"), "{text}");
    }
}
