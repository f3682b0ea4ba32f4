//! Task `summarise`: the sentences that cover most of the question, with their passages.
use std::collections::HashSet;

use halma_core::Question;
use halma_core::text::similarity::jaccard;
use serde::Deserialize;
use serde_json::json;

use super::are_similar;
use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::read::text::Text;
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct SummariseInput {
    question: Question,
    #[serde(default)]
    context: Vec<Passage>,
}

/// The most points, and the most sentences that are weighed against each other.
const MAX_POINTS: usize = 6;
const MAX_SENTENCES: usize = 400;

/// Weights of agreement with other passages and of the first place in a passage.
const CENTRAL: f32 = 1.0;
const FIRST: f32 = 0.1;

pub(crate) fn reply(lexicon: &Lexicon, input: &SummariseInput) -> String {
    let points: Vec<_> = points(lexicon, input)
        .into_iter()
        .map(|(point, passages)| json!({ "point": point, "passages": passages }))
        .collect();
    json!({ "points": points }).to_string()
}

fn points(lexicon: &Lexicon, input: &SummariseInput) -> Vec<(String, Vec<usize>)> {
    let text = Text::new(&input.context, lexicon);
    let lines = &text.lines[..text.lines.len().min(MAX_SENTENCES)];
    let weights = Weights::over(lines.iter().map(|line| line.sentence.text.as_str()), lexicon);
    let question_mass = mass(&Sentence::new(&input.question.text, lexicon), &weights);
    let held: Vec<HashSet<String>> = lines
        .iter()
        .map(|line| lexicon.content(&line.sentence.text).into_iter().collect())
        .collect();
    let mut scored: Vec<(usize, f32)> = (0..lines.len())
        .filter(|&i| held[i].len() > 2)
        .map(|i| {
            let others = (0..lines.len()).filter(|&j| lines[j].passage != lines[i].passage);
            let central = others.map(|j| jaccard(&held[i], &held[j])).fold(0.0, f32::max);
            let first = if lines[i].place == 0 { FIRST } else { 0.0 };
            (i, covered(&question_mass, &held[i]) + CENTRAL * central + first)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut chosen: Vec<(usize, Vec<usize>)> = vec![];
    for (i, _) in scored {
        let passage = lines[i].passage + 1;
        match chosen.iter().position(|(known, _)| are_similar(&held[*known], &held[i])) {
            // The same statement in two passages is one point.
            Some(at) if !chosen[at].1.contains(&passage) => chosen[at].1.push(passage),
            None if chosen.len() < MAX_POINTS => chosen.push((i, vec![passage])),
            _ => {}
        }
    }
    let point = |(i, mut passages): (usize, Vec<usize>)| {
        passages.sort_unstable();
        (lines[i].sentence.text.clone(), passages)
    };
    chosen.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points_of(question: &str, passages: &[&str]) -> Vec<(String, Vec<usize>)> {
        let passage = |text: &&str| Passage { text: (*text).into(), ..Passage::default() };
        let context = passages.iter().map(passage).collect();
        points(&Lexicon::new(), &SummariseInput { question: Question::new(question), context })
    }

    #[test]
    fn the_same_point_has_all_its_passages() {
        let points = points_of(
            "What is said about the mill of Varn?",
            &[
                "The mill of Varn burnt down in spring. Boats are expensive.",
                "In spring the mill of Varn burnt down. Nobody was hurt in the fire.",
            ],
        );
        assert_eq!(points[0], ("The mill of Varn burnt down in spring.".to_owned(), vec![1, 2]));
        assert!(points.len() <= MAX_POINTS);
    }

    #[test]
    fn nothing_has_no_points() {
        assert!(points_of("What?", &[]).is_empty());
        assert!(points_of("", &["", "—", "Yes."]).is_empty());
    }
}
