//! `halma kb migrate`: converts a base of a former format.
use std::cell::Cell;
use std::time::{Duration, Instant};

use halma_engine::convert_base;

use crate::args::{Common, KbMigrate};
use crate::commands::setup::load_config;
use crate::view::{self, plural};

/// How often the progress is printed.
const STEP: Duration = Duration::from_secs(2);

pub(super) fn run(args: &KbMigrate, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let hint = "a shared base is converted by the first command of a newer version";
    let dir = &args.kb.only_folder(&config, "kb migrate", hint)?;
    let printed = Cell::new(Instant::now());
    let progress = |values: u64| {
        if printed.get().elapsed() >= STEP {
            printed.set(Instant::now());
            view::note(&format!("{values} values so far"));
        }
    };
    let converted = convert_base(dir, args.keep_f32, &progress)?;
    if args.json {
        return view::print_json(&converted);
    }
    let dir = dir.display();
    let replies = match converted.replies {
        0 => String::new(),
        some => format!(" It has {}.", plural(some, "cached reply", "cached replies")),
    };
    let base = converted.base;
    if base.from == base.to {
        return view::print(&format!("{dir} has format {} already.{replies}", base.to));
    }
    if base.damaged > 0 {
        let damaged = plural(base.damaged, "value", "values");
        view::warn(&format!(
            "{damaged} could not be read and were left out; `halma kb verify` lists what lacks them"
        ));
    }
    let values = plural(base.values, "value", "values");
    view::print(&format!(
        "Converted {dir} from format {} to {}: {values}.{replies}",
        base.from, base.to
    ))
}
