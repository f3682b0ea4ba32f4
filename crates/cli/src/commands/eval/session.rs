//! What an evaluation takes: its questions and configuration, its base, and what asks and reports.
//! The steps are apart so that a mistake is told before a base is opened, and an estimate before one
//! is built.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::Meter;
use halma_engine::{Config, Engine, Estimate, Flags, flag_value};
use halma_eval::judge::{Protocol, Scheme};
use halma_eval::{
    Bench, DataSet, Forecast, Format, Judge, Origin, Preset, PresetQuestions, Profile, Report,
    Runner, Selection, Source, SystemUnderTest, fingerprint, forecast_table, load, would_exceed,
};
use tempfile::TempDir;

use super::base::EvaluationBase;
use super::{assessing, base_cost};
use crate::args::place::configured;
use crate::args::{Common, EvalHow};
use crate::commands::setup::{budget_flags, load_config, set_flags};
use crate::view::{self, progress};

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
    separate_base: bool,
}

impl<'a> Questions<'a> {
    pub(in crate::commands) fn new(file: &'a Path, format: Format) -> Self {
        let (selection, config) = (Selection::default(), BTreeMap::new());
        Self { file, format, selection, profile: None, config, separate_base: false }
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
            separate_base: pool || !config_is_empty,
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

    /// The preset's keys, then the user's flags.
    fn flags(&self, how: &EvalHow) -> anyhow::Result<Flags> {
        let preset = |(key, value): (&String, &String)| {
            (key.clone(), flag_value(value), "the preset".to_owned())
        };
        let mut flags: Flags = self.config.iter().map(preset).collect();
        flags.extend(set_flags(&how.set.set)?);
        flags.extend(budget_flags(&how.budget, "eval"));
        if how.with_feedback {
            flags.push(("feedback.eval".into(), true.into(), "--with-feedback".into()));
        }
        Ok(flags)
    }
}

/// An evaluation before its base is opened.
pub(super) struct Prepared {
    file: PathBuf,
    pub(super) config: Config,
    /// The selected questions.
    data: DataSet,
    /// The questions whose passages are the base.
    pool: DataSet,
    base: EvaluationBase,
    origin: Origin,
    out: PathBuf,
    concurrency: usize,
    judge: Option<Protocol>,
    schemes: Vec<Scheme>,
}

impl Prepared {
    /// Reads the questions and selects those to be asked; chooses their base. `out` is where the
    /// report goes by default.
    pub(super) fn new(
        questions: &Questions<'_>,
        how: &EvalHow,
        common: &Common,
        out: impl Fn(&str) -> PathBuf,
    ) -> anyhow::Result<Self> {
        let file = questions.file;
        let mut data = load(file, questions.format, None)?;
        say_refused(&data, file);
        if let Some(profile) = how.profile.or(questions.profile) {
            data.metric = data.metric.with_profile(profile);
        }
        let selection = questions.selection(how);
        let mut selected = data.clone();
        let sample = selection.apply(&mut selected)?;
        let config = load_config(common, questions.flags(how)?)?.config;
        let schemes = assessing::schemes(&how.assess, &config)?;
        let out = how.out.clone().unwrap_or_else(|| out(&data.name));
        let home = how.out.clone().unwrap_or_else(|| default_folder(&data.name));
        let part = questions.separate_base.then(|| {
            let config = questions.config.iter().map(|(key, value)| format!("{key}={value}"));
            fingerprint(std::iter::once(Selection::name(&selected)).chain(config))
        });
        let pool = if part.is_some() { selected.clone() } else { data };
        let base = EvaluationBase::choose(
            (file, how),
            &pool,
            (&home, part.as_deref()),
            configured(&config),
        )?;
        let origin = Origin { sample, selected: selection.describe(), ..Origin::default() };
        let (file, data) = (file.to_owned(), selected);
        let (concurrency, judge) = (how.concurrency.into(), how.judge);
        Ok(Self { file, config, data, pool, base, origin, out, concurrency, judge, schemes })
    }

    /// Refuses a folder with the report of another data set.
    pub(super) fn check_folder(&self) -> anyhow::Result<()> {
        Ok(Report::check_folder(&self.out, &self.data.name)?)
    }

