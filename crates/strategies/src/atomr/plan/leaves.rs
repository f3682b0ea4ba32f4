//! The steps of a tree's leaves: calls with the operators of [`Call`], and conclusions.
use super::Call;
use super::call::{self, Argument, Operator, WrittenCall, is_end, without_end};
use super::repair::{Refusal, RepairKind};
use super::tree::{Body, Tree};
use crate::shared::references::{Reference, references};

impl Tree {
    /// Reads the step of a node from the text in which the plan writes it.
    pub(super) fn step(&mut self, node: usize, text: &str) -> Result<(), Refusal> {
        let (mut calls, around) = call::all(text);
        let around = around.trim();
        let function = around.split_once('(').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
        });
        match calls.len() {
            0 => {
                self.conclusion(node, text);
                Ok(())
            }
            1 if !function => {
                if around.chars().any(char::is_alphanumeric) {
                    self.repairs.note(RepairKind::WordsAroundCall, text);
                } else if !around.is_empty() {
                    self.repairs.note(RepairKind::CallRepaired, text);
                }
                let call = calls.remove(0);
                if node == 0 && call.arguments.iter().any(holds_call) {
                    let question = self.nodes[0].question.clone();
                    return self.calls_below(0, vec![call], &question);
                }
                let calls = self.lowered(node, call)?;
                self.settle(node, calls);
                Ok(())
            }
            _ => {
                self.repairs.note(RepairKind::SeveralCalls, text);
                self.calls_below(node, calls, "")
            }
        }
    }

    /// Each call as a leaf below the node, with a question of its own where none is given.
    fn calls_below(
        &mut self,
        node: usize,
        calls: Vec<WrittenCall>,
        question: &str,
    ) -> Result<(), Refusal> {
        self.nodes[node].body = Body::Parts(vec![]);
        for call in calls {
            let leaf = self.add(node, None);
            self.label(leaf);
            question.clone_into(&mut self.nodes[leaf].question);
            let calls = self.lowered(leaf, call)?;
            self.settle(leaf, calls);
        }
        Ok(())
    }

    /// Gives a node its call; where an operator has several names, a leaf for each below it.
    fn settle(&mut self, node: usize, mut calls: Vec<Call>) {
        if self.nodes[node].question.is_empty() {
            let worded: Vec<String> = calls.iter().map(worded).collect();
            self.nodes[node].question = worded.join(" ");
        }
        if calls.len() == 1 {
            self.nodes[node].body = Body::Call(calls.remove(0));
            return;
        }
        self.repairs.note(RepairKind::SeveralCalls, self.nodes[node].question.clone());
        self.nodes[node].body = Body::Parts(vec![]);
        for call in calls {
            let leaf = self.add(node, None);
            self.label(leaf);
            self.nodes[leaf].question = worded(&call);
            self.nodes[leaf].body = Body::Call(call);
        }
    }

    /// The calls that are meant, at least one; those in its arguments become leaves before the
    /// node.
    fn lowered(&mut self, node: usize, call: WrittenCall) -> Result<Vec<Call>, Refusal> {
        let WrittenCall { operator, arguments, repaired } = call;
        let question = self.question(node);
        if repaired {
            self.repairs.note(RepairKind::CallRepaired, &question);
        }
        let mut groups: Vec<Vec<String>> = vec![];
        for argument in arguments {
            let mut texts = vec![];
            self.flatten(node, argument, &mut texts)?;
            groups.extend(Some(texts).filter(|texts| !texts.is_empty()));
        }
        let most = if operator == Operator::Relate { 3 } else { 2 };
        if groups.len() > most {
            self.repairs.note(RepairKind::MoreArguments, &question);
        }
        calls(operator, groups).ok_or(Refusal::Arguments { question })
    }

    fn flatten(
        &mut self,
        node: usize,
        argument: Argument,
        into: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        match argument {
            Argument::Text(text) if is_reference(&text) => {
                into.extend(
                    references(&text).into_iter().flat_map(|one| one.labels).map(bracketed),
                );
            }
            Argument::Text(text) => into.extend(Some(text).filter(|text| !text.is_empty())),
            Argument::List(items) => {
                for item in items {
                    self.flatten(node, item, into)?;
                }
            }
            Argument::Call(call) => {
                let above = self.nodes[node].above.unwrap_or(0);
                self.repairs.note(RepairKind::NestedCall, self.question(node));
                let leaf = self.add(above, Some(node));
                into.push(bracketed(self.label(leaf)));
                let calls = self.lowered(leaf, call)?;
                self.settle(leaf, calls);
            }
        }
        Ok(())
    }

    /// `[END]`, or words that name the answers to conclude from.
    fn conclusion(&mut self, node: usize, text: &str) {
        let (given, ended) = without_end(text.trim());
        if !ended && !is_end(text) && references(text).is_empty() {
            return;
        }
        let draft = &mut self.nodes[node];
        draft.body = Body::Siblings;
        if text.trim() == "[END]" {
            return;
        }
        self.repairs.note(RepairKind::EndReworded, text);
        let known = references(&draft.question);
        let is_known = |one: &Reference| known.iter().any(|other| other.labels == one.labels);
        if !references(given).iter().all(is_known) {
            draft.question = format!("{} ({given})", draft.question);
        }
    }

    /// What the plan leaves open: a question that names no earlier answer is looked up, another is
    /// concluded from those that it names.
    pub(super) fn close(&mut self) {
        for node in 1..self.nodes.len() {
            let question = self.question(node);
            self.nodes[node].question.clone_from(&question);
            let named = !references(&question).is_empty();
            let kind = match self.nodes[node].body {
                Body::Open => RepairKind::StepLeftOut,
                Body::Siblings if !named && self.earlier_siblings(node).is_empty() => {
                    RepairKind::EndWithoutAnswers
                }
                _ => continue,
            };
            self.repairs.note(kind, &question);
            let name = question.trim_end_matches(['?', '.', ' ']);
            let name = if name.is_empty() { &question } else { name };
            let search = Call::Search { name: name.to_owned(), descriptor: None };
            self.nodes[node].body = if named { Body::Siblings } else { Body::Call(search) };
        }
    }
}

