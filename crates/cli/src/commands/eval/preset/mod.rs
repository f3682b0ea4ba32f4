//! `halma eval preset`: the tables of the papers, run on their question files, our figures next to
//! theirs.
mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Engine, OFFLINE};
use halma_eval::{
    Format, ListedRow, Preset, Report, SideBySide, SystemUnderTest, preset, preset_list, presets,
    side_by_side,
};

use self::files::question_files;
use super::session::{Prepared, Questions};
use super::systems::is_dense;
use crate::args::{Common, EvalPreset, PresetCommand};
use crate::commands::vectors;
use crate::view;

pub(super) async fn run(command: PresetCommand, common: &Common) -> anyhow::Result<()> {
    match command {
        PresetCommand::List { json: true } => view::print_json(&presets()),
        PresetCommand::List { json: false } => view::print(preset_list().trim_end()),
        PresetCommand::Show { name, json } => {
            let preset = preset(&name)?;
            if json {
                return view::print_json(preset);
            }
            view::print(preset.listing(&strategies()).trim_end())
        }
        PresetCommand::Run(args) => run_table(*args, common).await,
        PresetCommand::Other(words) => Err(without_verb(&words).into()),
    }
}

/// `halma eval preset kar3-table1`.
fn without_verb(words: &[String]) -> ConfigError {
    let name = words.first().map_or("", String::as_str);
    let (reason, hint) = match preset(name) {
        Ok(_) => (
            "say what to do with the table",
            format!("halma eval preset run {name}, or halma eval preset show {name}"),
        ),
        Err(_) => ("it is not one of list, show and run", "halma eval preset list".to_owned()),
    };
    ConfigError {
        file: "halma eval preset".into(),
        key: name.into(),
        reason: reason.into(),
        hint: format!("write {hint}"),
    }
}

async fn run_table(mut args: EvalPreset, common: &Common) -> anyhow::Result<()> {
    let preset = preset(&args.name)?;
    if let Some(reason) = &preset.not_run {
        return Err(ConfigError {
            file: preset.name.clone(),
            key: format!("{}, {}", preset.paper, preset.table),
            reason: format!("it is not run: {reason}"),
            hint: "`halma eval preset list` names those that are".into(),
        }
        .into());
    }
    args.how.judge = args.how.judge.or(preset.judge);
    if args.how.assess.is_empty() {
        args.how.assess = preset.assess.clone();
    }
    let files = question_files(preset, &args)?;
    warn_overridden(preset, &args.how.set.set);
    let mut all: Vec<SideBySide> = vec![];
    let out = args.how.out.clone();
    for (file, format) in &files {
        // The report of each file has a folder of its own.
        if let (Some(out), Some(name)) = (&out, file.file_stem().filter(|_| files.len() > 1)) {
            args.how.out = Some(out.join(name));
        }
        let preset = preset.for_format(*format);
        let (report, page) = report(&preset, (file, *format), &args, common).await?;
        let compared = side_by_side(&preset, *format, &report);
        let table = compared.save(page.parent().unwrap_or(Path::new(".")))?;
        if !args.how.json {
            view::print(&format!(
                "{}\n\nThis table as Markdown: {}\nViewer with charts and every question: {}\n",
                compared.text(),
                table.display(),
                page.display()
            ))?;
        }
        all.push(compared);
    }
    if args.how.json { view::print_json(&all) } else { Ok(()) }
}

/// The report of all rows. Rows that need a base of their own are run on one.
async fn report(
    preset: &Preset,
    (file, format): (&Path, Format),
    args: &EvalPreset,
    common: &Common,
) -> anyhow::Result<(Report, PathBuf)> {
    let out = |data: &str| PathBuf::from(".halma/eval/preset").join(&preset.name).join(data);
    let mut joined: Option<(Report, PathBuf)> = None;
    for (config, rows) in by_configuration(preset) {
        if args.how.kb.is_some() && config != preset.config {
            let labels = rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>().join(", ");
            view::warn(&format!("left out, since it needs a base other than --kb: {labels}"));
            continue;
        }
        let questions = Questions::of_preset(preset, (file, format), config);
        let prepared = Prepared::new(&questions, &args.how, common, out)?;
        prepared.check_folder()?;
        let opened = prepared.open()?;
        warn_offline(&opened.engine);
        // Before the base is built, which may cost more than the rows.
        let rows = runnable(&opened.engine, rows);
        if rows.is_empty() {
            continue;
        }
        let session = opened.build().await?;
        let systems = systems(&session.engine, rows)?;
        let (mut report, page) = session.report(&systems).await?;
        let page = match joined.take() {
            None => page,
            Some((first, _)) => {
                report = first.join(report);
                report.save(&session.out)?
            }
        };
        joined = Some((report, page));
    }
    joined.ok_or_else(|| anyhow::anyhow!("no row of {} can be run here", preset.name))
}

