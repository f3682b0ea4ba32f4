//! One evaluation from its flags to its report.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use halma_core::Meter;
use halma_engine::{Engine, Flags, flag_value};
use halma_eval::{
    Bench, DataSet, Format, Judge, Preset, PresetQuestions, Profile, Progress, Report, Runner,
    Selection, SystemUnderTest, Tick, fingerprint, forecast_table, load, recognise, would_exceed,
};
use indicatif::ProgressBar;

use super::base::EvaluationBase;
use super::{assessing, retrieval, systems};
use crate::args::place::configured;
use crate::args::{Common, EvalHow, EvalRun, ProtocolArg};
use crate::commands::setup::{budget_flags, load_config, set_flags};
use crate::view::{self, progress};

/// At most this many refused records are named; `halma data check` names more.
const NAMED: usize = 10;

/// Everything that asking takes, except the strategies.
pub(in crate::commands) struct Session {
    pub(in crate::commands) engine: Arc<Engine>,
    pub(in crate::commands) data: DataSet,
    pub(in crate::commands) runner: Runner,
    pub(in crate::commands) bench: Bench,
    /// The folder for answers and report.
    pub(super) out: PathBuf,
}

/// What is asked, and what a preset wants for it; flags of the user go before the latter.
pub(in crate::commands) struct Questions<'a> {
    file: &'a Path,
    format: Format,
    selection: Selection,
    profile: Option<Profile>,
    /// Keys of the configuration.
    config: BTreeMap<String, String>,
    /// The base is made of the passages of the selected questions, and for this configuration.
    own_base: bool,
}

impl<'a> Questions<'a> {
    pub(in crate::commands) fn new(file: &'a Path, format: Format) -> Self {
        let (selection, config) = (Selection::default(), BTreeMap::new());
        Self { file, format, selection, profile: None, config, own_base: false }
    }

    pub(super) fn of_preset(
        preset: &Preset,
        (file, format): (&'a Path, Format),
        config: BTreeMap<String, String>,
    ) -> Self {
        let PresetQuestions { first, random, pool } = preset.questions;
        let conditions = preset.conditions();
        let random = random.map(|size| (size, 1));
        let config_is_empty = config.is_empty();
        let selection = Selection { conditions, first, random, ids: None };
        Self {
            file,
            format,
            selection,
            profile: preset.profile,
            config,
            own_base: pool || !config_is_empty,
        }
    }

    /// The selection with the user's flags; a number or a list of ids replaces the preset's.
    fn selection(&self, how: &EvalHow) -> Selection {
        let Selection { mut conditions, mut first, mut random, .. } = self.selection.clone();
        conditions.extend(how.chosen.conditions.iter().cloned());
        if how.chosen.limit.is_some() || how.chosen.sample.is_some() || how.chosen.ids.is_some() {
            first = how.chosen.limit.map(|limit| limit as usize);
            random = how.chosen.sample.map(|size| (size as usize, how.chosen.seed));
        } else if let Some((_, seed)) = &mut random {
            *seed = how.chosen.seed;
        }
        Selection { conditions, ids: how.chosen.ids.clone(), first, random }
    }
}

impl Session {
    /// Reads the questions, selects those to be asked, and makes or opens their base. `out` is
    /// where the report goes by default.
    pub(in crate::commands) async fn open(
        questions: Questions<'_>,
        how: &EvalHow,
        common: &Common,
        out: impl Fn(&str) -> PathBuf,
    ) -> anyhow::Result<Self> {
        let (file, format) = (questions.file, questions.format);
        let mut data = load(file, format, None)?;
        say_refused(&data, file);
        if let Some(profile) = how.profile.or(questions.profile) {
            data.metric = data.metric.with_profile(profile);
        }
        let selection = questions.selection(how);
        let mut selected = data.clone();
        let sample = selection.apply(&mut selected)?;
        let preset = |(key, value): (&String, &String)| {
            (key.clone(), flag_value(value), "the preset".to_owned())
        };
        let mut flags: Flags = questions.config.iter().map(preset).collect();
        flags.extend(set_flags(&how.set.set)?);
        flags.extend(budget_flags(&how.budget, "eval"));
        if how.with_feedback {
            flags.push(("feedback.eval".into(), true.into(), "--with-feedback".into()));
        }
        let config = load_config(common, flags)?.config;
        let schemes = assessing::schemes(&how.assess, &config)?;
        let budget = Arc::new(Meter::new(config.budget.eval));
        let out = how.out.clone().unwrap_or_else(|| out(&data.name));
        let home = how.out.clone().unwrap_or_else(|| default_folder(&data.name));
        let own = questions.own_base.then(|| {
            let config = questions.config.iter().map(|(key, value)| format!("{key}={value}"));
            fingerprint(std::iter::once(Selection::name(&selected)).chain(config))
        });
        let pool = if own.is_some() { &selected } else { &data };
        let base = EvaluationBase::choose(
            (file, how),
            pool,
            (&home, own.as_deref()),
            configured(&config),
        )?;
        let (engine, mut origin) = base.open(config, file, pool).await?;
        let engine = Arc::new(engine);
        (origin.sample, origin.selected) = (sample, selection.describe());
        let data = selected;
        let concurrency = how.concurrency.into();
        let runner = Runner { concurrency, out: Some(out.clone()), budget, origin };
        let mut bench = engine.bench(&format.entry().searched)?;
        bench.judge = how.judge.map(|protocol| judge(&engine, protocol));
        bench.assessors = assessing::assessors(&engine, &schemes);
        Ok(Self { engine, data, runner, bench, out })
    }

