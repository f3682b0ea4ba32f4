//! What is repaired in a plan, by which rule, and what is refused.
use std::fmt;

use serde::Serialize;

/// One use of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The rule.
    pub kind: RepairKind,
    /// Where, in the plan's own words.
    pub at: String,
}

/// The rules of repair. `docs/strategies/atomr.md` gives the reason of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// The tree is written as objects within objects: each is read as a list of its keys.
    NestedObject,
    /// The question is not the first key: it is the one with a list that no list names.
    RootNotFirst,
    /// A list words a question differently from its key: they are one by their number or words.
    ChildReworded,
    /// No list names a question: it becomes a part of the root, in the order of its number.
    ParentLeftOut,
    /// Several lists name a question: it is asked under the first, and the others refer to it.
    ListedTwice,
    /// A question lists itself, one above it, or `[END]`, or a key is not a question: it is
    /// omitted.
    PartLeftOut,
    /// A number is missing, repeated or of several parts (`2.1`): the question gets the next free
    /// one, and what refers to it follows.
    Renumbered,
    /// A call stands in a list, in place of a question: it becomes a leaf.
    CallInList,
    /// A call is an argument of another: it becomes a leaf before it.
    NestedCall,
    /// A question has several calls, one within another function, or one with several names: each
    /// becomes a leaf below it, and the question is concluded from them.
    SeveralCalls,
    /// Quotes, brackets or commas of a call do not match.
    CallRepaired,
    /// Words or `[END]` stand around a call: the call counts.
    WordsAroundCall,
    /// `[END]` is written differently, or in words: the answers they name are kept with the
    /// question.
    EndReworded,
    /// There is neither a call nor `[END]`: a question that names answers is concluded from them,
    /// another is looked up.
    StepLeftOut,
    /// `[END]` where nothing is answered before: the question is looked up.
    EndWithoutAnswers,
    /// A call has more arguments than its operator: they are joined; references are entities.
    MoreArguments,
    /// `[2, 3]`, `#2` or `<2>` in place of `[2]`.
    ReferenceRewritten,
    /// A reference of a question to its own part becomes words, since it is given the answers of
    /// its parts.
    ReferenceBelow,
}

/// The name in `halma plan check --json`.
impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There is no complete JSON object with questions in it.
    NoObject,
    /// The question has neither parts nor an operator.
    NoStep {
        /// The question.
        question: String,
    },
    /// A call lacks an argument.
    Arguments {
        /// The question that has the call.
        question: String,
    },
    /// A reference names no question that is answered before.
    Reference {
        /// As it is written.
        reference: String,
        /// The question in which, or in whose call, it stands.
        question: String,
    },
    /// Questions need the answers of one another.
    Circle {
        /// One of them.
        question: String,
    },
    /// More questions than [`Refusal::MOST`], or more text than [`Refusal::LONGEST`].
    TooLarge,
}

impl Refusal {
    /// The questions that a plan may have; recorded plans have at most 20.
    pub const MOST: usize = 256;

    /// The bytes of text that a plan may have: as many questions, written twice each.
    pub const LONGEST: usize = 96 << 10;
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str(
                "the reply does not contain a complete JSON object of questions; write each call as a \
                 string and close every list",
            ),
            Self::NoStep { question } => {
                write!(f, "`{question}` has neither sub-questions nor an operator")
            }
            Self::Arguments { question } => {
                write!(f, "the call for `{question}` lacks an argument")
            }
            Self::Reference { reference, question } => {
                write!(f, "`{reference}` in `{question}` names no question answered before it")
            }
            Self::Circle { question } => {
                write!(f, "`{question}` needs an answer that needs its own")
            }
            Self::TooLarge => {
                let (most, longest) = (Self::MOST, Self::LONGEST >> 10);
                write!(f, "the plan has more than {most} questions or {longest} KiB")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// The repairs of a plan as they are made.
#[derive(Debug, Default)]
pub(super) struct Repairs(pub(super) Vec<Repair>);

impl Repairs {
    pub(super) fn note(&mut self, kind: RepairKind, at: impl Into<String>) {
        self.0.push(Repair { kind, at: at.into() });
    }
}
