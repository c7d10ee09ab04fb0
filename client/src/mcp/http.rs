//! Serving hosts over HTTP on loopback: who may ask at all, and how much.
//!
//! Before a request reaches `rmcp` its path and token are checked; `rmcp` then checks Host and Origin (against pages that rebind
//! names) and speaks the transport. Connections, bodies, sessions and waits are bounded. Must not know: what is asked.

use super::token::Token;
use crate::limits::{
    MCP_HTTP_BODY_BYTES_MAX, MCP_HTTP_CONNECTIONS_MAX, MCP_HTTP_HEAD_BYTES_MAX, MCP_HTTP_HEAD_MAX, MCP_HTTP_REQUEST_MAX,
    MCP_HTTP_SESSION_IDLE_MAX, MCP_HTTP_SESSIONS_MAX,
};
use bytes::Bytes;
use http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The one path.
pub const PATH: &str = "/mcp";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A server that listens already.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
}

/// What every connection needs.
struct Door<S> {
    service: StreamableHttpService<S, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    token: Token,
}

impl HttpServer {
    /// Listens. Only on loopback: the protocol has no encryption of its own here.
    ///
    /// # Errors
    /// When the address is not of this machine alone, or is taken.
    pub async fn listen(address: SocketAddr, token: Token) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{address} is no address of this machine alone")));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(HttpServer { listener, address, token })
    }

    /// Where a host reaches it.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves what `handler` makes for each session, until `gone` is cancelled.
    pub async fn serve<S: ServerHandler>(self, handler: impl Fn() -> S + Send + Sync + 'static, gone: CancellationToken) {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = session_config();
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
            .with_max_request_body_bytes(MCP_HTTP_BODY_BYTES_MAX)
            .with_cancellation_token(gone.child_token());
        let service = StreamableHttpService::new(move || Ok(handler()), Arc::clone(&sessions), config);
        let door = Arc::new(Door { service, sessions, token: self.token });
        let places = Arc::new(Semaphore::new(MCP_HTTP_CONNECTIONS_MAX));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let stream = tokio::select! {
                () = gone.cancelled() => return,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Out of descriptors, or a peer that left: the next one may do.
                    Err(_) => {
                        tokio::time::sleep(crate::limits::PROBE_MAX).await;
                        continue;
                    }
                },
            };
            let (door, gone) = (Arc::clone(&door), gone.clone());
            tokio::spawn(async move {
                let service = service_fn(|request| {
                    let door = Arc::clone(&door);
                    async move { Ok::<_, Infallible>(door.answer(request).await) }
                });
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(MCP_HTTP_HEAD_MAX)
                    .max_buf_size(MCP_HTTP_HEAD_BYTES_MAX)
                    .serve_connection(TokioIo::new(stream), service);
                tokio::select! {
                    _ = connection => {}
                    () = gone.cancelled() => {}
                }
                drop(place);
            });
        }
    }
}

fn session_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(MCP_HTTP_SESSION_IDLE_MAX);
    config
}

impl<S: ServerHandler> Door<S> {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return told(StatusCode::NOT_FOUND, &format!("the server is at {PATH}"));
        }
        let authorized = request.headers().get(header::AUTHORIZATION).is_some_and(|value| self.token.is_in(value.as_bytes()));
        if !authorized {
            let mut answer = told(StatusCode::UNAUTHORIZED, "give the token: Authorization: Bearer TOKEN");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            return answer;
        }
        // Of requests without a session only `initialize` begins one; those of the stateless era name their version.
        let may_begin = request.method() == Method::POST && !request.headers().contains_key(SESSION);
        if may_begin && self.sessions.sessions.read().await.len() >= MCP_HTTP_SESSIONS_MAX && !is_stateless(&request) {
            let message =
                format!("{MCP_HTTP_SESSIONS_MAX} sessions are open: end one (DELETE), or wait until one is idle long enough");
            return told(StatusCode::SERVICE_UNAVAILABLE, &message);
        }
        match tokio::time::timeout(MCP_HTTP_REQUEST_MAX, self.service.handle(request)).await {
            Ok(answer) => answer,
            Err(_) => told(StatusCode::REQUEST_TIMEOUT, "the request did not come, or was not answered, in time"),
        }
    }
}

fn is_stateless(request: &Request<Incoming>) -> bool {
    let version = request.headers().get("mcp-protocol-version").map(header::HeaderValue::as_bytes);
    version.is_some_and(|version| version >= rmcp::model::ProtocolVersion::V_2026_07_28.as_str().as_bytes())
}

/// A short answer that the transport has no message for.
fn told(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{text}\n"))).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
