//! The plan: an Atomic Reasoning Tree (Section 3.2) as a list of steps.
//!
//! A model writes the steps in the order in which they are answered; `#k` in a question or an argument
//! stands for the answers of the k-th step. A step is a call of an operator, a conclusion from its
//! parts, or one from the steps that it names. The question itself is the root, concluded from the
//! steps that are parts of no other.
#[cfg(test)]
mod tests;

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::shared::references::{Reference, literal_numbers, references};

/// A plan as a model writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPlan {
    pub steps: Vec<WrittenStep>,
}

/// A step as a model writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenStep {
    pub question: String,
    pub operator: Operator,
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// How a step is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    #[serde(alias = "Search")]
    Search,
    #[serde(alias = "Relate")]
    Relate,
    #[serde(alias = "Filter")]
    Filter,
    /// From the answers of the steps that its question consists of.
    #[serde(alias = "Parts")]
    Parts,
    /// From the answers of the steps that it names: the paper's `[DR]`.
    #[serde(alias = "Reason")]
    Reason,
}

/// A tree of questions. Every reference names an earlier step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The root, which is the question itself, then the steps: the k-th is at the place k.
    pub nodes: Vec<Node>,
}

/// A question of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// May hold references.
    pub question: String,
    /// How it is answered.
    pub step: Step,
}

/// How a question is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// From the answers of its parts, by their places.
    Inner(Vec<usize>),
    /// By an operator.
    Call(Call),
    /// From the answers of the steps at these places, the paper's `[DR]`.
    Reason(Vec<usize>),
}

/// An operator with its arguments (Section 3.1). `#k` in them stands for the answers of the k-th step,
/// as the whole of an argument or within it.
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
        /// At least one; a reference stands for all answers of its step.
        entities: Vec<String>,
        /// Never empty.
        condition: String,
    },
}

impl Plan {
    /// The plan of a question as a model wrote it.
    ///
    /// # Errors
    /// Why it is not a plan, in words that the model is shown.
    pub fn new(question: &str, written: &WrittenPlan) -> Result<Self, String> {
        let literal = literal_numbers(&[question]);
        let mut nodes = vec![Node { question: question.to_owned(), step: Step::Inner(vec![]) }];
        for (number, written) in (1..).zip(&written.steps) {
            let wrong = |reason: String| format!("step {number}: {reason}");
            nodes.push(node(written, number, &literal).map_err(wrong)?);
        }
        match nodes.as_slice() {
            [_] => return Err("the plan has no steps".to_owned()),
            // The question is settled by one operation.
            [_, only] if !matches!(only.step, Step::Inner(_)) => {
                let step = only.step.clone();
                return Ok(Self { nodes: vec![Node { step, ..nodes.swap_remove(0) }] });
            }
            _ => {}
        }
        let mut plan = Self { nodes };
        let tops = (1..plan.nodes.len()).filter(|place| plan.parent(*place) == 0);
        plan.nodes[0].step = Step::Inner(tops.collect());
        Ok(plan)
    }

    /// The numbers of the steps that a text refers to, each once, in their order.
    #[must_use]
    pub fn references(text: &str) -> Vec<usize> {
        let mut numbers = vec![];
        for reference in references(text) {
            let is_own = text[reference.range.clone()].starts_with('#');
            let number = reference.number().filter(|number| is_own && !numbers.contains(number));
            numbers.extend(number);
        }
        numbers
    }

    /// How many questions lie on the longest way down, the root counted: 1 for a plan of one question.
    #[must_use]
    pub fn depth(&self) -> usize {
        fn below(plan: &Plan, place: usize) -> usize {
            let Step::Inner(parts) = &plan.nodes[place].step else { return 1 };
            1 + parts.iter().map(|part| below(plan, *part)).max().unwrap_or(0)
        }
        below(self, 0)
    }

    /// The place of the step that the one at `place` is a part of; the root's where there is none.
    #[must_use]
    pub fn parent(&self, place: usize) -> usize {
        let holds =
            |node: &Node| matches!(&node.step, Step::Inner(parts) if parts.contains(&place));
        self.nodes.iter().skip(1).position(holds).map_or(0, |at| at + 1)
    }

    /// The places of the steps that the one at `place` refers to, in its question or its call, or
    /// concludes from.
    #[must_use]
    pub fn waits_for(&self, place: usize) -> Vec<usize> {
        let node = &self.nodes[place];
        // A number in the question itself is no reference.
        let mut texts: Vec<&str> =
            Some(node.question.as_str()).filter(|_| place > 0).into_iter().collect();
        let mut places = vec![];
        match &node.step {
            Step::Call(call) => texts.extend(call.arguments()),
            Step::Reason(steps) => places.clone_from(steps),
            Step::Inner(_) => {}
        }
        let numbers = texts.into_iter().flat_map(Self::references);
        places.extend(numbers.filter_map(|number| self.place(number)));
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The place of the step with this number.
    #[must_use]
    pub fn place(&self, number: usize) -> Option<usize> {
        (1..self.nodes.len()).contains(&number).then_some(number)
    }

    /// The tree, a line for each question with its step; the last line has no end.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut out = self.nodes.first().map(|root| root.question.clone()).unwrap_or_default();
        out.push_str(&self.step_of(0));
        self.below(0, "", &mut out);
        out
    }

