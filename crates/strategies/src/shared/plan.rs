//! Plans of sub-questions that refer to one another, as a model writes them, made safe to ask.
//!
//! A plan is repaired by these rules, and each use of one is written to a note:
//!
//! - A sub-question that is empty, repeats another, repeats the question (or one above it in a
//!   tree), or exceeds the limit is omitted; a reference to a repeat means the first.
//! - A reference to a sub-question that does not exist, or to its own, becomes "it".
//! - A forward reference stays: its sub-question is asked after the one it needs.
//! - Where sub-questions need one another in a circle, the first of them in the plan loses its
//!   references into the circle: they become "it".
//! - A number that the question itself contains (`the #1 hit of 1999`) is not a reference.
use halma_core::Cx;
use halma_core::text::words;

use crate::shared::references::{Reference, UNKNOWN, literal_numbers, references};

/// A sub-question whose references are resolved to places in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// As the plan writes it.
    pub(crate) worded: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The answer of the step at this place of the plan, from 0.
    Answer(usize),
}

/// A step with answers in place of its references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled {
    /// One for each answer of those that it refers to.
    pub(crate) texts: Vec<String>,
    /// How many more there would be without the limit.
    pub(crate) left_out: usize,
}

impl Step {
    /// The places of the steps whose answers it needs, each once.
    pub(crate) fn needs(&self) -> Vec<usize> {
        let mut needs = vec![];
        for piece in &self.pieces {
            match piece {
                Piece::Answer(place) if !needs.contains(place) => needs.push(*place),
                _ => {}
            }
        }
        needs
    }

    /// Fans out where a reference has several answers, to at most `most` texts; a reference with
    /// none becomes "it".
    pub(crate) fn fill(&self, answers: impl Fn(usize) -> Vec<String>, limit: usize) -> Filled {
        let needs = self.needs();
        let mut choices: Vec<Vec<String>> = vec![vec![]];
        let mut all: usize = 1;
        for place in &needs {
            let mut several = answers(*place);
            if several.is_empty() {
                several.push(UNKNOWN.to_owned());
            }
            all = all.saturating_mul(several.len());
            let with = |before: &[String], one| [before, std::slice::from_ref(one)].concat();
            let next =
                choices.iter().flat_map(|before| several.iter().map(|one| with(before, one)));
            choices = next.take(limit.max(1)).collect();
        }
        let word = |piece: &Piece, chosen: &[String]| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Answer(place) => {
                let at = needs.iter().position(|need| need == place);
                at.and_then(|at| chosen.get(at)).cloned().unwrap_or_default()
            }
        };
        let text =
            |chosen: &Vec<String>| self.pieces.iter().map(|piece| word(piece, chosen)).collect();
        let texts: Vec<String> = choices.iter().map(text).collect();
        Filled { left_out: all - texts.len(), texts }
    }
}

/// The steps of a plan, repaired. `above` are the questions that it divides, the innermost last.
pub(crate) fn plan(texts: &[String], above: &[&str], limit: usize, cx: &Cx) -> Vec<Step> {
    let Worthwhile { texts, places } = worthwhile(texts, above, limit, cx);
    let literal = literal_numbers(above);
    let mut steps: Vec<Step> = vec![];
    for (at, text) in texts.into_iter().enumerate() {
        let (mut pieces, mut rest) = (vec![], 0);
        for reference in references(&text) {
            let Reference { range, .. } = &reference;
            let Some(number) = reference.number().filter(|number| !literal.contains(number)) else {
                continue;
            };
            pieces.push(Piece::Text(text[rest..range.start].to_owned()));
            let place = number.checked_sub(1).and_then(|k| places.get(k).copied().flatten());
            pieces.push(if let Some(place) = place.filter(|place| *place != at) {
                Piece::Answer(place)
            } else {
                let written = &text[range.clone()];
                cx.note(format!("`{written}` in `{text}` does not refer to another sub-question"));
                Piece::Text(UNKNOWN.to_owned())
            });
            rest = range.end;
        }
        pieces.push(Piece::Text(text[rest..].to_owned()));
        steps.push(Step { worded: text, pieces });
    }
    break_circles(&mut steps, cx);
    steps
}

