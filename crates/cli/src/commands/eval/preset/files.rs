//! The question files of a table: those that are given, or those that its data sets are published
//! as. All are checked before the first question is asked, not after hours.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_eval::{Format, NeededFile, Pool, Preset, find_file, load, recognise};

use crate::args::{EvalHow, EvalPreset};

/// The given files, or those that are found in the folder.
pub(super) fn question_files(
    preset: &Preset,
    args: &EvalPreset,
) -> anyhow::Result<Vec<(PathBuf, Format)>> {
    let files = if args.files.is_empty() {
        published_files(preset, &args.data)?
    } else {
        let file = |file: &PathBuf| Ok((file.clone(), format_of_table(preset, file)?));
        args.files.iter().map(file).collect::<anyhow::Result<Vec<_>>>()?
    };
    check_bases(preset, &files, &args.how)?;
    Ok(files)
}

fn published_files(preset: &Preset, data: &Path) -> Result<Vec<(PathBuf, Format)>, ConfigError> {
    if !data.is_dir() {
        return Err(ConfigError {
            file: "--data".into(),
            key: data.display().to_string(),
            reason: "there is no such folder".into(),
            hint: "name the folder that holds the published question files".into(),
        });
    }
    let (mut files, mut missing) = (vec![], vec![]);
    for needed in preset.needed_files() {
        match find_file(data, &needed) {
            Some(file) => files.push((file, needed.format)),
            None => missing.push(needed),
        }
    }
    if missing.is_empty() {
        return Ok(files);
    }
    let line = |NeededFile { format, file, source }: &NeededFile| {
        format!("\n  {file}, of {}: {source}", format.title())
    };
    let lines: String = missing.iter().map(line).collect();
    let folder = match data.display().to_string() {
        folder if folder == "." => "the current folder".to_owned(),
        folder => format!("`{folder}`"),
    };
    Err(ConfigError {
        file: "--data".into(),
        key: preset.name.clone(),
        reason: format!("these question files are not in {folder} or below it:{lines}"),
        hint: format!(
            "download them, and name their folder with --data DIR; or name the files that you \
             have: halma eval preset run {} FILE…",
            preset.name
        ),
    })
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
        key: "FILE".into(),
        reason: format!("its format is {format}, for which {} has no figures", preset.name),
        hint: format!("give a file of {}", names.join(", ")),
    }
    .into())
}

/// Several files of which one needs a base: that one has to be run by itself.
fn check_bases(preset: &Preset, files: &[(PathBuf, Format)], how: &EvalHow) -> anyhow::Result<()> {
    if files.len() < 2 || how.kb.is_some() || how.no_kb {
        return Ok(());
    }
    let mut lacking = vec![];
    for (file, format) in files {
        let first = load(file, *format, Some(1))?;
        let brings = first.items.iter().any(|item| !item.contexts.is_empty());
        if !brings && format.entry().searched != Pool::Nothing {
            lacking.push((file, searched_in_words(*format)));
        }
    }
    let Some((file, _)) = lacking.first() else { return Ok(()) };
    let line =
        |(file, base): &(&PathBuf, String)| format!("\n  {}: a base of {base}", file.display());
    let lines: String = lacking.iter().map(line).collect();
    Err(ConfigError {
        file: "--kb".into(),
        key: preset.name.clone(),
        reason: format!("these questions bring no passages to search:{lines}"),
        hint: format!(
            "with --kb DIR all files are asked over that one base; to give a file its own, run it \
             by itself: halma eval preset run {} {} --kb DIR",
            preset.name,
            file.display()
        ),
    }
    .into())
}

/// A set whose full file brings passages can be cut down to its questions.
fn searched_in_words(format: Format) -> String {
    match format.entry().searched {
        Pool::Pooled | Pool::EachAlone => "the passages that its full file has".to_owned(),
        _ => format.entry().searched_in_words(),
    }
}
