//! The steps of a tree's leaves: calls with the operators of [`Call`], and what is concluded.
use super::call::{self, Argument, Written, is_end};
use super::repair::RepairKind;
use super::tokens::tokens;
use super::tree::{Body, Draft, Tree, without_end};
use super::{Call, lower};

impl Tree {
    /// Reads the step of a node from the text in which the plan writes it.
    pub(super) fn step(&mut self, node: usize, text: &str) {
        let (calls, around) = call::all(text);
        if calls.is_empty() {
            return self.conclusion(node, text);
        }
        let around = around.trim();
        let function = around.split_once('(').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
        });
        let several = calls.len() > 1;
        let nested = calls.iter().any(|call| call.arguments.iter().any(holds_call));
        if function {
            self.repairs.note(RepairKind::OtherFunction, text);
        } else if several {
            self.repairs.note(RepairKind::SeveralCalls, text);
        } else if around.chars().any(char::is_alphanumeric) {
            self.repairs.note(RepairKind::WordsAroundCall, text);
        } else if !around.is_empty() {
            self.repairs.note(RepairKind::CallMended, text);
        }
        if function || several || nested && node == 0 {
            return self.below(node, calls, !function && !several);
        }
        for call in calls {
            let calls = self.lowered(node, call);
            self.settle(node, calls);
        }
    }

    /// Each call as a leaf below the node.
    fn below(&mut self, node: usize, calls: Vec<Written>, same: bool) {
        self.nodes[node].body = Body::Parts(vec![]);
        for call in calls {
            let question = if same { self.nodes[node].question.clone() } else { String::new() };
            let leaf = self.leaf(question, node);
            self.push(node, leaf);
            let calls = self.lowered(leaf, call);
            self.settle(leaf, calls);
        }
    }

    /// Gives a node its call; where an operator has several names, a leaf for each below it.
    fn settle(&mut self, node: usize, mut calls: Vec<Call>) {
        if calls.len() > 1 {
            self.repairs.note(RepairKind::SeveralCalls, self.nodes[node].question.clone());
            self.nodes[node].body = Body::Parts(vec![]);
            if self.nodes[node].question.is_empty() {
                let worded: Vec<String> = calls.iter().map(lower::worded).collect();
                self.nodes[node].question = worded.join(" ");
            }
            for call in calls {
                let leaf = self.leaf(lower::worded(&call), node);
                self.nodes[leaf].body = Body::Call(call);
                self.push(node, leaf);
            }
            return;
        }
        let Some(call) = calls.pop() else { return };
        if self.nodes[node].question.is_empty() {
            self.nodes[node].question = lower::worded(&call);
        }
        self.nodes[node].body = Body::Call(call);
    }

    /// The calls that are meant; those in its arguments become leaves before the node.
    fn lowered(&mut self, node: usize, written: Written) -> Vec<Call> {
        let Written { operator, arguments, renamed, mended } = written;
        if renamed {
            self.repairs.note(RepairKind::OperatorRenamed, format!("{operator:?}"));
        }
        if mended {
            self.repairs.note(RepairKind::CallMended, self.asked(node));
        }
        let mut groups: Vec<Vec<String>> = vec![];
        for argument in arguments {
            let mut texts = vec![];
            self.flat(node, argument, &mut texts);
            groups.extend(Some(texts).filter(|texts| !texts.is_empty()));
        }
        let question = self.asked(node);
        let lowered = lower::calls(operator, groups, &question);
        for kind in lowered.repairs {
            self.repairs.note(kind, question.clone());
        }
        lowered.calls
    }

    fn flat(&mut self, node: usize, argument: Argument, into: &mut Vec<String>) {
        match argument {
            Argument::Text(text) => into.extend(Some(text).filter(|text| !text.is_empty())),
            Argument::List(items) => {
                for item in items {
                    self.flat(node, item, into);
                }
            }
            Argument::Call(written) => {
                let above = self.nodes[node].above.unwrap_or(0);
                self.repairs.note(RepairKind::NestedCall, self.asked(node));
                let leaf = self.leaf(String::new(), above);
                let label = self.label(leaf);
                self.insert_before(node, leaf, above);
                let calls = self.lowered(leaf, written);
                self.settle(leaf, calls);
                into.push(format!("[{label}]"));
            }
        }
    }

    /// `[END]`, or words that say from what to conclude.
    fn conclusion(&mut self, node: usize, text: &str) {
        let text = text.trim();
        if text == "[END]" {
            self.nodes[node].body = Body::Siblings;
            return;
        }
        let (said, ended) = without_end(text);
        if !ended && !is_end(text) && tokens(text).is_empty() {
            return;
        }
        self.repairs.note(RepairKind::EndReworded, text);
        let draft = &mut self.nodes[node];
        let said = said.trim_end_matches([',', '.', ' ', ';', ':']);
        if !is_end(said) && says_more(said, &draft.question) {
            draft.question = format!("{} ({said})", draft.question);
        }
        draft.body = Body::Siblings;
    }

    /// What the plan leaves open: a step for each leaf that has none, and for `[END]` where there
    /// is nothing to conclude from.
    pub(super) fn close(&mut self) {
        for node in 1..self.nodes.len() {
            // A leaf of a call without arguments has none of its own.
            let question = self.asked(node);
            self.nodes[node].question.clone_from(&question);
            let named = tokens(&question);
            let none_before = self.earlier_siblings(node).is_empty();
            let kind = match self.nodes[node].body {
                Body::Open => RepairKind::StepLeftOut,
                Body::Siblings if named.is_empty() && none_before => RepairKind::EndWithoutAnswers,
                _ => continue,
            };
            self.repairs.note(kind, question.clone());
            self.nodes[node].body = lower::step_of(&question).map_or(Body::Siblings, Body::Call);
        }
    }

    /// The question of a node; of one that has none yet, of the one that it is a part of.
    fn asked(&self, node: usize) -> String {
        let above = self.nodes[node].above.unwrap_or(0);
        let own = [node, above, 0].map(|node| &self.nodes[node].question);
        own.into_iter().find(|question| !question.is_empty()).cloned().unwrap_or_default()
    }

    fn leaf(&mut self, question: String, above: usize) -> usize {
        self.nodes.push(Draft { labels: vec![], question, body: Body::Open, above: Some(above) });
        let leaf = self.nodes.len() - 1;
        self.label(leaf);
        leaf
    }

    /// The number by which others may refer to a node; one without gets a fresh one.
    pub(super) fn label(&mut self, node: usize) -> String {
        if self.nodes[node].labels.is_empty() {
            self.nodes[node].labels.push(self.fresh.to_string());
            self.fresh += 1;
        }
        self.nodes[node].labels[0].clone()
    }

    fn push(&mut self, above: usize, part: usize) {
        if let Body::Parts(parts) = &mut self.nodes[above].body {
            parts.push(part);
        }
    }

    fn insert_before(&mut self, node: usize, part: usize, above: usize) {
        if let Body::Parts(parts) = &mut self.nodes[above].body {
            let at = parts.iter().position(|one| *one == node).unwrap_or(parts.len());
            parts.insert(at, part);
        }
    }

    /// Makes a node a part of the root, in the order of its number.
    pub(super) fn add_to_root(&mut self, part: usize) {
        let root = std::mem::replace(&mut self.nodes[0].body, Body::Open);
        let number = |node: usize| -> Option<usize> {
            self.nodes[node].labels.first().and_then(|label| label.parse().ok())
        };
        let after = |one: &usize| number(*one) > number(part) && number(part).is_some();
        let parts = match root {
            Body::Parts(mut parts) => {
                let at = parts.iter().position(after).unwrap_or(parts.len());
                parts.insert(at, part);
                parts
            }
            Body::Call(call) => {
                let own = self.leaf(self.nodes[0].question.clone(), 0);
                self.nodes[own].body = Body::Call(call);
                vec![own, part]
            }
            Body::Siblings | Body::Open => vec![part],
        };
        self.nodes[0].body = Body::Parts(parts);
    }

    /// Whether a node is another or above it.
    pub(super) fn is_above(&self, node: usize, below: usize) -> bool {
        let mut at = Some(below);
        while let Some(here) = at {
            if here == node {
                return true;
            }
            at = self.nodes[here].above;
        }
        false
    }

    /// The parts of the same question that stand before a node.
    pub(super) fn earlier_siblings(&self, node: usize) -> Vec<usize> {
        let above = self.nodes[node].above.map(|above| &self.nodes[above].body);
        let Some(Body::Parts(parts)) = above else { return vec![] };
        parts.iter().copied().take_while(|part| *part != node).collect()
    }
}

fn holds_call(argument: &Argument) -> bool {
    match argument {
        Argument::Text(_) => false,
        Argument::List(items) => items.iter().any(holds_call),
        Argument::Call(_) => true,
    }
}

/// Whether words say more than which answers to take, and than that the question names them.
fn says_more(said: &str, question: &str) -> bool {
    let of = |text: &str| -> Vec<String> {
        tokens(text).into_iter().flat_map(|token| token.labels).collect()
    };
    let named = of(question);
    let mut rest = said.to_lowercase();
    for token in tokens(said).into_iter().rev() {
        rest.replace_range(token.range, " ");
    }
    let plain = ["given", "the", "answer", "answers", "of", "and"];
    let only = rest
        .split(|c: char| !c.is_alphanumeric())
        .all(|word| word.is_empty() || plain.contains(&word));
    !only || of(said).iter().any(|label| !named.contains(label))
}
