//! A source of texts other than the base, and the faults that it and the toy graph have on command.
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use halma_core::text::content_words;
use halma_core::{BoxError, Hit, Layer, NodeId, Source, Span};
use parking_lot::Mutex;

/// Which queries of a source fail, and why.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    queries: AtomicUsize,
    /// Queries by number, from 1.
    at: Vec<(usize, String)>,
    from: Option<(usize, String)>,
}

impl Faults {
    pub(crate) fn add_at(&mut self, query: usize, reason: &str) {
        self.at.push((query, reason.to_owned()));
    }

    pub(crate) fn set_from(&mut self, query: usize, reason: &str) {
        self.from = Some((query, reason.to_owned()));
    }

    /// One more query: whether it is answered.
    pub(crate) fn next(&self) -> Result<(), BoxError> {
        let query = self.queries.fetch_add(1, Ordering::AcqRel) + 1;
        let at = self.at.iter().find(|(at, _)| *at == query);
        let from = self.from.as_ref().filter(|(from, _)| query >= *from);
        match at.or(from) {
            Some((_, reason)) => Err(reason.clone().into()),
            None => Ok(()),
        }
    }
}

/// Texts that are found by the words they share with a query; a score is the share of the query's
/// content words that title and text hold.
pub struct ToySource {
    name: String,
    hits: Vec<Hit>,
    faults: Faults,
    queries: Mutex<Vec<String>>,
}

impl ToySource {
    /// Rows of (address, title, text); a hit's id is `name:address`.
    pub fn new(name: &str, rows: &[(&str, &str, &str)]) -> Self {
        let hit = |(address, title, text): &(&str, &str, &str)| Hit {
            id: NodeId(format!("{name}:{address}")),
            layer: Layer::Chunk,
            parent: None,
            document: (*address).to_owned(),
            title: (*title).to_owned(),
            section: None,
            page: None,
            text: (*text).to_owned(),
            score: 0.0,
            cosine: None,
            parts: vec![],
            span: Span { start: 0, end: text.chars().count() },
        };
        let hits = rows.iter().map(hit).collect();
        Self { name: name.to_owned(), hits, faults: Faults::default(), queries: Mutex::default() }
    }

    /// The query with this number, from 1, fails.
    #[must_use]
    pub fn failing_at(mut self, query: usize, reason: &str) -> Self {
        self.faults.add_at(query, reason);
        self
    }

    /// The query with this number, from 1, fails, and so do all after it.
    #[must_use]
    pub fn failing_from(mut self, query: usize, reason: &str) -> Self {
        self.faults.set_from(query, reason);
        self
    }

    pub fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    /// What it was asked, in order.
    pub fn queries(&self) -> Vec<String> {
        self.queries.lock().clone()
    }
}

#[async_trait]
impl Source for ToySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &'static str {
        "a few pages"
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, BoxError> {
        self.queries.lock().push(query.to_owned());
        self.faults.next()?;
        let wanted: BTreeSet<String> = content_words(query).into_iter().collect();
        let hits = self.hits.iter().filter_map(|hit| {
            let words: BTreeSet<String> =
                content_words(&format!("{} {}", hit.title, hit.text)).into_iter().collect();
            let score = share(wanted.intersection(&words).count(), wanted.len());
            (score > 0.0).then(|| Hit { score, ..hit.clone() })
        });
        let mut hits: Vec<Hit> = hits.collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        hits.truncate(limit);
        Ok(hits)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
pub(crate) fn share(words: usize, wanted: usize) -> f32 {
    words as f32 / wanted.max(1) as f32
}
