//! The paragraphs of the official files of `HotpotQA`, `2WikiMultiHopQA` and `MuSiQue`, pooled.
use serde::Deserialize;

use super::{Naming, ParsedDocument};

/// What of a record makes documents; everything else in it is left unread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContextRecord {
    /// `HotpotQA` and `2WikiMultiHopQA`: title and sentences.
    pub(super) context: Option<Vec<(String, Vec<String>)>>,
    /// `MuSiQue`.
    pub(super) paragraphs: Option<Vec<MusiqueParagraph>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MusiqueParagraph {
    title: String,
    paragraph_text: String,
}

impl ContextRecord {
    /// The paragraphs as documents; `None` when the record has none of the known keys.
    pub(super) fn documents(self, source: &str) -> Option<Vec<ParsedDocument>> {
        let hotpot = self.context.map(|context| {
            let paragraph = |(title, sentences): (String, Vec<String>)| (title, join(&sentences));
            context.into_iter().map(paragraph).collect::<Vec<_>>()
        });
        let musique = self.paragraphs.map(|paragraphs| {
            let paragraph = |p: MusiqueParagraph| (p.title, p.paragraph_text);
            paragraphs.into_iter().map(paragraph).collect::<Vec<_>>()
        });
        let paragraphs = hotpot.or(musique)?.into_iter();
        let kept = paragraphs.filter(|(_, text)| !text.trim().is_empty());
        Some(kept.map(|(title, text)| draft(title, text, source)).collect())
    }
}

fn draft(title: String, text: String, source: &str) -> ParsedDocument {
    ParsedDocument {
        name: title.clone(),
        naming: Naming::Pooled,
        source: source.to_owned(),
        title: Some(title),
        parsed: halma_parse::plain(text),
        metadata: None,
    }
}

/// The sentences with a space between those that bring none.
fn join(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let spaced =
            text.ends_with(char::is_whitespace) || sentence.starts_with(char::is_whitespace);
        if !text.is_empty() && !spaced && !sentence.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_joined_with_one_space() {
        let sentences = ["One.".to_owned(), " Two.".into(), "Three.".into(), String::new()];
        assert_eq!(join(&sentences), "One. Two. Three.");
    }

    #[test]
    fn a_record_without_paragraphs_is_none() {
        let record: ContextRecord = serde_json::from_str(r#"{"question": "?"}"#).unwrap();
        assert!(record.documents("f").is_none());
    }
}
