//! `halma mcp`: serves a knowledge base to the agent that started this program.
use halma_server::{ServeOptions, serve_stdio};

use super::serve::with_prompts;
use super::setup::{load_config, open};
use crate::args::{Common, Mcp};

pub(crate) async fn run(args: Mcp, common: &Common) -> anyhow::Result<()> {
    let mut loaded = load_config(common, vec![])?;
    with_prompts(&mut loaded, &args.kb.kb);
    let engine = open(loaded.config.clone(), &args.kb.kb)?;
    let (dir, demo, insecure) = (args.kb.kb, false, false);
    Ok(serve_stdio(ServeOptions { loaded, engine, dir, demo, insecure }).await?)
}
