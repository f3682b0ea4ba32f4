//! `halma eval preset`: the tables of the papers, run on given files, our figures next to theirs.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::Engine;
use halma_eval::{
    Format, ListedRow, Preset, SideBySide, SystemUnderTest, fingerprint, preset, preset_list,
    presets, recognise, side_by_side,
};

use super::asking::Session;
use crate::args::{Common, EvalPreset, ProtocolArg};
use crate::view;

pub(super) async fn run(mut args: EvalPreset, common: &Common) -> anyhow::Result<()> {
    if args.name == "list" {
        return if args.how.json {
            view::print_json(&presets())
        } else {
            view::print(preset_list().trim_end())
        };
    }
    let preset = preset(&args.name)?;
    if args.files.is_empty() {
        let rows = preset.listed(&strategies());
        if args.how.json {
            return view::print_json(&rows);
        }
        return view::print(preset.listing(&strategies()).trim_end());
    }
    args.how.judge = args.how.judge.or(preset.judge.map(ProtocolArg::from));
    // All of them first, so that a wrong one is reported at once and not after hours.
    let mut files = vec![];
    for file in &args.files {
        files.push((file.as_path(), of_table(preset, file)?));
    }
    let mut all: Vec<SideBySide> = vec![];
    for (file, format) in files {
        let out = |data: &str| PathBuf::from(".halma/eval/preset").join(&preset.name).join(data);
        let session = Session::open((file, format), &args.how, common, out).await?;
        let systems = systems(&session.engine, preset)?;
        let (report, page) = session.report(&systems).await?;
        let compared = side_by_side(preset, format, &report);
        if !args.how.json {
            view::print(&format!("{}\n\nViewer: {}\n", compared.text(), page.display()))?;
        }
        all.push(compared);
    }
    if args.how.json { view::print_json(&all) } else { Ok(()) }
}

fn strategies() -> Vec<&'static str> {
    halma_engine::strategies().iter().map(|entry| entry.name).collect()
}

/// The set of a file, which must be one that the table has figures for.
fn of_table(preset: &Preset, file: &Path) -> anyhow::Result<Format> {
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

/// The rows that can be run here; the others are named in the table.
fn systems(engine: &Engine, preset: &Preset) -> anyhow::Result<Vec<SystemUnderTest>> {
    let mut systems: Vec<SystemUnderTest> = vec![];
    for row in preset.listed(&strategies()).into_iter().filter(|row| row.missing.is_none()) {
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
