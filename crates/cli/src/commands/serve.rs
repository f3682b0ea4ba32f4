//! `halma serve`: a base for programs and browsers.
use std::path::Path;

use halma_core::ConfigError;
use halma_engine::{Engine, Flags, IndexOptions, Loaded};
use halma_server::{ServeOptions, Server, announce, prompts_dir, stop_signal};
use toml::Value;

use super::demo::write_library;
use super::index::summary;
use super::setup::{create_or_open, loaded};
use crate::args::{Common, Serve};
use crate::view::{self, progress};

/// Where the demo's base is, unless another place is named; `halma demo` has it there too.
const DEMO: &str = ".halma/demo/base";

pub(crate) async fn run(args: Serve, common: &Common) -> anyhow::Result<()> {
    let usual = args.kb.kb == Path::new(".halma");
    let dir = if args.demo && usual { DEMO.into() } else { args.kb.kb.clone() };
    let mut loaded = loaded(common, flags(&args, common)?)?;
    with_prompts(&mut loaded, &dir);
    let engine = create_or_open(loaded.config.clone(), &dir)?;
    if args.demo {
        index_library(&engine, &dir).await?;
    }
    let (demo, insecure) = (args.demo, args.insecure);
    let server = Server::bind(ServeOptions { loaded, engine, dir, demo, insecure }).await?;
    announce(server.addr())?;
    server.run(stop_signal()).await;
    Ok(())
}

/// Prompts that were changed over HTTP are in the base's own folder, unless the configuration
/// names one.
pub(crate) fn with_prompts(loaded: &mut Loaded, dir: &std::path::Path) {
    if loaded.config.prompts_dir.is_none() {
        let own = prompts_dir(None, dir);
        loaded.config.prompts_dir = own.is_dir().then_some(own);
    }
}

fn flags(args: &Serve, common: &Common) -> Result<Flags, ConfigError> {
    let mut flags = vec![];
    if let Some(addr) = &args.addr {
        flags.push(("serve.addr".into(), Value::String(addr.clone()), "--addr".into()));
    }
    if let Some(port) = args.port {
        let addr = match &args.addr {
            Some(addr) => addr.clone(),
            None => loaded(common, vec![])?.config.serve.addr,
        };
        let host = addr.rsplit_once(':').map_or(addr.as_str(), |(host, _)| host);
        let addr = format!("{host}:{port}");
        flags.push(("serve.addr".into(), Value::String(addr), "--port".into()));
    }
    Ok(flags)
}

/// Puts the sample library among the originals, so that its documents can be opened, and indexes
/// what of it is not there yet.
async fn index_library(engine: &Engine, dir: &std::path::Path) -> anyhow::Result<()> {
    let library = engine.originals().dir().to_owned();
    write_library(&library)?;
    let inputs = [library];
    let report = engine.index(&inputs, &IndexOptions::default(), progress::of_index()).await?;
    view::note(&summary(&report, dir));
    Ok(())
}
