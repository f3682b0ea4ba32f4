//! `halma mcp`: serves a knowledge base to the agent that started this program.
use halma_engine::base_folder;
use halma_server::{ServeOptions, serve_stdio};

use super::serve::with_prompts;
use super::setup::{load_config, open};
use crate::args::{Common, Mcp};

pub(crate) async fn run(args: Mcp, common: &Common) -> anyhow::Result<()> {
    let mut loaded = load_config(common, vec![])?;
    let kb = args.kb.chosen(&loaded.config);
    let dir = base_folder(&kb)?;
    with_prompts(&mut loaded, &dir);
    let engine = open(loaded.config.clone(), &kb)?;
    let (demo, insecure) = (None, false);
    let options = ServeOptions { loaded, engine, dir, demo, insecure };
    Ok(Box::pin(serve_stdio(options)).await?)
}