/// The sub-questions in an order in which each refers to earlier ones only, with `#k` for the k-th
/// of that order. Empty where the plan does not divide the question.
pub(crate) fn chain(texts: &[String], question: &str, limit: usize, cx: &Cx) -> Vec<String> {
    let steps = plan(texts, &[question], limit, cx);
    if steps.len() < 2 {
        cx.note("the question needs no decomposition");
        return vec![];
    }
    let order = order(&steps);
    if !order.is_sorted() {
        cx.note("a sub-question that needs a later answer is moved after it");
    }
    let rank = |at: usize| order.iter().position(|place| *place == at).map_or(0, |rank| rank + 1);
    let text = |at: &usize| steps[*at].fill(|need| vec![format!("#{}", rank(need))], 1).texts;
    order.iter().flat_map(text).collect()
}

/// The texts worth asking, and for each text of the plan its place among them.
struct Worthwhile {
    texts: Vec<String>,
    places: Vec<Option<usize>>,
}

fn worthwhile(plan: &[String], above: &[&str], limit: usize, cx: &Cx) -> Worthwhile {
    let above: Vec<Vec<String>> = above.iter().map(|text| words(text)).collect();
    let (mut texts, mut worded, mut places) = (vec![], vec![], vec![]);
    for text in plan {
        let own_words = words(text);
        let before = worded.iter().position(|earlier| *earlier == own_words);
        places.push(if own_words.is_empty() {
            cx.note("an empty sub-question is omitted");
            None
        } else if above.contains(&own_words) {
            cx.note(format!("`{}` repeats the question and is omitted", text.trim()));
            None
        } else if before.is_some() {
            cx.note(format!("`{}` repeats an earlier sub-question and is omitted", text.trim()));
            before
        } else if texts.len() == limit {
            None
        } else {
            texts.push(text.trim().to_owned());
            worded.push(own_words);
            Some(texts.len() - 1)
        });
    }
    if texts.len() == limit && plan.len() > limit {
        cx.note(format!("of {} sub-questions, at most {limit} are asked", plan.len()));
    }
    Worthwhile { texts, places }
}

/// Asking order: as planned, but each step after those it needs; out of a circle the first is
/// taken.
fn order(steps: &[Step]) -> Vec<usize> {
    let mut order: Vec<usize> = vec![];
    while order.len() < steps.len() {
        let mut open = (0..steps.len()).filter(|place| !order.contains(place));
        let ready = |place: &usize| steps[*place].needs().iter().all(|need| order.contains(need));
        let next = open.clone().find(ready).or_else(|| open.next());
        order.extend(next);
    }
    order
}

/// Leaves no reference to a step that is asked later.
fn break_circles(steps: &mut [Step], cx: &Cx) {
    let order = order(steps);
    for (at, place) in order.iter().enumerate() {
        let Step { worded, pieces } = &mut steps[*place];
        for piece in pieces {
            if matches!(piece, Piece::Answer(need) if !order[..at].contains(need)) {
                cx.note(format!("`{worded}` is needed by what it needs: it is asked without"));
                *piece = Piece::Text(UNKNOWN.to_owned());
            }
        }
    }
}

