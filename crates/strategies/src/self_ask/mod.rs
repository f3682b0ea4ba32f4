//! Self-Ask: one follow-up question at a time, each answered before the next.
//!
//! Paper: Press et al., Findings of EMNLP 2023, as set up in PIKE-RAG, Section 6.1, and "From
//! Complex to Atomic" (ICML 2025), Appendix A.2: at most 5 follow-ups, 4 chunks each.
//!
//! ```text
//! H <- []
//! repeat at most N times
//!     f <- LLM(q, H)               the next follow-up, or none  -> self_ask/follow_up.md
//!     D <- chunks near f           unless `retrieve = "none"`; of every source that is named; with
//!                                  `keywords` of N those that
//!                                  hold all keywords of f, and the 2 nearest (DEC)
//!     H <- H + (f, LLM(f, D))                                   -> self_ask/answer_one.md
//! â <- LLM(q, H)                                                -> self_ask/answer.md
//! ```
//!
//! Departures from the papers: `docs/developers/departures.md`.
mod settings;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, AnswerText, Cx, Entry, Hit, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

pub(crate) use self::settings::{FollowUps, SelfAsk};
use crate::shared::closing::close;
use crate::shared::recall::Recall;
use crate::shared::settings as table;
use crate::shared::sources::{Near, passages};
use crate::shared::steps::{Reading, answer_from, unseen};

pub(crate) const ENTRY: Entry = Entry {
    name: "self_ask",
    paper: "Self-Ask (EMNLP 2023), as a baseline of PIKE-RAG (Section 6.1) and KAR³",
    summary: "asks itself one follow-up question at a time and answers each",
    calls: "2 for each follow-up and 1; at most 11 with 5 follow-ups",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<SelfAsk>(values)?.checked()?)),
};

const FOLLOW_UP: Prompt<FollowUp> = Prompt::json("self_ask/follow_up");
const ANSWER_ONE: Prompt<Reading> = Prompt::json("self_ask/answer_one");
const ANSWER: Prompt<Reading> = Prompt::json("self_ask/answer");

/// The next follow-up; empty when the history is enough.
#[derive(Debug, Deserialize)]
struct FollowUp {
    follow_up: AnswerText,
}

/// A follow-up with its answer, which is empty where none was found.
#[derive(Debug, Serialize)]
struct AnsweredFollowUp {
    question: String,
    answer: String,
}

#[async_trait]
impl Strategy for SelfAsk {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let (mut history, mut chunks): (Vec<AnsweredFollowUp>, Vec<Hit>) = (vec![], vec![]);
        while history.len() < self.n {
            let cx = cx.span(format!("follow-up {}", history.len() + 1));
            let Some((exchange, hits)) =
                self.follow_up(question, &history, &cx).await.unless_spent()?
            else {
                break;
            };
            chunks.extend(unseen(vec![hits], &chunks));
            history.push(exchange);
        }
        let variables = context! { question => Serde(question), history => Serde(&history) };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &chunks))
    }
}

impl SelfAsk {
    /// One turn of the loop; `None` when nothing is left to ask.
    async fn follow_up(
        &self,
        question: &Question,
        history: &[AnsweredFollowUp],
        cx: &Cx,
    ) -> Result<Option<(AnsweredFollowUp, Vec<Hit>)>> {
        let variables = context! { question => Serde(question), history => Serde(history) };
        let is_worded = |next: &FollowUp| {
            let text = next.follow_up.0.trim();
            if !text.is_empty() && history.iter().any(|exchange| exchange.question == text) {
                return Err(format!("`{text}` was asked already"));
            }
            Ok(())
        };
        let next = cx.ask_checked(&FOLLOW_UP, variables, is_worded).await;
        let next = next.unless_failed(cx, "no further follow-up")?;
        let next = next.map(|next| next.follow_up.0.trim().to_owned()).unwrap_or_default();
        if next.is_empty() {
            return Ok(None);
        }
        let hits = self.near(&next, cx).await?;
        if hits.is_empty() && self.retrieve != FollowUps::None {
            cx.note("no source has a passage near it");
            return Ok(Some((AnsweredFollowUp { question: next, answer: String::new() }, hits)));
        }
        let (context, sub_question) = (Serde(&hits), question.sub_question(&next));
        let variables = context! { question => Serde(&sub_question), context };
        let answer = cx.ask(&ANSWER_ONE, variables).await;
        let answer = answer.unless_failed(cx, "the follow-up stays open")?;
        let answer = answer.map(|reading| reading.answer).unwrap_or_default();
        // Chunks that hold no answer are nothing to cite.
        let cited = if answer.trim().is_empty() { vec![] } else { hits };
        Ok(Some((AnsweredFollowUp { question: next, answer }, cited)))
    }

    async fn near(&self, text: &str, cx: &Cx) -> Result<Vec<Hit>> {
        let atoms = match self.retrieve {
            FollowUps::None => return Ok(vec![]),
            FollowUps::Flat => 0,
            FollowUps::Hierarchical => self.atoms,
        };
        let (min_score, mode) = (self.min_score, self.mode);
        let near = |chunks| Near { chunks, atoms, min_score, mode };
        if !self.keywords {
            return passages(&self.sources, &near(self.chunks), text, cx).await;
        }
        let (near, backup) = (near(self.keyword_chunks), self.backup);
        Recall { near, backup, without_keywords: self.chunks }.to(text, cx).await
    }
}

