//! `halma search`: searches one layer of a base, or an external source.
use std::fmt::Write as _;
use std::time::Instant;

use console::style;
use halma_core::{Hit, ScorePart};
use halma_engine::SearchQuery;
use serde_json::json;

use super::setup::{load_config, open};
use crate::args::{Common, Search};
use crate::view::{self, shorten};

pub(crate) async fn run(args: Search, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let engine = open(config, &args.kb.kb)?;
    let Some(text) = args.query.filter(|_| !args.kept) else {
        let searches = engine.web_searches()?;
        let lines = searches.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        return if lines.is_empty() { Ok(()) } else { view::print(&lines.join("\n")) };
    };
    let began = Instant::now();
    if let Some(source) = &args.source {
        let hits = engine.search_source(source, &text, args.top as usize).await?;
        return show(&hits, began, args.json, false);
    }
    let query = SearchQuery {
        text,
        layer: args.layer,
        mode: args.mode,
        limit: args.top as usize,
        filter: args.filter.try_into()?,
    };
    let hits = engine.search(query).await?;
    show(&hits, began, args.json, args.explain)
}

fn show(hits: &[Hit], began: Instant, json: bool, explain: bool) -> anyhow::Result<()> {
    let elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    if json {
        let hits: Vec<_> = hits.iter().map(as_json).collect();
        return view::print_json(&json!({"hits": hits, "elapsed_ms": elapsed_ms}));
    }
    if hits.is_empty() {
        return view::print("No results.");
    }
    let lines: Vec<String> =
        hits.iter().enumerate().map(|(i, hit)| line(i, hit, explain)).collect();
    view::print(&lines.join("\n"))
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
        "page": hit.page,
        "start": hit.span.start,
        "end": hit.span.end,
    })
}

fn line(i: usize, hit: &Hit, explain: bool) -> String {
    let place = match hit.page {
        Some(page) => format!("{}, page {page}", hit.document),
        None => hit.document.clone(),
    };
    let mut line = format!(
        "{:>3}  {:.3}  {}  {}\n     {}",
        i + 1,
        hit.score,
        style(&hit.title).bold(),
        style(place).dim(),
        shorten(&hit.text, 150)
    );
    if explain && !hit.parts.is_empty() {
        let parts: Vec<String> = hit.parts.iter().map(part).collect();
        let _ = write!(line, "\n     {}", style(parts.join(" + ")).cyan());
    }
    line
}

/// `entities 0.41 (Jaws, Steven Spielberg)`.
fn part(part: &ScorePart) -> String {
    let ScorePart { name, score, through } = part;
    if through.is_empty() {
        return format!("{name} {score:.2}");
    }
    format!("{name} {score:.2} ({})", shorten(through, 60))
}
