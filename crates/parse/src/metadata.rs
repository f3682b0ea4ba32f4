//! What is known about a document: its date in one form, its language.
use whatlang::Lang;

use crate::parsed::Parsed;

/// As much text is looked at to tell the language; more tells no more.
const SAMPLE: usize = 1_000;

/// `2023-01-31`, `2023-01` or `2023` from what files say: ISO 8601, the PDF form
/// `D:20230131120000Z`, or mail's `Tue, 31 Jan 2023 12:00:00 +0000`. `None` for anything else.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.strip_prefix("D:").unwrap_or(text);
    let number = digits.bytes().take_while(u8::is_ascii_digit).count();
    if number >= 8 || (text.starts_with("D:") && number >= 4) {
        return compact(&digits[..number.min(8)]);
    }
    if number == 4 {
        return dashed(digits);
    }
    in_words(text)
}

/// `20230131`, `202301` or `2023`.
fn compact(digits: &str) -> Option<String> {
    let part =
        |range: std::ops::Range<usize>| digits.get(range).and_then(|d| d.parse::<u32>().ok());
    joined(part(0..4)?, part(4..6), part(6..8))
}

/// `2023-01-31…`, `2023/01/31`, `2023-01` or `2023`.
fn dashed(text: &str) -> Option<String> {
    let year = text.get(..4)?.parse().ok()?;
    let rest = &text[4..];
    if rest.is_empty() {
        return joined(year, None, None);
    }
    let mut parts = rest.strip_prefix(['-', '/', '.'])?.splitn(2, ['-', '/', '.']);
    let month = parts.next()?.parse().ok()?;
    let Some(day) = parts.next() else { return joined(year, Some(month), None) };
    let end = day.bytes().take_while(u8::is_ascii_digit).count();
    joined(year, Some(month), Some(day[..end].parse().ok()?))
}

/// A day, an English month and a year in any of the usual orders.
fn in_words(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split([' ', ',', '-', '/']).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let found = MONTHS.iter().position(|name| lower.starts_with(name));
        match (word.len(), word.parse::<u32>(), found) {
            (4, Ok(number), _) if year.is_none() => year = Some(number),
            (1 | 2, Ok(number), _) if day.is_none() => day = Some(number),
            (_, Err(_), Some(at)) if month.is_none() => month = u32::try_from(at + 1).ok(),
            _ => {}
        }
    }
    joined(year?, Some(month?), day)
}

fn joined(year: u32, month: Option<u32>, day: Option<u32>) -> Option<String> {
    // Earlier years come from clocks that were never set.
    if !(1_000..=2_200).contains(&year) {
        return None;
    }
    let month = month.filter(|month| (1..=12).contains(month));
    let day = day.filter(|day| (1..=31).contains(day));
    Some(match (month, day) {
        (Some(month), Some(day)) => format!("{year:04}-{month:02}-{day:02}"),
        (Some(month), None) => format!("{year:04}-{month:02}"),
        _ => format!("{year:04}"),
    })
}

/// A line of text with single spaces; `None` if nothing is left.
pub(crate) fn line(text: &str) -> Option<String> {
    let text = text.replace('\0', "");
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(line).filter(|line| !line.is_empty())
}

/// A title that the file states, unless it is the name of a file or says nothing.
pub(crate) fn title(text: &str) -> Option<String> {
    line(text).filter(|title| !is_file_name(title))
}

/// Programs put the name of the file, or a word that says nothing, where the title belongs.
fn is_file_name(title: &str) -> bool {
    const EMPTY: &[&str] =
        &["untitled", "document", "title", "presentation", "powerpoint presentation"];
    const EXTENSIONS: &[&str] = &[
        ".doc", ".docx", ".odt", ".pdf", ".ppt", ".pptx", ".png", ".jpg", ".tex", ".dvi", ".indd",
    ];
    let lower = title.to_lowercase();
    EMPTY.contains(&lower.as_str())
        || lower.starts_with("microsoft word - ")
        || lower.starts_with("microsoft powerpoint - ")
        || EXTENSIONS.iter().any(|extension| lower.ends_with(extension))
}

/// Sets the language of a document that does not say it, when its words are clear about it.
pub(crate) fn set_language(parsed: &mut Parsed) {
    if let Some(language) = parsed.language.take() {
        parsed.language = two_letters(&language);
    }
    if parsed.language.is_none() {
        parsed.language = language(&parsed.text[parsed.body..]);
    }
}

/// `en-US` and `eng` as `en`.
fn two_letters(language: &str) -> Option<String> {
    let first = language.trim().split(['-', '_']).next()?.to_lowercase();
    match first.len() {
        2 if first.bytes().all(|byte| byte.is_ascii_lowercase()) => Some(first),
        3 => Lang::from_code(&first).and_then(iso_639_1).map(str::to_owned),
        _ => None,
    }
}

