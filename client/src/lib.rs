//! The thin client of the Tiro daemon: typed calls over its socket, starting it on demand, and the shell client.
//!
//! # As a library
//!
//! [`launch::reach`] finds the daemon of this user, starts it when nobody listens, and checks whose socket it is; what it gives calls
//! methods with the types of [`schema`]. Every write takes a `key`, so that one that is sent twice happens once.
//!
//! ```no_run
//! use tiro_client::schema::wire::memory::{RecallParams, RecallResult, RememberParams, RememberResult};
//! use tiro_client::{launch, place};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let session = launch::reach(&place::places(None)?, "my-program").await?;
//! let note = RememberParams { text: "Deploys happen on Tuesdays.".into(), explicit: Some(true), ..Default::default() };
//! let kept: RememberResult = session.connection.call("memory/remember", &note).await?;
//! let question = RecallParams { query: "when do we deploy?".into(), ..Default::default() };
//! let found: RecallResult = session.connection.call("memory/recall", &question).await?;
//! assert!(found.hits.iter().any(|hit| Some(&hit.id) == kept.id.as_ref()));
//! # Ok(())
//! # }
//! ```
//!
//! Without starting anything: [`launch::connect`], then [`handshake::initialize`]. Over any other stream:
//! [`connection::Connection::over`]. The space that a folder asks for: [`workspace::lookup`]. Reading what other programs have:
//!
//! ```
//! use tiro_client::import::{self, Branches, Format, Setting, Sink};
//!
//! let graph = br#"{"type":"entity","name":"Ines","entityType":"person","observations":["inspects the crane"]}"#;
//! let setting = Setting { space: "work".into(), branches: Branches::Current, name: "memory.jsonl".into() };
//! // Batches come here, each fit for `memory/import`.
//! let mut sink = Sink::new(0, |batch| {
//!     assert_eq!(batch.lines[0]["text"], "Ines: inspects the crane");
//!     Ok(())
//! });
//! import::read(Format::McpMemory, &mut &graph[..], &setting, &mut sink)?;
//! sink.flush()?;
//! # Ok::<(), import::Stop>(())
//! ```
//!
//! `examples/notes.rs` shows time-outs, pages and errors; `docs/clients` has the same in other languages.
//!
//! Knows the wire types only. Must not know: stores, indexes, models, or anything else that lives in the daemon.

pub use tiro_schema as schema;

pub mod cli;
pub mod connection;
pub mod detach;
pub mod handshake;
pub mod import;
pub mod launch;
pub mod limits;
pub mod log;
pub mod mcp;
pub mod owner;
pub mod place;
pub mod render;
pub mod trust;
pub mod workspace;
