//! `tiro mcp`: Tiro's memory for hosts of the Model Context Protocol.
//!
//! Must not know: the protocol.

use super::{Exit, Failure, Outcome, Shell};
use crate::launch::MCP_TOKEN_ENV;
use crate::mcp::{HttpServer, Links, Memory, Token, serve_stdio};
use crate::workspace;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const SERVE_EXAMPLES: &str = "\
Examples:
  claude mcp add tiro -- tiro mcp serve
  codex mcp add tiro -- tiro mcp serve
  tiro mcp serve --space work --space personal      writes to work, recalls from both
  tiro mcp serve --http --token-file ~/.config/tiro/mcp-token

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
pub struct ServeArgs {
    /// Serve over HTTP on loopback instead, for as many hosts as come: a port, or an address with one
    ///
    /// A host needs the token, as `Authorization: Bearer TOKEN`: that of --token-file, else of TIRO_MCP_TOKEN, else a new one, which is
    /// printed once.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8476", value_parser = address)]
    http: Option<SocketAddr>,
    /// File with the token of --http, which you alone can read
    #[arg(long, value_name = "PATH", requires = "http")]
    token_file: Option<PathBuf>,
}

/// A loopback address with its port, or a port of 127.0.0.1.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.parse::<u16>() {
        Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
        Err(_) => text.parse().map_err(|_| "give a port, or an address as 127.0.0.1:8476 or [::1]:8476".to_owned())?,
    };
    if !address.ip().is_loopback() {
        return Err("only loopback addresses (127.0.0.1, [::1]) are served".to_owned());
    }
    Ok(address)
}

/// Runs the command.
pub async fn run(shell: &Shell, command: McpCommand) -> Outcome {
    match command {
        McpCommand::Serve(args) => serve(shell, args).await,
    }
}

async fn serve(shell: &Shell, args: ServeArgs) -> Outcome {
    let spaces = spaces(shell)?;
    let links = Arc::new(Links::new(shell.places()?));
    if let Some(address) = args.http {
        let token = Token::find(args.token_file.as_deref(), std::env::var(MCP_TOKEN_ENV).ok()).map_err(|error| {
            Failure::usage(error.to_string()).hint(format!("put it in a file of mode 0600 (--token-file), or in {MCP_TOKEN_ENV}"))
        })?;
        let server = HttpServer::listen(address, token.clone()).await.map_err(|error| {
            Failure::failed(format!("cannot listen at {address}: {error}")).hint("another port: tiro mcp serve --http PORT")
        })?;
        let said = Serving { url: server.url(), token: token.is_made().then(|| token.text().to_owned()) };
        shell.answer(&said, |said, _| {
            let token = said.token.as_ref().map(|token| format!("token: {token}\n")).unwrap_or_default();
            format!("serving {}\n{token}", said.url)
        })?;
        let gone = ended()?;
        let ends = gone.clone();
        let handler = move || Memory::new(Arc::clone(&links), spaces.clone(), ends.child_token());
        server.serve(handler, gone).await;
        return Ok(Exit::Done);
    }
    if std::io::stdin().is_terminal() {
        shell.note(
            "waiting for a host of the Model Context Protocol on standard input; hosts start this by themselves (docs/mcp.md)",
        );
    }
    let memory = Memory::new(links, spaces, CancellationToken::new());
    serve_stdio(memory).await.map_err(|error| Failure::failed(format!("the host cannot be served: {error}")))?;
    Ok(Exit::Done)
}

/// Where it serves, and the token where nobody has it yet.
#[derive(Serialize)]
struct Serving {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// Cancelled when somebody wants this process to end.
fn ended() -> Result<CancellationToken, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let ended = CancellationToken::new();
    let cancel = ended.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        cancel.cancel();
    });
    Ok(ended)
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