fn language(text: &str) -> Option<String> {
    // The marks of tables and headings are of no language.
    let letters = |c: char| if c.is_alphabetic() { c } else { ' ' };
    let mut sample: String = text.chars().take(SAMPLE * 2).map(letters).collect();
    sample = sample.split_whitespace().collect::<Vec<_>>().join(" ");
    sample = sample.chars().take(SAMPLE).collect();
    let info = whatlang::detect(&sample)?;
    // Halfway between two languages is not clear, nor are a few words.
    let clear = info.is_reliable() || (info.confidence() > 0.5 && sample.chars().count() > 60);
    if clear { iso_639_1(info.lang()).map(str::to_owned) } else { None }
}

#[rustfmt::skip]
fn iso_639_1(language: Lang) -> Option<&'static str> {
    const CODES: &[(&str, &str)] = &[
        ("afr", "af"), ("aka", "ak"), ("amh", "am"), ("ara", "ar"), ("aze", "az"), ("bel", "be"),
        ("ben", "bn"), ("bul", "bg"), ("cat", "ca"), ("ces", "cs"), ("cmn", "zh"), ("cym", "cy"),
        ("dan", "da"), ("deu", "de"), ("ell", "el"), ("eng", "en"), ("epo", "eo"), ("est", "et"),
        ("fin", "fi"), ("fra", "fr"), ("guj", "gu"), ("heb", "he"), ("hin", "hi"), ("hrv", "hr"),
        ("hun", "hu"), ("hye", "hy"), ("ind", "id"), ("ita", "it"), ("jav", "jv"), ("jpn", "ja"),
        ("kan", "kn"), ("kat", "ka"), ("khm", "km"), ("kor", "ko"), ("lat", "la"), ("lav", "lv"),
        ("lit", "lt"), ("mal", "ml"), ("mar", "mr"), ("mkd", "mk"), ("mya", "my"), ("nep", "ne"),
        ("nld", "nl"), ("nob", "nb"), ("ori", "or"), ("pan", "pa"), ("pes", "fa"), ("pol", "pl"),
        ("por", "pt"), ("ron", "ro"), ("rus", "ru"), ("sin", "si"), ("slk", "sk"), ("slv", "sl"),
        ("sna", "sn"), ("spa", "es"), ("srp", "sr"), ("swe", "sv"), ("tam", "ta"), ("tel", "te"),
        ("tgl", "tl"), ("tha", "th"), ("tuk", "tk"), ("tur", "tr"), ("ukr", "uk"), ("urd", "ur"),
        ("uzb", "uz"), ("vie", "vi"), ("yid", "yi"), ("zul", "zu"),
    ];
    CODES.iter().find(|(long, _)| *long == language.code()).map(|(_, short)| *short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_take_one_form() {
        for (text, date) in [
            ("D:20230131120000+01'00'", "2023-01-31"),
            ("D:2023", "2023"),
            ("2023-01-31T12:00:00Z", "2023-01-31"),
            ("2023/1/5", "2023-01-05"),
            ("2023-01", "2023-01"),
            ("Tue, 31 Jan 2023 12:00:00 +0000", "2023-01-31"),
            ("20 June 1975", "1975-06-20"),
            ("June 2, 1975", "1975-06-02"),
        ] {
            assert_eq!(iso_date(text).as_deref(), Some(date), "{text}");
        }
        for text in ["", "soon", "0000-00-00", "12", "D:"] {
            assert_eq!(iso_date(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_files_are_not_titles() {
        assert_eq!(title("Microsoft Word - Contract"), None);
        assert_eq!(title(" report.docx "), None);
        assert_eq!(title("A\0 report\n").as_deref(), Some("A report"));
    }

    #[test]
    fn the_language_comes_from_the_file_or_from_the_words() {
        let of = |text: &str| language(text);
        let english =
            "The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.";
        assert_eq!(of(english).as_deref(), Some("en"));
        let german =
            "Der schnelle braune Fuchs springt über den faulen Hund, und den Hund stört es nicht.";
        assert_eq!(of(german).as_deref(), Some("de"));
        assert_eq!(of("敏捷的棕色狐狸跳过了懒狗，而狗一点也不介意。").as_deref(), Some("zh"));
        assert_eq!(of("| 1 | 2 |"), None);
        assert_eq!(two_letters("en-US").as_deref(), Some("en"));
        assert_eq!(two_letters("deu").as_deref(), Some("de"));
        assert_eq!(two_letters("?"), None);
    }
}
