//! Superscripts and subscripts as plain text: `10⁶`, `m²`, `CO₂`, `2^x`.
//!
//! Every reader of a format calls [`plain`], and the word index reads `10⁶` and `10^6` alike.

/// Where a run of characters stands relative to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Super,
    Sub,
}

/// Characters with their superscript and subscript forms.
const FORMS: &[(char, char, char)] = &[
    ('0', '⁰', '₀'),
    ('1', '¹', '₁'),
    ('2', '²', '₂'),
    ('3', '³', '₃'),
    ('4', '⁴', '₄'),
    ('5', '⁵', '₅'),
    ('6', '⁶', '₆'),
    ('7', '⁷', '₇'),
    ('8', '⁸', '₈'),
    ('9', '⁹', '₉'),
    ('+', '⁺', '₊'),
    ('-', '⁻', '₋'),
    ('−', '⁻', '₋'),
    ('–', '⁻', '₋'),
    ('=', '⁼', '₌'),
    ('(', '⁽', '₍'),
    (')', '⁾', '₎'),
    ('n', 'ⁿ', 'ₙ'),
];

/// `text` in `script`, behind what is written of the line so far.
///
/// Digits and signs get their Unicode forms. A power without such forms is written with a caret
/// (`2^x`, `10^2.5`). Other letters stay as they are: ordinals (`1st`, `2e`), abbreviations (`Mme`)
/// and marks of notes are read well so.
pub(crate) fn plain(before: &str, text: &str, script: Script) -> String {
    let form = |c: char| {
        let forms = FORMS.iter().find(|(plain, ..)| *plain == c);
        forms.map(|(_, raised, lowered)| if script == Script::Super { *raised } else { *lowered })
    };
    let words = text.trim();
    // A letter alone is a power behind a number: `2ⁿ`, but `Vn` where it is a name.
    let is_name = words.chars().all(char::is_alphabetic) && !is_base(before);
    if !is_name && words.chars().all(|c| form(c).is_some() || c == ',' || c.is_whitespace()) {
        return text.chars().map(|c| form(c).unwrap_or(c)).collect();
    }
    if script == Script::Super && is_base(before) && is_power(words) {
        let grouped = words.chars().all(|c| c.is_alphanumeric() || c == '.');
        return if grouped { format!("^{words}") } else { format!("^({words})") };
    }
    text.to_owned()
}

/// Whether a power may follow.
fn is_base(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit() || c == ')')
}

/// Whether it is no ordinal ending: something with a digit, or a letter that ends no ordinal.
fn is_power(words: &str) -> bool {
    let mut letters = words.chars();
    let lone = letters.next().filter(|_| letters.next().is_none());
    words.contains(|c: char| c.is_ascii_digit())
        || lone.is_some_and(|c| c.is_alphabetic() && !"aàdehorstºª".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(before: &str, text: &str) -> String {
        plain(before, text, Script::Super)
    }

    #[test]
    fn powers_and_units_are_raised() {
        assert_eq!(raised("3.2 x 10", "6"), "⁶");
        assert_eq!(raised("10", "–12"), "⁻¹²");
        assert_eq!(raised("12 m", "2 "), "² ");
        assert_eq!(raised("Ca", "2+"), "²⁺");
        assert_eq!(raised("2", "n"), "ⁿ");
        assert_eq!(raised("2", "x"), "^x");
        assert_eq!(raised("10", "2.5"), "^2.5");
        assert_eq!(raised("(a + b)", "k+1"), "^(k+1)");
    }

    #[test]
    fn ordinals_and_abbreviations_stay_words() {
        assert_eq!(raised("the 1", "st"), "st");
        assert_eq!(raised("le 2", "e"), "e");
        assert_eq!(raised("M", "me"), "me");
        assert_eq!(raised("V", "n"), "n");
    }

    #[test]
    fn formulas_of_chemistry_are_lowered() {
        assert_eq!(plain("CO", "2", Script::Sub), "₂");
        assert_eq!(plain("v", "max", Script::Sub), "max");
    }
}
