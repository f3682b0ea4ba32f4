//! Small steps that several strategies share: candidates, chunks, the closing answer.
use std::collections::HashSet;

use halma_core::text::{content_words, sentences, words};
use halma_core::{Answer, AnswerText, Citation, Cx, Error, Hit, Layer, NodeId, Result, Span};
use serde::{Deserialize, Deserializer};

/// What a search found, best first: without what the context holds already, every atom and every
/// chunk once, with its best score. (In recorded runs of the reference code 38 % of the rows that
/// the selector saw were repeats.)
pub(crate) fn unseen(lists: Vec<Vec<Hit>>, context: &[Hit]) -> Vec<Hit> {
    let mut hits: Vec<Hit> = lists.into_iter().flatten().collect();
    // Stable, so that equal scores keep the order of the queries and of the ranks within each.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen: HashSet<NodeId> = context.iter().map(|chunk| chunk.id.clone()).collect();
    hits.retain(|hit| seen.insert(chunk_id(hit).clone()));
    hits
}

/// The id of the chunk a hit belongs to; a chunk's parent is its section, not a chunk.
pub(crate) fn chunk_id(hit: &Hit) -> &NodeId {
    match (hit.layer, &hit.parent) {
        (Layer::Atom | Layer::Fact | Layer::Row, Some(chunk)) => chunk,
        _ => &hit.id,
    }
}

/// The chunk a hit belongs to, with the score the hit was found with.
pub(crate) async fn chunk_of(hit: &Hit, cx: &Cx) -> Result<Hit> {
    match (hit.layer, &hit.parent) {
        (Layer::Atom | Layer::Fact | Layer::Row, Some(chunk)) => {
            Ok(Hit { score: hit.score, cosine: hit.cosine, ..cx.get(chunk).await? })
        }
        (layer @ (Layer::Atom | Layer::Fact), None) => Err(Error::Knowledge(
            format!("{} `{}` belongs to no chunk; index the base again", layer.name(), hit.id)
                .into(),
        )),
        _ => Ok(hit.clone()),
    }
}

/// [`chunk_of`] for several hits, in their order.
pub(crate) async fn chunks_of(hits: &[Hit], cx: &Cx) -> Result<Vec<Hit>> {
    let mut chunks = Vec::with_capacity(hits.len());
    for hit in hits {
        chunks.push(chunk_of(hit, cx).await?);
    }
    Ok(chunks)
}

/// A reader's reply. An empty `answer` means that the passages do not hold one, and so do the
/// words that models write in its place (`null`, "Unknown"); a missing one is malformed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Reading {
    #[serde(deserialize_with = "answer_text")]
    pub(crate) answer: String,
    #[serde(default)]
    pub(crate) rationale: String,
}

/// A field that holds an answer, for `deserialize_with`: see [`AnswerText`].
pub(crate) fn answer_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<String, D::Error> {
    AnswerText::deserialize(deserializer).map(|AnswerText(text)| text)
}

/// Why a strategy has nothing to read.
pub(crate) const NOTHING_NEAR: &str = "nothing in the knowledge base is near the question";

/// The abstention of a strategy that found nothing to read.
pub(crate) fn abstain(reason: impl Into<String>) -> Answer {
    Answer { abstained: true, reason: reason.into(), ..Answer::default() }
}

/// The answer a reading gives, citing the chunks it was read from in the order they were found.
pub(crate) fn answer_from(reading: Reading, context: &[Hit]) -> Answer {
    let Reading { answer, rationale } = reading;
    let text = answer.trim().to_owned();
    let citations = context.iter().map(|chunk| cite(chunk, &text, &rationale)).collect();
    Answer { abstained: text.is_empty(), text, reason: rationale, citations, ..Answer::default() }
}

/// A citation of the sentence that holds the answer, or else of the whole chunk.
fn cite(chunk: &Hit, answer: &str, rationale: &str) -> Citation {
    let whole = Citation::from(chunk);
    // A table's row is rendered as text for the reader, so its offsets are not the document's.
    let verbatim = chunk.text.chars().count() == chunk.span.end.saturating_sub(chunk.span.start);
    match holding_sentence(&chunk.text, answer, rationale) {
        Some(range) if verbatim => {
            let quote = chunk.text[range.clone()].to_owned();
            let start = chunk.span.start + chunk.text[..range.start].chars().count();
            let Span { start, end } = Span { start, end: start + quote.chars().count() };
            Citation { start, end, quote, ..whole }
        }
        _ => whole,
    }
}

/// The sentence whose words hold the answer's in a row; of several the one closest to the
/// rationale, then the first.
fn holding_sentence(text: &str, answer: &str, rationale: &str) -> Option<std::ops::Range<usize>> {
    let wanted = without_articles(answer);
    // `yes` and `no` are judgements on the passages, not words in them.
    if is_judgement(&wanted) || !may_have(text, &wanted) {
        return None;
    }
    let rationale_words: HashSet<String> = content_words(rationale).into_iter().collect();
    let shared = |sentence: &str| {
        let words: HashSet<String> = content_words(sentence).into_iter().collect();
        words.intersection(&rationale_words).count()
    };
    sentences(text)
        .into_iter()
        .filter(|range| {
            without_articles(&text[range.clone()]).windows(wanted.len()).any(|w| w == wanted)
        })
        .rev() // `max_by_key` keeps the last of equals; the first is wanted.
        .max_by_key(|range| shared(&text[range.clone()]))
}

