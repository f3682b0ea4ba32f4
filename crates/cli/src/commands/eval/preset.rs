//! `halma eval preset`: the tables of the papers, run on their question files, our figures next to
//! theirs.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::Engine;
use halma_eval::{
    Format, ListedRow, NeededFile, Preset, Report, SideBySide, SystemUnderTest, find_file,
    fingerprint, preset, preset_list, presets, recognise, side_by_side,
};

use super::asking::{Questions, Session};
use crate::args::{Common, EvalPreset, PresetCommand, ProtocolArg};
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
    }
}

async fn run_table(mut args: EvalPreset, common: &Common) -> anyhow::Result<()> {
    let preset = preset(&args.name)?;
    if let Some(reason) = &preset.not_run {
        anyhow::bail!("{}, {}, is not run: {reason}", preset.paper, preset.table);
    }
    args.how.judge = args.how.judge.or(preset.judge.map(ProtocolArg::from));
    // All of them first, so that a wrong one is reported at once and not after hours.
    let files = question_files(preset, &args)?;
    let mut all: Vec<SideBySide> = vec![];
    for (file, format) in &files {
        let preset = preset.for_format(*format);
        let (report, page) = report(&preset, (file, *format), &args, common).await?;
        let compared = side_by_side(&preset, *format, &report);
        if !args.how.json {
            view::print(&format!("{}\n\nViewer: {}\n", compared.text(), page.display()))?;
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
        let session = Session::open(questions, &args.how, common, out).await?;
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

/// The given files, or those that the table's data sets are published as.
fn question_files(preset: &Preset, args: &EvalPreset) -> anyhow::Result<Vec<(PathBuf, Format)>> {
    if !args.files.is_empty() {
        let file = |file: &PathBuf| Ok((file.clone(), format_of_table(preset, file)?));
        return args.files.iter().map(file).collect();
    }
    let (mut found, mut missing) = (vec![], vec![]);
    for needed in preset.needed_files() {
        match find_file(&args.data, &needed) {
            Some(file) => found.push((file, needed.format)),
            None => missing.push(needed),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let line = |NeededFile { format, file, source }: &NeededFile| {
        format!("\n  {file}, of {}: {source}", format.title())
    };
    let lines: String = missing.iter().map(line).collect();
    Err(ConfigError {
        file: args.data.display().to_string(),
        key: preset.name.clone(),
        reason: format!("these question files are not in the folder or below it:{lines}"),
        hint: format!(
            "fetch them from their authors and name the folder with --data DIR; or name the files \
             to run: halma eval preset run {} FILE…",
            preset.name
        ),
    }
    .into())
}

/// The set of a file, which must be one that the table has figures for.
fn format_of_table(preset: &Preset, file: &Path) -> anyhow::Result<Format> {
    let format = recognise(file)?;
    let formats = preset.formats();
    if formats.contains(&format) {
        return Ok(format);
    }
    let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    Err(ConfigError {
        file: file.display().to_string(),
        key: String::new(),
        reason: format!("its format is {format}, for which {} has no figures", preset.name),
        hint: format!("give a file of {}", names.join(", ")),
    }
    .into())
}

/// The rows as systems; those that this configuration cannot run are named.
fn systems(engine: &Engine, rows: Vec<ListedRow>) -> anyhow::Result<Vec<SystemUnderTest>> {
    let mut systems: Vec<SystemUnderTest> = vec![];
    for row in rows {
        let ListedRow { strategy: Some(name), run: Some(label), settings: point, .. } = row else {
            continue;
        };
        // Two rows may be one run.
        if systems.iter().any(|other| other.label == label) {
            continue;
        }
        match engine.strategy_with(&name, &point) {
            Ok(strategy) => {
                let fingerprint = fingerprint([engine.fingerprint(strategy.as_ref())?]);
                systems.push(SystemUnderTest { strategy, label, fingerprint, point });
            }
            // A table is run as far as it can be.
            Err(error) => view::warn(&format!("{label} is left out: {error}; {}", error.hint)),
        }
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
                    let own = row.settings.iter().filter(|(key, _)| *key != "abstain");
                    let table = own.map(value).collect();
                    let strategy = (entry.unwrap().build)(table)
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
