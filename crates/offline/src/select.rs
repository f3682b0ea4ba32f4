//! Task `select`: the candidate that covers most of what is open.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct SelectInput {
    question: Question,
    context: Vec<Passage>,
    candidates: Vec<Passage>,
}

/// Weight of the share of the question that a candidate newly covers.
const COVERAGE: f32 = 1.0;

/// Weight of a candidate whose title a chosen chunk names, and of one that names a chosen title.
const NAMED_BY_CHOSEN: f32 = 1.0;
const NAMES_CHOSEN: f32 = 0.3;

/// Weight of a candidate whose title the question names.
const NAMED_IN_QUESTION: f32 = 0.5;

/// A candidate that covers nothing new and has no link is worth a hop only above this similarity.
const MIN_SIMILARITY: f32 = 0.2;

/// JSON of `thinking` and `candidate`, 0 for none.
pub(crate) fn reply(lexicon: &Lexicon, input: &SelectInput) -> String {
    let texts = || input.context.iter().chain(&input.candidates).map(whole);
    let all: Vec<String> = texts().collect();
    let weights = Weights::over(all.iter().map(String::as_str), lexicon);
    let question = Sentence::new(&input.question.text, lexicon);
    let mut open_mass = mass(&question, &weights);
    let total: f32 = open_mass.iter().map(|(_, weight)| weight).sum();
    let chosen: HashSet<String> =
        input.context.iter().flat_map(|p| lexicon.content(&whole(p))).collect();
    open_mass.retain(|(stem, _)| !chosen.contains(stem));
    let open: f32 = open_mass.iter().map(|(_, weight)| weight).sum();
    let share = if total > 0.0 { open / total } else { 0.0 };
    let scale = scale(&input.candidates);

    let mut best: Option<(usize, f32, String)> = None;
    for (i, candidate) in input.candidates.iter().enumerate() {
        let stems: HashSet<String> = lexicon.content(&whole(candidate)).into_iter().collect();
        let gain = share * covered(&open_mass, &stems);
        let link = link(input, candidate);
        let similar = similarity(candidate) / scale;
        if gain <= f32::EPSILON && link <= 0.0 && similar < MIN_SIMILARITY {
            continue;
        }
        let score = similar + COVERAGE * gain + link;
        if best.as_ref().is_none_or(|(_, highest, _)| score > *highest) {
            let why = format!(
                "`{}`: similarity {similar:.2}, newly covered {gain:.2} of the question, link \
                 {link:.1}.",
                candidate.title
            );
            best = Some((i + 1, score, why));
        }
    }
    let (index, thinking) = match best {
        Some((index, _, why)) => (index, why),
        None => (0, "No candidate adds anything to the context.".to_owned()),
    };
    json!({ "thinking": thinking, "candidate": index }).to_string()
}

/// BM25 scores have no upper bound; they are divided by the best one.
fn scale(candidates: &[Passage]) -> f32 {
    if candidates.iter().any(|candidate| candidate.cosine.is_some()) {
        return 1.0;
    }
    candidates.iter().map(similarity).fold(1.0, f32::max)
}

/// The weight of the link between the candidate and the chosen passages or the question.
fn link(input: &SelectInput, candidate: &Passage) -> f32 {
    let chosen = || input.context.iter().filter(|chosen| chosen.title != candidate.title);
    if chosen().any(|chosen| mentions(&chosen.text, &candidate.title)) {
        return NAMED_BY_CHOSEN;
    }
    if mentions(&input.question.text, &candidate.title) {
        return NAMED_IN_QUESTION;
    }
    if chosen().any(|chosen| mentions(&candidate.text, &chosen.title)) {
        return NAMES_CHOSEN;
    }
    0.0
}

fn whole(passage: &Passage) -> String {
    format!("{}. {}", passage.title, passage.text)
}

fn similarity(passage: &Passage) -> f32 {
    passage.cosine.unwrap_or(passage.score)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage((title, text, cosine): (&str, &str, f32)) -> Passage {
        Passage { title: title.into(), text: text.into(), score: cosine, cosine: Some(cosine) }
    }

    fn chosen(context: &[(&str, &str, f32)], candidates: &[(&str, &str, f32)]) -> u64 {
        let input = SelectInput {
            question: Question::new("In which town was the painter of Low Tide born?"),
            context: context.iter().map(|p| passage(*p)).collect(),
            candidates: candidates.iter().map(|p| passage(*p)).collect(),
        };
        let reply = reply(&Lexicon::new(), &input);
        let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        reply["candidate"].as_u64().unwrap()
    }

    const TIDE: (&str, &str, f32) = ("Low Tide", "Low Tide is a picture by Mara Quill.", 0.5);

    #[test]
    fn it_follows_links_of_chosen_passages() {
        let near = ("Orla Finch", "Orla Finch was born in a large town.", 0.55);
        let linked = ("Mara Quill", "Mara Quill was born in Lower Saxby.", 0.4);
        assert_eq!(chosen(&[TIDE], &[near, linked]), 2);
    }

    #[test]
    fn it_takes_none_without_gain() {
        assert_eq!(chosen(&[TIDE], &[("Gravel", "Gravel is loose rock.", 0.1)]), 0);
        assert_eq!(chosen(&[], &[]), 0);
    }
}
