//! Task `keywords`: the words of a question that a text must hold to answer it.
use halma_core::text::{NameKind, Value, is_stop_word, names};
use serde_json::json;

use crate::decompose::tokens::{Tag, tokens};
use crate::input::QuestionInput;
use crate::lexicon::Lexicon;
use crate::lists::leads;
use crate::read::Reader;
use crate::words::split;

/// As many as are given where the question names little; what it names is always given.
const MIN_KEYWORDS: usize = 2;
const MAX_KEYWORDS: usize = 6;

pub(crate) fn reply(reader: &Reader<'_>, input: &QuestionInput) -> String {
    let question = &input.question.text;
    let learned = trained(reader, question).filter(|keywords| !keywords.is_empty());
    let keywords = learned.unwrap_or_else(|| keywords(question, reader.lexicon));
    json!({ "keywords": keywords }).to_string()
}

/// Those of a trained reader, where there is one that has learned keywords.
fn trained(reader: &Reader<'_>, question: &str) -> Option<Vec<String>> {
    match reader.trained?.keywords(question) {
        Ok(ranges) => Some(ranges?.into_iter().map(|range| question[range].to_owned()).collect()),
        Err(error) => {
            tracing::warn!(%error, "the keywords are found by rules alone");
            None
        }
    }
}

/// Names, titles, dates and numbers, then the words that are likely to be rare; each as it stands
/// in the question.
pub(crate) fn keywords(question: &str, lexicon: &Lexicon) -> Vec<String> {
    let mut keywords: Vec<String> = vec![];
    let mut add = |word: &str| {
        let word = word.trim_matches(|c: char| "\"“”()¿¡ ".contains(c));
        let inside = keywords.iter().any(|other| other.contains(word));
        if !word.is_empty() && !inside && question.contains(word) && keywords.len() < MAX_KEYWORDS {
            keywords.push(word.to_owned());
        }
    };
    for token in tokens(question, lexicon).iter().filter(|token| token.tag == Tag::Name) {
        // `Low Tide (1974 film)` is hardly written like that in a text.
        let plain = token.text.split(" (").next().unwrap_or(&token.text);
        let (name, _) = plain.split_once(", ").unwrap_or((plain, ""));
        add(if plain.starts_with(['"', '“']) { plain } else { name });
    }
    for name in names(question) {
        if let NameKind::Value(value) = name.kind
            && (matches!(value, Value::Date(_) | Value::Year(_)) || name.range.len() > 1)
        {
            add(&question[name.range]);
        }
    }
    for word in rare(question, lexicon) {
        if keywords.len() < MIN_KEYWORDS && !keywords.iter().any(|other| other.contains(&word)) {
            keywords.push(word);
        }
    }
    keywords
}

/// The content words, the rarest first: those without a family, then the longest,
/// for long words are rarer.
fn rare(question: &str, lexicon: &Lexicon) -> Vec<String> {
    let mut words: Vec<&str> = split(question).into_iter().map(|range| &question[range]).collect();
    words.retain(|word| {
        let lower = word.to_lowercase();
        !is_stop_word(&lower) && lexicon.verbs.form(&lower).is_none() && word.chars().count() > 2
    });
    words.sort_by_key(|word| {
        let lower = word.to_lowercase();
        let common = lexicon.is_common(&lower) || leads(&lower).is_some();
        (common, std::cmp::Reverse(word.chars().count()))
    });
    words.dedup();
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(question: &str) -> Vec<String> {
        keywords(question, &Lexicon::new())
    }

    #[test]
    fn what_is_named_comes_first() {
        assert_eq!(found("Who directed Low Tide (1974 film)?"), ["Low Tide", "1974"]);
        assert_eq!(found("Which song of “low tide” is from 1974?"), ["low tide", "1974"]);
        assert_eq!(
            found("When did Orla Finch meet Mara Quill in Varn, Ohio?"),
            ["Orla Finch", "Mara Quill", "Varn"]
        );
    }

    #[test]
    fn without_names_the_rarest_words_are_given() {
        assert_eq!(found("what do stonemasons use to polish granite?"), ["stonemasons", "granite"]);
        assert!(found("").is_empty() && found("who is it?").is_empty() && found("?!").is_empty());
    }

    #[test]
    fn each_is_part_of_the_question() {
        for question in
            ["Où est né Émile  Zola, l’écrivain ?", "谁写了《红楼梦》？", "«Мастер» (1967)?"]
        {
            for word in found(question) {
                assert!(question.contains(&word), "{word} in {question}");
            }
        }
    }
}
