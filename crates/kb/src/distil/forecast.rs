//! What distilling would ask for, before anything is spent.
use halma_core::Setup;
use minijinja::context;

use super::facts::variables;
use super::passage::Passage;
use super::summaries::WINDOW;
use crate::{Entities, KbSettings};

/// Calls of one prompt to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forecast {
    pub(crate) task: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) role: String,
    pub(crate) calls: u64,
    /// At four characters a token, as the budget counts.
    pub(crate) prompt_tokens: u64,
    /// By experience with other texts; what this base has seen is a better guess.
    pub(crate) completion_tokens: u64,
}

/// A chunk that is about to be built.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) title: String,
    pub(crate) section: Option<String>,
    pub(crate) text: String,
    /// Tells its document from others: chunks of one stand next to each other.
    pub(crate) document: usize,
}

/// Tokens of a reply of each kind: facts for each token of text (nine entities and nine facts in
/// 110 tokens, as recorded for 1,890 passages of encyclopaedias, with descriptions and sentences),
/// the others flat.
const FACTS_PER_TOKEN: u64 = 5;
const LEAST_FACTS: u64 = 40;
const MOST_FACTS: u64 = 3072;
const TAGS: u64 = 110;
const SUMMARY: u64 = 220;

/// What the stages that the settings ask for will call for these chunks. Entities that may be one,
/// communities and classes of tags are known only when the facts are: they are not in it.
pub(crate) fn forecast(pieces: &[Piece], settings: &KbSettings, setup: &Setup) -> Vec<Forecast> {
    let mut all = vec![];
    if settings.entities == Entities::Model {
        let mut facts = begin(setup, "facts", "kb/facts");
        for piece in pieces {
            let passage = Passage {
                document: String::new(),
                title: piece.title.clone(),
                section: piece.section.clone(),
                text: piece.text.clone(),
            };
            let tokens = piece.text.len() as u64 / 4;
            let reply = (tokens * FACTS_PER_TOKEN).clamp(LEAST_FACTS, MOST_FACTS);
            facts.add(setup, &variables(&passage), reply);
        }
        all.push(facts);
    }
    if settings.tags {
        let mut tags = begin(setup, "tag", "kb/tag");
        let class = context! { name => "a class of tags", description => "What belongs to it." };
        let classes = vec![class; 8];
        for piece in pieces {
            let (text, title) = (&piece.text, &piece.title);
            let variables = context! { text, title, classes => &classes, most => 16 };
            tags.add(setup, &variables, TAGS);
        }
        all.push(tags);
    }
    if settings.summaries {
        all.push(summaries(pieces, setup));
    }
    all
}

/// Windows of the documents' texts; sections are counted as a part of those.
fn summaries(pieces: &[Piece], setup: &Setup) -> Forecast {
    let mut forecast = begin(setup, "summarise", "kb/summarise");
    for document in pieces.chunk_by(|a, b| a.document == b.document) {
        if document.len() < 2 {
            continue;
        }
        let sections: Vec<&[Piece]> = document.chunk_by(|a, b| a.section == b.section).collect();
        let several = sections.len() > 1;
        let long = sections.iter().filter(|section| several && section.len() > 1);
        let parts: Vec<&[Piece]> = if several { long.copied().collect() } else { vec![document] };
        // A document of several sections is summed up from what they came to.
        let whole = usize::from(several);
        for part in parts {
            let text: String = part.iter().map(|piece| piece.text.as_str()).collect();
            let windows = text.chars().count().div_ceil(WINDOW).max(1);
            let texts = vec![text];
            let title = &part[0].title;
            let variables = context! { title, part => "section", texts };
            forecast.add(setup, &variables, SUMMARY);
            let more = u64::try_from(windows - 1).unwrap_or(0);
            forecast.calls += more + u64::from(more > 0);
            forecast.completion_tokens += (more + u64::from(more > 0)) * SUMMARY;
        }
        if whole > 0 {
            let short: Vec<String> = sections
                .iter()
                .filter(|section| section.len() == 1)
                .map(|section| section[0].text.clone())
                .collect();
            let variables =
                context! { title => &document[0].title, part => "document", texts => short };
            forecast.add(setup, &variables, SUMMARY);
            let long = sections.iter().filter(|section| section.len() > 1).count();
            forecast.prompt_tokens += u64::try_from(long).unwrap_or(0) * SUMMARY;
        }
    }
    forecast
}

fn begin(setup: &Setup, task: &'static str, prompt: &'static str) -> Forecast {
    let role = setup.prompts.list().into_iter().find(|info| info.name == prompt);
    Forecast {
        task,
        prompt,
        role: role.map_or_else(String::new, |info| info.role),
        calls: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
    }
}

impl Forecast {
    /// One call more, by its prompt as it will be rendered.
    fn add(&mut self, setup: &Setup, variables: &minijinja::Value, reply: u64) {
        // A prompt that does not render is told by the stage itself.
        let Ok(rendered) = setup.prompts.render(self.prompt, variables) else { return };
        let tokens = rendered.messages.iter().map(|message| message.text.len() as u64 / 4 + 4);
        self.calls += 1;
        self.prompt_tokens += tokens.sum::<u64>();
        self.completion_tokens += reply;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use halma_core::{Models, Prompts};
    use halma_testkit::{Script, Toy};

    use super::*;

    #[test]
    fn every_stage_that_is_on_is_counted() {
        let setup = Setup::new(
            Models::new(Script::new([])),
            Toy::empty(),
            Arc::new(Prompts::shipped(&[crate::PROMPTS]).unwrap()),
        );
        let piece = |document, section: &str, length: usize| Piece {
            title: "Birds".into(),
            section: Some(section.into()),
            text: "bird ".repeat(length),
            document,
        };
        let pieces =
            [piece(0, "a", 200), piece(0, "a", 200), piece(0, "b", 100), piece(1, "a", 300)];
        assert!(forecast(&pieces, &KbSettings::default(), &setup).is_empty());
        let settings = KbSettings {
            entities: Entities::Model,
            tags: true,
            summaries: true,
            ..KbSettings::default()
        };
        let all = forecast(&pieces, &settings, &setup);
        let calls: Vec<(&str, u64)> = all.iter().map(|f| (f.task, f.calls)).collect();
        // One section of two chunks and its document are summed up.
        assert_eq!(calls, [("facts", 4), ("tag", 4), ("summarise", 2)]);
        assert!(all.iter().all(|forecast| forecast.role == "distiller"));
        // 4,000 characters of text in all, and the instructions four times.
        assert!(all[0].prompt_tokens > 4000 / 4 + 4 * 300, "{:?}", all[0]);
    }
}
