//! What each stage of the build will ask of a model, before it does: units, calls and tokens as
//! they are expected without a history. The estimate corrects them by what the base has seen.
use halma_core::{Prompt, Rendered, Setup, estimate_tokens};
use minijinja::context;

use crate::atom::Source;
use crate::store::Place;
use crate::{Atoms, KbError, KbSettings};

/// The prompt that makes atoms.
pub(super) const ATOMIZE: Prompt<Vec<String>> = Prompt::lines("kb/atomize");

/// A document that is about to be built, or one of the base with work left.
pub(crate) struct Planned<'a> {
    pub(crate) title: &'a str,
    pub(crate) chunks: &'a [PlannedChunk<'a>],
    pub(crate) settings: &'a KbSettings,
    pub(crate) setup: &'a Setup,
}

pub(crate) struct PlannedChunk<'a> {
    /// The heading it stands under.
    #[expect(dead_code, reason = "for stages that show it to a model")]
    pub(crate) section: Option<&'a str>,
    pub(crate) text: &'a str,
    /// Whether everything is to be made of it; one that is kept from before is here as well, for
    /// stages that look at a document as a whole.
    pub(crate) fresh: bool,
}

/// What one stage will ask because of one document. Tokens are counted as the core does before a
/// call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forecast {
    /// What is asked for, as in the prompt's file.
    pub(crate) task: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) role: String,
    pub(crate) units: u64,
    pub(crate) calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// Texts that the stage will make and that are then embedded.
    pub(crate) texts: u64,
}

/// A stage's forecast for a document.
pub(crate) type Forecaster = fn(&Planned<'_>) -> Result<Vec<Forecast>, KbError>;

/// The stages that ask models.
pub(crate) const FORECASTERS: &[Forecaster] = &[atomizing];

/// The variables of [`ATOMIZE`].
pub(super) fn chunk_variables(title: &str, text: &str) -> minijinja::Value {
    context! { chunk => context! { title, text } }
}

/// As many tokens as the chunk has: 1.02 for each of the chunk's in KAR³'s Table 12 (129, 122 and
/// 123 of them for paragraphs of 139, 102 and 124 tokens, title included).
pub(super) fn expected_questions(text: &str) -> u64 {
    (text.len() as u64 / 4).max(8)
}

/// A question is about 13 tokens long.
pub(super) fn expected_texts(completion: u64, settings: &KbSettings) -> u64 {
    (completion / 13).clamp(1, settings.max_atoms.max(1) as u64)
}

/// Questions of fresh chunks.
fn atomizing(planned: &Planned<'_>) -> Result<Vec<Forecast>, KbError> {
    let Planned { title, chunks, settings, setup } = planned;
    if settings.atoms != Atoms::Questions {
        return Ok(vec![]);
    }
    let mut forecast: Option<Forecast> = None;
    for chunk in chunks.iter().filter(|chunk| chunk.fresh) {
        let rendered = setup.prompts.render(ATOMIZE.name, &chunk_variables(title, chunk.text))?;
        let completion = expected_questions(chunk.text).min(rendered.max_tokens.into());
        let Rendered { messages, role, .. } = rendered;
        let sum = forecast.get_or_insert(Forecast {
            task: "questions",
            prompt: ATOMIZE.name,
            role,
            units: 0,
            calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            texts: 0,
        });
        sum.units += 1;
        sum.calls += 1;
        sum.prompt_tokens += estimate_tokens(&messages);
        sum.completion_tokens += completion;
        sum.texts += expected_texts(completion, settings);
    }
    Ok(forecast.into_iter().collect())
}

/// The sentences that the chunks come to, and their characters.
pub(super) fn sentences_of(planned: &Planned<'_>) -> (u64, u64) {
    let (mut texts, mut characters) = (0, 0);
    for chunk in planned.chunks.iter().filter(|chunk| chunk.fresh) {
        let source = Source {
            title: planned.title.to_owned(),
            text: chunk.text.to_owned(),
            place: Place::default(),
            verbatim: true,
        };
        for atom in source.sentence_atoms(planned.settings.max_atoms) {
            texts += 1;
            characters += (atom.text.len() + planned.title.len()) as u64;
        }
    }
    (texts, characters)
}
