//! A leaf (Section 3.3.1): its sources are chosen, looked up in, and read by the operator; where
//! that comes to nothing, its question is looked up as it stands (direct RAG).
use futures::future::{OptionFuture, try_join, try_join_all};
use halma_core::{Cx, Layer, MinScore, Prompt, Query, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;

use super::answers::{AnswerReply, KnownAnswers, Solved, listed};
use super::evidence::{Evidence, Lists};
use super::execute::Run;
use super::graph::{self, GraphResult};
use super::operators::Operation;
use super::plan::Call;
use super::settings::{Kg, Select};
use super::sources::TEXT;
use crate::shared::steps::Reading;

const DIRECT: Prompt<Reading> = Prompt::json("atomr/direct");

/// What was found for an operator, or what the graph has decided.
enum LookupResult {
    Decided(Solved),
    Evidence(Evidence),
}

impl Run<'_> {
    pub(super) async fn leaf(
        &self,
        (place, call): (usize, &Call),
        question: &Question,
        answers: &KnownAnswers<'_>,
        cx: &Cx,
    ) -> Result<Solved> {
        let Some(operation) = Operation::resolve(call, answers, self.settings, cx) else {
            cx.note(format!("{call} needs an answer that is unknown"));
            return self.direct(question, Evidence::default(), &self.sources.texts(), cx).await;
        };
        cx.note(operation.to_string());
        let mut of_graph = None;
        if self.settings.kg == Kg::First && self.sources.graph.is_some() {
            let answered = self.ask_graph(&operation, question, cx).await?;
            if let Some(solved) = decided(question, &answered, self.settings.entities) {
                return Ok(solved);
            }
            of_graph = Some(answered);
        }
        let for_leaf = (self.question, self.plan, place);
        let names = self.sources.for_leaf(for_leaf, &question.text, self.settings, cx).await?;
        if self.sources.all.len() > 1 {
            cx.note(format!("sources: {}", names.join(", ")));
        }
        let evidence = match self.look(&operation, question, &names, of_graph, cx).await? {
            LookupResult::Decided(solved) => return Ok(solved),
            LookupResult::Evidence(evidence) => evidence,
        };
        let nothing = matches!(operation, Operation::Filter { .. }) && evidence.retained.is_empty();
        if nothing || evidence.is_empty() {
            cx.note("no result for the operator");
        } else if let Some(reply) = self.operate(&operation, question, &evidence, cx).await? {
            let answers = reply.list();
            if !answers.is_empty() {
                return Ok(Solved {
                    question: question.text.clone(),
                    citations: evidence.cited(&answers, &reply.answer),
                    entities: evidence.entities(&answers),
                    answer: reply.sentence(),
                    answers,
                });
            }
            cx.note("the operator has no answer");
        }
        self.direct(question, evidence, &self.only_texts(names), cx).await
    }

    /// The operator's reply; `None` where it cannot be read, so that the question is looked up as it
    /// stands (Algorithm 1, lines 7 to 11).
    async fn operate(
        &self,
        operation: &Operation,
        question: &Question,
        evidence: &Evidence,
        cx: &Cx,
    ) -> Result<Option<AnswerReply>> {
        let reply = operation.read(question, evidence, cx).await;
        reply.unless_failed(cx, "the operator failed: looking up the question")
    }

    /// Looks an operator up in its sources, concurrently.
    async fn look(
        &self,
        operation: &Operation,
        question: &Question,
        names: &[String],
        of_graph: Option<GraphResult>,
        cx: &Cx,
    ) -> Result<LookupResult> {
        let queries = operation.queries(self.settings);
        let is_graph = |name: &&String| self.sources.graph.as_ref() == Some(*name);
        let source = names.iter().find(is_graph).filter(|_| of_graph.is_none());
        let graph: OptionFuture<_> = source.map(|_| self.ask_graph(operation, question, cx)).into();
        let texts: Vec<&String> = names.iter().filter(|name| !is_graph(name)).collect();
        let enough = operation.enough(self.settings);
        let lists = texts.iter().map(|name| self.texts(name, &queries, (question, enough), cx));
        let (lists, answered) =
            try_join(try_join_all(lists), async { graph.await.transpose() }).await?;
        let answered = of_graph.or(answered).unwrap_or_default();
        if let Some(solved) =
            decided(question, &answered, self.settings.entities).filter(|_| texts.is_empty())
        {
            return Ok(LookupResult::Decided(solved));
        }
        let Operation::Filter { entities, .. } = operation else {
            return Ok(LookupResult::Evidence(Evidence::collect(lists, answered)));
        };
        let entity_names: Vec<String> =
            entities.iter().take(queries.len()).map(|entity| entity.name.clone()).collect();
        if entities.len() > entity_names.len() {
            let (all, first) = (entities.len(), entity_names.len());
            cx.note(format!("of {all} entities, the first {first} are looked up"));
        }
        let of_entities = (entity_names.as_slice(), queries.as_slice());
        let (evidence, dropped) = Evidence::filtered(of_entities, lists, answered, self.settings);
        if dropped > 0 {
            cx.note(format!("{dropped} entities have too little in common with what was found"));
        }
        Ok(LookupResult::Evidence(evidence))
    }

    async fn ask_graph(
        &self,
        operation: &Operation,
        question: &Question,
        cx: &Cx,
    ) -> Result<GraphResult> {
        let Some(facts) = cx.facts() else { return Ok(GraphResult::default()) };
        let answered = graph::ask(operation, self.settings, &facts).await;
        self.or_missing(&question.text, answered)
    }

    /// What a source of texts has for each query: k passages, or one where the queries are more
    /// than k (as in the released code's Filter).
    async fn texts(
        &self,
        name: &str,
        queries: &[String],
        (question, enough): (&Question, Option<f32>),
        cx: &Cx,
    ) -> Result<Lists> {
        let k = self.settings.chunks;
        let limit = if queries.len() <= k { k } else { 1 };
        if name != TEXT {
            let hits = queries.iter().map(|query| async move {
                self.or_missing(&question.text, cx.source(name, query, limit).await)
            });
            let lists = try_join_all(hits).await?;
            return Ok(Lists { source: name.to_owned(), lists });
        }
        let query = Query {
            min_score: MinScore::from_setting(self.settings.min_score),
            ..Query::new(queries.to_vec(), Layer::Chunk, self.settings.mode, limit)
        };
        let mut lists = cx.search(&query).await?;
        for list in &mut lists {
            let last = list.iter().position(|hit| {
                enough.is_some_and(|enough| hit.cosine.is_some_and(|cosine| cosine > enough))
            });
            list.truncate(last.map_or(list.len(), |last| last + 1));
        }
        Ok(Lists { source: name.to_owned(), lists })
    }

    /// Direct RAG: the question is looked up as it stands and read together with what its operator found.
    pub(super) async fn direct(
        &self,
        question: &Question,
        before: Evidence,
        names: &[String],
        cx: &Cx,
    ) -> Result<Solved> {
        let queries = [question.text.clone()];
        let lists = names.iter().map(|name| self.texts(name, &queries, (question, None), cx));
        let read = Evidence::collect(try_join_all(lists).await?, GraphResult::default());
        let read = read.after(before);
        if read.is_empty() && !question.own_knowledge {
            cx.note("no result for the question");
            return Ok(Solved::unknown(&question.text));
        }
        let variables = context! {
            question => Serde(question),
            context => Serde(&read.passages()),
            facts => Serde(&read.lines),
        };
        let Reading { answer, rationale } = cx.ask(&DIRECT, variables).await?;
        let answers: Vec<String> = several(&answer);
        Ok(Solved {
            question: question.text.clone(),
            citations: if answers.is_empty() { vec![] } else { read.cited(&answers, &rationale) },
            entities: read.entities(&answers),
            answer: if answers.is_empty() { String::new() } else { rationale },
            answers,
        })
    }

    /// The sources of texts that an inner node's own question is looked up in.
    pub(super) async fn sources_of_question(
        &self,
        place: usize,
        question: &Question,
        cx: &Cx,
    ) -> Result<Vec<String>> {
        if self.settings.select != Select::Leaf {
            return Ok(self.sources.texts());
        }
        let of_node = (self.question, self.plan, place);
        let names = self.sources.for_leaf(of_node, &question.text, self.settings, cx).await?;
        Ok(self.only_texts(names))
    }

    /// Those that hold texts; where none does, all that there are.
    fn only_texts(&self, names: Vec<String>) -> Vec<String> {
        let texts = self.sources.texts();
        let chosen: Vec<String> = names.into_iter().filter(|name| texts.contains(name)).collect();
        if chosen.is_empty() { texts } else { chosen }
    }
}

/// What the graph decides, without a model.
fn decided(question: &Question, answered: &GraphResult, shown: usize) -> Option<Solved> {
    let answers = answered.answers.clone()?;
    let citations = answered.evidence.iter().map(halma_core::Citation::from);
    Some(Solved {
        question: question.text.clone(),
        answer: listed(&answers, shown),
        answers,
        citations: citations.collect(),
        entities: answered.entities.clone(),
    })
}

/// The answers that one text names.
fn several(text: &str) -> Vec<String> {
    let each = text.split(" | ").map(str::trim).filter(|one| !one.is_empty());
    each.map(str::to_owned).collect()
}
