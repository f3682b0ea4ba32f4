//! Whether a sentence continues after a full stop: after an abbreviation, an initial or an ordinal
//! (`14. September`). Rules of English, German, Nordic and Romance languages.
use crate::dates::months::{follows_ordinal, may_follow_ordinal};
use crate::endings::lower_case_is;

/// Abbreviations, in lower case, after which a full stop does not end a sentence: English ones, then
/// German, Nordic, Dutch, and Romance ones.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "mt", "ft", "gen", "col", "lt", "sgt", "capt", "rev",
    "hon", "gov", "sen", "rep", "pres", "jr", "sr", "vs", "etc", "e.g", "i.e", "cf", "ca", "c",
    "no", "nos", "vol", "pp", "p", "fig", "figs", "eq", "sec", "art", "inc", "ltd", "co", "corp",
    "approx", "dept", "est", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct",
    "nov", "dec", "u.s", "u.k", "a.m", "p.m", "al", "nr", "nrn", "bzw", "usw", "usf", "ggf", "vgl",
    "z.b", "d.h", "u.a", "z.t", "i.d.r", "evtl", "inkl", "zzgl", "bspw", "sog", "mio", "mrd",
    "tsd", "jh", "jhd", "jhdt", "chr", "v.chr", "n.chr", "hrsg", "abb", "dipl", "okt", "dez",
    "bl.a", "f.eks", "t.ex", "osv", "dvs", "jfr", "tlf", "dhr", "mevr", "bijv", "enz", "o.a",
    "blz", "mme", "mmes", "mlle", "mlles", "sra", "srta", "sres", "dra", "avda", "núm", "pág",
    "págs", "sigg", "sig.ra", "dott", "dott.ssa",
];

/// Abbreviations that are words, units or names in English unless they have a capital.
const WITH_CAPITAL: &[&str] = &["Hr", "Hrn", "Fr", "Str", "Tel", "Abs", "MM", "Sig", "Bd"];

/// Abbreviations before a number; elsewhere they may be words.
const BEFORE_NUMBERS: &[&str] = &["abs", "env", "kap", "kl", "pos", "str", "tel", "ziff"];

/// German and Nordic words before an ordinal that no English sentence has before its last number.
const BEFORE_ORDINALS: &[&str] = &[
    "am", "vom", "zum", "zur", "beim", "der", "dem", "den", "des", "das", "die", "im", "seit",
    "bis", "ab", "und", "einem", "einer", "på", "fra", "siden", "från", "sedan", "det",
];

/// German and English words that begin a sentence and do not follow an ordinal.
const OPENERS: &[&str] = &[
    "dann", "der", "die", "das", "er", "sie", "es", "wir", "ich", "ein", "eine", "im", "in", "am",
    "auf", "danach", "diese", "dieser", "dieses", "und", "aber", "the", "it", "he", "she", "they",
    "we", "this", "then", "but",
];

/// As many bytes as the longest abbreviation has.
const LONGEST: usize = 8;

/// Whether the sentence `before` goes on with `rest` after a full stop between them.
pub(crate) fn continues(before: &str, rest: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    let word = word.trim_start_matches(['(', '"', '“', '[', '„', '«']);
    match word.as_bytes() {
        // An initial (`J. Smith`).
        [letter] if letter.is_ascii_alphabetic() => true,
        [.., b'0'..=b'9'] => is_ordinal(&before[..before.len() - word.len()], word, rest),
        bytes if bytes.len() > LONGEST => false,
        bytes => {
            is_abbreviation(word, rest)
                || (!bytes.is_ascii()
                    && word.chars().count() == 1
                    && word.chars().all(char::is_alphabetic))
        }
    }
}

fn is_abbreviation(word: &str, rest: &str) -> bool {
    let is_one_of = |list: &[&str]| list.iter().any(|entry| lower_case_is(word, entry));
    is_one_of(ABBREVIATIONS)
        || WITH_CAPITAL.contains(&word)
        || (rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
            && is_one_of(BEFORE_NUMBERS))
}

