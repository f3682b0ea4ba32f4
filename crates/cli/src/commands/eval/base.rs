//! The base that an evaluation is measured on: made of the file's own passages, given, or none.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Config, Engine, Estimate, IndexOptions, IndexReport, InputFormat, Place};
use halma_eval::{Atomizing, Claim, DataSet, Format, Pool, Source, record_indexing};

use crate::args::EvalHow;
use crate::args::place::USUAL;
use crate::commands::setup::{create_or_open, is_unmade, open};
use crate::view::{self, progress};

/// What is searched.
pub(super) enum EvaluationBase {
    /// A base of the file's passages, made or completed here.
    Pool { kb: PathBuf, passages: PathBuf, force: bool, part: Option<String> },
    /// An existing base.
    Given(PathBuf),
    /// An empty one: the questions hold what is needed, or `--no-kb` says so.
    Nothing(PathBuf),
}

impl EvaluationBase {
    /// `home` is where a base of the file's own passages lies; `part` distinguishes one that holds
    /// only those of `data`, or is made otherwise, from the one of the whole file. `configured` is the
    /// base that the configuration names.
    pub(super) fn choose(
        (file, args): (&Path, &EvalHow),
        data: &DataSet,
        (home, part): (&Path, Option<&str>),
        configured: Option<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let name = part.map_or("base".to_owned(), |part| format!("base-{part}"));
        let (folder, pool) = (home.join(name), &data.format.entry().searched);
        let pooled = |kb: PathBuf| {
            let (passages, part) = (kb.with_extension("passages"), part.map(str::to_owned));
            Self::Pool { kb, passages, force: args.force, part }
        };
        let brings = data.items.iter().any(|item| !item.contexts.is_empty());
        Ok(match &args.kb {
            _ if args.no_kb => Self::Nothing(folder),
            None if brings => pooled(folder),
            Some(kb) if brings && !by_hand(kb) => pooled(kb.clone()),
            Some(kb) => Self::Given(kb.clone()),
            None if *pool == Pool::Nothing => Self::Nothing(folder),
            None => {
                let usual = || Path::new(USUAL).is_dir().then(|| USUAL.into());
                let kb = configured.or_else(usual).filter(|_| data.format == Format::USER);
                if let Some(kb) = kb {
                    return Ok(Self::Given(kb));
                }
                return Err(ConfigError {
                    file: file.display().to_string(),
                    key: "--kb".into(),
                    reason: "the questions bring no passages to search".into(),
                    hint: format!(
                        "give --kb DIR, a base of {}, or --no-kb to ask without one",
                        data.format.entry().searched_in_words()
                    ),
                });
            }
        })
    }

    /// Whether it is to be built, and there is nothing of it yet.
    pub(super) fn is_unbuilt(&self) -> anyhow::Result<bool> {
        match self {
            Self::Pool { kb, .. } => Ok(is_unmade(kb)?),
            Self::Given(_) | Self::Nothing(_) => Ok(false),
        }
    }

    /// Builds it in this folder instead.
    pub(super) fn move_to(&mut self, folder: &Path) {
        if let Self::Pool { kb, passages, .. } = self {
            (*kb, *passages) = (folder.join("base"), folder.join("passages"));
        }
    }

    /// Opens it, or an empty one that [`EvaluationBase::fill`] fills: then the second value is true.
    pub(super) fn open(&self, config: Config, source: &Source) -> anyhow::Result<(Engine, bool)> {
        match self {
            Self::Given(kb) => Ok((open(config, kb)?, false)),
            Self::Nothing(kb) => Ok((create_or_open(config, kb)?, false)),
            Self::Pool { kb, force, part, .. } => {
                let claimed =
                    part.as_ref().map_or_else(|| source.clone(), |part| source.part(part));
                if let Claim::Forced { built_from } = claimed.claim(kb, *force)? {
                    let folder = kb.display();
                    view::warn(&format!(
                        "{folder} was built from `{built_from}`: nothing is added"
                    ));
                    return Ok((open(config, kb)?, false));
                }
                Ok((create_or_open(config, kb)?, true))
            }
        }
    }

    /// The passages of all questions as documents; the file itself where it is read as such.
    fn input(&self, file: &Path, data: &DataSet) -> anyhow::Result<(PathBuf, IndexOptions)> {
        let format = match data.format {
            Format::HOTPOTQA => InputFormat::Hotpotqa,
            Format::TWO_WIKI => InputFormat::TwoWiki,
            Format::MUSIQUE => InputFormat::Musique,
            _ => InputFormat::Auto,
        };
        let options = |format| IndexOptions { format, ..IndexOptions::default() };
        match self {
            Self::Pool { passages, part, .. } if part.is_some() || format == InputFormat::Auto => {
                data.write_pool(passages)?;
                Ok((passages.clone(), options(InputFormat::Auto)))
            }
            _ => Ok((file.to_owned(), options(format))),
        }
    }

    /// What [`EvaluationBase::fill`] would cost.
    pub(super) async fn cost(
        &self,
        engine: &Engine,
        file: &Path,
        data: &DataSet,
    ) -> anyhow::Result<Estimate> {
        let (input, options) = self.input(file, data)?;
        Ok(engine.estimate(&[input], &options).await?)
    }

    /// The passages of all questions as one base; existing parts are not made again. Returns what
    /// all runs of it cost, where that is known.
    pub(super) async fn fill(
        &self,
        engine: &Engine,
        file: &Path,
        data: &DataSet,
    ) -> anyhow::Result<Option<Atomizing>> {
        let Self::Pool { kb, .. } = self else { return Ok(None) };
        let (input, options) = self.input(file, data)?;
        let input_shown = input.display().to_string();
        let report = engine.index(&[input], &options, progress::index()).await?;
        // Figures of a base that was made otherwise than the report says would mislead.
        if let Some(kept) = report.kept.first() {
            let (name, folder) = (kept.part.name(), kb.display());
            return Err(ConfigError {
                file: folder.to_string(),
                key: format!("{name} = {}", kept.made_with),
                reason: format!(
                    "the base was made with it, and this evaluation is configured with {}",
                    kept.configured
                ),
                hint: format!(
                    "give another --kb, or rebuild the base with `halma index {input_shown} --kb \
                     {folder} --rebuild {name}`"
                ),
            }
            .into());
        }
        let atomizing = record_indexing(kb, report.chunks, report.usage)?;
        check_built(&report)?;
        Ok(atomizing)
    }
}

/// Says what of the base is missing; without any reply of a model it is an error.
fn check_built(report: &IndexReport) -> anyhow::Result<()> {
    if let Some(limit) = report.spent {
        anyhow::bail!("indexing stopped, out of {limit}: raise [budget.index] and run it again");
    }
    if report.failed_units > 0 {
        let failed = view::plural(report.failed_units as u64, "unit", "units");
        let why = report.failure.clone().unwrap_or_default();
        // Otherwise every question would wait for the same server.
        if report.usage.llm_calls + report.usage.cached_calls == 0 {
            anyhow::bail!(
                "no model replied while the base was built, and no question is asked: {why}"
            );
        }
        view::warn(&format!(
            "{failed} of the base failed and are missing ({why}); run again to retry them"
        ));
    }
    Ok(())
}

/// A base that `halma index` made: an evaluation adds nothing to it.
fn by_hand(kb: &Path) -> bool {
    let is_shared = Place::new(kb).is_ok_and(|place| place.address().is_some());
    is_shared
        || !kb.join("questions.json").exists()
            && std::fs::read_dir(kb).is_ok_and(|mut entries| entries.next().is_some())
}
