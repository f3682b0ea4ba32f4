//! The base that an evaluation is measured on: made of the file's own passages, given, or none.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Config, Engine, IndexOptions, InputFormat};
use halma_eval::{Claim, DataSet, Format, Origin, Pool, Source, record_indexing};

use crate::args::EvalHow;
use crate::commands::setup::{create_or_open, open};
use crate::view::{self, progress};

/// The default base for the user's own questions.
const USUAL: &str = ".halma";

/// What is searched.
pub(super) enum EvaluationBase {
    /// A base of the file's passages, made or completed here.
    Pool { kb: PathBuf, passages: PathBuf, force: bool },
    /// An existing base.
    Given(PathBuf),
    /// An empty one: the questions hold what is needed, or `--no-kb` says so.
    Nothing(PathBuf),
}

impl EvaluationBase {
    /// `home` is where a base of the file's own passages lies.
    pub(super) fn choose(
        (file, args): (&Path, &EvalHow),
        data: &DataSet,
        home: &Path,
    ) -> Result<Self, ConfigError> {
        let (own, pool) = (home.join("base"), &data.format.entry().searched);
        let brings = data.items.iter().any(|item| !item.contexts.is_empty());
        Ok(match &args.kb {
            _ if args.no_kb => Self::Nothing(own),
            None if brings => Self::pooled(own, args.force),
            Some(kb) if brings && !by_hand(kb) => Self::pooled(kb.clone(), args.force),
            Some(kb) => Self::Given(kb.clone()),
            None if *pool == Pool::Nothing => Self::Nothing(own),
            None if data.format == Format::OWN && Path::new(USUAL).is_dir() => {
                Self::Given(USUAL.into())
            }
            None => {
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

    fn pooled(kb: PathBuf, force: bool) -> Self {
        let passages = kb.with_extension("passages");
        Self::Pool { kb, passages, force }
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
            Self::Pool { kb, passages, force } => {
                if let Claim::Forced { built_from } = source.claim(kb, *force)? {
                    let folder = kb.display();
                    view::warn(&format!(
                        "{folder} was built from `{built_from}`: nothing is added"
                    ));
                    open(config, kb)?
                } else {
                    let engine = create_or_open(config, kb)?;
                    origin.atomizing = fill(&engine, (file, data), (kb, passages)).await?;
                    engine
                }
            }
        };
        Ok((engine, origin))
    }
}

/// A base that `halma index` made: an evaluation adds nothing to it.
fn by_hand(kb: &Path) -> bool {
    !kb.join("questions.json").exists()
        && std::fs::read_dir(kb).is_ok_and(|mut entries| entries.next().is_some())
}

/// The passages of all questions of the file as one base; existing parts are not made again.
async fn fill(
    engine: &Engine,
    (file, data): (&Path, &DataSet),
    (kb, passages): (&Path, &Path),
) -> anyhow::Result<Option<halma_eval::Atomizing>> {
    let format = match data.format {
        Format::HOTPOTQA => InputFormat::Hotpotqa,
        Format::TWO_WIKI => InputFormat::TwoWiki,
        Format::MUSIQUE => InputFormat::Musique,
        _ => InputFormat::Auto,
    };
    let input = match format {
        InputFormat::Auto => {
            data.write_pool(passages)?;
            passages.to_owned()
        }
        _ => file.to_owned(),
    };
    let options = IndexOptions { format, ..IndexOptions::default() };
    let report = engine.index(&[input], &options, progress::index()).await?;
    let atomizing = record_indexing(kb, report.chunks, report.usage)?;
    if let Some(limit) = report.spent {
        anyhow::bail!("indexing stopped, out of {limit}: raise [budget.index] and run it again");
    }
    if report.failed_units > 0 {
        let failed = view::plural(report.failed_units as u64, "unit", "units");
        let why = report.failure.unwrap_or_default();
        view::warn(&format!(
            "{failed} of the base failed and are missing ({why}); run again to retry them"
        ));
    }
    Ok(atomizing)
}
