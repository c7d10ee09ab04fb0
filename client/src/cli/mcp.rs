//! `tiro mcp`: Tiro's memory for hosts of the Model Context Protocol.
//!
//! Must not know: the protocol.

use super::{Exit, Failure, Outcome, Shell};
use crate::mcp::{Links, Memory, serve_stdio};
use crate::workspace;
use clap::{Args, Subcommand};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const SERVE_EXAMPLES: &str = "\
Examples:
  claude mcp add tiro -- tiro mcp serve
  codex mcp add tiro -- tiro mcp serve
  tiro mcp serve --space work --space personal      writes to work, recalls from both

docs/mcp.md has the line for each known host.";

/// Memory for the programs that speak the Model Context Protocol
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    Serve(ServeArgs),
}

/// Serve the memory to a host on standard input and output
///
/// A host (Claude Code, Codex, Cursor, goose, Zed, VS Code and others) starts this by itself, and it ends with its host. The space is
/// the one given by --space, else the one that `.tiro.toml` names in the working folder or one above it (`space = "work"`), else
/// personal. The daemon is started when it is needed. The audit names the host as it names itself.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {}

/// Runs the command.
pub async fn run(shell: &Shell, command: McpCommand) -> Outcome {
    match command {
        McpCommand::Serve(args) => serve(shell, args).await,
    }
}

async fn serve(shell: &Shell, _args: ServeArgs) -> Outcome {
    let spaces = spaces(shell)?;
    let links = Arc::new(Links::new(shell.places()?));
    let memory = Memory::new(links, spaces, CancellationToken::new());
    serve_stdio(memory).await.map_err(|error| Failure::failed(format!("the host cannot be served: {error}")))?;
    Ok(Exit::Done)
}

/// The spaces of this server: the first is written to, all are read.
fn spaces(shell: &Shell) -> Result<Vec<String>, Failure> {
    if !shell.global.space.is_empty() {
        return Ok(shell.global.space.clone());
    }
    let folder = std::env::current_dir().map_err(|error| Failure::failed(format!("no working folder: {error}")))?;
    let found = workspace::lookup(&folder).map_err(|error| {
        Failure::usage(error.to_string()).hint("it takes one line: space = \"NAME\"; or give --space, which goes before it")
    })?;
    let named = found.and_then(|found| found.space);
    Ok(vec![named.unwrap_or_else(|| tiro_schema::DEFAULT_SPACE.to_owned())])
}
