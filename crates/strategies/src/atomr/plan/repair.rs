//! What is mended in a plan, by which rule, and what is refused.
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
    /// Words, a fence or another object stand around the plan's JSON: they are left out.
    TextAround,
    /// Quotes are not escaped, commas or brackets are missing: read as what can only be meant.
    JsonMended,
    /// The text breaks off: the entry in which it does is left out.
    CutOff,
    /// The tree is written as objects within objects: each is read as a list of its keys.
    NestedObject,
    /// A key stands twice: a list counts more than an operator, a later value more than an
    /// earlier one.
    KeyRepeated,
    /// The question is not the first key: it is the one that no list names.
    RootNotFirst,
    /// A list words a question otherwise than its key: they are one by their words or number.
    ChildReworded,
    /// No list names a question: it becomes a part of the root, in the order of its number.
    ParentLeftOut,
    /// Several lists name a question: it is asked under the first, and the others refer to it.
    ListedTwice,
    /// A question lists itself, or one above it, or `[END]`: the entry is left out.
    PartLeftOut,
    /// A key is no question of the tree and has no operator: it is left out.
    KeyLeftOut,
    /// A number is missing, repeated or of several parts (`2.1`): the question gets the next free
    /// one, and what refers to it follows.
    Renumbered,
    /// An operator stands in a list, in the place of a question: it becomes a leaf.
    CallInList,
    /// An operator is an argument of another: it becomes a leaf before it.
    NestedCall,
    /// A question has several operators, or an operator several names: each becomes a leaf below.
    SeveralCalls,
    /// An operator goes by another name (`find`, `SEARCH`).
    OperatorRenamed,
    /// A function that is no operator (`Count`, `Intersect`): what is in it becomes leaves below
    /// the question, which is concluded from them.
    OtherFunction,
    /// Quotes, brackets or commas of a call are not as they should be.
    CallMended,
    /// Words or `[END]` stand around a call: the call counts.
    WordsAroundCall,
    /// `[END]` is written otherwise, or in words: they are kept with the question.
    EndReworded,
    /// There is neither operator nor `[END]`: by how many answers the question names, it is
    /// looked up (none), related (one) or concluded (several).
    StepLeftOut,
    /// `[END]` where nothing is answered before: the question is looked up.
    EndWithoutAnswers,
    /// A call has more arguments than its operator: a third of Relate is its other entity, others
    /// are joined.
    MoreArguments,
    /// A call has fewer arguments than its operator: the question's words take their place.
    FewerArguments,
    /// `[2, 3]`, `#2` or `<2>` for `[2]`.
    ReferenceRewritten,
    /// A reference leads nowhere, to itself or to what is above: it means the one other node that
    /// the question or its call names, or the only question before it.
    ReferenceMended,
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

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There is no JSON object with questions in it.
    NoObject,
    /// It breaks off within the list of the question's own parts.
    CutOff,
    /// The question has neither parts nor an operator.
    NoStep {
        /// The question.
        question: String,
    },
    /// A reference leads nowhere, and nothing tells what is meant.
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
    /// More questions than [`Refusal::MOST`].
    TooLarge,
}

impl Refusal {
    /// The questions that a plan may have; recorded plans have at most 20.
    pub const MOST: usize = 256;
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str("there is no JSON object with questions in the plan"),
            Self::CutOff => {
                f.write_str("the plan breaks off before the parts of its question are all named")
            }
            Self::NoStep { question } => {
                write!(f, "`{question}` has neither sub-questions nor an operator")
            }
            Self::Reference { reference, question } => {
                write!(f, "`{reference}` in `{question}` names no question answered before it")
            }
            Self::Circle { question } => {
                write!(f, "`{question}` needs an answer that needs its own")
            }
            Self::TooLarge => write!(f, "the plan has more than {} questions", Self::MOST),
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
