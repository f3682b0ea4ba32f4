//! `halma mcp`: a base as tools of an agent that started this program.
use halma_server::{ServeOptions, serve_stdio};

use super::serve::with_prompts;
use super::setup::{loaded, open};
use crate::args::{Common, Mcp};

pub(crate) async fn run(args: Mcp, common: &Common) -> anyhow::Result<()> {
    let mut loaded = loaded(common, vec![])?;
    with_prompts(&mut loaded, &args.kb.kb);
    let engine = open(loaded.config.clone(), &args.kb.kb)?;
    let (dir, demo, insecure) = (args.kb.kb, false, false);
    Ok(serve_stdio(ServeOptions { loaded, engine, dir, demo, insecure }).await?)
}
