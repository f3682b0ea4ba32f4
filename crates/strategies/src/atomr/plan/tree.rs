//! From the entries of a plan to its tree: which questions are parts of which.
use std::collections::{HashSet, VecDeque};

use halma_core::text::words;

use super::Call;
use super::call::{self, is_end, without_end};
use super::object::{PlanEntry, Written, listed, numbered};
use super::repair::{Refusal, RepairKind, Repairs};
use crate::shared::references::references;

/// A question whose references are still as the plan writes them.
#[derive(Debug)]
pub(super) struct Draft {
    /// Its number as written, and others that it is listed by.
    pub(super) labels: Vec<String>,
    pub(super) question: String,
    pub(super) body: Body,
    pub(super) above: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Parts(Vec<usize>),
    Call(Call),
    Siblings,
    /// The plan does not say.
    Open,
}

/// The tree while it grows; the first node is the root.
pub(super) struct Tree {
    pub(super) nodes: Vec<Draft>,
    pub(super) repairs: Repairs,
    /// A number that nothing in the plan has or refers to, nor any after it.
    pub(super) fresh: usize,
}

/// Grows the tree of a plan's entries.
pub(super) fn grow(mut entries: Vec<PlanEntry>, mut repairs: Repairs) -> Result<Tree, Refusal> {
    let fresh = 1 + entries.iter().map(highest).max().unwrap_or(0);
    let lists = entries.iter().filter_map(|entry| match &entry.value {
        Written::List(texts) => Some(texts.clone()),
        Written::Step(_) => None,
    });
    let named: HashSet<String> = lists.flatten().collect();
    let is_named = |entry: &PlanEntry| named.contains(entry.key.trim());
    let is_root = |entry: &PlanEntry| !is_named(entry) && matches!(entry.value, Written::List(_));
    if let Some(at) = entries.iter().position(is_root).filter(|_| is_named(&entries[0])) {
        let root = entries.remove(at);
        repairs.note(RepairKind::RootNotFirst, &root.key);
        entries.insert(0, root);
    }
    let mut used = vec![None; entries.len()];
    used[0] = Some(0);
    let root = Draft {
        labels: vec![],
        question: entries[0].question.clone(),
        body: Body::Open,
        above: None,
    };
    let tree = Tree { nodes: vec![root], repairs, fresh };
    let waiting = VecDeque::from([(0, entries[0].value.clone())]);
    let mut grower = Grower { entries, used, named, tree, waiting };
    grower.grow()?;
    grower.attach_unlisted()?;
    match grower.tree.nodes[0].body {
        Body::Parts(_) | Body::Call(_) => Ok(grower.tree),
        Body::Siblings | Body::Open => {
            Err(Refusal::NoStep { question: grower.tree.nodes[0].question.clone() })
        }
    }
}

/// The highest number that an entry has or refers to.
fn highest(entry: &PlanEntry) -> usize {
    let mut texts = vec![entry.key.as_str()];
    match &entry.value {
        Written::Step(text) => texts.push(text),
        Written::List(list) => texts.extend(list.iter().map(String::as_str)),
    }
    let labels = texts.into_iter().flat_map(|text| {
        let own = numbered(text).0.into_iter();
        own.chain(references(text).into_iter().flat_map(|one| one.labels))
    });
    let numbers = labels.filter_map(|label| label.parse().ok());
    numbers.filter(|number: &usize| *number < 1000).max().unwrap_or(0)
}

struct Grower {
    entries: Vec<PlanEntry>,
    /// The node that an entry became.
    used: Vec<Option<usize>>,
    /// Every text of a list.
    named: HashSet<String>,
    tree: Tree,
    /// Nodes whose step is not read yet.
    waiting: VecDeque<(usize, Written)>,
}

