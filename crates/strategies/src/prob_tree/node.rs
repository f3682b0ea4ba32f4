//! The answers of one node of the tree, and which of them is believed.
use futures::future::{BoxFuture, FutureExt as _, try_join_all, try_join3};
use halma_core::text::words;
use halma_core::{
    Answer, Citation, Cx, Hit, Prompt, Question, Result, Scored, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;

use super::confidence::{self, NOTHING};
use super::reply::{ListedQuestion, Planned};
use super::{CLOSED, OPEN, PARTS, ProbTree};
use crate::shared::citing::{Solved, citations, joined};
use crate::shared::plan::{Step, plan, waves};
use crate::shared::sources::passages;
use crate::shared::steps::{Reading, answer_from};

/// What stands between the answers where a text names several. No title has it, as some have `;`.
pub(super) const BETWEEN: &str = " | ";

/// An answer with p, how sure it is.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) reason: String,
    pub(super) confidence: f32,
    pub(super) citations: Vec<Citation>,
}

impl Default for Candidate {
    /// None found.
    fn default() -> Self {
        let (text, reason) = (String::new(), String::new());
        Self { text, reason, confidence: NOTHING, citations: vec![] }
    }
}

/// The outcome of a node.
pub(super) struct NodeResult {
    pub(super) best: Candidate,
    /// Whether the budget left no call for one of its answers.
    pub(super) refused: bool,
    /// Its parts, as prompts are given them.
    pub(super) history: Vec<Solved>,
}

/// The answers to a node's parts with the sum of their confidences.
#[derive(Default)]
struct Parts {
    history: Vec<Solved>,
    sum: f32,
}

