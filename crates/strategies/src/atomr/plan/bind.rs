//! The last step: each reference to the node it means, a number for every node, and an order.
use std::collections::{HashMap, HashSet, VecDeque};

use super::repair::{Refusal, RepairKind};
use super::tree::{Body, Tree};
use super::{Call, Node, Plan, Step};
use crate::shared::references::{Reference, references};

/// The plan of a tree.
pub(super) fn bind(tree: Tree) -> Result<Plan, Refusal> {
    let order = breadth_first(&tree);
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

fn breadth_first(tree: &Tree) -> Vec<usize> {
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

struct Binder {
    tree: Tree,
    /// Of each node, as the plan will write it.
    numbers: Vec<usize>,
    /// The nodes that have a number.
    bearers: HashMap<String, Vec<usize>>,
    /// Numbers that the question itself contains.
    literal: HashSet<String>,
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
                tree.repairs.note(RepairKind::Renumbered, &tree.nodes[*node].question);
                tree.fresh += 1;
                tree.fresh - 1
            });
            taken.insert(numbers[*node]);
        }
        let root = references(&tree.nodes[0].question);
        let literal = root.into_iter().flat_map(|one| one.labels).collect();
        Self { tree, numbers, bearers, literal }
    }

    fn node(&mut self, node: usize, order: &[usize]) -> Result<Node, Refusal> {
        let place = |node: &usize| order.iter().position(|one| one == node).unwrap_or(0);
        let question = self.tree.nodes[node].question.clone();
        let question = self.text(node, &question)?;
        let step = match self.tree.nodes[node].body.clone() {
            Body::Parts(parts) => Step::Inner(parts.iter().map(place).collect()),
            Body::Siblings | Body::Open => Step::Siblings,
            Body::Call(call) => Step::Call(self.call(node, call)?),
        };
        Ok(Node { number: self.numbers[node], question, step })
    }

    fn call(&mut self, node: usize, call: Call) -> Result<Call, Refusal> {
        let mut text = |text: String| self.text(node, &text);
        Ok(match call {
            Call::Search { name, descriptor } => {
                Call::Search { name: text(name)?, descriptor: descriptor.map(text).transpose()? }
            }
            Call::Relate { head, relation, tail } => Call::Relate {
                head: text(head)?,
                relation: text(relation)?,
                tail: tail.map(text).transpose()?,
            },
            Call::Filter { entities, condition } => Call::Filter {
                entities: entities.into_iter().map(&mut text).collect::<Result<_, _>>()?,
                condition: text(condition)?,
            },
        })
    }

    /// A text of a node with its references as the plan's numbers.
    fn text(&mut self, node: usize, text: &str) -> Result<String, Refusal> {
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for Reference { range, labels } in references(text) {
            let written = &text[range.clone()];
            let Some(bound) = self.bound(node, written, &labels)? else { continue };
            if labels.len() > 1 || !written.starts_with('[') {
                self.tree.repairs.note(RepairKind::ReferenceRewritten, written);
            }
            out.push_str(&text[at..range.start]);
            out.push_str(&bound);
            at = range.end;
        }
        out.push_str(&text[at..]);
        Ok(out)
    }

    /// What takes the place of a reference; `None` where it stays as it is written.
    fn bound(
        &mut self,
        node: usize,
        written: &str,
        labels: &[String],
    ) -> Result<Option<String>, Refusal> {
        let bracket = written.starts_with('[');
        let known = |label: &String| self.bearers.contains_key(label);
        let literal = |label: &String| {
            node == 0
                || !known(label)
                    && (self.literal.contains(label) || label.len() > 3 || label.contains('.'))
        };
        if labels.iter().all(literal) {
            // Nothing may take a year or a number of the question's own for a reference.
            let plain = bracket && labels.iter().all(|label| !label.contains('.'));
            return Ok(plain.then(|| format!("({})", labels.join(", "))));
        }
        if !bracket && labels.iter().any(|label| !known(label) || self.literal.contains(label)) {
            return Ok(None);
        }
        let mut each = vec![];
        for label in labels {
            let below = self.part_below(node, label);
            each.push(match (self.meant(node, label), below) {
                (Some(one), _) => format!("[{}]", self.numbers[one]),
                (None, Some(part)) => {
                    self.tree.repairs.note(RepairKind::ReferenceBelow, written);
                    format!("answer {part}")
                }
                (None, None) => {
                    let question = self.tree.nodes[node].question.clone();
                    return Err(Refusal::Reference { reference: written.to_owned(), question });
                }
            });
        }
        Ok(Some(each.join(", ")))
    }

    /// The nearest of the nodes that have a number: an earlier sibling, then one of a question
    /// above. Never the node itself, nor one above or below it.
    fn meant(&self, node: usize, label: &str) -> Option<usize> {
        let bearers = self.bearers.get(label)?;
        let apart =
            |one: &&usize| !self.tree.is_above(**one, node) && !self.tree.is_above(node, **one);
        let apart: Vec<usize> = bearers.iter().filter(apart).copied().collect();
        let mut at = Some(node);
        while let Some(here) = at.filter(|_| apart.len() > 1) {
            let siblings = self.tree.earlier_siblings(here);
            if let Some(found) = siblings.iter().rev().find(|one| apart.contains(one)) {
                return Some(*found);
            }
            at = self.tree.nodes[here].above;
        }
        apart.first().copied()
    }

    /// Which part of a node, from 1, has a number or holds the node that has it.
    fn part_below(&self, node: usize, label: &str) -> Option<usize> {
        let Body::Parts(parts) = &self.tree.nodes[node].body else { return None };
        let bearers = self.bearers.get(label)?;
        let holds = |one: &usize| parts.iter().position(|part| self.tree.is_above(*part, *one));
        bearers.iter().find_map(holds).map(|at| at + 1)
    }
}

/// A node of a circle: each is answered after its parts and after those it refers to.
fn circle(plan: &Plan) -> Option<usize> {
    let waits = |place: usize| {
        let parts = match &plan.nodes[place].step {
            Step::Inner(parts) => parts.clone(),
            _ => vec![],
        };
        [plan.waits_for(place), parts].concat()
    };
    let mut left: Vec<(usize, Vec<usize>)> =
        (0..plan.nodes.len()).map(|place| (place, waits(place))).collect();
    loop {
        let open: Vec<usize> = left.iter().map(|(place, _)| *place).collect();
        left.retain(|(_, waits)| waits.iter().any(|one| open.contains(one)));
        if left.is_empty() {
            return None;
        }
        if left.len() == open.len() {
            // Following what is waited for ends in the circle.
            let next = |at: usize| {
                let (_, waits) = left.iter().find(|(place, _)| *place == at)?;
                waits.iter().find(|one| open.contains(one)).copied()
            };
            return (0..open.len()).try_fold(open[0], |at, _| next(at));
        }
    }
}
