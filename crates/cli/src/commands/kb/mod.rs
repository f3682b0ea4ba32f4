//! `halma kb`: inspects a knowledge base and deletes documents.
mod cache;
mod copy;
mod learn_tags;
mod list;
mod merges;
mod meta;
mod show;
mod sql;
mod stats;
mod timeline;

use std::fs::File;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;

use super::setup::{open_base, refuse_existing};
use crate::args::{Common, Kb, KbCommand, KbDelete, KbExport, KbVerify};
use crate::view::{self, plural};

pub(crate) async fn run(args: Kb, common: &Common) -> anyhow::Result<()> {
    match args.command {
        KbCommand::Stats(args) => stats::run(&args, common),
        KbCommand::List(args) => list::run(&args, common),
        KbCommand::Show(args) => show::run(&args, common),
        KbCommand::Export(args) => export(&args, common),
        KbCommand::Verify(args) => verify(&args, common),
        KbCommand::Copy(args) => copy::run(&args, common),
        KbCommand::Delete(args) => delete(&args, common),
        KbCommand::Cache(args) => cache::run(&args, common),
        KbCommand::Meta(args) => meta::run(&args, common),
        KbCommand::Tables(args) => sql::tables(&args, common),
        KbCommand::Sql(args) => sql::run(&args, common),
        KbCommand::Merges(args) => merges::run(&args, common),
        KbCommand::Timeline(args) => timeline::run(args, common),
        KbCommand::LearnTags(args) => learn_tags::run(&args, common).await,
    }
}

/// `halma kb export`: writes all nodes and edges to a file.
fn export(args: &KbExport, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let Some(path) = &args.file else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        engine.base().inspector().export(&mut out)?;
        return Ok(out.flush()?);
    };
    refuse_existing(path, args.force)?;
    let cannot =
        || format!("cannot write `{}`; check the folder and its permissions", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(cannot)?);
    engine.base().inspector().export(&mut out)?;
    out.flush().with_context(cannot)?;
    view::note(&format!("Wrote {}.", path.display()));
    Ok(())
}

/// `halma kb verify`: checks the consistency of a base.
fn verify(args: &KbVerify, common: &Common) -> anyhow::Result<()> {
    let verified = open_base(&args.kb, common)?.base().inspector().verify()?;
    if args.json {
        view::print_json(&verified)?;
    } else {
        view::print(&format!(
            "Checked {}, {}, {} and {} of the BM25 index.",
            plural(verified.nodes, "node", "nodes"),
            plural(verified.edges, "edge", "edges"),
            plural(verified.vectors, "vector", "vectors"),
            plural(verified.index_entries, "entry", "entries"),
        ))?;
        for problem in &verified.problems {
            let document = problem.document.as_ref().map(|name| format!(" in {name}"));
            let document = document.unwrap_or_default();
            view::print(&format!("{}{document}: {} ({})", problem.id, problem.what, problem.hint))?;
        }
    }
    if verified.is_sound() {
        if !args.json {
            view::print("No problems found.")?;
        }
        return Ok(());
    }
    let problems = verified.problems.len() as u64 + verified.more;
    anyhow::bail!("{} found", plural(problems, "problem", "problems"))
}

/// `halma kb delete`: deletes documents with everything derived from them.
fn delete(args: &KbDelete, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let deleted = engine.delete(&args.documents)?;
    if args.json {
        return view::print_json(&deleted);
    }
    let nodes: u64 = deleted.nodes.values().sum();
    let mut lines = vec![format!(
        "Deleted {} with {} from {}.",
        plural(deleted.names.len() as u64, "document", "documents"),
        plural(nodes, "node", "nodes"),
        args.kb.shown(engine.config())?,
    )];
    lines.extend(deleted.names.iter().map(|name| format!("  {name}")));
    for name in &deleted.kept {
        lines.push(format!("  (the same text remains as {name})"));
    }
    view::print(&lines.join("\n"))
}
