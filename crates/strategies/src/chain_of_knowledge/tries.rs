//! The tries from memory, and what most of them say.
use futures::future::try_join_all;
use halma_core::text::words;
use halma_core::{AnswerText, Cx, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::ChainOfKnowledge;
use crate::shared::steps::Reading;

const RATIONALE: Prompt<Try> = Prompt::json("chain_of_knowledge/rationale");

#[derive(Deserialize)]
struct Try {
    #[serde(default)]
    steps: Vec<String>,
    answer: AnswerText,
}

/// The first of the tries that give the commonest answer.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) steps: Vec<String>,
    /// Empty where no try has one.
    pub(super) answer: String,
    /// Of the tries, how many give this answer.
    pub(super) share: f32,
}

impl Chosen {
    pub(super) fn reading(&self) -> Reading {
        Reading { answer: self.answer.clone(), rationale: self.steps.join(" ") }
    }
}

impl ChainOfKnowledge {
    /// All tries concurrently. Those for which the budget leaves no call count as given up.
    pub(super) async fn tried(&self, question: &Question, cx: &Cx) -> Result<Chosen> {
        let cx = &cx.span("tries");
        // The number distinguishes the requests, for the model and for reply caches.
        let one = |number: usize| async move {
            let variables = context! { question => Serde(question), number };
            cx.ask(&RATIONALE, variables)
                .await
                .unless_failed(cx, "one attempt is lost")
                .unless_spent()
        };
        let tries = try_join_all((1..=self.tries).map(one)).await?;
        let mut tries: Vec<Try> = tries.into_iter().flatten().collect();
        let answers: Vec<Vec<String>> = tries.iter().map(|one| normalise(&one.answer.0)).collect();
        let votes = |at: &usize| match &answers[*at] {
            answer if answer.is_empty() => 0,
            answer => answers.iter().filter(|other| *other == answer).count(),
        };
        // `max_by_key` keeps the last of equals; the first is wanted.
        let Some(first) = (0..tries.len()).rev().max_by_key(votes) else {
            return Ok(Chosen::default());
        };
        let count = votes(&first);
        cx.note(match tries[first].answer.0.trim() {
            "" => "no attempt has an answer".to_owned(),
            answer => format!("{count} of {} attempts say “{answer}”", self.tries),
        });
        let Try { mut steps, answer } = tries.swap_remove(first);
        steps.retain(|step| !step.trim().is_empty());
        if steps.len() > self.max_steps {
            cx.note(format!(
                "of {} steps, the first {} are corrected",
                steps.len(),
                self.max_steps
            ));
            steps.truncate(self.max_steps);
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of tries")]
        let share = count as f32 / self.tries as f32;
        Ok(Chosen { steps, answer: answer.0, share })
    }
}

/// An answer as it is compared with others: its words without articles.
fn normalise(answer: &str) -> Vec<String> {
    let article = |word: &String| matches!(word.as_str(), "a" | "an" | "the");
    words(answer).into_iter().filter(|word| !article(word)).collect()
}