/// Whether a text may have these lower-case words: cheaper than cutting it into words, and enough for
/// most passages of a question.
fn may_have(text: &str, words: &[String]) -> bool {
    if !text.is_ascii() {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    words.iter().all(|word| lower.contains(word.as_str()))
}

/// Whether a hit's title or text holds an answer's words in a row. Judgements stand in no text.
pub(crate) fn holds(hit: &Hit, answer: &str) -> bool {
    let wanted = without_articles(answer);
    let within = |text: &str| {
        may_have(text, &wanted)
            && without_articles(text).windows(wanted.len()).any(|run| run == wanted)
    };
    !is_judgement(&wanted) && (within(&hit.title) || within(&hit.text))
}

fn is_judgement(words: &[String]) -> bool {
    words.is_empty() || words == ["yes"] || words == ["no"]
}

fn without_articles(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| !matches!(word.as_str(), "a" | "an" | "the")).collect()
}

#[cfg(test)]
mod tests {
    use halma_core::parse_json;

    use super::*;

    fn chunk(id: &str, text: &str) -> Hit {
        Hit {
            id: id.into(),
            layer: Layer::Chunk,
            parent: Some("section".into()),
            document: "notes.md".into(),
            title: "Notes".into(),
            section: None,
            page: None,
            text: text.into(),
            score: 1.0,
            cosine: None,
            parts: vec![],
            span: Span { start: 100, end: 100 + text.chars().count() },
        }
    }

    fn atom(id: &str, parent: &str, score: f32) -> Hit {
        Hit { layer: Layer::Atom, parent: Some(parent.into()), score, ..chunk(id, "What is this?") }
    }

    fn quoted(text: &str, answer: &str, rationale: &str) -> (usize, String) {
        let citation = cite(&chunk("c", text), answer, rationale);
        (citation.start, citation.quote)
    }

    #[test]
    fn candidates_are_unique_by_chunk_and_best_first() {
        let lists = vec![
            vec![atom("a1", "c1", 0.6), atom("a2", "c2", 0.9)],
            vec![atom("a3", "c1", 0.8), atom("a1", "c1", 0.7), atom("a4", "held", 1.0)],
            vec![chunk("c3", "Text."), chunk("c2", "Text.")],
        ];
        let hits = unseen(lists, &[chunk("held", "Text.")]);
        let ids: Vec<&str> = hits.iter().map(|hit| hit.id.0.as_str()).collect();
        // The chunk `c2` itself scores higher than the atom that leads to it.
        assert_eq!(ids, ["c3", "c2", "a3"]);
    }

    #[test]
    fn equal_scores_keep_the_order_of_the_queries() {
        let lists = vec![vec![atom("z", "c9", 0.5)], vec![atom("a", "c1", 0.5)]];
        let ids: Vec<String> = unseen(lists, &[]).into_iter().map(|hit| hit.id.0).collect();
        assert_eq!(ids, ["z", "a"]);
    }

    #[test]
    fn a_citation_is_the_sentence_that_holds_the_answer() {
        let text = "Café Ø opened. It belongs to the Thorn family. It sells tea.";
        assert_eq!(
            quoted(text, "Thorn Family", ""),
            (115, "It belongs to the Thorn family.".into())
        );
        // Characters, not bytes, and articles do not matter.
        assert_eq!(quoted(text, "The Thorn family.", "").0, 115);
        assert_eq!(quoted(text, "coffee", ""), (100, text.into()));
        // `tea` is a word, not the beginning of one.
        assert_eq!(quoted("A team came.\n\nTea was served.", "tea", "").1, "Tea was served.");
    }

    #[test]
    fn of_several_sentences_the_one_that_the_rationale_tells_is_cited() {
        let text = "Ann met Bo. Ann wed Carl in Oslo. Ann died.";
        assert_eq!(quoted(text, "Ann", "").1, "Ann met Bo.");
        assert_eq!(quoted(text, "Ann", "She wed Carl.").1, "Ann wed Carl in Oslo.");
    }

    #[test]
    fn judgements_and_table_rows_cite_the_whole_chunk() {
        let text = "There is no bridge. There is a ferry.";
        assert_eq!(quoted(text, "no", "").1, text);
        assert_eq!(quoted(text, "", "").1, text);
        let row = Hit { span: Span { start: 5, end: 9 }, ..chunk("c", "City: Rome; Year: 1900") };
        let citation = cite(&row, "Rome", "");
        assert_eq!(
            (citation.start, citation.end, citation.quote.as_str()),
            (5, 9, row.text.as_str())
        );
    }

    #[test]
    fn a_reading_takes_bare_numbers_and_truths_and_refuses_silence() {
        let read = |text: &str| parse_json::<Reading>(text).map(|reading| reading.answer);
        assert_eq!(read(r#"{"answer": "Rome", "rationale": "r"}"#).unwrap(), "Rome");
        assert_eq!(read(r#"{"answer": 42, "rationale": "r"}"#).unwrap(), "42");
        assert_eq!(read(r#"{"answer": true, "rationale": "r"}"#).unwrap(), "yes");
        assert_eq!(read(r#"{"answer": ""}"#).unwrap(), "");
        assert_eq!(read(r#"{"Answer": ["Rome"]}"#).unwrap(), "Rome");
        for none in [r#"{"answer": null}"#, r#"{"answer": "Unknown."}"#, r#"{"answer": "N/A"}"#] {
            assert_eq!(read(none).unwrap(), "", "{none}");
        }
        for reply in [r#"{"rationale": "r"}"#, r#"{"answer": {"of": {}}}"#] {
            assert!(read(reply).is_err(), "{reply}");
        }
    }

    #[test]
    fn an_empty_answer_abstains_and_says_why() {
        let reading = Reading { answer: " ".into(), rationale: "No passage names it.".into() };
        let answer = answer_from(reading, &[chunk("c", "Text.")]);
        assert!(answer.abstained && answer.text.is_empty());
        assert_eq!(answer.reason, "No passage names it.");
    }
}
