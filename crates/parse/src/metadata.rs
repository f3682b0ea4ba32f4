//! What is known about a document: its date in one form, its language.
use whatlang::Lang;

use crate::parsed::Parsed;

/// As much text is looked at to tell the language; more tells no more.
const SAMPLE: usize = 1_000;

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
    let sample = halma_text::letters(text, SAMPLE);
    if let Some(language) = halma_text::language_of_words(&sample) {
        return Some(language.to_owned());
    }
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
