//! Names as spans: whole, split at loose particles, joined over one comma.
use std::ops::Range;

use halma_core::text::{loose_parts, name_runs};

use crate::lexicon::Lexicon;
use crate::spans::{Kind, Span};
use crate::words::Sentence;

/// Capitalised runs, whole and split at loose particles, and joined over one comma.
pub(crate) fn names(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let runs: Vec<Range<usize>> = name_runs(&sentence.plain);
    let mut all = vec![];
    for (i, run) in runs.iter().enumerate() {
        all.push(run.clone());
        all.extend(loose_parts(&sentence.plain, run));
        let joins =
            |next: &&Range<usize>| next.start == run.end && sentence.gap(run.end - 1) == ", ";
        all.extend(runs.get(i + 1).filter(joins).map(|next| run.start..next.end));
    }
    let kind = |words: &Range<usize>| match lexicon.country(sentence.slice(words)) {
        Some(_) => Kind::Country,
        None => Kind::Name,
    };
    all.into_iter().map(|words| Span { kind: kind(&words), words }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new(text, &lexicon);
        let spans = names(&sentence, &lexicon);
        spans.iter().map(|span| sentence.slice(&span.words).to_owned()).collect()
    }

    #[test]
    fn a_given_name_keeps_its_second_half() {
        assert_eq!(found("It belongs to Pak Min-ho now."), ["Pak Min-ho"]);
        assert_eq!(found("The Oslo-born singer left."), ["Oslo"]);
        assert_eq!(found("A Leeds-based firm."), ["Leeds"]);
    }
}
