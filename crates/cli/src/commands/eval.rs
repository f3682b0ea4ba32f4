//! `halma eval`: strategies on a question set, measured.
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use halma_core::{Filter, Layer, Mode};
use halma_engine::{Engine, EngineError, IndexOptions, InputFormat, SearchQuery};
use halma_eval::{
    Bench, Contestant, DataSet, Format, Progress, Retrieve, Runner, Tick, load, recall,
};
use indicatif::ProgressBar;
use serde_json::json;

use super::setup::{budget_flags, create_or_open, loaded, set_flags};
use crate::args::{Common, DataFormat, Eval, ModeArg};
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
    if !args.retrieval.is_empty() {
        return measure(&engine, &data, (&args.retrieval, args.json)).await;
    }
    let contestants: Result<Vec<Contestant>, EngineError> = contestants
        .into_iter()
        .map(|(label, strategy)| {
            let fingerprint = halma_eval::fingerprint([engine.fingerprint(strategy.as_ref())?]);
            Ok(Contestant { strategy, label, fingerprint })
        })
        .collect();
    let runner = Runner { concurrency: args.concurrency.into(), out: Some(out.clone()) };
    let bench = bench(&engine)?;
    let report = runner.run(&data, &contestants?, &bench, &bars()).await?;
    let path = out.join("report.json");
    std::fs::write(&path, serde_json::to_vec_pretty(&report)?)?;
    if args.json {
        view::say_json(&report)
    } else {
        view::say(&format!("{}\n\nAnswers, traces and report: {}", report.table(), out.display()))
    }
}

/// What searches in each mode find for the questions alone.
async fn measure(
    engine: &Arc<Engine>,
    data: &DataSet,
    (modes, json): (&[ModeArg], bool),
) -> anyhow::Result<()> {
    let mut found = vec![];
    for mode in modes.iter().map(|mode| Mode::from(*mode)) {
        found.push((mode, recall(data, &searches(engine, mode)).await));
    }
    if json {
        let found: Vec<_> =
            found.iter().map(|(mode, recall)| json!({ "mode": mode, "recall": recall })).collect();
        return view::say_json(&found);
    }
    let percent = |share: Option<f64>| share.map_or("-".into(), |s| format!("{:.1}", s * 100.0));
    let mut lines = vec![format!(
        "{:<8} {:>5} {:>6} {:>6} {:>6} {:>6} {:>8}",
        "mode", "n", "R@5", "all@5", "R@10", "all@10", "p50 ms"
    )];
    for (mode, recall) in &found {
        let mode = format!("{mode:?}").to_lowercase();
        let [r5, all5, r10, all10] =
            [recall.r5, recall.all5, recall.r10, recall.all10].map(percent);
        let ms = recall.p50_ms.unwrap_or_default();
        lines.push(format!(
            "{mode:<8} {:>5} {r5:>6} {all5:>6} {r10:>6} {all10:>6} {ms:>8.2}",
            recall.n
        ));
        if recall.failed > 0 {
            lines.push(format!("{mode}: {} searches failed and are in no mean", recall.failed));
        }
    }
    view::say(&lines.join("\n"))
}

/// The contexts of all questions of the file as one base; done once.
async fn pool(engine: &Engine, file: &PathBuf, format: DataFormat) -> anyhow::Result<()> {
    let format = match format {
        DataFormat::Hotpotqa => InputFormat::Hotpotqa,
        DataFormat::TwoWiki => InputFormat::TwoWiki,
        DataFormat::Musique => InputFormat::Musique,
    };
    let report = engine
        .index(
            std::slice::from_ref(file),
            &IndexOptions { format, ..IndexOptions::default() },
            progress::of_index(),
        )
        .await?;
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
    let asking = Arc::clone(engine);
    Ok(Bench {
        open: Arc::new(move || asking.cx(None)),
        retrieve: searches(engine, Mode::Hybrid),
        fingerprint: engine.base_fingerprint()?,
    })
}

/// Searches chunks with a question as it is.
fn searches(engine: &Arc<Engine>, mode: Mode) -> Retrieve {
    let engine = Arc::clone(engine);
    Arc::new(move |text| {
        let engine = Arc::clone(&engine);
        let (layer, limit, filter) = (Layer::Chunk, RETRIEVED, Filter::default());
        let query = SearchQuery { text, layer, mode, limit, filter };
        async move { engine.search(query).await.map_err(Into::into) }.boxed()
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
