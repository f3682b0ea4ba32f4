//! `halma kb list`: the nodes of a layer, or of some documents.
use console::style;
use halma_core::NodeId;
use halma_engine::ListQuery;

use super::opened;
use crate::args::{Common, KbList};
use crate::view::{self, shorten, table::table};

pub(super) fn run(args: &KbList, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let query = ListQuery {
        layer: args.layer.into(),
        document: args.document.clone(),
        after: args.after.clone().map(NodeId),
        limit: args.top as usize,
    };
    let listed = engine.base().list(&query)?;
    if args.json {
        return view::say_json(&listed);
    }
    if listed.is_empty() {
        return view::say("Nothing of that kind is in the base.");
    }
    let mut rows = vec![];
    for line in &listed {
        rows.push(vec![
            style(&line.id.0).dim().to_string(),
            style(shorten(&line.title, 40)).bold().to_string(),
            line.about(),
            shorten(&line.text, 70),
        ]);
    }
    view::say(&table(&rows))?;
    if listed.len() == args.top as usize
        && let Some(last) = listed.last()
    {
        view::note(&format!("More with --after {} or a larger --top.", last.id));
    }
    Ok(())
}
