//! Task `combine`: distinct points as one text.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use super::are_similar;
use crate::lexicon::Lexicon;
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

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

/// The most points of an answer.
const MAX_POINTS: usize = 10;

pub(crate) fn reply(lexicon: &Lexicon, input: &CombineInput) -> String {
    let question_mass = mass(&Sentence::new(&input.question.text, lexicon), &Weights::default());
    let mut distinct: Vec<(usize, &str, HashSet<String>)> = vec![];
    for (i, point) in input.points.iter().enumerate() {
        let held: HashSet<String> = lexicon.content(&point.point).into_iter().collect();
        if !held.is_empty() && !distinct.iter().any(|(_, _, known)| are_similar(known, &held)) {
            distinct.push((i, point.point.trim(), held));
        }
    }
    let all = distinct.len();
    // The points that cover most of the question, in their original order.
    distinct.sort_by(|a, b| {
        covered(&question_mass, &b.2).total_cmp(&covered(&question_mass, &a.2)).then(a.0.cmp(&b.0))
    });
    distinct.truncate(MAX_POINTS);
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn combined(points: &[&str]) -> String {
        let points = points.iter().map(|point| Point { point: (*point).into() }).collect();
        let input = CombineInput { question: Question::new("What of the mill?"), points };
        let reply: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
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
