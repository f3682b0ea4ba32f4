//! Where sentences end, and the words that carry meaning.
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::full_stops;
use crate::spelling::spelling;

/// What may stand between the end of a sentence and the next one.
const CLOSERS: &str = "\"'”’“)]»›」』》）*_";

/// Byte ranges of the sentences of `text`, without the white space around them. Blank lines,
/// headings and list items end a sentence as well as `.`, `!`, `?`, `…` and their counterparts in
/// CJK, Indic and Arabic scripts.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let (mut start, mut at) = (0, 0);
    while let Some((i, c)) = next_stop(text, at) {
        let after = i + c.len_utf8();
        at = after;
        let ends = match c {
            '。' | '！' | '？' | '｡' | '।' | '॥' | '۔' => true,
            // A full stop of full width also stands within numbers.
            '．' => {
                !text[after..].starts_with(|c: char| c.is_numeric() || c.is_ascii_alphabetic())
            }
            '.' | '!' | '?' | '؟' | '…' => {
                let closers = text[after..].find(|c: char| !CLOSERS.contains(c));
                let rest = &text[after + closers.unwrap_or(text.len() - after)..];
                ends_here(&text[start..i], c, rest)
            }
            '\n' => {
                is_heading(&text[start..i])
                    || text[after..].lines().next().is_none_or(|line| {
                        line.trim().is_empty()
                            || (begins_block(line)
                                && !full_stops::is_wrapped_date(&text[start..i], line))
                    })
            }
            _ => false,
        };
        if ends {
            let closes = |c: char| CLOSERS.contains(c) || ".!?…".contains(c);
            at = text.len() - text[after..].trim_start_matches(closes).len();
            at += spaced_guillemet(&text[start..at], &text[at..]).unwrap_or(0);
            push_trimmed(text, start..at, &mut ranges);
            start = at;
        }
    }
    push_trimmed(text, start..text.len(), &mut ranges);
    ranges
}

/// The next character from `at` on that may end a sentence, with its place.
fn next_stop(text: &str, at: usize) -> Option<(usize, char)> {
    let may_end = |byte: &u8| matches!(byte, b'.' | b'!' | b'?' | b'\n') || !byte.is_ascii();
    let place = at + text.as_bytes()[at..].iter().position(may_end)?;
    text[place..].chars().next().map(|c| (place, c))
}

/// Bytes of a space and the `»` after it, as French closes a quotation, where `sentence` has opened
/// one.
fn spaced_guillemet(sentence: &str, rest: &str) -> Option<usize> {
    let quote = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let is_open = sentence.rfind('«') > sentence.rfind('»');
    (is_open && quote.starts_with('»')).then(|| rest.len() - quote.len() + '»'.len_utf8())
}

/// Whether the last line of a text is a heading in Markdown, whose section may begin on the next line.
fn is_heading(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or(text).trim_start();
    let title = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - title.len())) && title.starts_with(' ')
}

/// Whether the stop between `before` and `rest` ends a sentence.
fn ends_here(before: &str, stop: char, rest: &str) -> bool {
    let Some(next) = rest.chars().next() else { return true };
    if !next.is_whitespace() {
        return false;
    }
    let next = rest.trim_start().chars().next();
    if next.is_some_and(char::is_lowercase) {
        return false;
    }
    stop != '.' || !full_stops::continues(before, rest)
}

/// Whether a line opens a block of its own: a list item, a heading, a table row.
fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['#', '|', '>'])
        || ["- ", "* ", "+ ", "• "].iter().any(|bullet| line.starts_with(bullet))
        || (numbered.len() < line.len()
            && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}

fn push_trimmed(text: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    let end = range.end - (slice.len() - slice.trim_end().len());
    // A stray stop or bullet is not a sentence.
    if start < end && text[start..end].chars().any(char::is_alphanumeric) {
        ranges.push(start..end);
    }
}

/// The words of `text`, lower-cased; a CJK character is a word of its own.
pub fn words(text: &str) -> Vec<String> {
    spelling(text).unicode_words().map(str::to_lowercase).collect()
}

/// English words that say nothing about what a text is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does",
    "during", "each", "either", "for", "from", "had", "has", "have", "he", "her", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "more", "most", "my",
    "no", "nor", "not", "of", "on", "one", "or", "other", "our", "out", "over", "s", "same", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "under", "up", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your",
];

