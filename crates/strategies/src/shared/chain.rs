//! A chain of sub-questions as a model plans it, made safe to walk: every reference to an answer
//! leads back to an earlier question.
//!
//! `#2` stands for the answer of the second; `<2>` and `[2]` are read as well and written `#2`.
//! Whatever is mended is said in a note.
use halma_core::Cx;
use halma_core::text::words;

use crate::shared::references::{Reference, UNKNOWN, references};

/// The sub-questions in an order in which each refers to earlier ones only. Repeats, the question
/// itself and what exceeds `most` are left out; a reference that leads nowhere, or in a circle,
/// becomes "it". Empty where the plan leaves nothing to take apart.
pub(crate) fn chain(plan: &[String], question: &str, most: usize, cx: &Cx) -> Vec<String> {
    let (kept, places) = kept(plan, question, most, cx);
    if kept.len() < 2 {
        cx.note("the question needs no taking apart");
        return vec![];
    }
    let said = said(question);
    let targets: Vec<Vec<Option<usize>>> = kept
        .iter()
        .map(|text| {
            let numbers = references(text).into_iter().map(|found| found.number);
            let place = |k: usize| places.get(k.wrapping_sub(1)).copied().flatten();
            numbers.map(|k| place(k).filter(|_| !said.contains(&k))).collect()
        })
        .collect();
    let order = ordered(&targets);
    if !order.is_sorted() {
        cx.note("a sub-question that needs a later one's answer is put after it");
    }
    let rank = |at: usize| order.iter().position(|placed| *placed == at);
    let mut walk = vec![];
    for (i, at) in order.iter().enumerate() {
        let text = replaced(&kept[*at], |which, number| {
            if said.contains(&number) {
                return None;
            }
            let before = targets[*at][which].and_then(rank).filter(|before| *before < i);
            if before.is_none() {
                cx.note(format!("sub-question {}: `#{number}` leads to no answer", i + 1));
            }
            Some(before.map_or_else(|| UNKNOWN.to_owned(), |before| format!("#{}", before + 1)))
        });
        walk.push(text);
    }
    walk
}

/// The sub-questions worth asking, and for each of the plan's its place among them.
fn kept(
    plan: &[String],
    question: &str,
    most: usize,
    cx: &Cx,
) -> (Vec<String>, Vec<Option<usize>>) {
    let whole = words(question);
    let (mut kept, mut worded, mut places) = (vec![], vec![], vec![]);
    for text in plan {
        let worded_so = words(text);
        let before = worded.iter().position(|earlier| *earlier == worded_so);
        if worded_so == whole {
            cx.note("a sub-question that is the question itself is left out");
            places.push(None);
        } else if before.is_some() {
            cx.note(format!("`{}` is asked once", text.trim()));
            places.push(before);
        } else if kept.len() == most {
            places.push(None);
        } else {
            places.push(Some(kept.len()));
            kept.push(text.trim().to_owned());
            worded.push(worded_so);
        }
    }
    if kept.len() == most && plan.len() > most {
        cx.note(format!("of {} sub-questions the first {most} are asked", plan.len()));
    }
    (kept, places)
}

/// The order in which to ask: as planned, but each after those it refers to; out of a circle the
/// first is taken.
fn ordered(targets: &[Vec<Option<usize>>]) -> Vec<usize> {
    let mut order: Vec<usize> = vec![];
    while order.len() < targets.len() {
        let mut open = (0..targets.len()).filter(|at| !order.contains(at));
        let ready = |at: &usize| targets[*at].iter().flatten().all(|to| order.contains(to));
        let next = open.clone().find(ready).or_else(|| open.next());
        order.extend(next);
    }
    order
}

/// The numbers that look like references and are none, since the question itself speaks of them:
/// `the #1 hit of 1999`.
fn said(question: &str) -> Vec<usize> {
    references(question).into_iter().map(|found| found.number).collect()
}

/// The sub-question with answers in the places of the references to them. `answer` gives that of
/// the k-th, an empty one where none was found.
pub(crate) fn filled<'a>(
    sub_question: &str,
    question: &str,
    answer: impl Fn(usize) -> &'a str,
) -> String {
    let said = said(question);
    replaced(sub_question, |_, number| {
        let known = Some(answer(number)).filter(|answer| !answer.is_empty()).unwrap_or(UNKNOWN);
        (!said.contains(&number)).then(|| known.to_owned())
    })
}

