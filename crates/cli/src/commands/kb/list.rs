//! `halma kb list`: lists the nodes of a layer.
use std::fmt::Write as _;

use console::style;
use halma_core::NodeId;
use halma_engine::{ListQuery, ListedNode};

use crate::args::{Common, KbList};
use crate::commands::setup::open_base;
use crate::view::{self, page_suffix, plural, shorten, table, thousands};

pub(super) fn run(args: &KbList, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let query = ListQuery {
        layer: args.layer,
        document: args.document.clone(),
        after: args.after.clone().map(NodeId),
        limit: args.top as usize,
    };
    let listed = engine.base().inspector().list(&query)?;
    if args.json {
        return view::print_json(&listed);
    }
    if listed.is_empty() {
        return view::print("The base has no such nodes.");
    }
    let mut rows = vec![];
    for line in &listed {
        rows.push(vec![
            style(&line.id.0).dim().to_string(),
            style(shorten(&line.title, 40)).bold().to_string(),
            about(line),
            shorten(&line.text, 70),
        ]);
    }
    view::print(&table(&rows))?;
    if listed.len() == args.top as usize
        && let Some(last) = listed.last()
    {
        view::note(&format!("For more, add --after {} or raise --top.", last.id));
    }
    Ok(())
}

/// The place of a node; for a document, its name, format, size and unfinished units.
fn about(line: &ListedNode) -> String {
    let Some(about) = &line.about else {
        return shorten(&(line.document.clone() + &page_suffix(line.page)), 40);
    };
    let chunks = about.parts.get(&halma_core::Layer::Chunk).copied().unwrap_or_default();
    let (name, chunks) = (shorten(&line.document, 40), plural(chunks, "chunk", "chunks"));
    let mut text = format!("{name}, {}, {chunks}", about.format);
    for (state, count) in about.units.iter().filter(|(state, _)| **state != "done") {
        let _ = write!(text, ", {} {state}", thousands(*count));
    }
    text
}
