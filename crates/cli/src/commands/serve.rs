//! `halma serve` and `halma mcp`: serve a knowledge base over HTTP, or to one agent over MCP.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Engine, Flags, IndexOptions, Loaded, base_folder};
use halma_server::{
    Reloader, ReservedAddress, ServeOptions, Server, ServerLock, announce, prompts_dir,
    reload_signals, serve_stdio, stop_signal,
};
use tokio::sync::mpsc::UnboundedReceiver;
use toml::Value;

use super::demo::{suggestions, write_library};
use super::setup::{create_or_open, is_unmade, load_config, open, server_address};
use crate::args::{Common, Mcp, Serve};
use crate::view::index_report::summary;
use crate::view::{self, progress};

/// The knowledge base of `halma demo`, used unless `--kb` names another.
const DEMO_BASE: &str = ".halma/demo/base";

pub(crate) async fn run(args: Serve, common: &Common) -> anyhow::Result<()> {
    let mut loaded = load_config(common, flags(&args, common)?)?;
    let is_demo = args.demo && args.kb.given().is_none();
    let kb = if is_demo { DEMO_BASE.into() } else { args.kb.chosen(&loaded.config) };
    let dir = base_folder(&kb)?;
    with_prompts(&mut loaded, &dir);
    let is_new = is_unmade(&kb)?;
    if is_new && !args.create && !args.demo {
        return Err(no_base(&kb).into());
    }
    // Of a base that is served already this is what is said, not that its port is taken.
    let lock = dir.is_dir().then(|| ServerLock::take(&dir)).transpose()?;
    let address = ReservedAddress::reserve(&loaded).await?;
    if is_new && !args.insecure {
        address.check_keys(&dir)?;
    }
    let lock = match lock {
        Some(lock) => lock,
        None => ServerLock::take(&dir)?,
    };
    let engine = create_or_open(loaded.config.clone(), &kb)?;
    if args.demo {
        index_library(&engine, &dir).await?;
    }
    let demo = args.demo.then(suggestions).transpose()?;
    let insecure = args.insecure;
    let file = loaded.file.clone();
    let options = ServeOptions { loaded, engine, dir: dir.clone(), demo, insecure };
    let server = Server::listen(address, options, lock)?;
    // Before the address is known: a signal that no one awaits ends the program.
    let (stop, signals) = (stop_signal(), reload_signals());
    announce(server.addr())?;
    let reload = Reload { reloader: server.reloader(), file, dir };
    tokio::select! {
        () = server.run(stop) => Ok(()),
        () = reload_on_signal(&args, common, &reload, signals) => Ok(()),
    }
}

fn no_base(kb: &Path) -> ConfigError {
    let file = kb.display().to_string();
    let hint = format!(
        "correct `--kb`, make a base with `halma index --kb {file} FOLDER`, or add `--create` to start \
         with an empty one"
    );
    ConfigError { file, key: String::new(), reason: "there is no knowledge base".into(), hint }
}

/// `halma mcp`: serves a knowledge base to the agent that started this program.
pub(crate) async fn mcp(args: Mcp, common: &Common) -> anyhow::Result<()> {
    let mut loaded = load_config(common, vec![])?;
    let kb = args.kb.chosen(&loaded.config);
    let dir = base_folder(&kb)?;
    with_prompts(&mut loaded, &dir);
    let engine = open(loaded.config.clone(), &kb)?;
    let (demo, insecure) = (None, false);
    let options = ServeOptions { loaded, engine, dir, demo, insecure };
    Ok(Box::pin(serve_stdio(options)).await?)
}

/// A server that is given its configuration again, and what that was read from at the start.
struct Reload {
    reloader: Reloader,
    file: Option<PathBuf>,
    /// The folder of the base, which may have prompts.
    dir: PathBuf,
}

impl Reload {
    /// Refuses to continue without the file that there was: its models would be replaced by the
    /// offline one.
    fn check(&self, loaded: &Loaded) -> Result<(), ConfigError> {
        match &self.file {
            Some(file) if loaded.file.is_none() => Err(ConfigError {
                file: file.display().to_string(),
                key: String::new(),
                reason: "the file is not there any more".into(),
                hint: "put it back, or start the server again to serve without it".into(),
            }),
            _ => Ok(()),
        }
    }
}

/// Reads the configuration again at each SIGHUP. One that is invalid is reported, and the former
/// one stays.
async fn reload_on_signal(
    args: &Serve,
    common: &Common,
    reload: &Reload,
    mut signals: UnboundedReceiver<()>,
) {
    while signals.recv().await.is_some() {
        let read = || -> anyhow::Result<_> {
            let mut loaded = load_config(common, flags(args, common)?)?;
            reload.check(&loaded)?;
            with_prompts(&mut loaded, &reload.dir);
            Ok(loaded)
        };
        let outcome = match read() {
            Ok(loaded) => reload.reloader.reload(loaded).await.map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => tracing::info!("the configuration was read again"),
            Err(e) => tracing::error!("the configuration stays as it was: {e:#}"),
        }
    }
    // There are no signals; the server goes on.
    std::future::pending::<()>().await;
}

/// Uses the prompts that were changed over HTTP, which are in the folder of the base, unless the
/// configuration names a folder.
fn with_prompts(loaded: &mut Loaded, dir: &std::path::Path) {
    if loaded.config.prompts_dir.is_none() {
        let folder = prompts_dir(None, dir);
        loaded.config.prompts_dir = folder.is_dir().then_some(folder);
    }
}

fn flags(args: &Serve, common: &Common) -> Result<Flags, ConfigError> {
    let mut flags = vec![];
    if let Some(addr) = &args.addr {
        flags.push(("serve.addr".into(), Value::String(addr.clone()), "--addr".into()));
    }
    if let Some(port) = args.port {
        let addr = server_address(args.addr.as_ref(), common)?;
        let host = addr.rsplit_once(':').map_or(addr.as_str(), |(host, _)| host);
        let addr = format!("{host}:{port}");
        flags.push(("serve.addr".into(), Value::String(addr), "--port".into()));
    }
    Ok(flags)
}

/// Writes the sample library to the originals, so that its documents can be opened, and indexes
/// it.
async fn index_library(engine: &Engine, dir: &std::path::Path) -> anyhow::Result<()> {
    let library = engine.originals().dir().to_owned();
    write_library(&library)?;
    view::note("Indexing the sample library: about half a minute the first time.");
    let inputs = [library];
    let report = engine.index(&inputs, &IndexOptions::default(), progress::index()).await?;
    view::note(&summary(&report, &dir.display().to_string()));
    Ok(())
}
