//! The plan: an Atomic Reasoning Tree as a model writes it, made safe to walk.
//!
//! A model writes the tree as one flat JSON object: its first key is the question, an inner node's
//! value the list of its sub-questions, a leaf's value an operator call or `[END]`. What does not
//! have this form is repaired by a rule, reported as a [`Repair`], or refused by name; the rules
//! are in `docs/strategies/atomr.md`.
mod bind;
mod call;
mod draw;
mod leaves;
mod object;
mod repair;
#[cfg(test)]
mod tests;
mod tree;

use serde::Serialize;

use self::repair::Repairs;
pub use self::repair::{Refusal, Repair, RepairKind};
use crate::shared::references::references;

/// A tree of questions. One root; every node is reached once; every reference names a node that is
/// answered before and is neither above nor below the one that refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Breadth-first; the root is the first, and there always is one.
    pub nodes: Vec<Node>,
    /// What was repaired, in the order of repair.
    pub repairs: Vec<Repair>,
}

/// A question of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// What `[i]` calls it: as the plan writes it, 0 for the root. Each node's is its own.
    pub number: usize,
    /// Without its number; may hold references.
    pub question: String,
    /// How it is answered.
    pub step: Step,
}

/// How a question is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// From the answers of its parts: their places in [`Plan::nodes`].
    Inner(Vec<usize>),
    /// By an operator.
    Call(Call),
    /// `[END]`, the paper's `[DR]`: from the earlier nodes that its question names.
    Siblings,
}

/// An operator with its arguments (Section 3.1). `[i]` in them stands for the answers of the node
/// with the number i, as the whole of an argument or within it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "operator")]
pub enum Call {
    /// The entities of a name.
    Search {
        /// Never empty.
        name: String,
        /// Distinguishes entities of the same name.
        descriptor: Option<String>,
    },
    /// What stands in a relation to an entity, an attribute of it, or how two are related.
    Relate {
        /// Never empty.
        head: String,
        /// Empty where the call names two entities only: it asks what relates them (Equation 3), or
        /// whether anything does.
        relation: String,
        /// The other entity, where the call names it.
        tail: Option<String>,
    },
    /// Those entities that meet a condition.
    Filter {
        /// At least one; a reference stands for all answers of its node.
        entities: Vec<String>,
        /// Never empty.
        condition: String,
    },
}

impl Plan {
    /// Reads what a model sent.
    ///
    /// # Errors
    /// [`Refusal`] names why it is not a plan.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut repairs = Repairs::default();
        let entries = object::entries(text, &mut repairs)?;
        let mut tree = tree::grow(entries, repairs)?;
        tree.close();
        bind::bind(tree)
    }

    /// The numbers of the nodes that a text refers to, each once, in their order.
    #[must_use]
    pub fn references(text: &str) -> Vec<usize> {
        let mut numbers = vec![];
        for reference in references(text) {
            let bracket = text[reference.range.clone()].starts_with('[');
            let number = reference.number().filter(|number| bracket && !numbers.contains(number));
            numbers.extend(number);
        }
        numbers
    }

    /// How many questions lie on the longest way down, the root counted: 1 for a plan of one node.
    #[must_use]
    pub fn depth(&self) -> usize {
        fn below(plan: &Plan, place: usize) -> usize {
            let Step::Inner(parts) = &plan.nodes[place].step else { return 1 };
            1 + parts.iter().map(|part| below(plan, *part)).max().unwrap_or(0)
        }
        below(self, 0)
    }

    /// The places of the nodes that the one at `place` refers to, in its question or its call; for
    /// a [`Step::Siblings`] that names none, those of all its earlier siblings.
    #[must_use]
    pub fn waits_for(&self, place: usize) -> Vec<usize> {
        let node = &self.nodes[place];
        let mut texts = vec![node.question.as_str()];
        if let Step::Call(call) = &node.step {
            texts.extend(call.arguments());
        }
        let numbers = texts.into_iter().flat_map(Self::references);
        let mut places: Vec<usize> = numbers.filter_map(|number| self.place(number)).collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() && node.step == Step::Siblings {
            places = self.earlier_siblings(place);
        }
        places
    }

    /// The place of the node with this number.
    #[must_use]
    pub fn place(&self, number: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.number == number)
    }

    fn earlier_siblings(&self, place: usize) -> Vec<usize> {
        let before = |parts: &Vec<usize>| {
            let at = parts.iter().position(|part| *part == place)?;
            Some(parts[..at].to_vec())
        };
        let mut lists = self.nodes.iter().filter_map(|node| match &node.step {
            Step::Inner(parts) => Some(parts),
            _ => None,
        });
        lists.find_map(before).unwrap_or_default()
    }
}

impl Call {
    /// The operator's name.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        match self {
            Self::Search { .. } => "Search",
            Self::Relate { .. } => "Relate",
            Self::Filter { .. } => "Filter",
        }
    }

    /// Its arguments in their order, without those left out.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Search { name, descriptor } => [Some(name), descriptor.as_ref()]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect(),
            Self::Relate { head, relation, tail } => {
                let relation = Some(relation).filter(|relation| !relation.is_empty());
                let all = [Some(head), relation, tail.as_ref()];
                all.into_iter().flatten().map(String::as_str).collect()
            }
            Self::Filter { entities, condition } => {
                entities.iter().chain([condition]).map(String::as_str).collect()
            }
        }
    }
}

/// As the call is written in a plan.
impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written = |text: &str| {
            let reference =
                references(text).first().is_some_and(|one| one.range == (0..text.len()));
            if reference { text.to_owned() } else { format!("\"{text}\"") }
        };
        let arguments = match self {
            Self::Filter { entities, condition } if entities.len() > 1 => {
                let entities: Vec<String> = entities.iter().map(|one| written(one)).collect();
                vec![format!("[{}]", entities.join(", ")), written(condition)]
            }
            _ => self.arguments().into_iter().map(written).collect(),
        };
        write!(f, "{}({})", self.operator(), arguments.join(", "))
    }
}
