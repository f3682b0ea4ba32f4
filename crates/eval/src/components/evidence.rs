//! How far a question's gold passages came: retrieved by a search, read by the reader. It is what the
//! report tells a retrieval miss from a selection miss by.
use halma_core::{Citation, Event, HitLine, Layer, Trace};
use serde::{Deserialize, Serialize};

use crate::data::Item;
use crate::metrics::{GoldPassage, without_space};

/// The role that reads passages and answers from them.
const READER: &str = "reader";

/// Counts of one question's gold passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) gold: usize,
    /// Of the gold passages, those that some search of the strategy returned.
    pub(crate) retrieved: usize,
    /// Of the gold passages, those that are cited or stood in a prompt of the reader.
    pub(crate) read: usize,
    /// Whether the strategy searched at all.
    pub(crate) searched: bool,
}

impl Evidence {
    pub(crate) fn trace(item: &Item, citations: &[Citation], trace: &Trace) -> Self {
        let lookup =
            |event: &Event| matches!(event, Event::Searched { .. } | Event::SourceQueried { .. });
        let searched = trace.0.iter().any(lookup);
        let mut evidence = Self { gold: item.gold.len(), searched, ..Self::default() };
        if item.gold.is_empty() {
            return evidence;
        }
        let prompts = reader_prompts(trace);
        for passage in &item.gold {
            let cited = citations.iter().any(|c| passage.matches(&c.title, &c.quote));
            let hits: Vec<&HitLine> = hits_in(passage, trace);
            let read = cited || in_prompt(passage, &hits, &prompts);
            evidence.read += usize::from(read);
            // What was read was retrieved, also where no search of the trace shows it (a neighbour).
            evidence.retrieved += usize::from(read || !hits.is_empty());
        }
        evidence
    }
}

/// The hits that lie in the passage. An atom may be a question in words of its own, so that its
/// title alone decides; where passages share titles that counts a little too much as retrieved.
fn hits_in<'a>(passage: &GoldPassage, trace: &'a Trace) -> Vec<&'a HitLine> {
    let mut lines = vec![];
    for event in &trace.0 {
        let (atoms, hits) = match event {
            Event::Searched { layer, hits, .. } => (*layer == Layer::Atom, hits),
            Event::SourceQueried { hits, .. } => (false, hits),
            _ => continue,
        };
        let same_title = |hit: &HitLine| atoms && same_title_as(hit, passage);
        let inside = |hit: &&HitLine| passage.matches(&hit.title, &hit.text) || same_title(hit);
        lines.extend(hits.iter().filter(inside));
    }
    lines
}

fn same_title_as(hit: &HitLine, passage: &GoldPassage) -> bool {
    without_space(&hit.title) == without_space(&passage.title)
}

fn in_prompt(passage: &GoldPassage, hits: &[&HitLine], prompts: &[String]) -> bool {
    let holds = |text: &str| {
        let text = without_space(text);
        !text.is_empty() && prompts.iter().any(|prompt| prompt.contains(&text))
    };
    let inside = hits.iter().filter(|hit| passage.matches(&hit.title, &hit.text));
    holds(&passage.text) || inside.map(|hit| hit.text.as_str()).any(holds)
}

/// The words of the calls that were answered in the role of the reader, without white space;
/// where the strategy has no reader, those of the last call.
fn reader_prompts(trace: &Trace) -> Vec<String> {
    let calls = trace.0.iter().filter_map(|event| match event {
        Event::ModelCalled { role, messages, .. } => Some((role == READER, messages)),
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    let reads = calls.iter().any(|(reader, _)| *reader);
    let chosen = calls
        .iter()
        .enumerate()
        .filter(|(i, (reader, _))| if reads { *reader } else { i + 1 == calls.len() });
    let texts = chosen.map(|(_, (_, messages))| {
        messages.iter().map(|message| without_space(&message.text)).collect::<String>()
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use halma_core::Question;

    use super::*;
    use crate::components::tests::{model_called, searched};

    fn item() -> Item {
        let gold = [("Lenn", "The Lenn is a river."), ("Tarr", "The Tarr is a river too.")];
        let gold = gold.map(|(title, text)| GoldPassage { title: title.into(), text: text.into() });
        let question = Question::new("Which is longer?");
        crate::report::tests::item(question, &["Lenn"], gold.to_vec())
    }

    fn counts(events: Vec<Event>) -> (usize, usize, bool) {
        let Evidence { retrieved, read, searched, .. } =
            Evidence::trace(&item(), &[], &Trace(events));
        (retrieved, read, searched)
    }

    #[test]
    fn found_and_read_are_told_apart() {
        let both = [("Lenn", "The Lenn is a river."), ("Tarr", "The Tarr is a river too.")];
        assert_eq!(counts(vec![]), (0, 0, false));
        assert_eq!(counts(vec![searched(Layer::Chunk, "q", &both)]), (2, 0, true));
        let selector = model_called("s", "selector", "The Tarr is a river too.", false);
        let reader = model_called("r", "reader", "1. The Lenn\nis a river.", false);
        let events = vec![searched(Layer::Chunk, "q", &both), selector, reader];
        assert_eq!(counts(events), (2, 1, true));
    }

    #[test]
    fn without_a_reader_the_last_call_reads() {
        let both = [("Lenn", "The Lenn is a river.")];
        let first = model_called("a", "planner", "The Tarr is a river too.", false);
        let last = model_called("b", "planner", "The Lenn is a river.", false);
        assert_eq!(counts(vec![searched(Layer::Chunk, "q", &both), first, last]), (1, 1, true));
    }

    #[test]
    fn an_atom_that_is_a_question_finds_its_passage_by_title() {
        let atom = [("Tarr", "What is the Tarr?")];
        assert_eq!(counts(vec![searched(Layer::Atom, "q", &atom)]), (1, 0, true));
        assert_eq!(counts(vec![searched(Layer::Chunk, "q", &atom)]), (0, 0, true));
    }
}
