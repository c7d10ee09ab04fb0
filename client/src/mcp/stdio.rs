//! Serving one host over standard input and output, for as long as it is there.
//!
//! Must not know: what the host asks.

use super::edge::Edge;
use super::handler::Memory;
use crate::limits::MCP_HOST_GONE_MAX;
use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;

/// Serves until the host closes its end. Answers that are on their way then have a moment to be written.
///
/// # Errors
/// When the host cannot be understood from the start.
pub async fn serve(memory: Memory) -> Result<(), ServerInitializeError> {
    let gone = memory.gone().clone();
    let (read, write) = stdio_pipes();
    let edge = Edge::new(read, write, gone.clone());
    let served = async {
        match serve_server(memory, edge).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(_) if gone.is_cancelled() => Ok(()),
            Err(error) => Err(error),
        }
    };
    tokio::select! {
        ended = served => ended,
        () = async { gone.cancelled().await; tokio::time::sleep(MCP_HOST_GONE_MAX).await } => Ok(()),
    }
}
