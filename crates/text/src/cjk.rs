//! Names in scripts that are written without spaces and without capitals.
use std::ops::Range;

/// Han, kana and hangul: written without spaces, or in words too long to match.
pub fn is_cjk(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Marks around titles and names, as they open and close.
const BRACKETS: [(char, char); 6] =
    [('《', '》'), ('〈', '〉'), ('「', '」'), ('『', '』'), ('“', '”'), ('‘', '’')];

/// The longest name in such marks, in characters.
const LONGEST: usize = 24;

/// The least characters of a name in katakana, which is a foreign one.
const KATAKANA: usize = 3;

/// What a text in such a script names by its marks: titles and names in brackets, and runs
/// of katakana, which are foreign names. As byte ranges.
pub fn cjk_names(text: &str) -> Vec<Range<usize>> {
    let mut ranges = bracketed(text);
    let katakana = |c: char| matches!(c, '\u{30a1}'..='\u{30fa}' | 'ー' | '・');
    let long = |run: &Range<usize>| text[run.clone()].chars().count() >= KATAKANA;
    ranges.extend(runs(text, katakana).filter(long));
    ranges.retain(|run| text[run.clone()].chars().count() <= LONGEST);
    ranges.sort_by_key(|run| (run.start, run.end));
    ranges.dedup();
    ranges
}

fn bracketed(text: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut open): (Vec<Range<usize>>, Vec<(char, usize)>) = (vec![], vec![]);
    for (at, c) in text.char_indices() {
        if let Some((_, close)) = BRACKETS.iter().find(|(opening, _)| *opening == c) {
            open.push((*close, at + c.len_utf8()));
        } else if let Some(place) = open.iter().rposition(|(close, _)| *close == c) {
            let start = open[place].1;
            open.truncate(place);
            if text[start..at].chars().any(is_cjk) {
                ranges.push(start..at);
            }
        }
    }
    ranges
}

/// The longest runs of characters of one kind.
fn runs(text: &str, of_kind: impl Fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let (mut ranges, mut start) = (vec![], None);
    for (at, c) in text.char_indices() {
        match (of_kind(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                ranges.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    ranges.extend(start.map(|from| from..text.len()));
    ranges.into_iter()
}

/// The longest runs of characters without spaces, as byte ranges.
pub fn cjk_runs(text: &str) -> Vec<Range<usize>> {
    runs(text, is_cjk).collect()
}

/// Runs of such characters with the digits and Latin letters between and around them, as byte
/// ranges: `宪法修正案1993年`, `C919客机`.
pub fn mixed_runs(text: &str) -> Vec<Range<usize>> {
    let mixed = runs(text, |c| is_cjk(c) || c.is_ascii_alphanumeric());
    mixed.filter(|run| text[run.clone()].chars().any(is_cjk)).collect()
}

/// How often a normalised name occurs in a normalised text: as whole words, or anywhere where it is
/// written without spaces.
pub fn count_name(name: &str, text: &str) -> usize {
    if name.is_empty() {
        return 0;
    }
    if name.chars().any(is_cjk) {
        return text.matches(name).count();
    }
    let (mut count, mut from) = (0, 0);
    while let Some(at) = text[from..].find(name) {
        let (start, end) = (from + at, from + at + name.len());
        let bounded = text[..start].chars().next_back().is_none_or(|c| c == ' ' || is_cjk(c))
            && text[end..].chars().next().is_none_or(|c| c == ' ' || is_cjk(c));
        count += usize::from(bounded);
        from = if bounded {
            end
        } else {
            start + text[start..].chars().next().map_or(1, char::len_utf8)
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(text: &str) -> Vec<&str> {
        cjk_names(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn marks_that_stand_for_characters_are_characters() {
        for c in ['王', '々', '〆', '〇', 'の', 'ガ', '한', '\u{20000}'] {
            assert!(is_cjk(c), "{c}");
        }
        for c in ['a', 'é', 'ж', '、', '《', '1'] {
            assert!(!is_cjk(c), "{c}");
        }
    }

    #[test]
    fn names_are_found_by_their_marks() {
        assert_eq!(names_in("《红楼梦》的作者是曹雪芹。"), ["红楼梦"]);
        assert_eq!(names_in("他读过莎士比亚的“十四行诗”。"), ["十四行诗"]);
        assert_eq!(names_in("東京のスカイツリーは高い。"), ["スカイツリー"]);
        assert!(names_in("An “English” title").is_empty());
        assert!(names_in("》《").is_empty());
    }

    #[test]
    fn runs_may_hold_digits_and_latin_letters() {
        let text = "The C919客机和宪法修正案1993年，x 2";
        let mixed: Vec<&str> = mixed_runs(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(mixed, ["C919客机和宪法修正案1993年"]);
    }

    #[test]
    fn names_are_counted_as_words_or_anywhere_without_spaces() {
        for (name, text, count) in [
            ("ann", "ann and joann met ann", 2),
            ("金泰妍", "韩国歌手金泰妍的专辑", 1),
            ("nba", "nba 球队", 1),
            ("", "x", 0),
        ] {
            assert_eq!(count_name(name, text), count, "{name} in {text}");
        }
    }
}
