//! From the entries of a plan to its tree: which question is the root, which are whose parts.
use std::collections::{HashSet, VecDeque};

use halma_core::text::words;

use super::Call;
use super::call::{self, is_end};
use super::json::{Entries, Json};
use super::keys::{self, Key, Style};
use super::repair::{Refusal, RepairKind, Repairs};
use super::tokens::tokens;

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
    /// A number that nothing in the plan bears or refers to, nor any after it.
    pub(super) fresh: usize,
}

/// What a node's step is read from.
pub(super) enum Pending {
    Entry(usize),
    Text(String),
}

/// Grows the tree of a plan's entries.
pub(super) fn grown(entries: Entries, mut repairs: Repairs) -> Result<Tree, Refusal> {
    let mut flat = vec![];
    flatten(unwrapped(entries, &mut repairs), &mut flat, &mut repairs);
    if flat.len() > Refusal::MOST {
        return Err(Refusal::TooLarge);
    }
    let entries = once(flat, &mut repairs);
    let style = Style::of(entries.iter().skip(1).map(|(key, _)| key.as_str()));
    let keys: Vec<(String, Key)> =
        entries.iter().map(|(key, _)| (key.clone(), style.read(key))).collect();
    let fresh =
        1 + entries.iter().map(|(key, value)| highest(key, value, style)).max().unwrap_or(0);
    let listed = entries.iter().flat_map(|(_, value)| texts(value)).collect();
    let root = root(&entries, &listed, &mut repairs);
    let values: Vec<Json> = entries.into_iter().map(|(_, value)| value).collect();
    let tree = Tree { nodes: vec![], repairs, fresh };
    let used = vec![None; keys.len()];
    let mut grower = Grower { keys, values, used, listed, style, tree, waiting: VecDeque::new() };
    // The root's own number says nothing.
    let question = grower.keys[root].1.question.clone();
    if question.is_empty() {
        return Err(Refusal::NoObject);
    }
    grower.plant(question, vec![], None, Pending::Entry(root));
    grower.used[root] = Some(0);
    grower.grow()?;
    // Words where the parts should be: some other object.
    let other = matches!(&grower.values[root], Json::Text(text) if !text.trim().is_empty());
    let open = matches!(grower.tree.nodes[0].body, Body::Open);
    if other && open {
        return Err(grower.no_step());
    }
    grower.attach_others()?;
    match grower.tree.nodes[0].body {
        Body::Parts(_) | Body::Call(_) => Ok(grower.tree),
        Body::Siblings | Body::Open => Err(grower.no_step()),
    }
}

/// Without an object around the plan's: `{"plan": {…}}`.
fn unwrapped(entries: Entries, repairs: &mut Repairs) -> Entries {
    let plan = |value: &Json| match value {
        Json::Object(inner) => inner.first().is_some_and(|(key, value)| {
            Style::Plain.read(key).label.is_none() && matches!(value, Json::List(_))
        }),
        _ => false,
    };
    let first_lists = matches!(entries.first(), Some((_, Json::List(_))));
    let at = entries.iter().position(|(_, value)| plan(value));
    match at.filter(|_| !first_lists).and_then(|at| entries.get(at)) {
        Some((key, Json::Object(inner))) => {
            repairs.note(RepairKind::TextAround, key);
            inner.clone()
        }
        _ => entries,
    }
}

/// Objects within objects as lists of their keys; their entries follow.
fn flatten(entries: Entries, into: &mut Entries, repairs: &mut Repairs) {
    let mut below = vec![];
    for (key, value) in entries {
        let value = match value {
            Json::Object(inner) => {
                repairs.note(RepairKind::NestedObject, &key);
                let list = inner.iter().map(|(key, _)| Json::Text(key.clone())).collect();
                below.push(inner);
                Json::List(list)
            }
            Json::List(items) => {
                let mut list = vec![];
                for item in items {
                    let Json::Object(inner) = item else {
                        list.push(item);
                        continue;
                    };
                    repairs.note(RepairKind::NestedObject, &key);
                    list.extend(inner.iter().map(|(key, _)| Json::Text(key.clone())));
                    below.push(inner);
                }
                Json::List(list)
            }
            other => other,
        };
        into.push((key, value));
    }
    for inner in below {
        flatten(inner, into, repairs);
    }
}

