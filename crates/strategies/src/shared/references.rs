//! References from one sub-question of a plan to the answers of others: `#2`, `<2>` and `[2]` stand
//! for the answer to the second.
//!
//! A plan is mended by these rules, and each use of one is said in a note:
//!
//! - A sub-question that is empty, repeats another, is the question itself (or one above it in a
//!   tree), or exceeds the limit is left out; what refers to a repeat refers to the first.
//! - A reference to what is not in the plan, or to its own sub-question, becomes "it".
//! - A forward reference stays: its sub-question is asked after the one it needs.
//! - Where sub-questions need one another in a circle, the first of them in the plan loses its
//!   references into the circle: they become "it".
//! - A number that the question itself speaks of (`the #1 hit of 1999`) is no reference.
use std::ops::Range;

use halma_core::Cx;
use halma_core::text::words;

/// What stands in the place of an answer that there is none of: a word that no search minds.
pub(crate) const UNKNOWN: &str = "it";

/// A reference as it stands in a text; `range` is in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) range: Range<usize>,
    /// From 1.
    pub(crate) number: usize,
}

/// `#2`, `<2>` and `[2]`, in their order.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut found = vec![];
    for (start, open) in text.char_indices() {
        let close = match open {
            '#' => "",
            '<' => ">",
            '[' => "]",
            _ => continue,
        };
        let rest = &text[start + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(number) = rest[..digits].parse() else { continue };
        // `C#7` and `#2nd` are words.
        let before = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = rest[digits..].chars().next().is_some_and(char::is_alphanumeric);
        if rest[digits..].starts_with(close) && !(open == '#' && (before || after)) {
            let range = start..start + 1 + digits + close.len();
            found.push(Reference { range, number });
        }
    }
    found
}

/// A sub-question whose references are resolved to places in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// As the plan words it.
    pub(crate) worded: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The answer of the step at this place of the plan, from 0.
    Answer(usize),
}

