//! `halma search`: one layer, searched.
use std::time::Instant;

use console::style;
use halma_core::{Hit, Layer, Mode, ScorePart};
use halma_engine::SearchQuery;
use serde_json::json;

use super::setup::{loaded, open};
use crate::args::{Common, LayerArg, ModeArg, Search};
use crate::view::{self, shorten};

pub(crate) async fn run(args: Search, common: &Common) -> anyhow::Result<()> {
    let config = loaded(common, vec![])?.config;
    let engine = open(config, &args.kb.kb)?;
    let (layer, mode) = (args.layer.into(), args.mode.into());
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
        "parts": hit.parts,
        "start": hit.span.start,
        "end": hit.span.end,
    })
}

impl From<LayerArg> for Layer {
    fn from(layer: LayerArg) -> Self {
        match layer {
            LayerArg::Document => Self::Document,
            LayerArg::Section => Self::Section,
            LayerArg::Chunk => Self::Chunk,
            LayerArg::Table => Self::Table,
            LayerArg::Figure => Self::Figure,
            LayerArg::Row => Self::Row,
            LayerArg::Atom => Self::Atom,
            LayerArg::Summary => Self::Summary,
            LayerArg::Tag => Self::Tag,
            LayerArg::Entity => Self::Entity,
            LayerArg::Fact => Self::Fact,
            LayerArg::Community => Self::Community,
        }
    }
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Bm25 => Self::Bm25,
            ModeArg::Dense => Self::Dense,
            ModeArg::Hybrid => Self::Hybrid,
            ModeArg::Graph => Self::Graph,
        }
    }
}

/// What each part gave, and through which names.
fn explained(hit: &Hit) -> String {
    let part = |part: &ScorePart| match part.through.as_str() {
        "" => format!("{} {:.2}", part.name, part.score),
        through => format!("{} {:.2} ({through})", part.name, part.score),
    };
    hit.parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn line(i: usize, hit: &Hit) -> String {
    let parts = match explained(hit) {
        parts if parts.is_empty() => parts,
        parts => format!("\n     {}", style(parts).dim()),
    };
    format!(
        "{:>3}  {:.3}  {}  {}\n     {}{parts}",
        i + 1,
        hit.score,
        style(&hit.title).bold(),
        style(&hit.document).dim(),
        shorten(&hit.text, 150)
    )
}