/// Each key once.
fn once(entries: Entries, repairs: &mut Repairs) -> Entries {
    let mut kept: Entries = vec![];
    for (key, value) in entries {
        let Some((_, before)) = kept.iter_mut().find(|(other, _)| *other == key) else {
            kept.push((key, value));
            continue;
        };
        repairs.note(RepairKind::KeyRepeated, key);
        let loses =
            matches!((&before, &value), (Json::List(_), Json::Text(_)) | (_, Json::Nothing));
        if !loses {
            *before = value;
        }
    }
    kept
}

/// The texts of a list, one in a list of its own too.
pub(super) fn texts(value: &Json) -> Vec<String> {
    match value {
        Json::List(items) => {
            let of = |item: &Json| match item {
                Json::Text(text) => vec![text.trim().to_owned()],
                other => texts(other),
            };
            items.iter().flat_map(of).collect()
        }
        _ => vec![],
    }
}

/// The highest number that an entry bears or refers to.
fn highest(key: &str, value: &Json, style: Style) -> usize {
    let mut all = texts(value);
    all.push(key.to_owned());
    if let Json::Text(text) = value {
        all.push(text.clone());
    }
    let labels = all.iter().flat_map(|text| {
        let own = style.read(text).label;
        let named = crate::shared::references::references(text).into_iter().map(|one| one.number);
        let brackets = tokens(text).into_iter().flat_map(|token| token.labels);
        own.into_iter().chain(brackets).filter_map(|label| label.parse().ok()).chain(named)
    });
    labels.filter(|number: &usize| *number < 1000).max().unwrap_or(0)
}

/// The first key, unless another lists it and one is listed by none.
fn root(entries: &Entries, listed: &HashSet<String>, repairs: &mut Repairs) -> usize {
    let names = |at: &usize| listed.contains(entries[*at].0.trim());
    if !names(&0) {
        return 0;
    }
    let is_list = |at: &usize| matches!(entries[*at].1, Json::List(_));
    let found = (1..entries.len()).find(|at| !names(at) && is_list(at));
    if let Some(found) = found {
        repairs.note(RepairKind::RootNotFirst, &entries[found].0);
    }
    found.unwrap_or(0)
}

struct Grower {
    keys: Vec<(String, Key)>,
    values: Vec<Json>,
    /// The node that an entry became.
    used: Vec<Option<usize>>,
    /// Every text of a list.
    listed: HashSet<String>,
    style: Style,
    tree: Tree,
    waiting: VecDeque<(usize, Pending)>,
}

impl Grower {
    fn plant(
        &mut self,
        question: String,
        labels: Vec<String>,
        above: Option<usize>,
        pending: Pending,
    ) -> usize {
        self.tree.nodes.push(Draft { labels, question, body: Body::Open, above });
        self.waiting.push_back((self.tree.nodes.len() - 1, pending));
        self.tree.nodes.len() - 1
    }

    fn grow(&mut self) -> Result<(), Refusal> {
        while let Some((node, pending)) = self.waiting.pop_front() {
            match pending {
                Pending::Text(text) => self.tree.step(node, &text),
                Pending::Entry(entry) => match self.values[entry].clone() {
                    Json::Text(text) => self.value(node, &text),
                    list @ Json::List(_) => self.list(node, &texts(&list)),
                    Json::Object(_) | Json::Nothing => {}
                },
            }
            if self.tree.nodes.len() > Refusal::MOST {
                return Err(Refusal::TooLarge);
            }
        }
        Ok(())
    }

    fn no_step(&self) -> Refusal {
        Refusal::NoStep { question: self.tree.nodes[0].question.clone() }
    }

    /// A text is a step, or the one part of its question.
    fn value(&mut self, node: usize, text: &str) {
        let part =
            !call::begins(text) && self.place(text).is_some_and(|at| self.used[at].is_none());
        if part { self.list(node, &[text.trim().to_owned()]) } else { self.tree.step(node, text) }
    }

    fn place(&self, text: &str) -> Option<usize> {
        let free =
            |at: usize| self.used[at].is_none() && !self.listed.contains(self.keys[at].0.trim());
        keys::place(text, self.style, &self.keys, free)
    }

