//! Answering a question by an answer that was accepted before.
use std::sync::Arc;

use halma_core::text::normalise_name;
use halma_core::{
    Answer, Citation, Cx, Hit, Layer, Prompt, Question, Result, Span, UnlessFailed as _,
    UnlessSpent as _,
};
use halma_kb::{Base, FeedbackSettings, KnownAnswer};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use crate::engine::OffRuntime;

const SAME: Prompt<Verdict> = Prompt::json("feedback/same");

#[derive(Deserialize)]
struct Verdict {
    supported: bool,
    score: Option<f32>,
}

/// Where accepted answers are looked up.
pub(crate) struct Recall {
    base: OffRuntime,
    settings: FeedbackSettings,
}

impl Recall {
    pub(crate) fn new(base: &Arc<Base>, settings: FeedbackSettings) -> Self {
        Self { base: OffRuntime::new(base), settings }
    }

    /// The accepted answer to a question: at once where the question is the same, after one call
    /// where it is similar. `None` where there is none, or where accepted answers differ.
    pub(crate) async fn answer(&self, question: &Question, cx: &Cx) -> Result<Option<Answer>> {
        // Choices and dates are not part of what was accepted.
        let plain = question.options.is_empty() && question.asked_at.is_none();
        if !self.settings.recall || !plain {
            return Ok(None);
        }
        let text = question.text.clone();
        let accepted =
            self.base.run_split(move |base| async move { base.known_answers(&text).await });
        let accepted = match accepted.await {
            Ok(accepted) => accepted,
            Err(error) => {
                cx.note(format!("accepted answers could not be looked up: {error}"));
                return Ok(None);
            }
        };
        let Some(best) = accepted.first() else { return Ok(None) };
        let cx = cx.span("accepted answers");
        let equal = |other: &&KnownAnswer| other.is_same == best.is_same;
        let form = normalise_name(&best.answer);
        let mut others = accepted.iter().filter(equal);
        if let Some(other) = others.find(|other| normalise_name(&other.answer) != form) {
            let (one, two) = (&best.feedback, &other.feedback);
            cx.note(format!("the accepted answers of feedback {one} and {two} differ"));
            return Ok(None);
        }
        if !best.is_same && !self.is_same(question, best, &cx).await? {
            cx.note(format!("“{}” is another question", best.question));
            return Ok(None);
        }
        for passage in &best.passages {
            cx.quote(&passage.document);
        }
        cx.note(format!("answered by feedback {}: “{}”", best.feedback, best.question));
        Ok(Some(Answer {
            text: best.answer.clone(),
            reason: format!("An accepted answer to “{}”.", best.question),
            citations: best.passages.iter().map(Citation::from).collect(),
            ..Answer::default()
        }))
    }

    /// Whether a model finds that both questions have the same answer.
    async fn is_same(&self, question: &Question, accepted: &KnownAnswer, cx: &Cx) -> Result<bool> {
        let mut passages = vec![stated(accepted)];
        passages.extend(accepted.passages.iter().cloned());
        let variables = context! {
            question => Serde(question),
            answer => &accepted.answer,
            context => Serde(&passages),
        };
        let verdict = cx.ask(&SAME, variables).await;
        let verdict = verdict.unless_failed(cx, "the question is answered as a new one")?;
        let Some(Verdict { supported, score }) = Ok(verdict).unless_spent()? else {
            return Ok(false);
        };
        Ok(supported && score.is_none_or(|score| score >= self.settings.verify_score))
    }
}

/// The earlier question with its answer as one statement, which comes before its passages.
fn stated(accepted: &KnownAnswer) -> Hit {
    let question = accepted.question.trim_end_matches(['?', '？', '.', ' ']);
    Hit {
        id: accepted.atom.clone(),
        layer: Layer::Atom,
        parent: None,
        document: String::new(),
        title: "Accepted answer".into(),
        section: None,
        page: None,
        text: format!("{question}: {}", accepted.answer),
        score: accepted.similarity,
        cosine: None,
        parts: vec![],
        span: Span::default(),
    }
}