    fn below(&self, place: usize, indent: &str, out: &mut String) {
        let Step::Inner(parts) = &self.nodes[place].step else { return };
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let (branch, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            // Writing to a string cannot fail.
            let _ = write!(out, "\n{indent}{branch}{part}. {}", self.nodes[*part].question);
            out.push_str(&self.step_of(*part));
            self.below(*part, &format!("{indent}{stem}"), out);
        }
    }

    fn step_of(&self, place: usize) -> String {
        match &self.nodes[place].step {
            Step::Inner(_) => String::new(),
            Step::Call(call) => format!("  → {call}"),
            Step::Reason(steps) => {
                let steps: Vec<String> = steps.iter().map(|step| format!("#{step}")).collect();
                format!("  → Reason({})", steps.join(", "))
            }
        }
    }
}

/// A step with its references checked and written as `#k`.
fn node(written: &WrittenStep, number: usize, literal: &[usize]) -> Result<Node, String> {
    let text = |text: &str| with_references(text.trim(), number, literal);
    let question = text(&written.question)?;
    if question.is_empty() {
        return Err("it has no question".to_owned());
    }
    let arguments = written.arguments.iter().map(|argument| text(argument));
    let mut arguments = arguments.collect::<Result<Vec<String>, String>>()?;
    arguments.retain(|argument| !argument.is_empty());
    let step = match written.operator {
        Operator::Parts => Step::Inner(parts(&arguments)?),
        Operator::Reason => Step::Reason(reasons(&question, &arguments, number)),
        operator => Step::Call(call(operator, arguments)?),
    };
    Ok(Node { question, step })
}

/// A text of the step with this number: `[2, 3]` and `<2>` are `#2, #3` and `#2`. A number of the
/// question's own, a year, or one with a point is no reference.
fn with_references(text: &str, number: usize, literal: &[usize]) -> Result<String, String> {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for Reference { range, labels } in references(text) {
        let is_plain = |label: &String| label.len() > 3 || label.contains('.');
        if labels.iter().any(is_plain) {
            continue;
        }
        let written = |label: &String| match label.parse::<usize>() {
            Ok(given) if literal.contains(&given) => Ok(format!("no. {given}")),
            Ok(given) if (1..number).contains(&given) => Ok(format!("#{given}")),
            _ => Err(format!("`#{label}` is not an earlier step")),
        };
        let each = labels.iter().map(written).collect::<Result<Vec<String>, String>>()?;
        out.push_str(&text[at..range.start]);
        out.push_str(&each.join(", "));
        at = range.end;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

/// Whether a text is a reference and nothing else.
fn is_reference(text: &str) -> bool {
    references(text).first().is_some_and(|one| one.range == (0..text.len()))
}

fn parts(arguments: &[String]) -> Result<Vec<usize>, String> {
    let numbers = Plan::references(&arguments.join(" "));
    if numbers.is_empty() {
        return Err("`parts` takes the steps that its question consists of, such as #1".to_owned());
    }
    Ok(numbers)
}

/// The steps that a conclusion is made from; all earlier ones where it names none.
fn reasons(question: &str, arguments: &[String], number: usize) -> Vec<usize> {
    let mut named = Plan::references(&format!("{question} {}", arguments.join(" ")));
    named.sort_unstable();
    if named.is_empty() { (1..number).collect() } else { named }
}

fn call(operator: Operator, arguments: Vec<String>) -> Result<Call, String> {
    let count = arguments.len();
    let mut all = arguments.into_iter();
    let mut next = || all.next().unwrap_or_default();
    match (operator, count) {
        (Operator::Search, 1..=2) => {
            let name = next();
            Ok(Call::Search { name, descriptor: Some(next()).filter(|text| !text.is_empty()) })
        }
        (Operator::Relate, 2) => {
            let (head, relation) = (next(), next());
            Ok(if is_reference(&relation) {
                Call::Relate { head, relation: String::new(), tail: Some(relation) }
            } else {
                Call::Relate { head, relation, tail: None }
            })
        }
        (Operator::Relate, 3) => {
            let (head, relation, tail) = (next(), next(), next());
            Ok(Call::Relate { head, relation, tail: Some(tail) })
        }
        (Operator::Filter, 2..) => {
            let mut entities: Vec<String> = all.collect();
            let condition = entities.pop().unwrap_or_default();
            Ok(Call::Filter { entities, condition })
        }
        (Operator::Search, _) => Err("`search` takes a name and perhaps a descriptor".to_owned()),
        (Operator::Relate, _) => Err("`relate` takes a thing and a relation".to_owned()),
        _ => Err("`filter` takes things and, last, a condition".to_owned()),
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

/// `Relate(#1, "architect")`.
impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written =
            |text: &str| if is_reference(text) { text.to_owned() } else { format!("\"{text}\"") };
        let arguments: Vec<String> = self.arguments().into_iter().map(written).collect();
        write!(f, "{}({})", self.operator(), arguments.join(", "))
    }
}
