//! `halma eval`: strategies on a question set, measured.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use halma_core::{Layer, Mode};
use halma_engine::{Engine, EngineError, InputFormat, SearchQuery};
use halma_eval::{Bench, Contestant, Format, Progress, Runner, Tick, load};
use indicatif::ProgressBar;

use super::setup::{budget_flags, create_or_open, loaded, set_flags};
use crate::args::{Common, DataFormat, Eval};
use crate::view::{self, progress};

/// The deepest k of Recall@k.
const RETRIEVED: usize = 10;

pub(crate) async fn run(args: Eval, common: &Common) -> anyhow::Result<()> {
    let format = Format::from(args.format);
    let data = load(&args.file, format, args.limit.map(|n| n as usize))?;
    for refused in &data.refused {
        let place = format!("{}:{}", args.file.display(), refused.line);
        view::warn(&format!("{place}: record {} left out: {}", refused.record, refused.reason));
    }
    let mut flags = set_flags(&args.set.set)?;
    flags.extend(budget_flags(&args.budget, "ask"));
    let config = loaded(common, flags)?.config;
    let out = args.out.unwrap_or_else(|| PathBuf::from(".halma/eval").join(&data.name));
    let kb = args.kb.unwrap_or_else(|| out.join("base"));
    let engine = Arc::new(create_or_open(config, &kb)?);
    let mut contestants = vec![];
    for name in &args.strategy {
        let strategy = engine.strategy(name.trim())?;
        contestants.push((name.trim().to_owned(), strategy));
    }
    pool(&engine, &args.file, args.format).await?;
    let contestants: Result<Vec<Contestant>, EngineError> = contestants
        .into_iter()
        .map(|(label, strategy)| {
            let fingerprint = halma_eval::fingerprint([engine.fingerprint(strategy.as_ref())?]);
            Ok(Contestant { strategy, label, fingerprint, point: BTreeMap::new() })
        })
        .collect();
    let concurrency = args.concurrency.into();
    let runner = Runner { concurrency, out: Some(out.clone()), ..Runner::default() };
    let bench = bench(&engine)?;
    let report = runner.run(&data, &contestants?, &bench, &bars()).await?;
    report.save(&out)?;
    if args.json {
        view::say_json(&report)
    } else {
        view::say(&format!("{}\n\nAnswers, traces and report: {}", report.table(), out.display()))
    }
}

/// The contexts of all questions of the file as one base; done once.
async fn pool(engine: &Engine, file: &PathBuf, format: DataFormat) -> anyhow::Result<()> {
    let format = match format {
        DataFormat::Hotpotqa => InputFormat::Hotpotqa,
        DataFormat::TwoWiki => InputFormat::TwoWiki,
        DataFormat::Musique => InputFormat::Musique,
    };
    let report = engine.index(std::slice::from_ref(file), format, progress::of_index()).await?;
    if let Some(limit) = report.spent {
        anyhow::bail!("indexing stopped, out of {limit}: raise [budget.index] and run it again");
    }
    if report.failed_units > 0 {
        view::warn(&format!(
            "{} units of the base failed and are missing; run again to retry them",
            report.failed_units
        ));
    }
    Ok(())
}

fn bench(engine: &Arc<Engine>) -> Result<Bench, EngineError> {
    let (asking, searching) = (Arc::clone(engine), Arc::clone(engine));
    Ok(Bench {
        open: Arc::new(move |whole| asking.cx_within(whole, None)),
        retrieve: Arc::new(move |text| {
            let engine = Arc::clone(&searching);
            let query =
                SearchQuery { text, layer: Layer::Chunk, mode: Mode::Hybrid, limit: RETRIEVED };
            async move { engine.search(query).await.map_err(Into::into) }.boxed()
        }),
        fingerprint: engine.base_fingerprint()?,
        judge: None,
    })
}

/// One bar a contestant.
fn bars() -> Progress {
    let shown: Mutex<Option<(String, ProgressBar)>> = Mutex::new(None);
    Arc::new(move |tick: &Tick| {
        let Ok(mut shown) = shown.lock() else { return };
        if shown.as_ref().is_none_or(|(label, _)| *label != tick.label) {
            *shown = Some((tick.label.clone(), progress::bar(&tick.label, tick.total as u64)));
        }
        if let Some((_, bar)) = shown.as_ref() {
            bar.set_position(tick.done as u64);
            if tick.failed > 0 {
                bar.set_message(format!("{} ({} failed)", tick.label, tick.failed));
            }
            if tick.done >= tick.total {
                bar.finish_and_clear();
            }
        }
    })
}

impl From<DataFormat> for Format {
    fn from(format: DataFormat) -> Self {
        match format {
            DataFormat::Hotpotqa => Self::Hotpotqa,
            DataFormat::TwoWiki => Self::TwoWiki,
            DataFormat::Musique => Self::Musique,
        }
    }
}