/// The rows that can be run, by the configuration that they need.
fn by_configuration(preset: &Preset) -> Vec<(BTreeMap<String, String>, Vec<ListedRow>)> {
    let mut groups: Vec<(BTreeMap<String, String>, Vec<ListedRow>)> = vec![];
    for row in preset.listed(&strategies()).into_iter().filter(|row| row.missing.is_none()) {
        match groups.iter_mut().find(|(config, _)| *config == row.config) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row.config.clone(), vec![row])),
        }
    }
    groups
}

fn strategies() -> Vec<&'static str> {
    halma_engine::strategies().iter().map(|entry| entry.name).collect()
}

/// What a row sets is the table's, whatever `--set` says.
fn warn_overridden(preset: &Preset, set: &[String]) {
    for text in set {
        let Some((strategy, key)) = text.split('=').next().and_then(|name| name.split_once('.'))
        else {
            continue;
        };
        let sets = |row: &ListedRow| {
            row.strategy.as_deref() == Some(strategy) && row.settings.contains_key(key.trim())
        };
        let rows: Vec<String> =
            preset.listed(&strategies()).into_iter().filter(sets).map(|row| row.label).collect();
        if !rows.is_empty() {
            let rows = rows.join(", ");
            view::warn(&format!("--set {text} has no effect on {rows}: the table sets it itself"));
        }
    }
}

fn warn_offline(engine: &Engine) {
    if engine.model_for_role("reader") == OFFLINE {
        view::warn(
            "the offline model answers, which only extracts: its figures say nothing about the \
             method with a language model; describe one under [models] (docs/guide/models.md)",
        );
    }
}

/// The rows that this configuration can run; the others are named. A table is run as far as it can
/// be.
fn runnable(engine: &Engine, rows: Vec<ListedRow>) -> Vec<ListedRow> {
    let can_run = |row: &ListedRow| {
        let Some(name) = &row.strategy else { return false };
        let lacks_vectors = is_dense(&row.settings) && engine.embedder().is_none();
        let checked = match engine.strategy_with(name, &row.settings) {
            Ok(_) if lacks_vectors => Err(vectors::refused("mode")),
            built => built.map(drop),
        };
        if let Err(error) = &checked {
            view::warn(&format!("{} is left out: {error}; {}", row.label, error.hint));
        }
        checked.is_ok()
    };
    rows.into_iter().filter(can_run).collect()
}

/// The rows as systems.
fn systems(engine: &Engine, rows: Vec<ListedRow>) -> anyhow::Result<Vec<SystemUnderTest>> {
    let mut systems: Vec<SystemUnderTest> = vec![];
    for row in rows {
        let (Some(name), Some(label), point) = (row.strategy, row.run, row.settings) else {
            continue;
        };
        // Two rows may be one run.
        if systems.iter().any(|other| other.label == label) {
            continue;
        }
        systems.push(engine.system_under_test(&name, label, point)?);
    }
    Ok(systems)
}

#[cfg(test)]
mod tests {
    use halma_engine::flag_value;

    use super::*;

    /// Each row that runs, with the settings that its strategy makes of the preset's.
    fn built() -> Vec<(String, String, serde_json::Value, BTreeMap<String, String>)> {
        let mut rows = vec![];
        for preset in presets() {
            let formats = preset.formats();
            for preset in formats.iter().map(|format| preset.for_format(*format)) {
                for row in preset.listed(&strategies()) {
                    let Some(name) = &row.strategy else { continue };
                    assert_eq!(row.missing, None, "{} {}", preset.name, row.label);
                    let entry = halma_engine::strategies().iter().find(|entry| entry.name == *name);
                    let value = |(key, value): (&String, &String)| (key.clone(), flag_value(value));
                    // The engine takes it from the table of every strategy.
                    let settings = row.settings.iter().filter(|(key, _)| *key != "abstain");
                    let table = settings.map(value).collect();
                    let strategy = entry
                        .unwrap()
                        .build_from(table)
                        .unwrap_or_else(|error| panic!("{} {}: {error}", preset.name, row.label));
                    rows.push((preset.name.clone(), row.label, strategy.settings(), row.settings));
                }
            }
        }
        rows
    }

    #[test]
    fn every_row_is_built_by_its_strategy() {
        assert!(built().len() > 400);
    }

    /// A table compares methods, not search modes.
    #[test]
    fn all_rows_that_search_do_it_in_the_same_mode() {
        for (preset, row, settings, given) in built() {
            let Some(mode) = settings.get("mode") else { continue };
            assert_eq!(mode, "dense", "{preset} {row}");
            assert!(given.contains_key("mode"), "{preset} {row}: by default only");
        }
    }
}
