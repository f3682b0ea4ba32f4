//! Tasks that collect sentences: `summarise` and `combine`.
use std::collections::HashSet;

use halma_core::Question;
use halma_core::text::similarity::jaccard;
use serde::Deserialize;
use serde_json::json;

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
    let stems: Vec<HashSet<String>> = lines
        .iter()
        .map(|line| lexicon.content(&line.sentence.text).into_iter().collect())
        .collect();
    let mut scored: Vec<(usize, f32)> = (0..lines.len())
        .filter(|&i| stems[i].len() > 2)
        .map(|i| {
            let others = (0..lines.len()).filter(|&j| lines[j].passage != lines[i].passage);
            let central = others.map(|j| jaccard(&stems[i], &stems[j])).fold(0.0, f32::max);
            let first = if lines[i].place == 0 { FIRST } else { 0.0 };
            (i, covered(&question_mass, &stems[i]) + CENTRAL * central + first)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut chosen: Vec<(usize, Vec<usize>)> = vec![];
    for (i, _) in scored {
        let passage = lines[i].passage + 1;
        match chosen.iter().position(|(earlier, _)| are_similar(&stems[*earlier], &stems[i])) {
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

#[derive(Debug, Deserialize)]
pub(crate) struct CombineInput {
    question: Question,
    #[serde(default)]
    points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    point: String,
}

/// The most points of an answer that combines them.
const MAX_COMBINED: usize = 10;

pub(crate) fn combined(lexicon: &Lexicon, input: &CombineInput) -> String {
    let question_mass = mass(&Sentence::new(&input.question.text, lexicon), &Weights::default());
    let mut distinct: Vec<(usize, &str, HashSet<String>)> = vec![];
    for (i, point) in input.points.iter().enumerate() {
        let stems: HashSet<String> = lexicon.content(&point.point).into_iter().collect();
        if !stems.is_empty() && !distinct.iter().any(|(_, _, earlier)| are_similar(earlier, &stems))
        {
            distinct.push((i, point.point.trim(), stems));
        }
    }
    let all = distinct.len();
    // The points that cover most of the question, in their original order.
    distinct.sort_by(|a, b| {
        covered(&question_mass, &b.2).total_cmp(&covered(&question_mass, &a.2)).then(a.0.cmp(&b.0))
    });
    distinct.truncate(MAX_COMBINED);
    distinct.sort_by_key(|(i, ..)| *i);
    let chosen: Vec<String> = distinct.iter().map(|(_, point, _)| end_sentence(point)).collect();
    // Points of tables end in abbreviations and cells: each is a line, so that each stays one claim.
    let answer = match chosen.as_slice() {
        [one] => one.clone(),
        several => several.iter().map(|point| format!("- {point}")).collect::<Vec<_>>().join("\n"),
    };
    let rationale =
        format!("{} of {all} distinct points, from {} in all.", chosen.len(), input.points.len());
    json!({ "rationale": rationale, "answer": answer }).to_string()
}

fn end_sentence(point: &str) -> String {
    if point.ends_with(['.', '!', '?', '。', '…']) {
        point.to_owned()
    } else {
        format!("{point}.")
    }
}

/// The share of common words from which two sentences count as one.
const SIMILAR: f32 = 0.6;

/// Whether two sentences, given by their stems, say the same.
fn are_similar(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    jaccard(one, other) >= SIMILAR
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

#[cfg(test)]
mod combine_tests {
    use serde_json::Value;

    use super::*;

    fn combined(points: &[&str]) -> String {
        let points = points.iter().map(|point| Point { point: (*point).into() }).collect();
        let input = CombineInput { question: Question::new("What of the mill?"), points };
        let reply: Value = serde_json::from_str(&super::combined(&Lexicon::new(), &input)).unwrap();
        reply["answer"].as_str().unwrap().to_owned()
    }

    #[test]
    fn each_point_is_said_once() {
        assert_eq!(
            combined(&["The mill burnt down", "Boats are expensive.", "Down burnt the mill.", ""]),
            "- The mill burnt down.\n- Boats are expensive."
        );
        assert_eq!(combined(&[]), "");
    }
}