impl Grower {
    fn grow(&mut self) -> Result<(), Refusal> {
        while let Some((node, written)) = self.waiting.pop_front() {
            match written {
                Written::List(texts) => self.list(node, &texts)?,
                // One question in place of a list.
                Written::Step(text) if !call::begins(&text) && self.is_free(text.trim()) => {
                    self.list(node, &[text.trim().to_owned()])?;
                }
                Written::Step(text) => self.tree.step(node, &text)?,
            }
            if self.tree.nodes.len() > Refusal::MOST {
                return Err(Refusal::TooLarge);
            }
        }
        Ok(())
    }

    fn place(&self, text: &str) -> Option<usize> {
        let free = |at: usize| {
            self.used[at].is_none() && !self.named.contains(self.entries[at].key.trim())
        };
        listed(text, &self.entries, free)
    }

    fn is_free(&self, text: &str) -> bool {
        self.place(text).is_some_and(|at| self.used[at].is_none())
    }

    fn list(&mut self, node: usize, texts: &[String]) -> Result<(), Refusal> {
        if let [only] = texts
            && self.place(only).is_none()
            && (is_end(only) || call::begins(only))
        {
            self.tree.repairs.note(RepairKind::CallInList, only);
            return self.tree.step(node, only);
        }
        let mut elsewhere = vec![];
        for text in texts {
            match self.place(text) {
                None if is_end(text) || text.is_empty() => {
                    self.tree.repairs.note(RepairKind::PartLeftOut, text);
                }
                None => self.unwritten(node, text),
                Some(entry) => match self.used[entry] {
                    None => self.part(node, text, entry, None),
                    Some(there)
                        if self.tree.is_above(there, node)
                            || self.tree.nodes[there].above == Some(node) =>
                    {
                        self.tree.repairs.note(RepairKind::PartLeftOut, text);
                    }
                    Some(there) => {
                        self.tree.repairs.note(RepairKind::ListedTwice, text);
                        elsewhere.push(format!("[{}]", self.tree.label(there)));
                    }
                },
            }
        }
        let draft = &mut self.tree.nodes[node];
        if !elsewhere.is_empty() {
            draft.question = format!("{} (given {})", draft.question, elsewhere.join(" and "));
            if matches!(draft.body, Body::Open) {
                draft.body = Body::Siblings;
            }
        }
        Ok(())
    }

    /// A listed question that is an entry.
    fn part(&mut self, node: usize, text: &str, entry: usize, before: Option<usize>) {
        let PlanEntry { key, label, question, value } = &self.entries[entry];
        let mut labels: Vec<String> = label.iter().cloned().collect();
        if key.trim() != text {
            self.tree.repairs.note(RepairKind::ChildReworded, text);
            labels.extend(numbered(text).0.filter(|label| !labels.contains(label)));
        }
        let part = self.tree.add(node, before);
        self.tree.nodes[part].labels = labels;
        self.tree.nodes[part].question.clone_from(question);
        self.waiting.push_back((part, value.clone()));
        self.used[entry] = Some(part);
    }

    /// A listed text that is not an entry: a call, or a question that may have its step with it.
    fn unwritten(&mut self, node: usize, text: &str) {
        let (label, question) = numbered(text);
        let (calls, around) = call::all(&question);
        let (asked, step) = match (calls.is_empty(), without_end(&question)) {
            (true, (asked, true)) => (asked.to_owned(), "[END]".to_owned()),
            (true, (asked, false)) => (asked.to_owned(), String::new()),
            (false, _) => {
                let asked = around.trim().trim_matches([':', '-', ']', ' ']).to_owned();
                (asked, question.clone())
            }
        };
        if !step.is_empty() {
            self.tree.repairs.note(RepairKind::CallInList, text);
        }
        let part = self.tree.add(node, None);
        self.tree.nodes[part].labels = label.into_iter().collect();
        self.tree.nodes[part].question = asked;
        self.tree.label(part);
        self.waiting.push_back((part, Written::Step(step)));
    }

