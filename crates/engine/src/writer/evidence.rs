//! What an answer rests on: of all passages that were read, those that lead to it.
use halma_core::text::support::{
    Explained, TitledText, explain, nearest_sentence, without_markdown,
};
use halma_core::{Answer, Citation, Cx, NodeId, Question};
use serde::Serialize;

/// The most passages that an answer is written from.
const MAX_SOURCES: usize = 8;

/// A passage that an answer rests on.
#[derive(Debug, Clone, Serialize)]
pub(super) struct EvidenceSource {
    pub(super) title: String,
    /// The whole passage, of which the citation may quote a part.
    pub(super) text: String,
    #[serde(skip)]
    citation: Citation,
    /// The characters of the document's text that `text` is; `None` where it was rendered.
    #[serde(skip)]
    start: Option<usize>,
}

impl EvidenceSource {
    async fn read(citation: &Citation, cx: &Cx) -> Self {
        let (title, citation) = (citation.title.clone(), citation.clone());
        match cx.get(&citation.node).await {
            Ok(hit) => {
                let length = hit.span.end.saturating_sub(hit.span.start);
                let start = (hit.text.chars().count() == length).then_some(hit.span.start);
                Self { title, text: hit.text, citation, start }
            }
            // Of a source outside the base, the quotation is all there is.
            Err(_) => Self { title, text: citation.quote.clone(), citation, start: None },
        }
    }

    pub(super) fn passage(&self) -> TitledText<'_> {
        TitledText { title: &self.title, text: &self.text }
    }

    pub(super) fn node(&self) -> &NodeId {
        &self.citation.node
    }

    /// Quotes the sentence that is nearest to a claim, where the whole passage is quoted so far.
    pub(super) fn quote_for(&mut self, claim: &str) {
        if let Some(range) = nearest_sentence(claim, &self.text) {
            self.quote(range);
        }
    }

    /// Quotes a part of the passage, where the whole of it is quoted so far.
    fn quote(&mut self, range: std::ops::Range<usize>) {
        let is_whole = self.citation.quote.trim() == self.text.trim();
        let Some(start) = self.start.filter(|_| is_whole) else { return };
        let quote = &self.text[range.clone()];
        self.citation.start = start + self.text[..range.start].chars().count();
        self.citation.end = self.citation.start + quote.chars().count();
        self.citation.quote = quote.to_owned();
    }

    /// The citation, whose quotation has no marks of Markdown.
    pub(super) fn into_citation(self) -> Citation {
        let quote = without_markdown(&self.citation.quote);
        Citation { quote, ..self.citation }
    }
}

/// All passages that an answer cites, each once, in their order.
pub(super) async fn cited(answer: &Answer, cx: &Cx) -> Vec<EvidenceSource> {
    let mut sources: Vec<EvidenceSource> = vec![];
    for citation in &answer.citations {
        if sources.iter().all(|source| *source.node() != citation.node) {
            sources.push(EvidenceSource::read(citation, cx).await);
        }
    }
    sources
}

/// The passages an answer rests on, in the order in which they were read: those with the sentences
/// that lead from the question to the answer. All, where no rule tells.
pub(super) async fn collect(question: &Question, answer: &Answer, cx: &Cx) -> Vec<EvidenceSource> {
    let mut sources = cited(answer, cx).await;
    let passages: Vec<TitledText<'_>> = sources.iter().map(EvidenceSource::passage).collect();
    let chain = explain(explained(question, answer), &passages);
    let used: Vec<usize> = chain.iter().map(|sentence| sentence.passage).collect();
    let mut quotes = vec![None; sources.len()];
    for sentence in chain {
        quotes[sentence.passage].get_or_insert(sentence.range);
    }
    for (source, quote) in sources.iter_mut().zip(quotes) {
        if let Some(range) = quote {
            source.quote(range);
        }
    }
    let all = used.is_empty();
    let kept = sources.into_iter().enumerate().filter(|(at, _)| all || used.contains(at));
    kept.map(|(_, source)| source).take(MAX_SOURCES).collect()
}

pub(super) fn explained<'a>(question: &'a Question, answer: &'a Answer) -> Explained<'a> {
    Explained { question: &question.text, answer: &answer.text, reason: &answer.reason }
}