    fn list(&mut self, node: usize, texts: &[String]) {
        if let [only] = texts
            && self.place(only).is_none()
            && (is_end(only) || call::begins(only))
        {
            self.tree.repairs.note(RepairKind::CallInList, only);
            return self.tree.step(node, only);
        }
        let (mut parts, mut elsewhere) = (vec![], vec![]);
        for text in texts {
            let Some(entry) = self.place(text) else {
                if is_end(text) || text.is_empty() {
                    self.tree.repairs.note(RepairKind::PartLeftOut, text);
                } else {
                    parts.push(self.undefined(node, text));
                }
                continue;
            };
            match self.used[entry] {
                None => parts.push(self.part(node, text, entry)),
                Some(there) if self.tree.is_above(there, node) || parts.contains(&there) => {
                    self.tree.repairs.note(RepairKind::PartLeftOut, text);
                }
                Some(there) => {
                    self.tree.repairs.note(RepairKind::ListedTwice, text);
                    elsewhere.push(format!("[{}]", self.tree.label(there)));
                }
            }
        }
        if !elsewhere.is_empty() {
            let draft = &mut self.tree.nodes[node];
            draft.question = format!("{} (given {})", draft.question, elsewhere.join(" and "));
        }
        self.tree.nodes[node].body = match (parts.is_empty(), elsewhere.is_empty()) {
            (false, _) => Body::Parts(parts),
            (true, false) => Body::Siblings,
            (true, true) => Body::Open,
        };
    }

    fn part(&mut self, node: usize, text: &str, entry: usize) -> usize {
        let (key, Key { label, question }) = self.keys[entry].clone();
        let mut labels: Vec<String> = label.into_iter().collect();
        if key.trim() != text {
            self.tree.repairs.note(RepairKind::ChildReworded, text);
            labels.extend(self.style.read(text).label.filter(|label| !labels.contains(label)));
        }
        let part = self.plant(question, labels, Some(node), Pending::Entry(entry));
        self.used[entry] = Some(part);
        part
    }

    /// A listed text that is no key: an operator, or a question that may have one with it.
    fn undefined(&mut self, node: usize, text: &str) -> usize {
        let Key { label, question } = self.style.read(text);
        let labels = label.into_iter().collect();
        let (calls, around) = call::all(&question);
        if calls.is_empty() {
            let (question, ended) = without_end(&question);
            let step = if ended { "[END]" } else { "" };
            if ended {
                self.tree.repairs.note(RepairKind::EndReworded, text);
            }
            return self.plant(question, labels, Some(node), Pending::Text(step.to_owned()));
        }
        self.tree.repairs.note(RepairKind::CallInList, text);
        let asked = around.trim().trim_matches([':', '-', ']', ' ']).to_owned();
        let leaf = self.plant(asked, labels, Some(node), Pending::Text(question));
        self.tree.label(leaf);
        leaf
    }

    /// Questions that no list leads to.
    fn attach_others(&mut self) -> Result<(), Refusal> {
        loop {
            let free: Vec<usize> =
                (0..self.keys.len()).filter(|at| self.used[*at].is_none()).collect();
            let below: HashSet<String> =
                free.iter().flat_map(|at| texts(&self.values[*at])).collect();
            let top = free.iter().find(|at| !below.contains(self.keys[**at].0.trim()));
            let Some(entry) = top.or(free.first()).copied() else { return Ok(()) };
            let (key, Key { label, .. }) = self.keys[entry].clone();
            let said = words(&key);
            let known = |at: usize| self.used[at].is_some() && words(&self.keys[at].0) == said;
            let repeated = (0..self.keys.len()).any(known);
            let stray = label.is_none()
                && match &self.values[entry] {
                    Json::Text(text) => call::all(text).0.is_empty(),
                    Json::List(_) => false,
                    Json::Object(_) | Json::Nothing => true,
                };
            self.used[entry] = Some(0);
            if stray || repeated {
                let kind = if repeated { RepairKind::KeyRepeated } else { RepairKind::KeyLeftOut };
                self.tree.repairs.note(kind, key);
                continue;
            }
            self.tree.repairs.note(RepairKind::ParentLeftOut, &key);
            let part = self.part(0, key.trim(), entry);
            self.tree.add_to_root(part);
            self.grow()?;
        }
    }
}

/// A question without the `[END]` after it, and whether there was one.
pub(super) fn without_end(text: &str) -> (String, bool) {
    match text.rfind('[').filter(|at| is_end(&text[*at..])) {
        Some(at) => (text[..at].trim_end().to_owned(), true),
        None => (text.to_owned(), false),
    }
}
