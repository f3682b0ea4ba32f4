//! `halma train pairs`: collected rounds to training pairs.
use halma_engine::configured_prompts;
use halma_eval::train::{OnEntities, PairOptions, PairStatistics, make_pairs};

use super::held_out;
use crate::args::{Common, TrainPairs};
use crate::commands::setup::load_config;
use crate::view;

pub(super) fn run(args: &TrainPairs, common: &Common) -> anyhow::Result<()> {
    let prompts = configured_prompts(&load_config(common, vec![])?.config)?;
    let held_out = held_out(&args.files.held_out)?;
    let options = PairOptions {
        kind: args.kind,
        format: args.files.format,
        prompts: &prompts,
        held_out: held_out.as_ref(),
        entities: args.shared_names,
        share: args.files.share,
        force: args.files.force,
    };
    let statistics = make_pairs(&args.file, &args.out, &options)?;
    if statistics.train == 0 {
        view::warn("all pairs are held out: collect more questions, or give a smaller --share");
    }
    if args.json {
        return view::print_json(&statistics);
    }
    view::print(&format!(
        "{}\nFiles: {}",
        lines(&statistics, args.shared_names),
        args.out.display()
    ))
}

fn lines(statistics: &PairStatistics, shared_names: OnEntities) -> String {
    let count = |n: usize, one: &str, many: &str| view::plural(n as u64, one, many);
    let mut lines = vec![format!(
        "{} to train on, {} held out, from {} of {}",
        count(statistics.train, "pair", "pairs"),
        view::thousands(statistics.held_out as u64),
        count(statistics.trajectories, "trajectory", "trajectories"),
        count(statistics.questions, "question", "questions"),
    )];
    let replies: Vec<String> = statistics
        .replies
        .iter()
        .map(|(kind, n)| format!("{} {kind}", view::thousands(*n as u64)))
        .collect();
    lines.push(format!("replies: {}", replies.join(", ")));
    for (why, n) in &statistics.left_out {
        lines.push(format!("left out: {why}: {}", view::thousands(*n as u64)));
    }
    if !statistics.leaked_questions.is_empty() {
        let leaked = count(statistics.leaked_questions.len(), "question is", "questions are");
        lines.push(format!("dropped: {leaked} among those of --held-out"));
    }
    if statistics.shared_names_count > 0 {
        let shared = count(statistics.shared_names_count, "question shares", "questions share");
        let example = statistics.shared_names.first_key_value();
        let example = example.map_or_else(String::new, |(_, name)| format!(" (“{name}”)"));
        let dropped = match shared_names {
            OnEntities::Drop => "dropped: ",
            OnEntities::Report => "",
        };
        lines.push(format!("{dropped}{shared} a name with one of --held-out{example}"));
    }
    if statistics.shared_between_parts > 0 {
        let shared = count(statistics.shared_between_parts, "question shares", "questions share");
        lines.push(format!(
            "{shared} a name with one that --share holds out: its loss says less about new names"
        ));
    }
    lines.join("\n")
}