    /// Asks, reports, and writes the report; returns it with its viewer.
    pub(super) async fn report(
        &self,
        systems: &[SystemUnderTest],
    ) -> anyhow::Result<(Report, PathBuf)> {
        let report = self.runner.run(&self.data, systems, &self.bench, &bars()).await?;
        let page = report.save(&self.out)?;
        Ok((report, page))
    }
}

/// The default folder of an evaluation.
pub(in crate::commands) fn default_folder(data: &str) -> PathBuf {
    PathBuf::from(".halma/eval").join(data)
}

pub(crate) async fn run(args: EvalRun, common: &Common) -> anyhow::Result<()> {
    let file = args.file.clone().ok_or_else(|| anyhow::anyhow!("which file of questions?"))?;
    let format = match args.format {
        Some(format) => format,
        None => recognise(&file)?,
    };
    let questions = Questions::new(&file, format);
    let session = Session::open(questions, &args.how, common, default_folder).await?;
    let Session { engine, data, runner, bench, out } = &session;
    if !args.retrieval.is_empty() {
        return retrieval::run(engine, data, (&args.retrieval, args.how.json)).await;
    }
    let systems = systems::build(engine, &args.strategy, &args.grid)?;
    if args.estimate {
        return estimate(runner, data, (&systems, bench), &args).await;
    }
    let (report, page) = session.report(&systems).await?;
    if args.how.json {
        return view::print_json(&report);
    }
    view::print(&format!(
        "{}\n\nViewer with charts and every question: {}\nAnswers, traces, JSON and Markdown: {}",
        report.table(),
        page.display(),
        out.display()
    ))
}

fn say_refused(data: &DataSet, file: &Path) {
    for refused in data.refused.iter().take(NAMED) {
        let place = format!("{}:{}", file.display(), refused.line);
        view::warn(&format!("{place}: record {} left out: {}", refused.record, refused.reason));
    }
    if let Some(more) = data.refused.len().checked_sub(NAMED).filter(|more| *more > 0) {
        view::warn(&format!("{more} more records left out; `halma data check` counts them"));
    }
}

/// Prints what the whole evaluation would take, after asking a few questions.
async fn estimate(
    runner: &Runner,
    data: &DataSet,
    (systems, bench): (&[SystemUnderTest], &Bench),
    args: &EvalRun,
) -> anyhow::Result<()> {
    let probe = (usize::from(args.probe), &bars());
    assessing::warn_not_estimated(bench);
    let forecasts = runner.forecast(data, systems, bench, probe).await?;
    if args.how.json {
        return view::print_json(&forecasts);
    }
    view::print(&forecast_table(&forecasts))?;
    if let Some(limit) = would_exceed(&forecasts, &runner.budget.budget()) {
        view::warn(&format!("the evaluation would likely run out of {limit} before its end"));
    }
    Ok(())
}

fn judge(engine: &Engine, protocol: ProtocolArg) -> Judge {
    if engine.model_for_role("judge") == halma_engine::OFFLINE {
        view::warn(
            "the judge is the offline model, which compares words only; name a model for the role \
             `judge` under [roles]",
        );
    }
    Judge::by_model(protocol.into(), &engine.judge_fingerprint())
}

/// One bar a system.
pub(in crate::commands) fn bars() -> Progress {
    let current: Mutex<Option<(String, ProgressBar)>> = Mutex::new(None);
    Arc::new(move |tick: &Tick| {
        let Ok(mut current) = current.lock() else { return };
        if current.as_ref().is_none_or(|(label, _)| *label != tick.label) {
            *current = Some((tick.label.clone(), progress::bar(&tick.label, tick.total as u64)));
        }
        if let Some((_, bar)) = current.as_ref() {
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