    /// Questions that no list leads to become parts of the root, in the order of their numbers. A
    /// key without a number and a step, or with the words of a question in the tree, is omitted.
    fn attach_unlisted(&mut self) -> Result<(), Refusal> {
        for at in 1..self.entries.len() {
            if self.used[at].is_some() {
                continue;
            }
            let PlanEntry { key, label, value, .. } = &self.entries[at];
            let key = key.trim().to_owned();
            let others = || self.entries.iter().zip(&self.used);
            let below = others().any(|(other, used)| match &other.value {
                Written::List(texts) => used.is_none() && texts.contains(&key),
                Written::Step(_) => false,
            });
            let repeated =
                others().any(|(other, used)| used.is_some() && words(&other.key) == words(&key));
            let words_only = match value {
                Written::Step(text) => label.is_none() && call::all(text).0.is_empty(),
                Written::List(_) => false,
            };
            if repeated || words_only {
                self.tree.repairs.note(RepairKind::PartLeftOut, &key);
                self.used[at] = Some(0);
            } else if !below {
                self.tree.repairs.note(RepairKind::ParentLeftOut, &key);
                let before = self.tree.divide_root(label.as_deref());
                self.part(0, &key, at, before);
                self.grow()?;
            }
        }
        for (entry, _) in self.entries.iter().zip(&self.used).filter(|(_, used)| used.is_none()) {
            self.tree.repairs.note(RepairKind::PartLeftOut, &entry.key);
        }
        Ok(())
    }
}

impl Tree {
    /// A new part of `above`, before the part `before` or as the last one.
    pub(super) fn add(&mut self, above: usize, before: Option<usize>) -> usize {
        let part = self.nodes.len();
        let above_it = Some(above);
        let draft =
            Draft { labels: vec![], question: String::new(), body: Body::Open, above: above_it };
        self.nodes.push(draft);
        match &mut self.nodes[above].body {
            Body::Parts(parts) => {
                let at = parts.iter().position(|one| Some(*one) == before);
                parts.insert(at.unwrap_or(parts.len()), part);
            }
            body => *body = Body::Parts(vec![part]),
        }
        part
    }

    /// Makes a part of a root's own call. Returns the part before which one with this number goes.
    fn divide_root(&mut self, label: Option<&str>) -> Option<usize> {
        if let Body::Call(call) = self.nodes[0].body.clone() {
            self.nodes[0].body = Body::Parts(vec![]);
            let own = self.add(0, None);
            self.nodes[own].question = self.question(0);
            self.nodes[own].body = Body::Call(call);
            self.label(own);
        }
        let Body::Parts(parts) = &self.nodes[0].body else { return None };
        let number: usize = label?.parse().ok()?;
        let after = |part: &&usize| {
            let label = self.nodes[**part].labels.first();
            label.and_then(|label| label.parse().ok()).is_some_and(|other: usize| other > number)
        };
        parts.iter().find(after).copied()
    }

    /// The question of a node; of one that has none yet, of the one that it is a part of.
    pub(super) fn question(&self, node: usize) -> String {
        let above = self.nodes[node].above.unwrap_or(0);
        let own = [node, above, 0].map(|node| &self.nodes[node].question);
        own.into_iter().find(|question| !question.is_empty()).cloned().unwrap_or_default()
    }

    /// The number by which others may refer to a node; one without gets a fresh one.
    pub(super) fn label(&mut self, node: usize) -> String {
        if self.nodes[node].labels.is_empty() {
            self.nodes[node].labels.push(self.fresh.to_string());
            self.fresh += 1;
        }
        self.nodes[node].labels[0].clone()
    }

    /// Whether a node is another or above it.
    pub(super) fn is_above(&self, node: usize, below: usize) -> bool {
        let mut up = std::iter::successors(Some(below), |at| self.nodes[*at].above);
        up.any(|at| at == node)
    }

    /// The parts of the same question that stand before a node.
    pub(super) fn earlier_siblings(&self, node: usize) -> Vec<usize> {
        let above = self.nodes[node].above.map(|above| &self.nodes[above].body);
        let Some(Body::Parts(parts)) = above else { return vec![] };
        parts.iter().copied().take_while(|part| *part != node).collect()
    }
}
