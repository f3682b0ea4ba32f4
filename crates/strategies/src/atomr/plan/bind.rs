//! The last step: each reference to the node it means, a number for every node, and an order.
use std::collections::{HashMap, HashSet, VecDeque};

use super::repair::{Refusal, RepairKind};
use super::tokens::{Token, only, tokens};
use super::tree::{Body, Tree};
use super::{Call, Node, Plan, Step};
use crate::shared::references::references;

/// The plan of a tree.
pub(super) fn bound(tree: Tree) -> Result<Plan, Refusal> {
    let order = order(&tree);
    let mut binder = Binder::new(tree, &order);
    let mut nodes = vec![];
    for node in &order {
        nodes.push(binder.node(*node, &order)?);
    }
    let plan = Plan { nodes, repairs: binder.tree.repairs.0 };
    match circle(&plan) {
        Some(place) => Err(Refusal::Circle { question: plan.nodes[place].question.clone() }),
        None => Ok(plan),
    }
}

/// Breadth-first.
fn order(tree: &Tree) -> Vec<usize> {
    let mut order = vec![];
    let mut waiting = VecDeque::from([0]);
    while let Some(node) = waiting.pop_front() {
        order.push(node);
        if let Body::Parts(parts) = &tree.nodes[node].body {
            waiting.extend(parts);
        }
    }
    order
}

/// What a number in a text means.
enum Meant {
    Node(usize),
    /// The k-th part of the node itself, from 1, or what is below it.
    Part(usize),
    Nothing,
}

struct Binder {
    tree: Tree,
    /// Of each node, as the plan will write it.
    numbers: Vec<usize>,
    /// The nodes of a number.
    bearers: HashMap<String, Vec<usize>>,
    /// Numbers in brackets that the question itself speaks of.
    spoken: HashSet<String>,
    /// No reference is written `[2]`: `#2` and `<2>` are.
    otherwise: bool,
}

impl Binder {
    fn new(mut tree: Tree, order: &[usize]) -> Self {
        let mut bearers: HashMap<String, Vec<usize>> = HashMap::new();
        for node in order {
            for label in &tree.nodes[*node].labels {
                bearers.entry(label.clone()).or_default().push(*node);
            }
        }
        let mut numbers = vec![0; tree.nodes.len()];
        let mut taken = HashSet::from([0]);
        for node in &order[1..] {
            let label = tree.nodes[*node].labels.first();
            let own = label.and_then(|label| label.parse().ok()).filter(|own| *own < 1000);
            numbers[*node] = own.filter(|own| taken.insert(*own)).unwrap_or_else(|| {
                tree.repairs.note(RepairKind::Renumbered, tree.nodes[*node].question.clone());
                tree.fresh += 1;
                tree.fresh - 1
            });
            taken.insert(numbers[*node]);
        }
        let labels = |text: &str| tokens(text).into_iter().flat_map(|token| token.labels);
        let spoken = labels(&tree.nodes[0].question).collect();
        let texts = |node: &usize| -> Vec<String> {
            let draft = &tree.nodes[*node];
            let question = Some(draft.question.clone()).filter(|_| *node > 0);
            let call = match &draft.body {
                Body::Call(call) => {
                    call.arguments().into_iter().map(str::to_owned).collect::<Vec<_>>()
                }
                _ => vec![],
            };
            question.into_iter().chain(call).collect()
        };
        let otherwise = !order.iter().flat_map(texts).any(|text| !tokens(&text).is_empty());
        Self { tree, numbers, bearers, spoken, otherwise }
    }

    fn node(&mut self, node: usize, order: &[usize]) -> Result<Node, Refusal> {
        let place = |node: usize| order.iter().position(|one| *one == node).unwrap_or(0);
        let body = self.tree.nodes[node].body.clone();
        let question = self.tree.nodes[node].question.clone();
        let (inside, beside) = match &body {
            Body::Call(call) => (call.arguments().join(" "), question.clone()),
            _ => (String::new(), String::new()),
        };
        let parts = match &body {
            Body::Parts(parts) => parts.clone(),
            _ => vec![],
        };
        let bound = if node == 0 {
            literal(&question)
        } else {
            self.text(node, &question, &inside, &parts)?
        };
        let step = match body {
            Body::Parts(parts) => Step::Inner(parts.into_iter().map(place).collect()),
            Body::Siblings | Body::Open => Step::Siblings,
            Body::Call(call) => Step::Call(self.call(node, call, &beside)?),
        };
        Ok(Node { number: self.numbers[node], question: bound, step })
    }

    fn call(&mut self, node: usize, call: Call, beside: &str) -> Result<Call, Refusal> {
        let mut text = |text: &str| self.text(node, text, beside, &[]);
        Ok(match call {
            Call::Search { name, descriptor } => Call::Search {
                name: text(&name)?,
                descriptor: descriptor.map(|one| text(&one)).transpose()?,
            },
            Call::Relate { head, relation, tail } => Call::Relate {
                head: text(&head)?,
                relation: text(&relation)?,
                tail: tail.map(|one| text(&one)).transpose()?,
            },
            Call::Filter { entities, condition } => {
                let mut bound = vec![];
                for entity in entities {
                    let entity = text(&entity)?;
                    if only(&entity) {
                        let each =
                            tokens(&entity).into_iter().map(|one| entity[one.range].to_owned());
                        bound.extend(each);
                    } else {
                        bound.push(entity);
                    }
                }
                Call::Filter { entities: bound, condition: text(&condition)? }
            }
        })
    }

