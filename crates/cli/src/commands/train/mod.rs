//! `halma train`: training data for small models, from questions over a base.
mod collect;
mod from_feedback;
mod keywords;
mod pairs;

use std::path::{Path, PathBuf};

use halma_eval::train::HeldOut;
use halma_eval::{DataSet, load, recognise};

use crate::args::{Common, Train, TrainCommand};

pub(crate) async fn run(args: Train, common: &Common) -> anyhow::Result<()> {
    match args.command {
        TrainCommand::Collect(args) => collect::run(*args, common).await,
        TrainCommand::Pairs(args) => pairs::run(&args, common),
        TrainCommand::Keywords(args) => keywords::run(*args, common).await,
    }
}

/// The questions of all files, which must not be trained on; `None` without files.
fn held_out(files: &[PathBuf]) -> anyhow::Result<Option<HeldOut>> {
    let mut all: Option<DataSet> = None;
    for file in files {
        let data = load_any(file)?;
        match &mut all {
            Some(all) => all.items.extend(data.items),
            None => all = Some(data),
        }
    }
    Ok(all.map(|all| HeldOut::new(&all)))
}

fn load_any(file: &Path) -> anyhow::Result<DataSet> {
    Ok(load(file, recognise(file)?, None)?)
}