#[cfg(test)]
mod tests {
    use halma_core::Budget;
    use halma_testkit::{Script, Toy};

    use super::*;
    use crate::golden::{Run, golden};

    const WHO: (&str, &str) =
        ("self_ask/follow_up", r#"{"follow_up": "Who was the architect of the Varn lighthouse?"}"#);
    const THORN: (&str, &str) =
        ("self_ask/answer_one", r#"{"rationale": "1", "answer": "Ilse Thorn"}"#);
    const WHERE: (&str, &str) =
        ("self_ask/follow_up", r#"{"follow_up": "Where was Ilse Thorn born?"}"#);
    const NORWAY_ONE: (&str, &str) =
        ("self_ask/answer_one", r#"{"rationale": "1", "answer": "Norway"}"#);
    const ENOUGH: (&str, &str) = ("self_ask/follow_up", r#"{"follow_up": ""}"#);
    const NORWAY: (&str, &str) =
        ("self_ask/answer", r#"{"rationale": "Her birthplace.", "answer": "Norway"}"#);

    #[tokio::test]
    async fn each_follow_up_is_answered_before_the_next() {
        let model = Script::new([WHO, THORN, WHERE, NORWAY_ONE, ENOUGH, NORWAY]);
        let ask = SelfAsk { chunks: 1, ..SelfAsk::default() };
        golden("self_ask/two_follow_ups", &ask, Run::new(model)).await;
    }

    #[tokio::test]
    async fn without_retrieval_nothing_is_searched_and_nothing_cited() {
        let model = Script::new([WHO, THORN, ENOUGH, NORWAY]);
        let ask = SelfAsk { retrieve: FollowUps::None, ..SelfAsk::default() };
        golden("self_ask/from_memory", &ask, Run::new(model)).await;
    }

    #[tokio::test]
    async fn hierarchical_searches_atoms_as_well() {
        let model = Script::new([WHERE, NORWAY_ONE, ENOUGH, NORWAY]);
        let (retrieve, chunks) = (FollowUps::Hierarchical, 1);
        let ask = SelfAsk { retrieve, chunks, ..SelfAsk::default() };
        golden("self_ask/hierarchical", &ask, Run::new(model)).await;
    }

    #[tokio::test]
    async fn with_keywords_the_chunks_that_hold_them_are_read() {
        let lighthouse = "The lighthouse stands on a reef. Its architect was Per Moe.";
        let knowledge = Toy::new(&[
            ("alt", "Alt lighthouse", lighthouse, &[]),
            ("dorn", "Dorn lighthouse", lighthouse, &[]),
            ("keel", "Keel lighthouse", lighthouse, &[]),
            ("varn", "Varn lighthouse", "The architect of this lighthouse was Ilse Thorn.", &[]),
        ]);
        let varn = ("dec/keywords", r#"{"keywords": ["Varn", "Norway"]}"#);
        let model = Script::new([WHO, varn, THORN, ENOUGH, NORWAY]);
        let ask = SelfAsk { keywords: true, backup: 1, ..SelfAsk::default() };
        golden("self_ask/keywords", &ask, Run { knowledge, ..Run::new(model) }).await;
    }

    #[tokio::test]
    async fn a_model_that_never_stops_asking_is_stopped() {
        let again = |i: usize| format!(r#"{{"follow_up": "Who is Thorn number {i}?"}}"#);
        let questions: Vec<String> = (1..=2).map(again).collect();
        let nothing = r#"{"rationale": "It is not told.", "answer": ""}"#;
        let mut steps = vec![];
        for follow_up in &questions {
            steps.push(("self_ask/follow_up", Ok(follow_up.as_str())));
            steps.push(("self_ask/answer_one", Ok(nothing)));
        }
        steps.push(("self_ask/answer", Ok(nothing)));
        let ask = SelfAsk { n: 2, min_score: Some(0.3), ..SelfAsk::default() };
        golden("self_ask/never_stops", &ask, Run::new(Script::with_failures(steps))).await;
    }

    #[tokio::test]
    async fn an_empty_base_answers_no_follow_up() {
        let nothing = ("self_ask/answer", r#"{"rationale": "Nothing is known.", "answer": ""}"#);
        let model = Script::new([WHO, ENOUGH, nothing]);
        let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
        golden("self_ask/empty_base", &SelfAsk::default(), run).await;
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
        assert!(refused("n = 0").contains("`n`"));
        assert!(refused("keyword_chunks = 0").contains("`keyword_chunks`"));
        assert!(refused("keywords = true\nretrieve = \"none\"").contains("`keywords`"));
    }

    #[tokio::test]
    async fn the_same_follow_up_twice_is_asked_for_again() {
        let model = Script::new([WHO, THORN, WHO, ENOUGH, NORWAY]);
        golden("self_ask/repeats", &SelfAsk::default(), Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_spent_budget_closes_with_the_history() {
        let budget = Budget { calls: Some(3), ..Budget::default() };
        let model = Script::new([WHO, THORN, NORWAY]);
        golden("self_ask/spent_budget", &SelfAsk::default(), Run { budget, ..Run::new(model) })
            .await;
    }
}
