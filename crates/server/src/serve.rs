//! The server: binds, accepts connections, shuts down in order.
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use halma_core::ConfigError;
use halma_engine::{Engine, FileLock, Loaded, SERVER_LOCK};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::app::{App, AppSetup, Shared, Stop, Suggestion};
use crate::keys::{ApiKeys, KeysError};
use crate::limits::blocking::run_blocking;
#[cfg(unix)]
use crate::limits::handles;
use crate::problem::Problem;
use crate::reserved_address::ReservedAddress;
use crate::routes;
use crate::settings::follow_settings;
use crate::storage_health::StorageHealth;
use crate::workspace::Purpose;

/// Bytes of the request line and headers at most.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

/// Options of a server.
pub struct ServeOptions {
    pub loaded: Loaded,
    /// The engine of the default workspace.
    pub engine: Engine,
    /// The folder of its base; the other workspaces are below it.
    pub dir: PathBuf,
    /// The questions that are offered where the demo library is served.
    pub demo: Option<Vec<Suggestion>>,
    /// Allow a public address without API keys.
    pub insecure: bool,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot listen on {addr}: {source}; choose another address with --addr or --port")]
    Bind { addr: String, source: io::Error },
    #[error(
        "another server serves the base in {dir}, or a backup is being restored to it; stop it, or \
         serve another base with --kb"
    )]
    InUse { dir: String },
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error("{0}")]
    Start(String),
}

/// A server that is bound to its address and does not serve yet.
pub struct Server {
    app: Shared,
    listener: TcpListener,
    addr: SocketAddr,
    /// Held while the server exists, so that no other one runs the same builds.
    _lock: ServerLock,
}

impl Server {
    /// Binds the configured address. Without API keys, an address that other machines can reach is
    /// refused unless `insecure` is set.
    pub async fn bind(options: ServeOptions, lock: ServerLock) -> Result<Self, ServeError> {
        let address = ReservedAddress::reserve(&options.loaded).await?;
        Self::listen(address, options, lock)
    }

    /// [`Server::bind`] at an address that was reserved before the base was opened.
    pub fn listen(
        address: ReservedAddress,
        options: ServeOptions,
        lock: ServerLock,
    ) -> Result<Self, ServeError> {
        let ServeOptions { loaded, engine, dir, demo, insecure } = options;
        let (listener, addr) = address.listen()?;
        #[cfg(unix)]
        handles::make_room(&listener, loaded.config.serve.connections);
        let loopback = addr.ip().is_loopback();
        // Read in any case: an error here names the file.
        let has_keys = ApiKeys::from_engine(&engine).exists()?;
        if !loopback && !insecure && !has_keys {
            let shared = engine.shared().map(|space| format!("'{}'", space.name()));
            let kb = shared.unwrap_or_else(|| dir.display().to_string());
            return Err(needs_keys(addr.ip(), &kb).into());
        }
        let setup = AppSetup { loaded, engine, dir: &dir, demo, loopback, purpose: Purpose::Serve };
        let app = App::new(setup)?;
        Ok(Self { app: Arc::new(app), listener, addr, _lock: lock })
    }

