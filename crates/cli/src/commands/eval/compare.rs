//! `halma eval compare`: two runs, question by question.
use std::path::Path;

use halma_core::ConfigError;
use halma_eval::{Comparison, Report, Resampling, Side, compare, pairs};

use crate::args::EvalCompare;
use crate::view;

pub(super) fn run(args: &EvalCompare) -> anyhow::Result<()> {
    let (first, label) = parts(&args.first);
    let (second, other) = parts(&args.second);
    if first.is_empty() {
        return Err(no_report(&args.first).into());
    }
    let one = Report::open(Path::new(first))?;
    // `#kar3` alone is a run of the first report.
    let two = if second.is_empty() { one.clone() } else { Report::open(Path::new(second))? };
    let sides = if label.is_none() && other.is_none() {
        pairs(&one, &two)
    } else {
        vec![(Side::select(&one, label)?, Side::select(&two, other)?)]
    };
    anyhow::ensure!(
        !sides.is_empty(),
        "the two reports have no run label in common; select the runs with REPORT#LABEL"
    );
    let resampling = Resampling { resamples: args.resamples as usize, seed: args.seed };
    let compared: Result<Vec<Comparison>, _> =
        sides.into_iter().map(|(a, b)| compare(a, b, resampling)).collect();
    let compared = compared?;
    if args.json {
        return view::print_json(&compared);
    }
    let tables: Vec<String> = compared.iter().map(Comparison::table).collect();
    view::print(&tables.join("\n\n"))
}

/// `#naive` as the first of two.
fn no_report(given: &str) -> ConfigError {
    ConfigError {
        file: "A".into(),
        key: given.into(),
        reason: "a folder or a report.json must stand before `#`".into(),
        hint:
            "write, for example, halma eval compare .halma/eval/questions#naive '#kar3': only the \
               second run may be of the first one's report"
                .into(),
    }
}

/// `REPORT#LABEL`; a folder may have such a name itself.
fn parts(text: &str) -> (&str, Option<&str>) {
    if Path::new(text).exists() {
        return (text, None);
    }
    text.split_once('#').map_or((text, None), |(report, label)| (report, Some(label)))
}