/// The text with each reference replaced by what is told for it: which one of the text it is, and
/// its number.
fn replaced(text: &str, by: impl Fn(usize, usize) -> Option<String>) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (which, Reference { range, number }) in references(text).into_iter().enumerate() {
        if let Some(word) = by(which, number) {
            out.push_str(&text[at..range.start]);
            out.push_str(&word);
            at = range.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use halma_core::{Meter, Models, Prompts, Setup};
    use halma_testkit::{Script, Toy};
    use proptest::prelude::*;

    use super::*;

    /// The chain and what was noted.
    fn walk(plan: &[&str], most: usize) -> (Vec<String>, String) {
        let models = Models::new(Script::new([]));
        let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
        let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
        let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
        let plan: Vec<String> = plan.iter().map(|text| (*text).to_owned()).collect();
        let chain = chain(&plan, "Where was the architect of Varn born?", most, &cx);
        (chain, cx.trace().outline())
    }

    #[test]
    fn a_plain_chain_is_left_as_it_is() {
        let plan = ["Who was the architect of Varn?", "Where was #1 born?"];
        assert_eq!(walk(&plan, 10), (plan.map(str::to_owned).to_vec(), String::new()));
        let written_otherwise = ["Who was the architect of Varn?", "Where was <1> [1] born?"];
        assert_eq!(walk(&written_otherwise, 10).0[1], "Where was #1 #1 born?");
    }

    #[test]
    fn a_question_comes_after_those_whose_answers_it_needs() {
        let (chain, notes) = walk(&["Where was #2 born?", "Who built Varn?", "Is #1 cold?"], 10);
        assert_eq!(chain, ["Who built Varn?", "Where was #1 born?", "Is #2 cold?"]);
        assert!(notes.contains("is put after it"), "{notes}");
    }

    #[test]
    fn what_leads_nowhere_or_in_a_circle_becomes_it() {
        let (chain, notes) = walk(&["Who built #2?", "Where is #1 or #9?", "Who is #3?"], 10);
        assert_eq!(chain, ["Who built it?", "Where is #1 or it?", "Who is it?"]);
        assert_eq!(notes.matches("leads to no answer").count(), 3, "{notes}");
    }

    #[test]
    fn repeats_and_the_question_itself_are_asked_once() {
        let whole = "Where was the architect of Varn born?";
        let (chain, _) = walk(&["Who built Varn?", whole, "who built varn", "Is #3 old?"], 10);
        assert_eq!(chain, ["Who built Varn?", "Is #1 old?"]);
        for plan in [&[][..], &["Who built Varn?"], &[whole, whole]] {
            let (chain, notes) = walk(plan, 10);
            assert_eq!((chain.len(), notes.contains("no taking apart")), (0, true), "{plan:?}");
        }
    }

    #[test]
    fn a_long_plan_is_cut_and_the_cut_is_said() {
        let forty: Vec<String> =
            (1..=40).map(|i| format!("Who is number {i} of #{}?", i + 1)).collect();
        let (chain, notes) = walk(&forty.iter().map(String::as_str).collect::<Vec<_>>(), 6);
        assert_eq!(chain.len(), 6);
        assert_eq!(chain[0], "Who is number 6 of it?");
        assert!(notes.contains("of 40 sub-questions the first 6 are asked"), "{notes}");
    }

    #[test]
    fn words_with_a_sharp_are_no_references() {
        assert_eq!(filled("C#1, #1st and #1", "", |_| "Oslo"), "C#1, #1st and Oslo");
        let oslo = |number| if number == 1 { "Oslo" } else { "" };
        assert_eq!(filled("Is #1 in #2?", "", oslo), "Is Oslo in it?");
        assert_eq!(filled("Is #1 the #2 hit?", "Who had the #2 hit?", oslo), "Is Oslo the #2 hit?");
    }

    proptest! {
        #[test]
        fn every_reference_leads_back(plan in prop::collection::vec("[a-c]{1,3}( #[0-9]| <[0-9]>){0,3}", 0..8)) {
            let plan: Vec<&str> = plan.iter().map(String::as_str).collect();
            let (chain, _) = walk(&plan, 5);
            prop_assert!(chain.len() <= 5);
            for (i, text) in chain.iter().enumerate() {
                prop_assert!(references(text).iter().all(|found| (1..=i).contains(&found.number)));
            }
        }
    }
}
