//! The papers' tables name strategies and settings that exist.
use halma_eval::presets;
use toml::{Table, Value};

#[test]
fn every_row_of_a_preset_can_be_built_where_its_strategy_is_known() {
    let strategies = halma_engine::strategies();
    let names: Vec<&str> = strategies.iter().map(|entry| entry.name).collect();
    let mut built = 0;
    for preset in presets() {
        for row in preset.listed(&names).into_iter().filter(|row| row.missing.is_none()) {
            let entry = strategies
                .iter()
                .find(|entry| Some(entry.name) == row.strategy.as_deref())
                .unwrap();
            let mut table: Table = row
                .settings
                .iter()
                .map(|(key, value)| (key.clone(), halma_engine::flag_value(value)))
                .collect::<toml::map::Map<String, Value>>();
            // Settings of every strategy are taken before its own.
            for key in halma_core::COMMON_SETTINGS {
                let value = table.remove(key);
                assert!(value.is_none_or(|value| value.is_bool()), "{}: {key}", preset.name);
            }
            let strategy = (entry.build)(table.clone());
            let strategy =
                strategy.unwrap_or_else(|e| panic!("{}: {}: {e}", preset.name, row.label));
            // What a row says is what the strategy has understood.
            for (key, value) in &table {
                let shown = strategy.settings()[key].to_string();
                let wanted = serde_json::to_value(value).unwrap().to_string();
                assert_eq!(shown, wanted, "{}: {}: {key}", preset.name, row.label);
            }
            built += 1;
        }
    }
    assert!(built > 40, "{built}");
}