/// Whether `number` and a full stop are an ordinal, as in `am 14. September`, `der 2. Weltkrieg`,
/// `Montag, 3. Oktober`.
fn is_ordinal(before: &str, number: &str, rest: &str) -> bool {
    if number.len() > 3 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let next = first_word(rest);
    follows_ordinal(next)
        || (!next.is_empty() && follows_article(before, next))
        || is_after_comma(before, rest)
}

/// The letters that a text begins with, after white space.
fn first_word(text: &str) -> &str {
    text.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default()
}

/// Whether `rest` is a month and a year, and `before` a place or a day of the week with a comma.
fn is_after_comma(before: &str, rest: &str) -> bool {
    let is_named = before
        .trim_end()
        .strip_suffix(',')
        .is_some_and(|place| place.ends_with(char::is_alphabetic));
    let month = first_word(rest);
    let year = rest.trim_start()[month.len()..].trim_start().bytes();
    is_named && may_follow_ordinal(month) && year.take_while(u8::is_ascii_digit).count() == 4
}

/// Whether a line that follows `before` begins with an ordinal and a month (`am` / `14. September`)
/// and is not an item of a numbered list.
pub(crate) fn is_wrapped_date(before: &str, line: &str) -> bool {
    let line = line.trim_start();
    let Some((number, rest)) = line.split_once(". ") else { return false };
    let month = first_word(rest);
    matches!(number.len(), 1 | 2)
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && may_follow_ordinal(month)
        && follows_article(before, month)
}

/// Whether `before` ends in a word before ordinals, and `next` may follow one.
fn follows_article(before: &str, next: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let article = words.next().unwrap_or_default().trim_start_matches(['(', '„', '"', '«']);
    let is_one_of = |word: &str, list: &[&str]| list.iter().any(|entry| lower_case_is(word, entry));
    is_one_of(article, BEFORE_ORDINALS)
        && !is_one_of(next, OPENERS)
        // `I am 14.` is English.
        && !(article == "am" && words.next() == Some("I"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn ordinals_and_abbreviations_do_not_end_sentences() {
        for whole in [
            "Die Müller GmbH wurde am 14. September 2017 gegründet.",
            "Der 2. Weltkrieg endete 1945.",
            "Wien, 3. März 2019.",
            "Wien, 3. September 2019.",
            "Sie wurde am\n14. September 2017 gegründet.",
            "Sie galt seit dem 1. Januar und (vom 3. April an) überall.",
            "Im 19. Jahrhundert war es das 3. Haus.",
            "Det skete den 3. Marts 2019 og siden 1. Maj.",
            "Nach Nr. 1 BGB gilt dies.",
            "Sie zahlte 3 Mio. Euro an die Bank.",
            "Laut § 3 Abs. 2 gilt dies bzw. Folgendes.",
            "Um 300 v. Chr. Geburt lebte Hr. Meier.",
            "Mme. Curie est née en 1867.",
            "La Sra. García vive en la pág. 3 y núm. 4.",
            "PÁG. 3 gilt.",
            "Cela coûte env. 300 francs.",
        ] {
            assert_eq!(split(whole), [whole]);
        }
    }

    #[test]
    fn english_sentences_end_after_numbers() {
        for (text, count) in [
            ("It was version 2. The next one came.", 2),
            ("He came in 3. Then he left.", 2),
            ("I am 14. September is near.", 2),
            ("In parts 2, 3. September 2017 was late.", 2),
            ("Some die\n1. here\n2. there", 3),
            ("See chapter 3. Mars is red.", 2),
            ("She has 12. May we ask?", 2),
            ("It took 5 mm. The rest took 1 hr. Then it ended.", 3),
            ("Set the env. The abs. Of type str. End.", 4),
            ("Er blieb bis 12. Dann ging er.", 2),
            ("Es war 1945. Januar war kalt.", 2),
        ] {
            assert_eq!(split(text).len(), count, "{text}");
        }
    }

    #[test]
    fn no_abbreviation_is_longer_than_the_longest() {
        let all = ABBREVIATIONS.iter().chain(WITH_CAPITAL).chain(BEFORE_NUMBERS);
        assert_eq!(all.map(|list| list.len()).max(), Some(LONGEST));
    }
}
