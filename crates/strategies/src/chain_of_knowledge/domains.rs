//! Where the steps of a question are looked up (the paper's knowledge domains), and what a
//! knowledge graph has for a step.
use halma_core::{
    AnswerText, Cx, Error, FactsCx, Hit, Prompt, Question, Result, SourceInfo, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::ChainOfKnowledge;
use crate::shared::sources::{Near, passages};

const DOMAINS: Prompt<Domains> = Prompt::json("chain_of_knowledge/domains");
const QUERY: Prompt<FactQuery> = Prompt::json("chain_of_knowledge/query");

#[derive(Deserialize)]
struct Domains {
    sources: Vec<String>,
}

/// A step as a graph can be asked for it.
#[derive(Deserialize)]
struct FactQuery {
    entity: AnswerText,
    relation: AnswerText,
}

impl ChainOfKnowledge {
    /// The sources for a question: chosen by the model where there are several, all where it
    /// chooses none.
    pub(super) async fn domains(&self, question: &Question, cx: &Cx) -> Result<Vec<String>> {
        if self.sources.len() < 2 || !self.select {
            return Ok(self.sources.clone());
        }
        let mut open: Vec<SourceInfo> = vec![cx.base()];
        open.extend(cx.sources());
        open.retain(|source| self.sources.contains(&source.name));
        let variables = context! { question => Serde(question), sources => Serde(&open) };
        let chosen = cx.span("domains").ask(&DOMAINS, variables).await;
        let chosen = chosen.unless_failed(cx, "no domain is chosen").unless_spent()?;
        let chosen = chosen.map(|chosen| chosen.sources).unwrap_or_default();
        let is_chosen =
            |name: &&String| chosen.iter().any(|choice| choice.trim().eq_ignore_ascii_case(name));
        let names: Vec<String> = self.sources.iter().filter(is_chosen).cloned().collect();
        if names.is_empty() {
            cx.note("no domain is chosen: every source is asked");
            return Ok(self.sources.clone());
        }
        cx.note(format!("domains: {}", names.join(", ")));
        Ok(names)
    }

    /// What the chosen sources have for a step.
    pub(super) async fn near(
        &self,
        question: &Question,
        step: &str,
        domains: &[String],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let near =
            Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode };
        let facts = cx.facts();
        let graph = facts.filter(|facts| domains.iter().any(|name| name == facts.name()));
        let texts: Vec<String> = domains
            .iter()
            .filter(|name| graph.as_ref().is_none_or(|graph| graph.name() != name.as_str()))
            .cloned()
            .collect();
        let mut hits = match &graph {
            Some(graph) => self.stated((question, step), graph, cx).await?,
            None => vec![],
        };
        hits.extend(passages(&texts, &near, step, cx).await?);
        Ok(hits)
    }

    /// The facts of the graph that a step can be compared with. A graph that fails is in the trace
    /// and gone without.
    async fn stated(
        &self,
        (question, step): (&Question, &str),
        graph: &FactsCx<'_>,
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let variables = context! { question => Serde(question), thought => step };
        let query = cx.ask(&QUERY, variables).await;
        let query = query.unless_failed(cx, "the graph is not asked")?;
        let Some(FactQuery { entity, relation }) = query else { return Ok(vec![]) };
        if entity.0.is_empty() || relation.0.is_empty() {
            return Ok(vec![]);
        }
        let facts = async {
            match graph.find(&entity.0, None, 1).await?.first() {
                Some(entity) => graph.relate(entity, &relation.0).await,
                None => Ok(vec![]),
            }
        };
        let facts = match facts.await {
            Err(Error::Source { .. }) => vec![],
            facts => facts?,
        };
        Ok(facts.into_iter().take(self.chunks).map(|fact| fact.evidence).collect())
    }
}
