//! Which language a text is in, as far as its function words tell. They are nearly half of the
//! words of running text, so that a few dozen of them settle it at a small part of what comparing
//! letters with profiles of all languages costs.
use std::sync::LazyLock;

/// Languages, by their two letters, with their most frequent function words. These are at least one
/// of so many words of a text: those of English are hardly words of other languages, while `a`, `o`,
/// `do` and `na` are of Portuguese and of half of the Slavic languages.
const FUNCTION_WORDS: &[(&str, usize, &str)] = &[
    (
        "en",
        12,
        "the of and to in a is was for that with as by on from at it which were be this are an \
         have had not has his her their or its been but they he she who would there when after",
    ),
    (
        "de",
        6,
        "der die das und in von zu den mit ist des im nicht ein eine als auch es auf für an dem \
         werden aus sich wird einer einem er sie nach bei war durch wurde sind oder über zum zur",
    ),
    (
        "fr",
        6,
        "le la les de des du et en un une est dans que qui pour par sur au aux il elle pas avec \
         ce cette se son sa ses ne plus ont été mais ou sont comme leur être nous vous",
    ),
    (
        "es",
        6,
        "el la los las de del y en un una es que se por con para su al lo como más pero sus le ha \
         fue son está o este esta entre cuando muy sin sobre también hasta desde no",
    ),
    (
        "it",
        6,
        "il lo la i gli le di del della dei delle e in un una è che per con non si da al alla come \
         più ma sono nel nella dal anche ha suo sua o questo questa essere tra",
    ),
    (
        "pt",
        6,
        "o a os as de do da dos das e em um uma é que se por com para no na não ao como mais mas \
         seu sua foi são ou pelo pela também entre quando muito nos nas já",
    ),
    (
        "nl",
        6,
        "de het een en van in is op te dat die voor met zijn aan niet er om bij als ook uit \
         naar over maar werd worden heeft wordt deze dit hij ze nog tot of",
    ),
];

/// A text with fewer function words of its language may be of any.
const LEAST_WORDS: usize = 8;
/// Function words are so many times as many as those of any other language.
const AHEAD: usize = 2;

/// A bit for each language.
type Places = u8;

/// Bytes of the longest function word.
const LONGEST: usize = 8;

/// A word, filled up with zeros.
type Padded = [u8; LONGEST];

/// The languages that a function word is of.
struct LanguagesOf(Box<[(Padded, Places)]>);

/// Every word of every text without a stated language is looked up here.
static LANGUAGES_OF: LazyLock<LanguagesOf> = LazyLock::new(LanguagesOf::new);

impl LanguagesOf {
    /// Places in the table: a multiple of the number of words, so that few share one.
    const PLACES: usize = 1 << 12;

    fn new() -> Self {
        let mut table = Self(vec![(Padded::default(), 0); Self::PLACES].into());
        for (language, (.., words)) in FUNCTION_WORDS.iter().enumerate() {
            for word in words.split_whitespace() {
                let key = padded(word).expect("the longest function word fits");
                let place = table.place(key);
                table.0[place] = (key, table.0[place].1 | 1 << language);
            }
        }
        table
    }

    /// Where a word is, or would be.
    fn place(&self, key: Padded) -> usize {
        let mixed = u64::from_le_bytes(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = (mixed >> 52) as usize;
        while self.0[place].1 != 0 && self.0[place].0 != key {
            place = (place + 1) % Self::PLACES;
        }
        place
    }

    fn of(&self, word: &str) -> Places {
        padded(word).map_or(0, |key| self.0[self.place(key)].1)
    }
}

/// A word in lower case; `None` for one that is too long.
fn padded(word: &str) -> Option<Padded> {
    let mut key = Padded::default();
    if word.is_ascii() {
        key.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
        key.make_ascii_lowercase();
        return Some(key);
    }
    // In lower case a letter has a third of its bytes at the least.
    if word.len() > 3 * LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    key.get_mut(..lower.len())?.copy_from_slice(lower.as_bytes());
    Some(key)
}

/// The first characters of a text, up to `most`, with every run of anything but letters as one
/// space: the marks of tables and headings are of no language.
pub fn letters(text: &str, limit: usize) -> String {
    let mut kept = String::with_capacity(limit);
    let mut count = 0;
    let mut apart = false;
    for c in text.chars().take(limit * 2) {
        let is_letter = if c.is_ascii() { c.is_ascii_alphabetic() } else { c.is_alphabetic() };
        if !is_letter {
            apart = count > 0;
            continue;
        }
        if apart {
            kept.push(' ');
            count += 1;
            apart = false;
        }
        if count >= limit {
            break;
        }
        kept.push(c);
        count += 1;
    }
    kept
}

/// The language of running text in one of seven European languages, by its two letters; `None` when
/// the function words do not tell. `letters` is what [`letters`] makes of the text.
pub fn language_of_words(letters: &str) -> Option<&'static str> {
    let mut counts = [0_usize; FUNCTION_WORDS.len()];
    let mut words = 0;
    let languages = &*LANGUAGES_OF;
    for word in letters.split(' ') {
        words += 1;
        let of = languages.of(word);
        if of == 0 {
            continue;
        }
        for (place, count) in counts.iter_mut().enumerate() {
            *count += usize::from(of >> place & 1);
        }
    }
    let (best, top) = counts.iter().copied().enumerate().max_by_key(|(_, count)| *count)?;
    let next = counts.iter().enumerate().filter(|(at, _)| *at != best).map(|(_, n)| *n).max()?;
    let (language, one_of, _) = FUNCTION_WORDS[best];
    let tells = top >= LEAST_WORDS && top * one_of >= words && top >= next * AHEAD;
    tells.then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_tell_the_language_of_running_text() {
        let of = |text: &str| language_of_words(&letters(text, 1_000));
        for (language, text) in [
            (
                "en",
                "The bridge was built in 1901 by the town, and it is one of the oldest in the county.",
            ),
            (
                "de",
                "Die Brücke wurde 1901 von der Stadt gebaut und ist eine der ältesten in dem Land.",
            ),
            (
                "fr",
                "Le pont a été construit par la ville en 1901 et il est un des plus anciens du pays.",
            ),
            (
                "es",
                "El puente fue construido por la ciudad en 1901 y es uno de los más antiguos del país.",
            ),
            (
                "it",
                "Il ponte è stato costruito dalla città nel 1901 e non è il più antico della regione, ma il più bello che si conosca.",
            ),
            (
                "pt",
                "A ponte foi construída pela cidade em 1901 e não é a mais antiga do país, mas é a mais bonita da região.",
            ),
            (
                "nl",
                "De brug werd in 1901 voor de stad gebouwd en het is een van de oudste van het land.",
            ),
        ] {
            assert_eq!(of(text), Some(language), "{text}");
        }
        for unclear in [
            "",
            "Brücke, pont, bridge",
            "de la en",
            "敏捷的棕色狐狸跳过了懒狗",
            "Most bol postavený mestom a je jedným z najstarších v kraji, hovorí sa o ňom veľa.",
        ] {
            assert_eq!(of(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn letters_are_kept_with_single_spaces() {
        assert_eq!(letters("| 1 | Ein  *Haus*, am\nSee |", 100), "Ein Haus am See");
        assert_eq!(letters("abc def", 5), "abc d");
        assert_eq!(letters("  12 ", 5), "");
    }

    #[test]
    fn there_is_a_bit_for_each_language() {
        assert!(FUNCTION_WORDS.len() <= Places::BITS as usize);
    }
}