    /// A text of a node with its references as the plan's numbers. `other` is the text that speaks
    /// of the same: the question beside a call, the call beside a question.
    fn text(
        &mut self,
        node: usize,
        text: &str,
        other: &str,
        parts: &[usize],
    ) -> Result<String, Refusal> {
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for Token { range, labels } in self.tokens(text) {
            let written = &text[range.clone()];
            let mut each = vec![];
            for label in &labels {
                each.push(match self.meant(node, label, parts) {
                    Meant::Node(one) => format!("[{}]", self.numbers[one]),
                    Meant::Part(k) => {
                        self.tree.repairs.note(RepairKind::ReferenceBelow, text);
                        format!("answer {k}")
                    }
                    Meant::Nothing if self.is_literal(label, written) => literal(written),
                    Meant::Nothing => {
                        let one =
                            self.mended(node, text, other).ok_or_else(|| Refusal::Reference {
                                reference: written.to_owned(),
                                question: self.tree.nodes[node].question.clone(),
                            })?;
                        self.tree.repairs.note(RepairKind::ReferenceMended, text);
                        format!("[{}]", self.numbers[one])
                    }
                });
            }
            if labels.len() > 1 || !written.starts_with('[') {
                self.tree.repairs.note(RepairKind::ReferenceRewritten, written);
            }
            out.push_str(&text[at..range.start]);
            out.push_str(&each.join(", "));
            at = range.end;
        }
        out.push_str(&text[at..]);
        Ok(out)
    }

    fn tokens(&self, text: &str) -> Vec<Token> {
        if !self.otherwise {
            return tokens(text);
        }
        let known = |number: &usize| self.bearers.contains_key(&number.to_string());
        let found = references(text).into_iter().filter(|one| known(&one.number));
        found.map(|one| Token { range: one.range, labels: vec![one.number.to_string()] }).collect()
    }

    /// A year, a number of the question's own, or one of several parts that no question bears.
    fn is_literal(&self, label: &str, written: &str) -> bool {
        let borne = self.bearers.contains_key(label);
        !borne && (self.spoken.contains(label) || label.len() > 3 || label.contains('.'))
            || !written.starts_with('[')
    }

    /// The nearest of those that bear a number: an earlier sibling, then one of a question above.
    fn meant(&self, node: usize, label: &str, parts: &[usize]) -> Meant {
        let bearers = self.bearers.get(label).map_or(&[][..], Vec::as_slice);
        let apart =
            |one: &&usize| !self.tree.is_above(**one, node) && !self.tree.is_above(node, **one);
        let mut at = Some(node);
        let beside: Vec<usize> = bearers.iter().filter(apart).copied().collect();
        while let Some(here) = at.filter(|_| beside.len() > 1) {
            let siblings = self.tree.earlier_siblings(here);
            if let Some(found) = siblings.iter().rev().find(|one| beside.contains(one)) {
                return Meant::Node(*found);
            }
            at = self.tree.nodes[here].above;
        }
        if let Some(found) = beside.first() {
            return Meant::Node(*found);
        }
        let holds = |one: &usize| parts.iter().position(|part| self.tree.is_above(*part, *one));
        match bearers.iter().find_map(holds) {
            Some(k) => Meant::Part(k + 1),
            None => Meant::Nothing,
        }
    }

    /// What a reference that leads nowhere means: the one node that only the other text names, else
    /// the only question before it that the text does not name.
    fn mended(&self, node: usize, text: &str, other: &str) -> Option<usize> {
        let named = |text: &str| -> Vec<usize> {
            let labels = tokens(text).into_iter().flat_map(|token| token.labels);
            let meant = |label: String| match self.meant(node, &label, &[]) {
                Meant::Node(one) => Some(one),
                _ => None,
            };
            labels.filter_map(meant).collect()
        };
        let here = named(text);
        let only = |found: Vec<usize>| {
            let mut found: Vec<usize> =
                found.into_iter().filter(|one| !here.contains(one)).collect();
            found.dedup();
            (found.len() == 1).then(|| found[0])
        };
        only(named(other)).or_else(|| only(self.tree.earlier_siblings(node)))
    }
}

/// Brackets that are no references, written so that nothing takes them for some.
fn literal(text: &str) -> String {
    let mut out = text.to_owned();
    for token in tokens(text).into_iter().rev() {
        if token.labels.iter().all(|label| !label.contains('.')) {
            out.replace_range(token.range, &format!("({})", token.labels.join(", ")));
        }
    }
    out
}

/// A node that waits for itself: it is answered after its parts and after those it refers to.
fn circle(plan: &Plan) -> Option<usize> {
    let mut left: Vec<(usize, Vec<usize>)> = vec![];
    for (place, node) in plan.nodes.iter().enumerate() {
        let mut waits = plan.waits_for(place);
        if let Step::Inner(parts) = &node.step {
            waits.extend(parts);
        }
        left.push((place, waits));
    }
    let mut done = vec![false; left.len()];
    while !left.is_empty() {
        let before = left.len();
        left.retain(|(place, waits)| {
            done[*place] = waits.iter().all(|one| done[*one]);
            !done[*place]
        });
        if left.len() == before {
            // Whoever follows what is waited for ends in the circle.
            let mut at = left[0].0;
            for _ in 0..before {
                let waits = left.iter().find(|(place, _)| *place == at).map(|(_, waits)| waits);
                at = waits
                    .and_then(|waits| waits.iter().find(|one| !done[**one]))
                    .map_or(at, |one| *one);
            }
            return Some(at);
        }
    }
    None
}