    /// Moves a base that is to be built, and of which there is nothing yet, to a temporary folder:
    /// an estimate leaves nothing behind. `None` for any other base.
    pub(super) fn move_unbuilt_base(&mut self) -> anyhow::Result<Option<TempDir>> {
        if !self.base.is_unbuilt()? {
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        self.base.move_to(folder.path());
        Ok(Some(folder))
    }

    /// Opens the base, or an empty one in its place. Nothing is indexed.
    pub(super) fn open(self) -> anyhow::Result<Opened> {
        let source = Source::read(&self.file)?;
        let (engine, is_built_here) = self.base.open(self.config.clone(), &source)?;
        let origin = Origin { source: Some(source), ..self.origin.clone() };
        let prepared = Self { origin, ..self };
        Ok(Opened { engine: Arc::new(engine), prepared, is_built_here })
    }
}

/// An evaluation whose base may still be empty or incomplete.
pub(super) struct Opened {
    pub(super) engine: Arc<Engine>,
    prepared: Prepared,
    /// Whether the base is made of the file's passages, and completed by [`Opened::build`].
    is_built_here: bool,
}

impl Opened {
    /// What building or completing the base would cost; `None` for a base that is as it is.
    async fn cost(&self) -> anyhow::Result<Option<Estimate>> {
        let Prepared { base, file, pool, .. } = &self.prepared;
        if !self.is_built_here {
            return Ok(None);
        }
        base.cost(&self.engine, file, pool).await.map(Some)
    }

    /// The session in which questions are asked to estimate their cost. `None` when the base would
    /// have to be built or completed first: that cost is printed, and nothing is built.
    pub(super) async fn build_to_estimate(
        self,
        is_unbuilt: bool,
        json: bool,
    ) -> anyhow::Result<Option<Session>> {
        if let Some(cost) = self.cost().await?
            && (is_unbuilt || !base_cost::is_complete(&cost))
        {
            base_cost::show(&cost, json)?;
            return Ok(None);
        }
        Box::pin(self.build()).await.map(Some)
    }

    /// Builds or completes the base.
    pub(super) async fn build(self) -> anyhow::Result<Session> {
        let Self { engine, prepared, is_built_here } = self;
        let Prepared { file, data, pool, base, mut origin, out, .. } = prepared;
        if is_built_here {
            origin.atomizing = base.fill(&engine, &file, &pool).await?;
        }
        let budget = Arc::new(Meter::new(engine.config().budget.eval));
        let concurrency = prepared.concurrency;
        let runner = Runner { concurrency, out: Some(out.clone()), budget, origin };
        let mut bench = engine.bench(&data.format.entry().searched)?;
        bench.judge = prepared.judge.map(|protocol| judge(&engine, protocol));
        bench.assessors = assessing::assessors(&engine, &prepared.schemes);
        Ok(Session { engine, data, runner, bench, out })
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
        Prepared::new(&questions, how, common, out)?.open()?.build().await
    }

    /// The same, to estimate what asking costs. `None` when the base would have to be built or
    /// completed first: that cost is printed, and nothing is built.
    pub(in crate::commands) async fn open_to_estimate(
        questions: Questions<'_>,
        how: &EvalHow,
        common: &Common,
        out: impl Fn(&str) -> PathBuf,
    ) -> anyhow::Result<Option<Self>> {
        let mut prepared = Prepared::new(&questions, how, common, out)?;
        let unbuilt = prepared.move_unbuilt_base()?;
        let opened = prepared.open()?;
        opened.build_to_estimate(unbuilt.is_some(), how.json).await
    }

    /// Asks, reports, and writes the report; returns it with its viewer.
    pub(super) async fn report(
        &self,
        systems: &[SystemUnderTest],
    ) -> anyhow::Result<(Report, PathBuf)> {
        let report =
            self.runner.run(&self.data, systems, &self.bench, &progress::evaluation()).await?;
        let page = report.save(&self.out)?;
        Ok((report, page))
    }
}

/// The default folder of an evaluation.
pub(in crate::commands) fn default_folder(data: &str) -> PathBuf {
    PathBuf::from(".halma/eval").join(data)
}

pub(in crate::commands) fn print_forecasts(
    forecasts: &[Forecast],
    runner: &Runner,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        return view::print_json(&forecasts);
    }
    view::print(&forecast_table(forecasts))?;
    if let Some(limit) = would_exceed(forecasts, &runner.budget.budget()) {
        view::warn(&format!("the run would likely run out of {limit} before its end"));
    }
    Ok(())
}

fn say_refused(data: &DataSet, file: &Path) {
    if data.refused.is_empty() {
        return;
    }
    let (file, count) = (file.display(), data.refused.len() as u64);
    let refused = view::plural(count, "record is", "records are");
    view::warn(&format!("{file}: {refused} left out; `halma data check {file}` names them"));
}

fn judge(engine: &Engine, protocol: Protocol) -> Judge {
    if engine.model_for_role("judge") == halma_engine::OFFLINE {
        view::warn(
            "the judge is the offline model, which compares words only; name a model for the role \
             `judge` under [roles]",
        );
    }
    Judge::by_model(protocol, &engine.judge_fingerprint())
}
