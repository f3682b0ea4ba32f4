//! `halma backup` and `halma restore`.
use halma_engine::{RestoreOptions, backup, restore};

use crate::args::{Backup, Common, Restore};
use crate::commands::setup::load_config;
use crate::view::{self, plural};

pub(crate) fn run(args: &Backup, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let hint = "copy the base into a folder with `halma kb copy ADDRESS FOLDER`, and back that up";
    let kb = args.kb.only_folder(&config, "backup", hint)?;
    let report = backup(&kb, &args.to)?;
    if args.json {
        return view::print_json(&report);
    }
    let stores = plural(report.environments, "store", "stores");
    let values = plural(report.values, "value", "values");
    let files = plural(report.files, "file", "files");
    view::print(&format!(
        "Backed up {} to {}: {stores} with {values} ({} changed), {files} ({} changed) in {:.1} s.",
        kb.display(),
        args.to.display(),
        report.changed_values,
        report.changed_files,
        report.elapsed_ms / 1e3,
    ))
}

pub(crate) fn run_restore(args: &Restore, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let options = RestoreOptions { replace: args.replace, unverified: args.unverified };
    let hint = "restore into a folder, and copy that with `halma kb copy FOLDER ADDRESS`";
    let kb = args.kb.only_folder(&config, "restore", hint)?;
    let report = restore(&args.backup, &kb, options)?;
    if !report.complete {
        view::warn(
            "the backup was interrupted while it was brought up to date: its records are whole, \
             uploaded files and traces may be older or newer",
        );
    }
    for problem in &report.problems {
        view::warn(&format!("damaged: {problem}"));
    }
    if report.lost_vectors > 0 {
        let lost = plural(report.lost_vectors, "vector", "vectors");
        view::warn(&format!(
            "{lost} could not be read in the backup; `halma index` embeds the texts again, and \
             until then they are found by keywords only"
        ));
    }
    if args.json {
        return view::print_json(&report);
    }
    let bases = plural(report.bases, "base", "bases");
    let documents = plural(report.documents, "document", "documents");
    let rebuilt = match report.rebuilt_indexes {
        0 => String::new(),
        some => format!(", {} rebuilt", plural(some, "lexical index", "lexical indexes")),
    };
    view::print(&format!(
        "Restored {} to {}: {bases} with {documents} and {}{rebuilt}, verified in {:.1} s.",
        args.backup.display(),
        kb.display(),
        plural(report.chunks, "chunk", "chunks"),
        report.elapsed_ms / 1e3,
    ))
}