/// A step with answers in the places of its references.
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
    pub(crate) fn filled(&self, answers: impl Fn(usize) -> Vec<String>, most: usize) -> Filled {
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
            choices = next.take(most.max(1)).collect();
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

/// The steps of a plan, mended. `above` are the questions that it takes apart, the innermost last.
pub(crate) fn plan(texts: &[String], above: &[&str], most: usize, cx: &Cx) -> Vec<Step> {
    let (kept, places) = kept(texts, above, most, cx);
    let spoken_of = |number: usize| {
        above.iter().any(|text| references(text).iter().any(|said| said.number == number))
    };
    let mut steps: Vec<Step> = vec![];
    for (at, text) in kept.iter().enumerate() {
        let mut pieces = vec![];
        let mut rest = 0;
        for Reference { range, number } in references(text) {
            if spoken_of(number) {
                continue;
            }
            pieces.push(Piece::Text(text[rest..range.start].to_owned()));
            let place = number.checked_sub(1).and_then(|k| places.get(k).copied().flatten());
            pieces.push(if let Some(place) = place.filter(|place| *place != at) {
                Piece::Answer(place)
            } else {
                cx.note(format!("`{}` in `{text}` leads to no answer", &text[range.clone()]));
                Piece::Text(UNKNOWN.to_owned())
            });
            rest = range.end;
        }
        pieces.push(Piece::Text(text[rest..].to_owned()));
        steps.push(Step { worded: text.clone(), pieces });
    }
    break_circles(&mut steps, cx);
    steps
}

/// The texts worth asking, and for each of the plan's its place among them.
fn kept(
    texts: &[String],
    above: &[&str],
    most: usize,
    cx: &Cx,
) -> (Vec<String>, Vec<Option<usize>>) {
    let above: Vec<Vec<String>> = above.iter().map(|text| words(text)).collect();
    let (mut kept, mut worded) = (vec![], vec![]);
    let mut places = vec![];
    for text in texts {
        let said = words(text);
        let before = worded.iter().position(|earlier| *earlier == said);
        places.push(if said.is_empty() {
            cx.note("an empty sub-question is left out");
            None
        } else if above.contains(&said) {
            cx.note(format!("`{}` is the question itself and is left out", text.trim()));
            None
        } else if before.is_some() {
            cx.note(format!("`{}` is asked once", text.trim()));
            before
        } else if kept.len() == most {
            None
        } else {
            kept.push(text.trim().to_owned());
            worded.push(said);
            Some(kept.len() - 1)
        });
    }
    if kept.len() == most && texts.len() > most {
        cx.note(format!("of {} sub-questions at most {most} are asked", texts.len()));
    }
    (kept, places)
}

/// Every reference leads to a step that can be asked before, when it has run.
fn break_circles(steps: &mut [Step], cx: &Cx) {
    let mut asked: Vec<usize> = vec![];
    while asked.len() < steps.len() {
        let mut open = (0..steps.len()).filter(|place| !asked.contains(place));
        let ready = |place: &usize| steps[*place].needs().iter().all(|need| asked.contains(need));
        let next = open.clone().find(ready).or_else(|| open.next());
        let Some(next) = next else { return };
        let Step { worded, pieces } = &mut steps[next];
        for piece in pieces {
            if matches!(piece, Piece::Answer(place) if !asked.contains(place)) {
                cx.note(format!("`{worded}` needs what needs it: asked without"));
                *piece = Piece::Text(UNKNOWN.to_owned());
            }
        }
        asked.push(next);
    }
}

/// The places of the steps in the order they can be asked: those of one wave need only what is
/// answered in earlier ones, and can be asked side by side.
pub(crate) fn waves(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = vec![];
    let mut asked: Vec<usize> = vec![];
    while asked.len() < steps.len() {
        let ready = |place: &usize| {
            let needs = steps[*place].needs();
            !asked.contains(place) && needs.iter().all(|need| asked.contains(need))
        };
        let wave: Vec<usize> = (0..steps.len()).filter(ready).collect();
        if wave.is_empty() {
            // Never, since circles are broken; a loop without an end would be worse.
            break;
        }
        asked.extend(&wave);
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

    /// The steps, and what was noted.
    fn planned(texts: &[&str], question: &str, most: usize) -> (Vec<Step>, String) {
        let models = Models::new(Script::new([]));
        let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
        let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
        let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let steps = plan(&texts, &[question], most, &cx);
        (steps, cx.trace().outline())
    }

    /// Each step with its references as `{place}`.
    fn shown(steps: &[Step]) -> Vec<String> {
        let filled = |step: &Step| step.filled(|place| vec![format!("{{{place}}}")], 1).texts;
        steps.iter().flat_map(filled).collect()
    }

    #[test]
    fn all_three_ways_of_writing_a_reference_are_read() {
        let steps = planned(&["Who built Varn?", "Is #1 in <1> or [1]?"], WHOLE, 9);
        assert_eq!(shown(&steps.0), ["Who built Varn?", "Is {0} in {0} or {0}?"]);
        assert_eq!(steps.1, "");
        assert!(references("C#7, #, #x, #2nd, <b>, [], <2, #99999999999999999999999").is_empty());
        assert_eq!(references("(#1's) é #2 [3]").len(), 3);
    }

    #[test]
    fn forward_references_wait_for_what_they_need() {
        let (steps, notes) =
            planned(&["Where was #2 born?", "Who built Varn?", "#1 #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Where was {1} born?", "Who built Varn?", "{0} {1}?"]);
        assert_eq!((waves(&steps), notes.as_str()), (vec![vec![1], vec![0], vec![2]], ""));
    }

    #[test]
    fn what_leads_nowhere_or_to_itself_becomes_it() {
        let (steps, notes) = planned(&["Who is #0 or #9?", "Who is #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Who is it or it?", "Who is it?"]);
        assert_eq!(notes.matches("leads to no answer").count(), 3, "{notes}");
        assert_eq!(waves(&steps), [[0, 1]]);
    }

    #[test]
    fn a_circle_is_broken_at_its_first_question() {
        let (steps, notes) = planned(&["Who is #3?", "Who is #1?", "Who is #2?"], WHOLE, 9);
        assert_eq!(shown(&steps), ["Who is it?", "Who is {0}?", "Who is {1}?"]);
        assert_eq!(notes, "note: `Who is #3?` needs what needs it: asked without\n");
    }

    #[test]
    fn repeats_the_question_itself_and_nothing_are_left_out() {
        let texts = ["Who built Varn?", " ", WHOLE, "who built varn", "Is #4 old, or #3?"];
        let (steps, notes) = planned(&texts, WHOLE, 9);
        assert_eq!(shown(&steps), ["Who built Varn?", "Is {0} old, or it?"]);
        for said in ["is left out", "asked once", "is the question itself", "`#3` in"] {
            assert!(notes.contains(said), "{said}: {notes}");
        }
        assert!(planned(&[], WHOLE, 9).0.is_empty());
    }

    #[test]
    fn a_long_plan_is_cut_and_the_cut_is_said() {
        let forty: Vec<String> = (1..=40).map(|i| format!("Who is {i} of #{}?", i + 1)).collect();
        let forty: Vec<&str> = forty.iter().map(String::as_str).collect();
        let (steps, notes) = planned(&forty, WHOLE, 3);
        assert_eq!(shown(&steps), ["Who is 1 of {1}?", "Who is 2 of {2}?", "Who is 3 of it?"]);
        assert!(notes.contains("of 40 sub-questions at most 3 are asked"), "{notes}");
    }

    #[test]
    fn numbers_that_the_question_speaks_of_are_no_references() {
        let texts = ["Who sang the #1 hit of 1999?", "Where was #1 born?"];
        let (steps, _) = planned(&texts, "Where was the singer of the #1 hit born?", 9);
        assert_eq!(shown(&steps), texts);
    }

    #[test]
    fn several_answers_fan_out_up_to_a_limit() {
        let texts = ["a?", "b?", "Is #1 older than #2, and #1 younger?"];
        let (steps, _) = planned(&texts, WHOLE, 9);
        let answers = |place: usize| -> Vec<String> {
            let several: &[&str] = if place == 0 { &["A", "B"] } else { &["1", "2", "3"] };
            several.iter().map(|text| (*text).to_owned()).collect()
        };
        let filled = steps[2].filled(answers, 8);
        assert_eq!((filled.texts.len(), filled.left_out), (6, 0));
        assert_eq!(filled.texts[4], "Is B older than 2, and B younger?");
        let filled = steps[2].filled(answers, 4);
        assert_eq!((filled.texts.len(), filled.left_out), (4, 2));
        assert_eq!(steps[2].filled(|_| vec![], 8).texts, ["Is it older than it, and it younger?"]);
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
    }
}
