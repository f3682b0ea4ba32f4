//! T: the tree of questions as a model plans it, made safe to walk.
use halma_core::text::words;
use halma_core::{Cx, Prompt, Question, Result, Scored};
use minijinja::context;
use minijinja::value::Serde;

use super::reply::{ListedQuestion, Planned};
use crate::shared::plan::{Step, plan};

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
pub(super) async fn planned(question: &Question, most: usize, cx: &Cx) -> Result<Node> {
    let cx = cx.span("tree");
    let variables = context! { question => Serde(question) };
    let Scored { value: planned, tokens } = cx.ask_scored(&TREE, variables).await?;
    let nodes = planned.lists(&question.text, &tokens);
    let mut lists = Lists { open: nodes.into_iter().map(Some).collect(), room: most };
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
