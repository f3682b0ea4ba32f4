//! Ways of writing a text that make no other words of it: with points and hyphens that are not
//! shown, with marks next to their letters, in forms of another width.
use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// Letters of the longest unit or symbol, which a digit that follows belongs to: `cm²`. The digits
/// that follow longer words are marks of notes.
const LONGEST_UNIT: usize = 3;

/// A zero-width space.
const BREAK: char = '\u{200b}';

/// Scripts that are written without blanks, Thai and Khmer among them.
const UNSPACED: Range<char> = '\u{e00}'..'\u{1800}';

/// A text as it is compared: composed, without accents that are no part of a letter, vowel points
/// and what is not shown. Powers are written with a caret (`10^6`), those of units without (`m2`).
pub fn spelling(text: &str) -> Cow<'_, str> {
    if !text.contains('^') && (text.is_ascii() || text.chars().all(is_settled)) {
        return Cow::Borrowed(text);
    }
    let mut wide = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_hidden(*c)) {
        match c {
            // Where words are written without blanks it stands between two of them.
            BREAK if wide.ends_with(|c| UNSPACED.contains(&c)) => wide.push(' '),
            BREAK => {}
            c if has_plain_form(c) => wide.extend(once(c).nfkc()),
            c => wide.push(c),
        }
    }
    let (mut spelled, mut is_power) = (String::with_capacity(wide.len()), false);
    let mut chars = wide.nfc().filter(|c| !is_mark(*c)).peekable();
    while let Some(c) = chars.next() {
        let raised = raised(c);
        let digit = if c == '^' { chars.peek().copied() } else { raised };
        let joins = digit.is_some_and(|c| c.is_ascii_digit()) && ends_with_unit(&spelled);
        if raised.is_some() && !joins && !is_power {
            spelled.push('^');
        }
        if raised.is_some() || !joins {
            spelled.push(raised.unwrap_or(c));
        }
        is_power = raised.is_some();
    }
    Cow::Owned(spelled)
}

/// A text whose letters are one character each, as far as there are such: systems differ in how they
/// write the names of files.
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Whether a character that is neither a letter nor a digit does not end the word it stands in.
pub(crate) fn is_within_word(c: char) -> bool {
    !c.is_ascii() && (c == BREAK || is_hidden(c) || is_mark(c))
}

/// Whether a character is written so wherever it stands.
fn is_settled(c: char) -> bool {
    matches!(c, '\0'..='\u{ac}' | 'À'..='\u{2ff}' | '\u{400}'..='\u{482}' | '\u{4e00}'..='\u{9fff}')
        || !is_within_word(c) && is_nfkc_quick(once(c)) == IsNormalized::Yes
}

/// Soft hyphens, joiners, marks of direction and of variants.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Accents, the points of Hebrew, the marks and the lengthening of Arabic.
fn is_mark(c: char) -> bool {
    c == '\u{640}' || ('\u{300}'..'\u{700}').contains(&c) && is_combining_mark(c)
}

/// Subscripts, ligatures, letters in the form that their neighbours give them, and of another width.
fn has_plain_form(c: char) -> bool {
    matches!(c, '\u{2080}'..='\u{209c}' | '\u{fb00}'..='\u{fdff}')
        || matches!(c, '\u{fe70}'..='\u{fefc}' | '\u{ff01}'..='\u{ffee}')
}

/// A superscript as it is on the line.
fn raised(c: char) -> Option<char> {
    let is_raised = matches!(c, '²' | '³' | '¹' | '\u{2070}' | '\u{2074}'..='\u{207b}' | 'ⁿ');
    if is_raised { once(c).nfkc().next() } else { None }
}

fn ends_with_unit(text: &str) -> bool {
    let letters = text.chars().rev().take_while(|c| c.is_alphabetic()).take(LONGEST_UNIT + 1);
    (1..=LONGEST_UNIT).contains(&letters.count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn powers_are_written_with_a_caret_and_those_of_units_without() {
        for (text, expected) in [
            ("10⁶ and 10^6", "10^6 and 10^6"),
            ("10⁻¹²", "10^−12"),
            ("2ⁿ", "2^n"),
            ("12 m², 12 m^2, 5 cm³", "12 m2, 12 m2, 5 cm3"),
            ("CO₂ C₆H₁₂O₆ Ca²⁺", "CO2 C6H12O6 Ca2+"),
            ("Berlin¹ in 1931²", "Berlin^1 in 1931^2"),
            ("a ^ b, x^n, ^2", "a ^ b, x^n, ^2"),
        ] {
            assert_eq!(spelling(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        for (text, expected) in [
            ("Quer\u{ad}balken\u{200b}werk", "Querbalkenwerk"),
            ("\u{feff}Zu\u{2060}satz\u{200d}", "Zusatz"),
            ("שָׁלוֹם", "שלום"),
            ("\u{fb2a}לום", "שלום"),
            ("مُحَمَّد مـحـمـد", "محمد محمد"),
            ("\u{627}\u{654}", "\u{623}"),
            ("ภาษา\u{200b}ไทย", "ภาษา ไทย"),
        ] {
            assert_eq!(spelling(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_are_composed_and_of_one_width() {
        for (text, expected) in [
            ("Mu\u{308}nchen", "München"),
            ("и\u{306}од", "йод"),
            ("за\u{301}мок", "замок"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("Ｂｒａｎｄｔ　１９３１", "Brandt　1931"),
            ("ﾊﾝｶﾞｰ", "ハンガー"),
            ("ﬁnal", "final"),
            ("Straße über 1½ ™", "Straße über 1½ ™"),
        ] {
            assert_eq!(spelling(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_spelling_is_spelled_so(text in "[a-zé²⁶₂^\u{ad}\u{200b}\u{301}\u{308}и\u{306}0-9 אָ]{0,40}") {
            let once = spelling(&text).into_owned();
            prop_assert_eq!(spelling(&once), once.as_str());
        }
    }
}
