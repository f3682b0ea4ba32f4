//! `halma data`: lists question sets and checks downloaded files.
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use halma_core::ConfigError;
use halma_eval::{Converted, CorpusWriter, check, entries};

use crate::args::{Data, DataCommand};
use crate::view;

pub(crate) fn run(args: Data) -> anyhow::Result<()> {
    match args.command {
        DataCommand::List { json } => list(json),
        DataCommand::Show { set, json } => {
            let entry = set.entry();
            if json { view::print_json(&entry.json()) } else { view::print(entry.page().trim()) }
        }
        DataCommand::Check { file, format, json } => {
            let checked = check(&file, format)?;
            if json { view::print_json(&checked) } else { view::print(&checked.lines().join("\n")) }
        }
        DataCommand::Corpus { files, out, json } => {
            let converted = convert(&files, &out)?;
            if json { view::print_json(&converted) } else { say(&converted, &out) }
        }
    }
}

fn convert(files: &[PathBuf], out: &Path) -> anyhow::Result<Converted> {
    let mut writer = CorpusWriter::create(out)?;
    for file in files {
        if file.as_os_str() == "-" {
            writer.add("standard input", std::io::stdin().lock())?;
            continue;
        }
        let name = file.display();
        let open = File::open(file).with_context(|| format!("{name}: it cannot be read"))?;
        writer.add(&name.to_string(), BufReader::new(open))?;
    }
    let converted = writer.finish()?;
    if converted.passages == 0 {
        let first = converted.first_skipped;
        return Err(ConfigError {
            file: files
                .iter()
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
                .join(", "),
            key: String::new(),
            reason: match first {
                Some(first) => format!("no line is a passage; the first that is not: {first}"),
                None => "there are no lines".into(),
            },
            hint: "`halma data corpus --help` describes the files".into(),
        }
        .into());
    }
    Ok(converted)
}

fn say(converted: &Converted, out: &Path) -> anyhow::Result<()> {
    let Converted { passages, parts, skipped, first_skipped } = converted;
    if let Some(first) = first_skipped {
        let skipped = view::plural(*skipped, "line is", "lines are");
        view::warn(&format!("{skipped} left out; the first: {first}"));
    }
    let (passages, files) = (
        view::plural(*passages, "passage", "passages"),
        view::plural(*parts as u64, "file", "files"),
    );
    let folder = out.display();
    view::print(&format!("{passages} in {files} in {folder}\nNext: halma index {folder} --kb DIR"))
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<_> = entries().iter().map(halma_eval::DataSetEntry::json).collect();
        return view::print_json(&all);
    }
    let wide = entries().iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let line = |entry: &halma_eval::DataSetEntry| {
        let (name, title, metric) = (&entry.name, &entry.title, entry.metric.name());
        format!("{name:<wide$}  {title} ({metric})")
    };
    let lines: Vec<String> = entries().iter().map(line).collect();
    view::print(&format!(
        "{}\n\n`halma data show NAME` describes a set and its source; `halma data check FILE` checks \
         a downloaded file.",
        lines.join("\n")
    ))
}