/// Of each first letter, where its words begin in [`STOP_WORDS`], and where the last ones end: every
/// word of every document is looked up here.
const BEGINNINGS: [usize; 27] = beginnings();

const fn beginnings() -> [usize; 27] {
    let mut table = [0; 27];
    let (mut letter, mut place, mut at) = (b'a', 0, 0);
    while place < table.len() {
        while at < STOP_WORDS.len() && STOP_WORDS[at].as_bytes()[0] < letter {
            at += 1;
        }
        table[place] = at;
        letter += 1;
        place += 1;
    }
    table
}

pub fn is_stop_word(word: &str) -> bool {
    let letter = match word.bytes().next() {
        Some(first @ b'a'..=b'z') => usize::from(first - b'a'),
        _ => return false,
    };
    let words = BEGINNINGS[letter]..BEGINNINGS[letter + 1];
    STOP_WORDS[words].iter().any(|stop| stop.len() == word.len() && *stop == word)
}

/// [`is_stop_word`] of the word in lower case.
pub(crate) fn is_stop_word_in_any_case(word: &str) -> bool {
    /// As many bytes as the longest of them has.
    const LONGEST: usize = 7;
    if !word.is_ascii() {
        return is_stop_word(&word.to_lowercase());
    }
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    str::from_utf8(lower).is_ok_and(is_stop_word)
}

/// The words of `text` that say what it is about.
pub fn content_words(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| !is_stop_word(word)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_stop_word_is_found_and_no_other() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        for other in ["", "ab", "thee", "zoo", "ein", "über", "The", "0", "{"] {
            assert!(!is_stop_word(other), "{other}");
        }
        let upper = STOP_WORDS.iter().map(|word| word.to_uppercase());
        for word in upper.chain(["\u{212a}ey", "BETWEENS", "", "Über"].map(str::to_owned)) {
            let expected = is_stop_word(&word.to_lowercase());
            assert_eq!(is_stop_word_in_any_case(&word), expected, "{word}");
        }
    }

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        assert_eq!(
            split("Dr. J. Smith paid $3.50 to Acme Inc. in 2016. \"Why?\" she asked. It rained."),
            ["Dr. J. Smith paid $3.50 to Acme Inc. in 2016.", "\"Why?\" she asked.", "It rained."]
        );
        assert_eq!(
            split("# Head\n\nOne line\nwraps here.\n- item a\n- item b\n"),
            ["# Head", "One line\nwraps here.", "- item a", "- item b"]
        );
        assert_eq!(
            split("# Lease\nIlse signed it.\n#hash stays\nhere."),
            ["# Lease", "Ilse signed it.", "#hash stays\nhere."]
        );
        assert_eq!(split("他来了。她走了！"), ["他来了。", "她走了！"]);
        assert_eq!(split("他说：「走吧。」她走了．"), ["他说：「走吧。」", "她走了．"]);
        assert_eq!(split("भारत बड़ा है। दिल्ली राजधानी है॥"), ["भारत बड़ा है।", "दिल्ली राजधानी है॥"]);
        assert_eq!(split("من هو؟ هو كاتب. وصل."), ["من هو؟", "هو كاتب.", "وصل."]);
        assert_eq!(split("یہ شہر ہے۔ وہ گیا۔"), ["یہ شہر ہے۔", "وہ گیا۔"]);
        assert_eq!(
            split("Il dit : « Va. » Elle part… Il reste."),
            ["Il dit : « Va. »", "Elle part…", "Il reste."]
        );
        assert_eq!(split("Er sagt: „Geh.“ Sie geht."), ["Er sagt: „Geh.“", "Sie geht."]);
        assert_eq!(split("圆周率是３．１４，然后……没有了。"), ["圆周率是３．１４，然后……没有了。"]);
    }

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    proptest! {
        #[test]
        fn sentences_are_in_order_and_leave_out_no_word(text in "[a-zA-Z .!?\\n\"(){}é。#*-]{0,80}") {
            let ranges = sentences(&text);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let kept: String = ranges.into_iter().map(|range| &text[range]).collect();
            let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            prop_assert_eq!(letters(&kept), letters(&text));
        }
    }
}
