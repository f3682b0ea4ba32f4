//! Passages in place of an answer: where the offline model is not sure of its answer, and where there
//! is none.
use halma_core::text::support::{TitledText, nearest_sentence};
use halma_core::{
    Answer, Citation, Cx, Event, Hit, Layer, Mode, NearestPassage, Query, Question, ResultKind,
};
use halma_offline::Extractive;

use super::evidence::collect;

/// The confidence from which an answer of the offline model is shown as an answer.
const SURE: f32 = 0.85;

/// Passages that are shown in place of an answer.
const SHOWN: usize = 3;

const NO_MODEL: &str = "No language model is configured, so Halma shows the nearest passages in \
                        place of an answer. `halma init` connects a model.";

/// The answer of the offline model with its confidence; an abstention where it is not sure. Not judged
/// are one of given choices and what was computed.
pub(crate) async fn confident(
    offline: &Extractive,
    question: &Question,
    answer: Answer,
    cx: &Cx,
) -> Answer {
    let is_computed = answer.computation.is_some() && !answer.abstained;
    if !question.options.is_empty() || is_computed {
        return answer;
    }
    let unsure = |confidence| Answer {
        confidence,
        abstained: true,
        text: String::new(),
        reason: String::new(),
        limitation: Some(NO_MODEL.to_owned()),
        citations: vec![],
        full: None,
        ..Answer::default()
    };
    if answer.abstained || answer.text.trim().is_empty() {
        return unsure(None);
    }
    let sources = collect(question, &answer, cx).await;
    let (model, text, short) = (offline.clone(), question.text.clone(), answer.text.clone());
    let judged = tokio::task::spawn_blocking(move || {
        let passages: Vec<TitledText<'_>> = sources.iter().map(|source| source.passage()).collect();
        model.evidence(&text, &short, &passages)
    });
    let Ok(evidence) = judged.await else { return unsure(None) };
    let confidence = evidence.confidence();
    cx.note(format!("confidence in “{}”: {confidence:.2} ({evidence:?})", answer.text));
    if confidence < SURE {
        return unsure(Some(confidence));
    }
    Answer { confidence: Some(confidence), ..answer }
}

/// The answer with its kind; an abstention with the nearest passages.
pub(crate) async fn with_kind(question: &Question, answer: Answer, cx: &Cx) -> Answer {
    if answer.abstained || answer.text.trim().is_empty() {
        let passages = nearest(&question.text, cx).await;
        let kind = if passages.is_empty() { ResultKind::None } else { ResultKind::Passages };
        return Answer { kind, passages, ..answer };
    }
    let forecast = || cx.trace().0.iter().any(|e| matches!(e, Event::SeriesForecast { .. }));
    let kind = match answer.computation {
        None => ResultKind::Answer,
        Some(_) if forecast() => ResultKind::Forecast,
        Some(_) => ResultKind::Count,
    };
    Answer { kind, ..answer }
}

/// The passages nearest to a question, with the sentence of each that is nearest. None where they
/// cannot be searched: a question without an answer does not fail for it.
async fn nearest(question: &str, cx: &Cx) -> Vec<NearestPassage> {
    let query = Query::new(vec![question.to_owned()], Layer::Chunk, Mode::default(), SHOWN);
    let lists = cx.search(&query).await.unwrap_or_default();
    lists.into_iter().flatten().take(SHOWN).map(|hit| passage(question, &hit)).collect()
}

fn passage(question: &str, hit: &Hit) -> NearestPassage {
    let mut source = Citation::from(hit);
    if let Some(range) = nearest_sentence(question, &hit.text) {
        source.start += hit.text[..range.start].chars().count();
        hit.text[range].clone_into(&mut source.quote);
        source.end = source.start + source.quote.chars().count();
    }
    NearestPassage { text: hit.text.clone(), source }
}
