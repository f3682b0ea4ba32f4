//! What answering costs.
use std::collections::BTreeSet;

use halma_core::{Event, Trace};

use crate::figures::ratio;

/// #SQA: the number of sub-questions that were retrieved for (DEC, section 4.2); a text that is
/// searched twice counts once.
pub fn sub_questions(trace: &Trace) -> usize {
    let texts = trace.0.iter().filter_map(|event| match event {
        Event::Searched { query, .. } => Some(query.trim().to_lowercase()),
        _ => None,
    });
    texts.collect::<BTreeSet<String>>().len()
}

/// ATC: tokens spent on all questions for each that was answered rightly (DEC, Appendix C.2,
/// Table 5); `None` when none was.
pub fn tokens_per_correct(tokens: u64, correct: usize) -> Option<f64> {
    (correct > 0).then(|| ratio(tokens, correct as u64))
}

#[cfg(test)]
mod tests {
    use halma_core::{Layer, Mode};

    use super::*;

    #[test]
    fn a_text_searched_twice_is_one_sub_question() {
        let searched = |query: &str| Event::Searched {
            span: 1,
            layer: Layer::Chunk,
            mode: Mode::Hybrid,
            query: query.into(),
            hits: vec![],
            elapsed_ms: 0.0,
        };
        let noted = Event::Note { span: 1, note: "x".into() };
        let trace = Trace(vec![searched("Who?"), noted, searched("who? "), searched("Where?")]);
        assert_eq!(sub_questions(&trace), 2);
    }

    #[test]
    fn tokens_are_shared_among_right_answers() {
        assert_eq!(tokens_per_correct(1_000, 4), Some(250.0));
        assert_eq!(tokens_per_correct(1_000, 0), None);
    }
}
