//! Perspectives that differ.
use halma_core::text::content_words;
use halma_core::{
    Cx, IdeaPerspective, IdeaStep, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::PikeL4;
use super::board::Board;
use super::proposals::shared_words;

const PERSPECTIVES: Prompt<Drawn> = Prompt::json("pike_l4/perspectives");

/// Share of common words from which two perspectives are one.
const SAME: f64 = 0.8;

#[derive(Debug, Deserialize)]
struct Drawn {
    perspectives: Vec<Perspective>,
}

/// From where an agent looks at the question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Perspective {
    pub(super) name: String,
    #[serde(default)]
    pub(super) concern: String,
    #[serde(default)]
    pub(super) convinced_by: String,
}

impl Perspective {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), concern: String::new(), convinced_by: String::new() }
    }

    fn is_like(&self, other: &Self) -> bool {
        let words = |one: &Self| content_words(&format!("{} {}", one.name, one.concern));
        self.name.eq_ignore_ascii_case(&other.name)
            || shared_words(&words(self), &words(other)) >= SAME
    }
}

impl PikeL4 {
    pub(super) async fn perspectives(
        &self,
        question: &Question,
        board: &Board,
        cx: &Cx,
    ) -> Result<Vec<Perspective>> {
        let perspectives = self.choose(question, board, cx).await?;
        let recorded = |one: &Perspective| IdeaPerspective {
            name: one.name.clone(),
            concern: one.concern.clone(),
        };
        let agents = perspectives.iter().map(recorded).collect();
        cx.record_ideas(IdeaStep::Perspectives { agents });
        Ok(perspectives)
    }

    /// Those of the settings, or drawn by a model; where none can be had, one without a name.
    async fn choose(
        &self,
        question: &Question,
        board: &Board,
        cx: &Cx,
    ) -> Result<Vec<Perspective>> {
        if !self.own_perspectives {
            let agents = 1..=self.agents;
            return Ok(agents.map(|agent| Perspective::named(&format!("agent {agent}"))).collect());
        }
        if !self.perspectives.is_empty() {
            return Ok(self.perspectives.iter().map(|name| Perspective::named(name)).collect());
        }
        let variables = context! {
            question => Serde(question),
            board => Serde(&board.evidence),
            number => self.agents,
        };
        let drawn = cx.ask_checked(&PERSPECTIVES, variables, Drawn::check).await;
        let drawn = drawn.unless_failed(cx, "one agent works without a perspective");
        let Some(Drawn { mut perspectives }) = drawn.unless_spent()? else {
            return Ok(vec![Perspective::named("the question itself")]);
        };
        perspectives.retain(|one| !one.name.trim().is_empty());
        perspectives.truncate(self.agents);
        Ok(perspectives)
    }
}

impl Drawn {
    fn check(&self) -> std::result::Result<(), String> {
        let all = &self.perspectives;
        if all.len() < 2 {
            return Err("`perspectives` has fewer than two entries".into());
        }
        for (at, one) in all.iter().enumerate() {
            if let Some(other) = all[at + 1..].iter().find(|other| one.is_like(other)) {
                return Err(format!(
                    "`{}` and `{}` are the same perspective",
                    one.name, other.name
                ));
            }
        }
        Ok(())
    }
}
