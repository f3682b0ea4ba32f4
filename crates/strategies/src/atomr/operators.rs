//! An operator with the answers it refers to put in: what it searches for, and how it is answered
//! from what was found.
use halma_core::{Cx, Prompt, Question, Result};
use minijinja::context;
use minijinja::value::Serde;

use super::answers::{AnswerReply, KnownAnswers, Thing};
use super::evidence::Evidence;
use super::plan::Call;
use super::settings::Atomr;

const SEARCH: Prompt<AnswerReply> = Prompt::json("atomr/search");
const RELATE: Prompt<AnswerReply> = Prompt::json("atomr/relate");
const FILTER: Prompt<AnswerReply> = Prompt::json("atomr/filter");

/// The most things that a note lists.
const SHOWN: usize = 5;

/// A call whose references are answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    Search {
        names: Vec<String>,
        descriptor: Option<String>,
    },
    /// `relation` is empty where what relates heads and tails is asked for.
    Relate {
        heads: Vec<Thing>,
        relation: String,
        tails: Vec<Thing>,
    },
    Filter {
        entities: Vec<Thing>,
        condition: String,
    },
}

impl Operation {
    /// `None` where an answer that the call needs is unknown. What exceeds a limit is noted.
    pub(super) fn resolve(
        call: &Call,
        answers: &KnownAnswers<'_>,
        limits: &Atomr,
        cx: &Cx,
    ) -> Option<Self> {
        if !call.arguments().iter().all(|argument| answers.settles(argument)) {
            return None;
        }
        let cut = |count: usize, left_out: usize| {
            if left_out > 0 {
                cx.note(format!("{call} becomes {count} lookups, {left_out} omitted"));
            }
        };
        let fan_out = limits.fan_out;
        Some(match call {
            Call::Search { name, descriptor } => {
                let (names, left_out) = answers.each(name, fan_out);
                cut(names.len(), left_out);
                let descriptor = descriptor.as_ref().map(|descriptor| answers.together(descriptor));
                Self::Search { names, descriptor }
            }
            Call::Relate { head, relation, tail } => {
                let (heads, left_out) = answers.things(head, fan_out);
                cut(heads.len(), left_out);
                let (tails, left_out) =
                    tail.as_ref().map_or((vec![], 0), |tail| answers.things(tail, fan_out));
                cut(tails.len(), left_out);
                Self::Relate { heads, relation: answers.together(relation), tails }
            }
            Call::Filter { entities, condition } => {
                let all = entities.iter().flat_map(|one| answers.things(one, usize::MAX).0);
                Self::Filter { entities: all.collect(), condition: answers.together(condition) }
            }
        })
    }

    /// What texts are searched for (Section 3.1): name and descriptor, the parameters, or each
    /// entity with the condition.
    pub(super) fn queries(&self, limits: &Atomr) -> Vec<String> {
        let joined = |parts: &[&str]| -> String {
            let parts: Vec<&str> =
                parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
            parts.join(" ")
        };
        match self {
            Self::Search { names, descriptor } => {
                let descriptor = descriptor.as_deref().unwrap_or_default();
                names.iter().map(|name| joined(&[name, descriptor])).collect()
            }
            Self::Relate { heads, relation, tails } if tails.is_empty() => {
                heads.iter().map(|head| joined(&[&head.name, relation])).collect()
            }
            Self::Relate { heads, relation, tails } => {
                let pairs =
                    heads.iter().flat_map(|head| tails.iter().map(move |tail| (head, tail)));
                let query =
                    |(head, tail): (&Thing, &Thing)| joined(&[&head.name, relation, &tail.name]);
                pairs.map(query).take(limits.fan_out).collect()
            }
            Self::Filter { entities, condition } => {
                let query = |entity: &Thing| joined(&[&entity.name, condition]);
                entities.iter().map(query).take(limits.entities).collect()
            }
        }
    }

    /// The cosine after which no further passage of the base is read, where that is asked for.
    pub(super) fn enough(&self, limits: &Atomr) -> Option<f32> {
        let enough = match self {
            Self::Search { .. } => 0.75,
            Self::Relate { .. } => 0.85,
            Self::Filter { .. } => return None,
        };
        limits.stop_early.then_some(enough)
    }

    /// One call of the reader (the adaptive executor).
    pub(super) async fn read(
        &self,
        question: &Question,
        evidence: &Evidence,
        cx: &Cx,
    ) -> Result<AnswerReply> {
        let (prompt, entities) = match self {
            Self::Search { names, .. } => (&SEARCH, names.clone()),
            Self::Relate { heads, .. } => (&RELATE, named(heads)),
            Self::Filter { .. } => (&FILTER, evidence.retained.clone()),
        };
        let operator = context! { name => self.name(), arguments => self.arguments(&entities) };
        let variables = context! {
            lookup => &question.text,
            asked_at => &question.asked_at,
            operator,
            entities,
            context => Serde(&evidence.passages()),
            facts => Serde(&evidence.lines),
            own_knowledge => question.own_knowledge,
        };
        cx.ask(prompt, variables).await
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Search { .. } => "Search",
            Self::Relate { .. } => "Relate",
            Self::Filter { .. } => "Filter",
        }
    }

    fn arguments(&self, entities: &[String]) -> Vec<String> {
        let first = entities.join(", ");
        match self {
            Self::Search { descriptor, .. } => {
                std::iter::once(first).chain(descriptor.clone()).collect()
            }
            Self::Relate { relation, tails, .. } => {
                let tails = named(tails).join(", ");
                let all = [first, relation.clone(), tails];
                all.into_iter().filter(|one| !one.is_empty()).collect()
            }
            Self::Filter { condition, .. } => vec![first, condition.clone()],
        }
    }
}

/// As a plan writes it, with the answers in the places of the references.
impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = match self {
            Self::Search { names, .. } => names.clone(),
            Self::Relate { heads, .. } => named(heads),
            Self::Filter { entities, .. } => named(entities),
        };
        let written: Vec<String> =
            names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
        let (listed, more) = (written.join(", "), names.len() - written.len());
        let first = match (names.len(), more) {
            (1, _) => listed,
            (_, 0) => format!("[{listed}]"),
            _ => format!("[{listed} and {more} more]"),
        };
        write!(f, "{}({first}", self.name())?;
        for one in self.arguments(&[]).iter().filter(|one| !one.is_empty()) {
            write!(f, ", \"{one}\"")?;
        }
        f.write_str(")")
    }
}

fn named(things: &[Thing]) -> Vec<String> {
    things.iter().map(|thing| thing.name.clone()).collect()
}
