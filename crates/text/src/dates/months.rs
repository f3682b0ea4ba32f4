//! Names of the months in the languages whose words are stemmed, English aside.
use crate::endings::lower_case_is;

/// January to December in German, Danish, Norwegian and Finnish, which write `14.` for `14th`.
const WITH_ORDINALS: &[&str] = &[
    "januar februar märz april mai juni juli august september oktober november dezember",
    "januar februar marts april maj juni juli august september oktober november december",
    "januar februar mars april mai juni juli august september oktober november desember",
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta \
     heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
    "tammikuussa helmikuussa maaliskuussa huhtikuussa toukokuussa kesäkuussa \
     heinäkuussa elokuussa syyskuussa lokakuussa marraskuussa joulukuussa",
];

/// January to December in Swedish, Dutch, French, Spanish, Portuguese, Italian, Romanian, Turkish,
/// Russian (in two cases), Greek and Arabic.
const OTHERS: &[&str] = &[
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie \
     decembrie",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре",
    "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου \
     οκτωβρίου νοεμβρίου δεκεμβρίου",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
];

/// Other spellings, and short forms that are not words in other languages.
const SPELLINGS: &[(&str, u32)] = &[
    ("jänner", 1),
    ("janv", 1),
    ("feber", 2),
    ("fevrier", 2),
    ("févr", 2),
    ("mrz", 3),
    ("maerz", 3),
    ("avr", 4),
    ("juil", 7),
    ("aout", 8),
    ("setiembre", 9),
    ("okt", 10),
    ("dez", 12),
    ("déc", 12),
    ("decembre", 12),
];

/// Names that English spells in the same way.
const ENGLISH: &[&str] = &["april", "august", "september", "november", "december"];

/// Names of months that are also names of other things in English (`Mars`, `Julio`).
const OTHER_NAMES: &[&str] = &["avril", "julio", "maj", "mars", "mart", "mayo"];

/// The place from 1 to 12 of a word in one of the rows.
fn place(rows: &[&str], word: &str) -> Option<u32> {
    let in_row = |row: &str| {
        row.split(' ').zip(1..).find(|(name, _)| lower_case_is(word, name)).map(|m| m.1)
    };
    rows.iter().find_map(|row| in_row(row))
}

/// The month from 1 to 12 that a word names in a language other than English, in any case.
pub(super) fn local_month(word: &str) -> Option<u32> {
    let spelled = || SPELLINGS.iter().find(|(name, _)| lower_case_is(word, name));
    place(WITH_ORDINALS, word)
        .or_else(|| place(OTHERS, word))
        .or_else(|| spelled().map(|(_, number)| *number))
}

/// Whether a word that names a month may as well be another name in an English text.
pub(super) fn has_other_sense(word: &str) -> bool {
    OTHER_NAMES.iter().any(|name| lower_case_is(word, name))
}

/// Whether a word is the name of a month in a language that writes `14.` for `14th`.
pub(crate) fn may_follow_ordinal(word: &str) -> bool {
    place(WITH_ORDINALS, word).is_some()
        || ["jänner", "feber"].iter().any(|name| lower_case_is(word, name))
}

/// [`may_follow_ordinal`] for a word that does not stand in English texts.
pub(crate) fn follows_ordinal(word: &str) -> bool {
    may_follow_ordinal(word)
        && !has_other_sense(word)
        && !ENGLISH.iter().any(|name| lower_case_is(word, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_twelve_months() {
        for row in WITH_ORDINALS.iter().chain(OTHERS) {
            assert_eq!(row.split(' ').count(), 12, "{row}");
        }
    }

    #[test]
    fn months_are_named_in_many_languages() {
        for (word, number) in [
            ("März", 3),
            ("MÄRZ", 3),
            ("août", 8),
            ("marzo", 3),
            ("Сентября", 9),
            ("joulukuuta", 12),
        ] {
            assert_eq!(local_month(word), Some(number), "{word}");
        }
        for word in ["march", "may", "january", "juli2", ""] {
            assert_eq!(local_month(word), None, "{word}");
        }
    }

    #[test]
    fn what_is_also_an_english_word_does_not_follow_an_ordinal_by_itself() {
        assert!(
            ["Januar", "März", "Jänner", "Oktober", "Dezember"].into_iter().all(follows_ordinal)
        );
        for word in ["September", "Mars", "May", "Marzo", "The"] {
            assert!(!follows_ordinal(word), "{word}");
        }
    }
}
