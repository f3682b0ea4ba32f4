//! Finding the entities of a text: by a tagger, or by a chat model, which is believed only where
//! the text has what it lists.
use std::ops::Range;
use std::time::Instant;

use minijinja::context;
use serde::Deserialize;

use super::{Cx, ms};
use crate::{Error, Event, Marked, Mention, Prompt, Result, Tagging, mentions};

/// The kinds that a model is asked for; another one is taken as the model says it.
const KINDS: [&str; 8] =
    ["person", "place", "organisation", "work", "event", "date", "number", "name"];

const ENTITIES: Prompt<Reply> = Prompt::json("tag/entities");

#[derive(Debug, Deserialize)]
struct Reply {
    entities: Vec<ListedEntity>,
}

#[derive(Debug, Deserialize)]
struct ListedEntity {
    text: String,
    kind: String,
}

impl Cx {
    /// The entities that a text names, in their order. A model that is asked for them is asked like
    /// any other: within the budget, with its reply in the trace and the cache.
    ///
    /// # Errors
    /// [`Error::MissingRequirement`] where there is no tagger; those of [`Cx::ask`] where a model is asked.
    pub async fn entities(&self, text: &str) -> Result<Vec<Mention>> {
        let began = Instant::now();
        let setup = &self.run.setup;
        let (Some(tagging), Some(tagger)) = (&setup.tagger, setup.tagger_name()) else {
            return Err(Error::MissingRequirement(
                "there is no tagger: configure one under [tagger]".into(),
            ));
        };
        let entities = match tagging {
            Tagging::Model => self.listed(text).await?,
            Tagging::Tagger(by) => {
                let failed = |source| Error::Llm { model: tagger.clone(), source };
                by.entities(text).await.map_err(failed)?
            }
        };
        self.push(Event::Tagged {
            span: self.span,
            tagger,
            text: text.to_owned(),
            entities: entities.clone(),
            elapsed_ms: ms(began),
        });
        Ok(entities)
    }

    /// What a model lists and the text has. The scores are 1, since a model that is asked does not
    /// say how sure it is.
    async fn listed(&self, text: &str) -> Result<Vec<Mention>> {
        if text.trim().is_empty() {
            return Ok(vec![]);
        }
        let reply = self.ask(&ENTITIES, context! { text, kinds => KINDS }).await?;
        let marked = reply.entities.iter().flat_map(|listed| {
            let kind = match listed.kind.trim().to_lowercase() {
                kind if kind.is_empty() => "name".to_owned(),
                kind => kind,
            };
            let places = occurrences(text, &listed.text).into_iter();
            places.map(move |range| Marked { range, kind: kind.clone(), score: 1.0 })
        });
        Ok(mentions(text, marked.collect()))
    }
}

/// Where a text has these words, whole, whatever white space stands between them.
fn occurrences(text: &str, named: &str) -> Vec<Range<usize>> {
    let mut words = named.split_whitespace();
    let Some(first) = words.next() else { return vec![] };
    let rest: Vec<&str> = words.collect();
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut ranges = vec![];
    for (start, _) in text.match_indices(first) {
        let mut tail = Some(&text[start + first.len()..]);
        for word in &rest {
            let blank = tail.filter(|tail| tail.starts_with(char::is_whitespace));
            tail = blank.and_then(|tail| tail.trim_start().strip_prefix(word));
        }
        let Some(tail) = tail else { continue };
        let end = text.len() - tail.len();
        // A word of the name's must not be the end or the beginning of a longer one.
        let torn = (letter(first.chars().next()) && letter(text[..start].chars().next_back()))
            || (letter(text[..end].chars().next_back()) && letter(tail.chars().next()));
        if !torn {
            ranges.push(start..end);
        }
    }
    ranges
}
