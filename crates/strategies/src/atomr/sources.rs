//! Dynamic source selection (Section 3.3.1): which of the sources a leaf asks.
use std::collections::BTreeMap;

use halma_core::{Cx, Error, Prompt, Question, Result, SourceInfo, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::plan::{Node, Plan, Step};
use super::settings::{Atomr, Kg, Select};

const SOURCES: Prompt<Chosen> = Prompt::json("atomr/sources");

/// The base among the sources.
pub(super) const TEXT: &str = "text";

/// By the leaf's number; the names are checked when they are used.
#[derive(Deserialize)]
struct Chosen {
    sources: BTreeMap<String, Vec<String>>,
}

/// A leaf as the selector sees it.
#[derive(Serialize)]
struct Leaf {
    number: usize,
    question: String,
    operator: String,
}

type ByNumber = BTreeMap<usize, Vec<String>>;

/// The sources of a run, and what was chosen for its leaves.
pub(super) struct Sources {
    /// Those that a leaf may ask.
    pub(super) all: Vec<SourceInfo>,
    /// The name of the graph, where there is one.
    pub(super) graph: Option<String>,
    /// Of all leaves of the plan; asked for when the first of them needs it.
    chosen: futures::lock::Mutex<Option<ByNumber>>,
}

impl Sources {
    /// # Errors
    /// [`Error::MissingRequirement`] when the settings name a source that is not configured.
    pub(super) fn configured(settings: &Atomr, cx: &Cx) -> Result<Self> {
        let mut all = vec![cx.base()];
        all.extend(cx.sources());
        if let Some(name) =
            settings.sources.iter().find(|name| !all.iter().any(|source| source.name == **name))
        {
            let names: Vec<&str> = all.iter().map(|source| source.name.as_str()).collect();
            let names = names.join("`, `");
            return Err(Error::MissingRequirement(format!(
                "`sources` names `{name}`, which is not configured: configure it under \
                 [sources], or choose among `{names}`"
            )));
        }
        let wanted = |source: &SourceInfo| {
            settings.sources.is_empty() || settings.sources.contains(&source.name)
        };
        all.retain(wanted);
        let graph = cx.facts().map(|facts| facts.name().to_owned());
        let graph = graph.filter(|graph| all.iter().any(|source| source.name == *graph));
        Ok(Self { all, graph, chosen: futures::lock::Mutex::new(None) })
    }

    /// The sources of a leaf by their names. With one or two there is nothing to choose.
    pub(super) async fn for_leaf(
        &self,
        (question, plan, place): (&Question, &Plan, usize),
        text: &str,
        settings: &Atomr,
        cx: &Cx,
    ) -> Result<Vec<String>> {
        let open = self.open(settings);
        if open.len() <= 2 || settings.select == Select::All {
            return Ok(names(&open));
        }
        let leaf = |place: usize, text: &str| Leaf {
            number: place,
            question: text.to_owned(),
            operator: match &plan.nodes[place].step {
                Step::Call(call) => call.to_string(),
                _ => String::new(),
            },
        };
        if settings.select == Select::Leaf {
            let chosen = choose(question, &[leaf(place, text)], &open, cx).await?;
            return Ok(usable(&chosen, place, &open, cx));
        }
        let mut chosen = self.chosen.lock().await;
        if chosen.is_none() {
            let called = |(_, node): &(usize, &Node)| matches!(node.step, Step::Call(_));
            let leaves = plan.nodes.iter().enumerate().filter(called);
            let leaves: Vec<Leaf> =
                leaves.map(|(place, node)| leaf(place, &node.question)).collect();
            *chosen = Some(choose(question, &leaves, &open, &cx.span("sources")).await?);
        }
        let chosen = chosen.as_ref().expect("it was chosen just now");
        Ok(usable(chosen, place, &open, cx))
    }

    /// The sources of texts.
    pub(super) fn texts(&self) -> Vec<String> {
        let texts = names(&self.all).into_iter();
        texts.filter(|name| self.graph.as_ref() != Some(name)).collect()
    }

    /// Those to choose among: a graph that is asked first needs no choice.
    fn open(&self, settings: &Atomr) -> Vec<SourceInfo> {
        let first = |source: &SourceInfo| {
            settings.kg == Kg::First && self.graph.as_ref() == Some(&source.name)
        };
        self.all.iter().filter(|source| !first(source)).cloned().collect()
    }
}

/// One call. An unusable reply chooses nothing, and so all.
async fn choose(
    question: &Question,
    leaves: &[Leaf],
    open: &[SourceInfo],
    cx: &Cx,
) -> Result<ByNumber> {
    let variables = context! {
        question => Serde(question),
        leaves => Serde(leaves),
        sources => Serde(open),
    };
    let chosen = cx.ask(&SOURCES, variables).await;
    let chosen = chosen.unless_failed(cx, "the choice of sources cannot be used")?;
    let chosen = chosen.map(|chosen| chosen.sources).unwrap_or_default();
    let numbered = |(number, names): (String, Vec<String>)| {
        let number = number.trim_matches(|c: char| !c.is_ascii_digit());
        Some((number.parse().ok()?, names))
    };
    Ok(chosen.into_iter().filter_map(numbered).collect())
}

/// What was chosen for a leaf, in the order of the sources; all where that is nothing.
fn usable(chosen: &ByNumber, number: usize, open: &[SourceInfo], cx: &Cx) -> Vec<String> {
    let wanted = chosen.get(&number).map_or(&[][..], Vec::as_slice);
    let is_wanted =
        |name: &String| wanted.iter().any(|wanted| wanted.trim().eq_ignore_ascii_case(name));
    let used: Vec<String> = names(open).into_iter().filter(is_wanted).collect();
    if used.is_empty() {
        cx.note("no source was chosen: searching all");
        return names(open);
    }
    used
}

fn names(sources: &[SourceInfo]) -> Vec<String> {
    sources.iter().map(|source| source.name.clone()).collect()
}
