//! `halma search`: searches one layer of a base, or an external source.
mod explain;
pub(super) mod no_result;

use std::time::Instant;

use console::style;
use halma_core::{Filter, Hit, Mode};
use halma_engine::SearchRequest;
use serde_json::json;

use self::explain::Explanation;
use super::setup::{load_config, open_chosen};
use super::vectors;
use crate::args::{Common, Search};
use crate::view::{self, page_suffix, shorten};

pub(crate) async fn run(args: Search, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config.without_unset_model_keys();
    let engine = open_chosen(config, &args.kb)?;
    let Some(text) = args.query.filter(|_| !args.kept) else {
        let searches = engine.web_searches()?;
        let lines = searches.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        return if lines.is_empty() { Ok(()) } else { view::print(&lines.join("\n")) };
    };
    engine.check_text("query", &text)?;
    let began = Instant::now();
    if let Some(source) = &args.source {
        let hits = engine.search_source(source, &text, args.top as usize).await?;
        return show(&hits, began, args.json, None);
    }
    // The default does without vectors where there are none; what was asked for does not.
    if args.mode != Mode::default() {
        vectors::check(&engine, args.mode, "--mode")?;
    }
    let filter: Filter = args.filter.try_into()?;
    let (layer, mode, limit) = (Some(args.layer), Some(args.mode), Some(args.top as usize));
    let request = SearchRequest { text, layer, mode, limit, filter: Some(filter.clone()) };
    let hits = engine.search(request).await?;
    let explanation = if args.explain {
        let usual = engine.base().usual_cosine(args.layer)?;
        let trust = engine.base().dense_trust()?;
        Some(Explanation { layer: args.layer, mode: args.mode, usual, trust })
    } else {
        None
    };
    show(&hits, began, args.json, explanation.as_ref())?;
    if hits.is_empty()
        && !args.json
        && let Some(reason) = no_result::explain(&engine, &filter)?
    {
        view::note(&reason);
    }
    Ok(())
}

fn show(
    hits: &[Hit],
    began: Instant,
    json: bool,
    explanation: Option<&Explanation>,
) -> anyhow::Result<()> {
    let elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    if json {
        let mut shown = json!({"hits": hits.iter().map(as_json).collect::<Vec<_>>()});
        if let Some(explanation) = explanation {
            shown["explanation"] = explanation.json();
            for (shown, hit) in shown["hits"].as_array_mut().into_iter().flatten().zip(hits) {
                shown["parts"] = explanation.parts_json(hit);
                shown["is_near"] = json!(explanation.is_near(hit));
            }
        }
        shown["elapsed_ms"] = json!(elapsed_ms);
        return view::print_json(&shown);
    }
    if hits.is_empty() {
        return view::print("No results.");
    }
    let mut lines: Vec<String> = explanation.map(Explanation::heading).into_iter().collect();
    for (i, hit) in hits.iter().enumerate() {
        lines.push(line(i, hit));
        lines.extend(explanation.map(|explanation| explanation.table(hit)));
    }
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

fn line(i: usize, hit: &Hit) -> String {
    let place = hit.document.clone() + &page_suffix(hit.page);
    format!(
        "{:>3}  {:.3}  {}  {}\n     {}",
        i + 1,
        hit.score,
        style(&hit.title).bold(),
        style(place).dim(),
        shorten(&hit.text, 150)
    )
}