/// The places of the steps in the order they can be asked: those of one wave need only what is
/// answered in earlier ones, and can be asked concurrently.
pub(crate) fn waves(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = vec![];
    let mut placed: Vec<usize> = vec![];
    while placed.len() < steps.len() {
        let ready = |place: &usize| {
            let needs = steps[*place].needs();
            !placed.contains(place) && needs.iter().all(|need| placed.contains(need))
        };
        let wave: Vec<usize> = (0..steps.len()).filter(ready).collect();
        if wave.is_empty() {
            // Cannot happen, since circles are broken; an endless loop would be worse.
            break;
        }
        placed.extend(&wave);
        waves.push(wave);
    }
    waves
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use halma_core::{Meter, Models, Prompts, Setup};
    use halma_testkit::{Script, Toy};
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = "Where was the architect of Varn born?";

    fn cx() -> Cx {
        let models = Models::new(Script::new([]));
        let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
        let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
        Cx::new(setup, Arc::new(Meter::unlimited()), None)
    }

    /// The steps, and what was noted.
    fn planned(texts: &[&str], question: &str, limit: usize) -> (Vec<Step>, String) {
        let cx = cx();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let steps = plan(&texts, &[question], limit, &cx);
        (steps, halma_testkit::outline(&cx.trace()))
    }

    /// Each step with its references as `{place}`.
    fn shown(steps: &[Step]) -> Vec<String> {
        let filled = |step: &Step| step.fill(|place| vec![format!("{{{place}}}")], 1).texts;
        steps.iter().flat_map(filled).collect()
    }

    fn chained(texts: &[&str], limit: usize) -> (Vec<String>, String) {
        let cx = cx();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let chain = chain(&texts, WHOLE, limit, &cx);
        (chain, halma_testkit::outline(&cx.trace()))
    }

    #[test]
    fn all_three_ways_of_writing_a_reference_are_read() {
        let steps = planned(&["Who built Varn?", "Is #1 in <1> or [1]?"], WHOLE, 9);
        assert_eq!(shown(&steps.0), ["Who built Varn?", "Is {0} in {0} or {0}?"]);
        assert_eq!(steps.1, "");
    }

    #[test]
    fn forward_references_wait_for_what_they_need() {
        let (steps, notes) =
            planned(&["Where was #2 born?", "Who built Varn?", "#1 #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Where was {1} born?", "Who built Varn?", "{0} {1}?"]);
        assert_eq!((waves(&steps), notes.as_str()), (vec![vec![1], vec![0], vec![2]], ""));
    }

    #[test]
    fn a_reference_to_nothing_or_to_itself_becomes_it() {
        let (steps, notes) = planned(&["Who is #0 or #9?", "Who is #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Who is it or it?", "Who is it?"]);
        assert_eq!(notes.matches("does not refer to another").count(), 3, "{notes}");
        assert_eq!(waves(&steps), [[0, 1]]);
    }

    #[test]
    fn a_circle_is_broken_at_its_first_question() {
        let (steps, notes) = planned(&["Who is #3?", "Who is #1?", "Who is #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Who is it?", "Who is {0}?", "Who is {1}?"]);
        assert_eq!(notes, "note: `Who is #3?` is needed by what it needs: it is asked without\n");
    }

    #[test]
    fn repeats_the_question_and_empty_texts_are_omitted() {
        let texts = ["Who built Varn?", " ", WHOLE, "who built varn", "Is #4 old, or #3?"];
        let (steps, notes) = planned(&texts, WHOLE, 9);
        assert_eq!(shown(&steps), ["Who built Varn?", "Is {0} old, or it?"]);
        for note in ["empty sub-question", "repeats an earlier", "repeats the question", "`#3` in"]
        {
            assert!(notes.contains(note), "{note}: {notes}");
        }
        assert!(planned(&[], WHOLE, 9).0.is_empty());
    }

    #[test]
    fn a_long_plan_is_cut_and_the_cut_is_noted() {
        let forty: Vec<String> = (1..=40).map(|i| format!("Who is {i} of #{}?", i + 1)).collect();
        let forty: Vec<&str> = forty.iter().map(String::as_str).collect();
        let (steps, notes) = planned(&forty, WHOLE, 3);
        assert_eq!(shown(&steps), ["Who is 1 of {1}?", "Who is 2 of {2}?", "Who is 3 of it?"]);
        assert!(notes.contains("of 40 sub-questions, at most 3 are asked"), "{notes}");
    }

    #[test]
    fn numbers_in_the_question_itself_are_not_references() {
        let texts = ["Who sang the #1 hit of 1999?", "Where was #1 born?"];
        let (steps, _) = planned(&texts, "Where was the singer of the #1 hit born?", 9);
        assert_eq!(shown(&steps), texts);
    }

    #[test]
    fn a_chain_is_renumbered_in_the_order_of_asking() {
        let plan = ["Who was the architect of Varn?", "Where was #1 born?"];
        assert_eq!(chained(&plan, 10), (plan.map(str::to_owned).to_vec(), String::new()));
        let (chain, notes) = chained(&["Where was #2 born?", "Who built Varn?", "Is #1 cold?"], 10);
        assert_eq!(chain, ["Who built Varn?", "Where was #1 born?", "Is #2 cold?"]);
        assert!(notes.contains("moved after it"), "{notes}");
        let (chain, notes) = chained(&["Who built #2?", "Where is #1 or #9?", "Who is #3?"], 10);
        assert_eq!(chain, ["Who built it?", "Where is #1 or it?", "Who is it?"]);
        assert_eq!(notes.lines().count(), 3, "{notes}");
        let repeats = ["Who built Varn?", WHOLE, "who built varn", "Is #3 old?"];
        assert_eq!(chained(&repeats, 10).0, ["Who built Varn?", "Is #1 old?"]);
        let long: Vec<String> =
            (1..=40).map(|i| format!("Who is number {i} of #{}?", i + 1)).collect();
        let (chain, notes) = chained(&long.iter().map(String::as_str).collect::<Vec<_>>(), 6);
        assert_eq!((chain.len(), chain[0].as_str()), (6, "Who is number 6 of it?"));
        assert!(notes.contains("of 40 sub-questions, at most 6"), "{notes}");
    }

    #[test]
    fn a_plan_of_fewer_than_two_questions_is_not_a_chain() {
        for plan in [&[][..], &["Who built Varn?"], &[WHOLE, WHOLE]] {
            let (chain, notes) = chained(plan, 10);
            assert_eq!((chain.len(), notes.contains("no decomposition")), (0, true), "{plan:?}");
        }
    }

    #[test]
    fn several_answers_fan_out_up_to_a_limit() {
        let texts = ["a?", "b?", "Is #1 older than #2, and #1 younger?"];
        let (steps, _) = planned(&texts, WHOLE, 9);
        let answers = |place: usize| -> Vec<String> {
            let several: &[&str] = if place == 0 { &["A", "B"] } else { &["1", "2", "3"] };
            several.iter().map(|text| (*text).to_owned()).collect()
        };
        let filled = steps[2].fill(answers, 8);
        assert_eq!((filled.texts.len(), filled.left_out), (6, 0));
        assert_eq!(filled.texts[4], "Is B older than 2, and B younger?");
        let filled = steps[2].fill(answers, 4);
        assert_eq!((filled.texts.len(), filled.left_out), (4, 2));
        assert_eq!(steps[2].fill(|_| vec![], 8).texts, ["Is it older than it, and it younger?"]);
    }

    proptest! {
        #[test]
        fn every_plan_can_be_asked_in_waves(
            texts in prop::collection::vec("[a-c]{0,3}( #[0-9]| <[0-9]>| \\[[0-9]\\]){0,3}", 0..8),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (steps, _) = planned(&texts, "c b a", 5);
            prop_assert!(steps.len() <= 5);
            let order: Vec<usize> = waves(&steps).concat();
            prop_assert_eq!(order.len(), steps.len());
            for (i, place) in order.iter().enumerate() {
                prop_assert!(steps[*place].needs().iter().all(|need| order[..i].contains(need)));
            }
        }

        #[test]
        fn every_reference_of_a_chain_leads_back(
            plan in prop::collection::vec("[a-c]{1,3}( #[0-9]| <[0-9]>){0,3}", 0..8),
        ) {
            let plan: Vec<&str> = plan.iter().map(String::as_str).collect();
            let (chain, _) = chained(&plan, 5);
            prop_assert!(chain.len() <= 5);
            for (i, text) in chain.iter().enumerate() {
                let numbers = references(text).into_iter().filter_map(|one| one.number());
                prop_assert!(numbers.into_iter().all(|number| (1..=i).contains(&number)));
            }
        }
    }
}
