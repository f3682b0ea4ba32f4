//! The base that an evaluation is measured on: made of the file's own passages, given, or none.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Config, Engine, IndexOptions, InputFormat, Place};
use halma_eval::{Claim, DataSet, Format, Origin, Pool, Source, record_indexing};

use crate::args::EvalHow;
use crate::args::place::USUAL;
use crate::commands::setup::{create_or_open, open};
use crate::view::{self, progress};

/// What is searched.
pub(super) enum EvaluationBase {
    /// A base of the file's passages, made or completed here.
    Pool { kb: PathBuf, passages: PathBuf, force: bool, own: Option<String> },
    /// An existing base.
    Given(PathBuf),
    /// An empty one: the questions hold what is needed, or `--no-kb` says so.
    Nothing(PathBuf),
}

impl EvaluationBase {
    /// `home` is where a base of the file's own passages lies; `own` distinguishes one that holds
    /// only those of `data`, or is made otherwise, from the one of the whole file. `configured` is the
    /// base that the configuration names.
    pub(super) fn choose(
        (file, args): (&Path, &EvalHow),
        data: &DataSet,
        (home, own_base): (&Path, Option<&str>),
        configured: Option<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let name = own_base.map_or("base".to_owned(), |own| format!("base-{own}"));
        let (own, pool) = (home.join(name), &data.format.entry().searched);
        let pooled = |kb: PathBuf| {
            let (passages, own) = (kb.with_extension("passages"), own_base.map(str::to_owned));
            Self::Pool { kb, passages, force: args.force, own }
        };
        let brings = data.items.iter().any(|item| !item.contexts.is_empty());
        Ok(match &args.kb {
            _ if args.no_kb => Self::Nothing(own),
            None if brings => pooled(own),
            Some(kb) if brings && !by_hand(kb) => pooled(kb.clone()),
            Some(kb) => Self::Given(kb.clone()),
            None if *pool == Pool::Nothing => Self::Nothing(own),
            None => {
                let usual = || Path::new(USUAL).is_dir().then(|| USUAL.into());
                let own = data.format == Format::OWN;
                if let Some(kb) = configured.or_else(usual).filter(|_| own) {
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

    pub(super) async fn open(
        &self,
        config: Config,
        file: &Path,
        data: &DataSet,
    ) -> anyhow::Result<(Engine, Origin)> {
        let source = Source::read(file)?;
        let mut origin = Origin { source: Some(source.clone()), ..Origin::default() };
        let engine = match self {
            Self::Given(kb) => open(config, kb)?,
            Self::Nothing(kb) => create_or_open(config, kb)?,
            Self::Pool { kb, passages, force, own } => {
                let claimed = own.as_ref().map_or(source.clone(), |own| source.part(own));
                if let Claim::Forced { built_from } = claimed.claim(kb, *force)? {
                    let folder = kb.display();
                    view::warn(&format!(
                        "{folder} was built from `{built_from}`: nothing is added"
                    ));
                    open(config, kb)?
                } else {
                    let engine = create_or_open(config, kb)?;
                    let whole = own.is_none().then_some(file);
                    origin.atomizing = fill(&engine, (whole, data), (kb, passages)).await?;
                    engine
                }
            }
        };
        Ok((engine, origin))
    }
}

/// A base that `halma index` made: an evaluation adds nothing to it.
fn by_hand(kb: &Path) -> bool {
    let is_shared = Place::new(kb).is_ok_and(|place| place.address().is_some());
    is_shared
        || !kb.join("questions.json").exists()
            && std::fs::read_dir(kb).is_ok_and(|mut entries| entries.next().is_some())
}

/// The passages of all questions as one base; existing parts are not made again. `whole` is the
/// file of the questions, if they are all of it.
async fn fill(
    engine: &Engine,
    (whole, data): (Option<&Path>, &DataSet),
    (kb, passages): (&Path, &Path),
) -> anyhow::Result<Option<halma_eval::Atomizing>> {
    let format = match data.format {
        Format::HOTPOTQA => InputFormat::Hotpotqa,
        Format::TWO_WIKI => InputFormat::TwoWiki,
        Format::MUSIQUE => InputFormat::Musique,
        _ => InputFormat::Auto,
    };
    let (input, format) = match whole {
        Some(file) if format != InputFormat::Auto => (file.to_owned(), format),
        _ => {
            data.write_pool(passages)?;
            (passages.to_owned(), InputFormat::Auto)
        }
    };
    let options = IndexOptions { format, ..IndexOptions::default() };
    let input_shown = input.display().to_string();
    let report = engine.index(&[input], &options, progress::index()).await?;
    // Figures of a base that was made otherwise than the report says would mislead.
    if let Some(kept) = report.kept.first() {
        let (name, folder) = (kept.part.name(), kb.display());
        anyhow::bail!(
            "{folder} was made with {name} = {}, and this evaluation is configured with {}: give \
             another --kb, or rebuild it with `halma index {} --kb {folder} --rebuild {name}`",
            kept.made_with,
            kept.configured,
            input_shown
        );
    }
    let atomizing = record_indexing(kb, report.chunks, report.usage)?;
    if let Some(limit) = report.spent {
        anyhow::bail!("indexing stopped, out of {limit}: raise [budget.index] and run it again");
    }
    if report.failed_units > 0 {
        let failed = view::plural(report.failed_units as u64, "unit", "units");
        let why = report.failure.unwrap_or_default();
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
    Ok(atomizing)
}