    /// Gives the server another configuration while it runs.
    pub fn reloader(&self) -> Reloader {
        Reloader { app: Arc::clone(&self.app) }
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until `stop` returns. Then no more connections are accepted, running answers may finish
    /// within `serve.drain_seconds`, and unfinished builds wait on disk for the next start.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, listener, addr: _, _lock } = self;
        let router = routes::router(&app);
        let root = Arc::clone(&app.workspaces.root);
        let watch = StorageHealth::watch(root, app.storage_health.clone());
        let resume = {
            let app = Arc::clone(&app);
            async move { app.workspaces.resume().await }
        };
        let tasks = [
            tokio::spawn(Arc::clone(&app.keys).watch()),
            tokio::spawn(watch),
            tokio::spawn(follow_settings(Arc::clone(&app))),
            tokio::spawn(resume),
        ];
        tokio::spawn(preload(app.workspaces.root.engine()));
        let max = app.config.connections.max(1);
        let slots = Arc::new(Semaphore::new(max));
        let mut stop = std::pin::pin!(stop);
        loop {
            let connection = tokio::select! {
                () = &mut stop => break,
                connection = accept(&listener, &slots) => connection,
            };
            if let Some(connection) = connection {
                tokio::spawn(connection.serve(router.clone(), Arc::clone(&app)));
            }
        }
        drop(listener);
        tracing::info!("stopping; waiting for running answers");
        app.stop.send_replace(Stop::Soon);
        let all = u32::try_from(max).unwrap_or(u32::MAX);
        let drained = slots.acquire_many(all);
        let limit = seconds(app.config.drain_seconds);
        if tokio::time::timeout(limit, drained).await.is_err() {
            app.stop.send_replace(Stop::Now);
            // Running answers end at once and record their usage.
            let _ = tokio::time::timeout(Duration::from_secs(2), slots.acquire_many(all)).await;
        }
        app.workspaces.stop_builds().await;
        tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Loads what searches of the default workspace hold in memory, so that the first one after a start
/// is not slow. Without it the first search does the same, and says what is wrong.
async fn preload(engine: Arc<Engine>) {
    let load = move || engine.base().preload().map_err(|e| Problem::internal(&e));
    if let Err(problem) = run_blocking(load).await {
        tracing::warn!("the base could not be loaded for searching: {}", problem.detail);
    }
}

/// Puts another configuration in place of the one that a server runs with.
pub struct Reloader {
    app: Shared,
}

impl Reloader {
    /// Uses the models, prompts and settings of this configuration from the next question on, in
    /// all workspaces. Questions and builds under way are not disturbed. What belongs to the
    /// listening socket, the limits of `[serve]` and the embedder stay until the next start.
    pub async fn reload(&self, loaded: Loaded) -> Result<(), ServeError> {
        let app = Arc::clone(&self.app);
        let reload = run_blocking(move || {
            let _changing = app.role_changes.lock();
            app.reload(loaded)
        });
        Ok(reload.await?)
    }
}

/// Receives a message for each signal to read the configuration again (SIGHUP), which from now on
/// does not end the program; none where there are no signals.
pub fn reload_signals() -> mpsc::UnboundedReceiver<()> {
    let (sender, received) = mpsc::unbounded_channel();
    #[cfg(unix)]
    {
        let signals = [signal_hook::consts::SIGHUP];
        if let Err(e) = on_signals(&signals, "reload", move |_| sender.send(()).is_ok()) {
            tracing::warn!("the configuration is not read again on SIGHUP: {e}");
        }
    }
    received
}

/// Calls `act` for each of these signals on a thread of its own, until it returns `false`.
fn on_signals(
    signals: &[i32],
    thread: &str,
    act: impl FnMut(i32) -> bool + Send + 'static,
) -> io::Result<()> {
    // Here and not in the thread, which may begin after the first signal.
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    let wait = move || {
        signals.forever().all(act);
    };
    std::thread::Builder::new().name(thread.to_owned()).spawn(wait).map(drop)
}

/// A client's connection, with the slot that it takes.
struct Connection {
    stream: TcpStream,
    _slot: OwnedSemaphorePermit,
}

/// The next connection, as soon as there is a slot for one.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Option<Connection> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some(Connection { stream, _slot: slot }),
        Err(e) => {
            // The client has disconnected, or the process is out of file handles, which takes time
            // to pass.
            tracing::warn!("cannot accept a connection: {e}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

impl Connection {
    async fn serve(self, router: Router, app: Shared) {
        let Self { stream, _slot } = self;
        // Small events must not wait for the client's acknowledgements.
        let _ = stream.set_nodelay(true);
        let service =
            router.map_request(|request: hyper::Request<Incoming>| request.map(Body::new));
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(seconds(app.config.header_seconds))
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS);
        let service = TowerToHyperService::new(service);
        let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
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
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(30))
}

/// The lock of the one server of a base, until it is dropped. It is taken before the base is
/// opened, so that a second server changes nothing in it.
pub struct ServerLock {
    _lock: FileLock,
}

impl ServerLock {
    /// Takes the lock in the folder of a base, which is made where there is none.
    ///
    /// # Errors
    /// [`ServeError::InUse`] where another server has it.
    pub fn take(dir: &Path) -> Result<Self, ServeError> {
        let failed = |e: io::Error| {
            let place = dir.display();
            ServeError::Start(format!(
                "cannot lock `{place}` for this server: {e}; check the folder and its permissions"
            ))
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let file = std::fs::File::create(dir.join(SERVER_LOCK)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _lock: FileLock(file) }),
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(ServeError::InUse { dir: dir.display().to_string() })
            }
            Err(std::fs::TryLockError::Error(e)) => Err(failed(e)),
        }
    }
}

/// Why a base without API keys is not served where other machines can reach it.
pub(crate) fn needs_keys(ip: IpAddr, kb: &str) -> ConfigError {
    ConfigError {
        file: "--addr".into(),
        key: "serve.addr".into(),
        reason: format!("other machines can reach {ip}, and there are no API keys"),
        hint: format!(
            "create one with `halma keys create --kb {kb} --name NAME --scope ask`, or pass --insecure"
        ),
    }
}

/// Prints the server's address, for people and for programs that started it.
pub fn announce(addr: SocketAddr) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "listening on http://{addr}")?;
    out.flush()
}

/// Ends at the first SIGTERM or Ctrl-C after this call. A second one ends the program at once.
pub fn stop_signal() -> impl Future<Output = ()> {
    let (sender, received) = tokio::sync::oneshot::channel();
    let mut sender = Some(sender);
    // Before this returns, so that no signal is missed by a program that has said it is ready.
    let started = on_signals(signal_hook::consts::TERM_SIGNALS, "signals", move |signal| {
        match sender.take() {
            Some(sender) => drop(sender.send(())),
            None => drop(signal_hook::low_level::emulate_default_handler(signal)),
        }
        true
    });
    async move {
        if started.is_err() || received.await.is_err() {
            // Without a handler the system itself ends the program.
            std::future::pending::<()>().await;
        }
    }
}

impl From<Problem> for ServeError {
    fn from(problem: Problem) -> Self {
        Self::Start(problem.detail)
    }
}