impl ProbTree {
    /// Closed book, open book and the parts concurrently; then the answer of the parts.
    pub(super) fn solve<'a>(
        &'a self,
        node: &'a Node,
        question: &'a Question,
        cx: &'a Cx,
    ) -> BoxFuture<'a, Result<NodeResult>> {
        async move {
            let (closed, open, parts) = try_join3(
                async { or_none(self.closed(question, cx).await, cx) },
                async { or_none(self.open(question, cx).await, cx) },
                self.parts(node, cx),
            )
            .await?;
            let child = or_none(self.child(node, question, &parts, cx).await, cx)?;
            let candidates = [closed, open, child];
            let refused = candidates.iter().any(Option::is_none);
            cx.note(describe(&candidates));
            let best = best(candidates.into_iter().flatten());
            Ok(NodeResult { best, refused, history: parts.history })
        }
        .boxed()
    }

    async fn closed(&self, question: &Question, cx: &Cx) -> Result<Candidate> {
        if !self.closed_book {
            return Ok(Candidate::default());
        }
        read(&CLOSED, context! { question => Serde(question) }, &[], cx).await
    }

    /// From the passages near it; where there are none, there is nothing to ask.
    pub(super) async fn open(&self, question: &Question, cx: &Cx) -> Result<Candidate> {
        let hits = passages(&self.sources, &self.near(), &question.text, cx).await?;
        if hits.is_empty() {
            let reason = "no source has a passage near the question".into();
            return Ok(Candidate { reason, ..Candidate::default() });
        }
        let variables = context! { question => Serde(question), context => Serde(&hits) };
        read(&OPEN, variables, &hits, cx).await
    }

    /// The answer of the parts. It is worth the mean of its own reasoning, of the decomposition and
    /// of each part's answer.
    async fn child(
        &self,
        node: &Node,
        question: &Question,
        parts: &Parts,
        cx: &Cx,
    ) -> Result<Candidate> {
        if parts.history.iter().all(|part| part.answer.is_empty()) {
            return Ok(Candidate::default());
        }
        let variables = context! { question => Serde(question), history => Serde(&parts.history) };
        let child = read(&PARTS, variables, &[], cx).await?;
        if child.text.is_empty() {
            return Ok(child);
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of parts")]
        let terms = (node.parts.len() + 2) as f32;
        let confidence = (child.confidence + node.confidence + parts.sum) / terms;
        Ok(Candidate { confidence, citations: citations(&parts.history), ..child })
    }

    /// Every part, those that need no other's answer concurrently.
    async fn parts(&self, node: &Node, cx: &Cx) -> Result<Parts> {
        let steps: Vec<Step> = node.parts.iter().map(|(step, _)| step.clone()).collect();
        let mut solved: Vec<Option<(Solved, f32)>> = vec![None; steps.len()];
        for wave in waves(&steps) {
            let answers = |place: usize| -> Vec<String> {
                solved[place].as_ref().map_or_else(Vec::new, |(part, _)| several(&part.answer))
            };
            // The spans in order, before anything runs concurrently.
            let questions: Vec<(usize, Vec<String>, Cx)> = wave
                .into_iter()
                .map(|place| {
                    let texts = self.filled(&node.parts[place], answers, cx);
                    let cx = cx.span(format!("part {}: {}", place + 1, texts.join(" / ")));
                    (place, texts, cx)
                })
                .collect();
            let running = questions.iter().map(|(place, texts, cx)| async move {
                let best = self.fanned(&node.parts[*place].1, texts, cx).await?;
                let question = texts.join(" / ");
                let Candidate { text: answer, citations, confidence, .. } = best;
                Result::Ok((*place, (Solved { question, answer, citations }, confidence)))
            });
            for (place, part) in try_join_all(running).await? {
                solved[place] = Some(part);
            }
        }
        let mut parts = Parts::default();
        for (part, confidence) in solved.into_iter().flatten() {
            parts.sum += confidence;
            parts.history.push(part);
        }
        Ok(parts)
    }

    /// A part's question with the answers that it needs: one text for each where they are several
    /// and it is a leaf. Deeper parts are asked once, about all of them.
    fn filled(
        &self,
        (step, node): &(Step, Node),
        answers: impl Fn(usize) -> Vec<String>,
        cx: &Cx,
    ) -> Vec<String> {
        if !node.parts.is_empty() {
            let together = |place| match answers(place).join(", ") {
                text if text.is_empty() => vec![],
                text => vec![text],
            };
            return step.fill(together, 1).texts;
        }
        let filled = step.fill(answers, self.fan_out);
        if filled.left_out > 0 {
            let (count, left_out) = (filled.texts.len(), filled.left_out);
            cx.note(format!("`{}` is asked {count} times, {left_out} omitted", step.worded));
        }
        filled.texts
    }

    /// The best answer to one text, or those to several put together.
    async fn fanned(&self, node: &Node, texts: &[String], cx: &Cx) -> Result<Candidate> {
        let questions: Vec<Question> = texts.iter().map(Question::new).collect();
        let solving = questions.iter().map(|question| self.solve(node, question, cx));
        let mut solved = try_join_all(solving).await?.into_iter().map(|solved| solved.best);
        let first = solved.next().unwrap_or_default();
        Ok(solved.fold(first, together))
    }
}

/// Of two answers to two wordings one that names both, as sure as the less sure of them.
fn together(mut one: Candidate, other: Candidate) -> Candidate {
    if other.text.is_empty() || one.text.is_empty() {
        return if one.text.is_empty() { other } else { one };
    }
    one.citations = joined(one.citations.into_iter().chain(other.citations));
    let confidence = one.confidence.min(other.confidence);
    Candidate { text: format!("{}{BETWEEN}{}", one.text, other.text), confidence, ..one }
}

/// An answer with its confidence.
pub(super) async fn read(
    prompt: &Prompt<Reading>,
    variables: minijinja::Value,
    passages: &[Hit],
    cx: &Cx,
) -> Result<Candidate> {
    let Scored { value, tokens } = cx.ask_scored(prompt, variables).await?;
    let Answer { text, reason, citations, abstained, .. } = answer_from(value, passages);
    if abstained {
        return Ok(Candidate { reason, ..Candidate::default() });
    }
    Ok(Candidate { text, reason, citations, confidence: confidence::of_text(&tokens, "rationale") })
}

