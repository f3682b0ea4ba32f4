//! The words that every match of a regular expression has in its text.
use std::cmp::Reverse;
use std::collections::BTreeSet;

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

use crate::lexical::{LexicalWord, words_of};

/// Letters of the shortest part of a word that is looked for.
const SHORTEST: usize = 3;

/// Lists that are looked up, those with the longest words.
const LISTS: usize = 3;

/// Lists of words: of each list at least one stands in any text that the expression matches. There
/// may be one for each part of the expression that begins with certain letters.
pub(super) fn required_words(expression: &Hir) -> Vec<BTreeSet<LexicalWord>> {
    let whole = [expression.clone()];
    let parts = match expression.kind() {
        HirKind::Concat(parts) => parts,
        _ => &whole[..],
    };
    let beginnings = (0..parts.len()).filter_map(|at| {
        let rest = Hir::concat(parts[at..].to_vec());
        let beginnings = Extractor::new().extract(&rest);
        let literals = beginnings.literals()?.iter();
        literals.map(|literal| longest_word(str::from_utf8(literal.as_bytes()).ok()?)).collect()
    });
    let mut lists: Vec<BTreeSet<_>> =
        beginnings.filter(|list: &_| !BTreeSet::is_empty(list)).collect();
    lists.sort_by_key(|list| Reverse(list.iter().map(|word| word.text.len()).min()));
    lists.truncate(LISTS);
    lists
}

fn longest_word(literal: &str) -> Option<LexicalWord> {
    let usable = |word: &LexicalWord| word.whole || word.text.chars().count() >= SHORTEST;
    words_of(literal).into_iter().filter(usable).max_by_key(|word| word.text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(expression: &str) -> Vec<String> {
        let shown = |word: &LexicalWord| {
            if word.whole { format!("[{}]", word.text) } else { word.text.clone() }
        };
        let list = |list: &BTreeSet<_>| list.iter().map(shown).collect::<Vec<String>>().join("|");
        required_words(&regex_syntax::parse(expression).unwrap()).iter().map(list).collect()
    }

    #[test]
    fn what_a_match_must_have_is_required() {
        for (expression, expected) in [
            ("Kolmar", vec!["kolmar"]),
            (r"built by \w+ of Norway", vec!["norway", "built"]),
            ("(?i)THORN", vec!["thorn", "horn", "orn"]),
            (r"\bThorn\b", vec!["thorn", "thorn"]),
            ("(Varn|Holm) reef", vec!["reef", "reef"]),
            ("(?:abc|[0-9]+)", vec![]),
            ("(lighthouse)+", vec!["lighthouse"]),
            ("(lighthouse)?", vec![]),
            (r"\d{4}-\d{2}", vec![]),
            (r"ISO \d+", vec!["iso"]),
            ("Łódź", vec!["lodz"]),
            ("港 北京", vec!["[京]"]),
            ("he O'Brien said", vec!["[o'brien]"]),
            (".*", vec![]),
            ("(?:)", vec![]),
        ] {
            assert_eq!(lists(expression), expected, "{expression}");
        }
    }
}
