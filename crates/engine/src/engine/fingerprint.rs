//! Names of everything that an answer depends on. Results under different fingerprints must not be
//! mixed.
use halma_core::Strategy;
use halma_kb::{CandidateState, Feedback, FeedbackQuery};
use halma_sources::web::WebSettings;

use super::{Engine, knowledge_graph};
use crate::error::EngineError;

/// The prompts that only a judge answers begin with this.
const JUDGE_PROMPTS: &str = "judge/";
/// Those for feedback are asked in no evaluation.
const FEEDBACK_PROMPTS: &str = "feedback/";

impl Engine {
    /// Names the content of the base and how it is searched.
    pub fn base_fingerprint(&self) -> Result<String, EngineError> {
        let embedder = self.embedder().map_or("none", |embedder| embedder.model());
        Ok(format!("{} {embedder}", self.base.inspector().stats()?.fingerprint))
    }

    /// Names everything that an answer depends on: settings, prompts, models, base.
    pub fn fingerprint(&self, strategy: &dyn Strategy) -> Result<String, EngineError> {
        let other = [JUDGE_PROMPTS, FEEDBACK_PROMPTS];
        let prompts = self.prompt_hashes(|name| !other.iter().any(|of| name.starts_with(of)));
        let roles = crate::ROLES.iter().filter(|role| **role != "judge");
        let models: Vec<&str> = roles.map(|role| self.model_for_role(role)).collect();
        let mut names = serde_json::json!({
            "strategy": strategy.name(),
            "settings": strategy.settings(),
            "prompts": prompts,
            "models": models,
            "reranker": self.setup.reranker.as_ref().map(|reranker| reranker.name()),
            "tagger": self.setup.tagger_name(),
            "thresholds": [self.config.embedder.chunk_threshold, self.config.embedder.atom_threshold],
            "search": self.config.kb.search,
            "graph": self.config.kb.graph,
            "web": self.config.sources.web.as_ref().map(WebSettings::identity),
            "about": self.setup.about_base,
            "kg": knowledge_graph::fingerprint(self)?,
            "budget": self.config.budget.ask,
            "base": self.base_fingerprint()?,
        });
        if let Some(heads) = &self.resources.heads {
            names["heads"] = heads.name().into();
        }
        if let Some(feedback) = self.feedback_fingerprint()? {
            names["feedback"] = feedback.into();
        }
        Ok(names.to_string())
    }

    /// Names what was accepted from answers, where evaluations find it.
    fn feedback_fingerprint(&self) -> Result<Option<String>, EngineError> {
        if !self.config.feedback.eval {
            return Ok(None);
        }
        let state = Some(CandidateState::Accepted);
        let accepted =
            self.base.list_feedback(&FeedbackQuery { state, ..FeedbackQuery::default() })?;
        let decided = |f: &Feedback| f.candidates.iter().map(|c| c.at).max();
        let ids = accepted.iter().map(|given| format!("{} {:?}", given.id, decided(given)));
        Ok(Some(ids.collect::<Vec<_>>().join(",")))
    }

    /// Names everything that the ruling of a judge depends on: its prompts and its model.
    pub fn judge_fingerprint(&self) -> String {
        let prompts = self.prompt_hashes(|name| name.starts_with(JUDGE_PROMPTS));
        serde_json::json!({ "prompts": prompts, "model": self.model_for_role("judge") }).to_string()
    }

    fn prompt_hashes(&self, filter: impl Fn(&str) -> bool) -> Vec<String> {
        let all = self.prompts().list().into_iter();
        all.filter(|info| filter(&info.name)).map(|info| info.hash).collect()
    }
}
