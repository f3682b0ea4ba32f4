//! The evidence board: sub-questions answered and cited by the levels below.
use futures::future::try_join_all;
use halma_core::{
    Answer, Citation, Cx, IdeaEvidence, IdeaStep, Prompt, Question, Result, Strategy as _,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::PikeL4;
use crate::pike_l2::PikeL2;
use crate::pike_l3::PikeL3;
use crate::shared::kinds::{Kind, classify, with_nearest_tables};

const ASK: Prompt<SubQuestions> = Prompt::json("pike_l4/ask");

/// Tables that are named to the model that asks.
const TABLES: usize = 12;

#[derive(Debug, Deserialize)]
struct SubQuestions {
    sub_questions: Vec<String>,
}

/// One thing that is known, with where it stands.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BoardItem {
    pub(super) about: String,
    pub(super) text: String,
    #[serde(skip)]
    pub(super) citations: Vec<Citation>,
}

impl BoardItem {
    /// As the trace records it.
    pub(super) fn recorded(&self) -> IdeaEvidence {
        let nodes = self.citations.iter().map(|citation| citation.node.clone()).collect();
        IdeaEvidence { about: self.about.clone(), text: self.text.clone(), nodes }
    }
}

/// What is known, and which questions stayed open.
#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) evidence: Vec<BoardItem>,
    pub(super) open: Vec<String>,
}

impl PikeL4 {
    /// `None` where no sub-question can be asked.
    pub(super) async fn board(&self, question: &Question, cx: &Cx) -> Result<Option<Board>> {
        let catalog = with_nearest_tables(cx.catalog().await?, question, TABLES);
        let variables = context! {
            question => Serde(question),
            catalog => Serde(&catalog),
            number => self.questions,
        };
        let reply = cx.ask(&ASK, variables).await;
        let reply = reply.unless_failed(cx, "no sub-questions are asked").unless_spent()?;
        let Some(SubQuestions { mut sub_questions }) = reply else { return Ok(None) };
        sub_questions.retain(|text| !text.trim().is_empty());
        sub_questions.truncate(self.questions);
        let answers = sub_questions.iter().map(|text| {
            let cx = cx.span(text.trim());
            let question = question.sub_question(text.trim());
            async move { answered(&question, &cx).await.map(Some).unless_spent() }
        });
        let answers = try_join_all(answers).await?;
        let mut board = Board::default();
        for (text, answer) in sub_questions.into_iter().zip(answers) {
            match answer.filter(|answer| !answer.abstained) {
                Some(Answer { text: said, citations, .. }) => {
                    board.evidence.push(BoardItem { about: text, text: said, citations });
                }
                None => board.open.push(text),
            }
        }
        let (facts, open) = (board.evidence.len(), board.open.len());
        cx.note(format!("{facts} sub-questions are answered, {open} are open"));
        let evidence = board.evidence.iter().map(BoardItem::recorded).collect();
        cx.record_ideas(IdeaStep::Board { evidence, open: board.open.clone() });
        Ok(Some(board))
    }
}

/// The answer of level 2, or of level 3 where the future is asked about. A sub-question that asks
/// for ideas itself is summarized.
async fn answered(question: &Question, cx: &Cx) -> Result<Answer> {
    match classify(question, cx).await?.unwrap_or(Kind::Bridging) {
        Kind::Predictive => PikeL3::default().answer(question, cx).await,
        Kind::Creative => PikeL2::default().of_kind(Kind::Summarising, question, cx).await,
        kind => PikeL2::default().of_kind(kind, question, cx).await,
    }
}