/// One answer of a node; none that counts where its reply cannot be read, `None` where the budget
/// leaves no call for it.
fn or_none(read: Result<Candidate>, cx: &Cx) -> Result<Option<Candidate>> {
    match read.unless_failed(cx, "this answer does not count") {
        Ok(None) => Ok(Some(Candidate::default())),
        read => read.unless_spent(),
    }
}

/// The most confident; of equals the first.
pub(super) fn best(candidates: impl IntoIterator<Item = Candidate>) -> Candidate {
    let more = |best: Candidate, next: Candidate| {
        if next.confidence > best.confidence { next } else { best }
    };
    candidates.into_iter().reduce(more).unwrap_or_default()
}

/// How sure the model is of each answer, as a probability.
fn describe(candidates: &[Option<Candidate>; 3]) -> String {
    let named = ["closed book", "open book", "parts"].iter().zip(candidates);
    let certain = named.filter_map(|(name, candidate)| {
        let candidate = candidate.as_ref().filter(|candidate| !candidate.text.is_empty())?;
        Some(format!("{name} {:.2}", candidate.confidence.exp()))
    });
    let certain: Vec<String> = certain.collect();
    if certain.is_empty() { "no answer".into() } else { format!("sure of: {}", certain.join(", ")) }
}

/// The answers that one text names.
fn several(text: &str) -> Vec<String> {
    let each = text.split(BETWEEN.trim()).map(str::trim).filter(|one| !one.is_empty());
    each.map(str::to_owned).collect()
}

const TREE: Prompt<Planned> = Prompt::json("prob_tree/tree");

/// A question with what it is divided into; a leaf has no parts.
#[derive(Default)]
pub(super) struct Node {
    pub(super) parts: Vec<(Step, Node)>,
    /// `p_d`, of the list of its parts.
    pub(super) confidence: f32,
}

/// The lists of the plan that are not used yet, each with its confidence.
struct Lists {
    open: Vec<Option<(ListedQuestion, f32)>>,
    /// How many more sub-questions the tree may have.
    room: usize,
}

/// Plans the tree of a question, with at most `most` sub-questions in all.
pub(super) async fn planned(question: &Question, max_nodes: usize, cx: &Cx) -> Result<Node> {
    let cx = cx.span("tree");
    let variables = context! { question => Serde(question) };
    let Scored { value: planned, tokens } = cx.ask_scored(&TREE, variables).await?;
    let nodes = planned.lists(&question.text, &tokens);
    let mut lists = Lists { open: nodes.into_iter().map(Some).collect(), room: max_nodes };
    // Whatever words it is given, the first node is the question.
    let list = lists.take(&question.text).or_else(|| lists.open.first_mut().and_then(Option::take));
    let root = grown(list, &[&question.text], &mut lists, &cx);
    for (left, _) in lists.open.iter().flatten().filter(|(left, _)| !left.sub_questions.is_empty())
    {
        cx.note(format!("`{}` is not part of the tree", left.question));
    }
    if root.parts.is_empty() {
        cx.note("the question needs no decomposition");
    }
    Ok(root)
}

/// The node whose list this is; a leaf where it has none.
fn grown(list: Option<(ListedQuestion, f32)>, above: &[&str], lists: &mut Lists, cx: &Cx) -> Node {
    let Some((ListedQuestion { sub_questions, .. }, confidence)) = list else {
        return Node::default();
    };
    let steps = plan(&sub_questions, above, lists.room, cx);
    lists.room -= steps.len();
    let parts = steps.into_iter().map(|step| {
        let above = [above, &[&step.worded]].concat();
        let list = lists.take(&step.worded);
        let node = grown(list, &above, lists, cx);
        (step, node)
    });
    Node { parts: parts.collect(), confidence }
}

impl Lists {
    /// Each list is used once, so that no node can be below itself.
    fn take(&mut self, question: &str) -> Option<(ListedQuestion, f32)> {
        let worded = words(question);
        let same = |list: &&mut Option<(ListedQuestion, f32)>| {
            list.as_ref().is_some_and(|(listed, _)| words(&listed.question) == worded)
        };
        self.open.iter_mut().find(same).and_then(Option::take)
    }
}
