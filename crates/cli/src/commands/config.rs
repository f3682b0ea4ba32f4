//! `halma config show`: prints every value with its origin.
use console::style;
use halma_engine::show;

use super::setup::load_config;
use crate::args::{Common, Config, ConfigCommand};
use crate::view::{self, table::table};

pub(crate) fn run(args: &Config, common: &Common) -> anyhow::Result<()> {
    let ConfigCommand::Show { json } = args.command;
    let loaded = load_config(common, vec![])?;
    let values = show(&loaded)?;
    if json {
        return view::print_json(&values);
    }
    let row = |value: &halma_engine::ShownValue| {
        vec![
            value.key.clone(),
            value.value.to_string(),
            style(value.origin.clone()).dim().to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = values.iter().map(row).collect();
    view::print(&table(&rows))
}
