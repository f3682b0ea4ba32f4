//! The server itself: binds, takes connections, and ends in order.
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use halma_core::ConfigError;
use halma_engine::{Engine, Loaded, ServeConfig};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

use crate::app::{App, Shared, Start, Stop};
use crate::keys::KeyFile;
use crate::problem::Problem;
use crate::routes;

/// Bytes of a request's line and headers at most.
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;

/// How a server is started.
pub struct ServeOptions {
    pub loaded: Loaded,
    /// The engine of the default workspace.
    pub engine: Engine,
    /// The folder of its base; the other workspaces lie below it.
    pub dir: PathBuf,
    /// Whether it shows the demo's library.
    pub demo: bool,
    /// Whether it may be reached from elsewhere without keys.
    pub insecure: bool,
}

/// What can go wrong with a server as a whole.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot listen on {addr}: {source}; choose another address with --addr or --port")]
    Bind { addr: String, source: std::io::Error },
    #[error("{0}")]
    Start(String),
}

/// A server that listens and does not serve yet.
pub struct Server {
    app: Shared,
    listener: TcpListener,
    addr: SocketAddr,
}

impl Server {
    /// Binds the address of the configuration. An address that others can reach is refused without
    /// keys, unless `insecure` says otherwise.
    pub async fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        let ServeOptions { loaded, engine, dir, demo, insecure } = options;
        let serve = loaded.config.serve.clone();
        check(&serve)?;
        let bind = |source| ServeError::Bind { addr: serve.addr.clone(), source };
        let listener = TcpListener::bind(&serve.addr).await.map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;
        let loopback = addr.ip().is_loopback();
        if !loopback && !insecure && !KeyFile::of(&dir).exists() {
            return Err(needs_keys(addr.ip(), &dir).into());
        }
        let start = Start { loaded, engine, dir: &dir, demo, loopback };
        let app = App::new(start).map_err(|problem| ServeError::Start(problem.detail))?;
        Ok(Self { app: Arc::new(app), listener, addr })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until `stop` says so; then no connection is taken any more, running answers may
    /// finish within the time that is configured, and what is left of builds waits on disk.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, listener, .. } = self;
        let router = routes::router(&app);
        let watching = tokio::spawn({
            let app = Arc::clone(&app);
            async move { app.keys.watch().await }
        });
        let resuming = tokio::spawn({
            let app = Arc::clone(&app);
            async move { app.workspaces.resume().await }
        });
        let most = app.config.connections.max(1);
        let room = Arc::new(Semaphore::new(most));
        let mut stop = std::pin::pin!(stop);
        loop {
            let taken = tokio::select! {
                () = &mut stop => break,
                taken = next(&listener, &room) => taken,
            };
            let Some((stream, permit)) = taken else { continue };
            tokio::spawn(connection(stream, router.clone(), Arc::clone(&app), permit));
        }
        drop(listener);
        tracing::info!("stopping: running answers may finish");
        app.stop.send_replace(Stop::Soon);
        let whole = u32::try_from(most).unwrap_or(u32::MAX);
        let drained = room.acquire_many(whole);
        let limit = seconds(app.config.drain_seconds);
        if tokio::time::timeout(limit, drained).await.is_err() {
            app.stop.send_replace(Stop::Now);
            // They see it at once; what they have used is written down.
            let _ = tokio::time::timeout(Duration::from_secs(2), room.acquire_many(whole)).await;
        }
        for workspace in app.workspaces.open() {
            workspace.builds.close().await;
        }
        watching.abort();
        resuming.abort();
    }
}

/// The next connection, when there is room for one.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(e) => {
            // Out of files, or the client is gone already; the first passes only with time.
            tracing::warn!("a connection cannot be taken: {e}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

async fn connection(stream: TcpStream, router: Router, app: Shared, permit: OwnedSemaphorePermit) {
    // Small events must not wait for the client's acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = router.map_request(|request: hyper::Request<Incoming>| request.map(Body::new));
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(seconds(app.config.header_seconds))
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let serving = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = app.stopping(Stop::Soon) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(e) = ended {
        tracing::debug!("a connection ended: {e}");
    }
    drop(permit);
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(30))
}

fn check(serve: &ServeConfig) -> Result<(), ConfigError> {
    for (key, value) in
        [("header_seconds", serve.header_seconds), ("drain_seconds", serve.drain_seconds)]
    {
        if !(value.is_finite() && value > 0.0 && value < 1e6) {
            return Err(ConfigError {
                file: "halma.toml".into(),
                key: format!("serve.{key}"),
                reason: "it is not above 0".into(),
                hint: "write a time in seconds".into(),
            });
        }
    }
    Ok(())
}

fn needs_keys(ip: IpAddr, dir: &Path) -> ConfigError {
    ConfigError {
        file: "--addr".into(),
        key: "serve.addr".into(),
        reason: format!("{ip} can be reached from elsewhere, and there are no keys"),
        hint: format!(
            "make one with `halma keys create --kb {} --name NAME --scope ask`, or say --insecure",
            dir.display()
        ),
    }
}

/// Says where the server listens, for people and for programs that started it.
pub fn announce(addr: SocketAddr) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on http://{addr}")?;
    out.flush()
}

/// Returns at the first SIGTERM or Ctrl-C. A second one ends the program at once.
pub async fn told_to_stop() {
    let (tell, told) = tokio::sync::oneshot::channel();
    let wait = move || {
        use signal_hook::consts::TERM_SIGNALS;
        let Ok(mut signals) = signal_hook::iterator::Signals::new(TERM_SIGNALS) else { return };
        let mut tell = Some(tell);
        for signal in signals.forever() {
            match tell.take() {
                Some(tell) => drop(tell.send(())),
                None => drop(signal_hook::low_level::emulate_default_handler(signal)),
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".into()).spawn(wait);
    if thread.is_err() || told.await.is_err() {
        // Without handlers the system ends the program itself.
        std::future::pending::<()>().await;
    }
}

impl From<Problem> for ServeError {
    fn from(problem: Problem) -> Self {
        Self::Start(problem.detail)
    }
}
