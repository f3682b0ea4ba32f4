//! `halma kb`: what a base holds.
use halma_engine::Engine;

use super::setup::{loaded, open};
use crate::args::{Common, Kb, KbCommand};
use crate::view::{self, table::table};

pub(crate) fn run(args: &Kb, common: &Common) -> anyhow::Result<()> {
    let KbCommand::Stats { kb, json } = &args.command;
    let engine: Engine = open(loaded(common, vec![])?.config, &kb.kb)?;
    let stats = engine.stats()?;
    if *json {
        return view::say_json(&stats);
    }
    let value = serde_json::to_value(&stats)?;
    let mut rows = vec![];
    for (key, value) in value.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        rows.push(vec![key.replace('_', " "), value]);
    }
    view::say(&table(&rows))
}