/// The calls of an operator whose arguments are groups of texts: a list has several. `None` where
/// an argument is missing.
fn calls(operator: Operator, mut groups: Vec<Vec<String>>) -> Option<Vec<Call>> {
    if groups.is_empty() || operator != Operator::Search && groups.len() < 2 {
        return None;
    }
    if operator == Operator::Filter {
        let mut entities = groups.remove(0);
        // Further references are entities, further words are conditions.
        let last = groups.pop()?;
        let (more, mut conditions): (Vec<_>, Vec<_>) =
            groups.into_iter().flatten().partition(|text| is_reference(text));
        entities.extend(more);
        conditions.extend(last);
        return Some(vec![Call::Filter { entities, condition: conditions.join(", ") }]);
    }
    let names = groups.remove(0).into_iter();
    let mut rest: Vec<String> = groups.into_iter().map(|group| group.join(", ")).collect();
    if operator == Operator::Search {
        let descriptor = Some(rest.join(", ")).filter(|text| !text.is_empty());
        let call = |name| Call::Search { name, descriptor: descriptor.clone() };
        return Some(names.map(call).collect());
    }
    // A reference is the other entity (Equation 3); so is, of three arguments, the last.
    let (relation, tail) = if is_reference(&rest[0]) {
        let tail = rest.remove(0);
        (rest.join(", "), Some(tail))
    } else {
        let relation = rest.remove(0);
        (relation, Some(rest.join(", ")).filter(|tail| !tail.is_empty()))
    };
    let call = |head| Call::Relate { head, relation: relation.clone(), tail: tail.clone() };
    Some(names.map(call).collect())
}

/// The question that a call answers, where the plan has none for it.
fn worded(call: &Call) -> String {
    match call {
        Call::Search { name, descriptor: None } => format!("Which {name}?"),
        Call::Search { name, descriptor: Some(of) } => format!("Which {name} ({of})?"),
        Call::Relate { head, relation, tail: Some(tail) } if relation.is_empty() => {
            format!("How are {head} and {tail} related?")
        }
        Call::Relate { head, relation, tail: None } => format!("For {head}: {relation}?"),
        Call::Relate { head, relation, tail: Some(tail) } => {
            format!("For {head} with {tail}: {relation}?")
        }
        Call::Filter { entities, condition } => {
            format!("Which of {}: {condition}?", entities.join(", "))
        }
    }
}

/// Whether a text is nothing but references: `[2]`, `[2] and [3]`.
fn is_reference(text: &str) -> bool {
    let found = references(text);
    let mut rest = text.to_owned();
    for reference in found.iter().rev() {
        rest.replace_range(reference.range.clone(), " ");
    }
    !found.is_empty()
        && rest.replace("and", "").chars().all(|c| c.is_whitespace() || ",;&".contains(c))
}

fn bracketed(label: impl std::fmt::Display) -> String {
    format!("[{label}]")
}

fn holds_call(argument: &Argument) -> bool {
    match argument {
        Argument::Text(_) => false,
        Argument::List(items) => items.iter().any(holds_call),
        Argument::Call(_) => true,
    }
}
