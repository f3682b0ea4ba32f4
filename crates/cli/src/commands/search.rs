//! `halma search`: one layer, searched.
use std::time::Instant;

use console::style;
use halma_core::{Hit, Layer, Mode};
use halma_engine::SearchQuery;
use serde_json::json;

use super::setup::{loaded, open};
use crate::args::{Common, LayerArg, ModeArg, Search};
use crate::view::{self, shorten};

pub(crate) async fn run(args: Search, common: &Common) -> anyhow::Result<()> {
    let config = loaded(common, vec![])?.config;
    let engine = open(config, &args.kb.kb)?;
    let layer = match args.layer {
        LayerArg::Chunk => Layer::Chunk,
        LayerArg::Atom => Layer::Atom,
    };
    let mode = match args.mode {
        ModeArg::Bm25 => Mode::Bm25,
        ModeArg::Dense => Mode::Dense,
        ModeArg::Hybrid => Mode::Hybrid,
    };
    let query = SearchQuery { text: args.query, layer, mode, limit: args.top as usize };
    let began = Instant::now();
    let hits = engine.search(query).await?;
    let elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    if args.json {
        let hits: Vec<_> = hits.iter().map(as_json).collect();
        return view::say_json(&json!({"hits": hits, "elapsed_ms": elapsed_ms}));
    }
    if hits.is_empty() {
        return view::say("Nothing found.");
    }
    let lines: Vec<String> = hits.iter().enumerate().map(|(i, hit)| line(i, hit)).collect();
    view::say(&lines.join("\n"))
}

fn as_json(hit: &Hit) -> serde_json::Value {
    json!({
        "id": hit.id,
        "layer": hit.layer,
        "document": hit.document,
        "title": hit.title,
        "section": hit.section,
        "text": hit.text,
        "score": hit.score,
        "cosine": hit.cosine,
        "start": hit.span.start,
        "end": hit.span.end,
    })
}

fn line(i: usize, hit: &Hit) -> String {
    format!(
        "{:>3}  {:.3}  {}  {}\n     {}",
        i + 1,
        hit.score,
        style(&hit.title).bold(),
        style(&hit.document).dim(),
        shorten(&hit.text, 150)
    )
}
