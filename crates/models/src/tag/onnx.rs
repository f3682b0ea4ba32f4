//! A token classifier from an ONNX file: it gives every word piece a class, and pieces become words,
//! words entities.
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{LlmError, Mention, Span, Tagger};

use super::classes::{Class, TokenWord, runs};
use crate::onnx::{Files, Graph, InferencePool, Logits, OnnxError, Tokens, Window, threads};

/// A model for named entities, run on this machine's processor. Cheap to clone.
///
/// The classes are those of `id2label` in the model's `config.json`. A word's class is the one
/// that its pieces take for the likeliest on average; an entity's score is the mean of its words'.
/// A long text is read window by window.
#[derive(Clone)]
pub struct TokenClassifier(Arc<Inner>);

struct Inner {
    name: String,
    tokens: Tokens,
    graph: Graph,
    pool: InferencePool,
    classes: Vec<Class>,
}

impl TokenClassifier {
    /// Opens the model in a folder, or an `.onnx` file next to its `tokenizer.json` and
    /// `config.json`, and tries it on a word.
    ///
    /// `threads`: how many to compute with; all processors when `None`.
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Self, OnnxError> {
        let files = Files::at(path)?;
        let labels = files.labels()?;
        let classes: Vec<Class> = labels.iter().map(|label| Class::named(label)).collect();
        if classes.iter().all(Class::is_outside) {
            let reason =
                "`id2label` names no class of entities; take the model's own `config.json`";
            return Err(files.wrong(reason.into()));
        }
        let tokens = Tokens::open(&files)?;
        let graph = Graph::open(&files.graph, files.pad())?;
        let pool = InferencePool::new(self::threads(threads));
        let inner = Inner { name: files.name.clone(), tokens, graph, pool, classes };
        inner.words("a").map_err(|reason| OnnxError::graph(&files.graph, &reason))?;
        Ok(Self(Arc::new(inner)))
    }
}

/// A word as one window shows it.
struct WordPieces {
    /// In characters.
    place: Range<usize>,
    /// One for each class.
    likelihoods: Vec<f32>,
    pieces: usize,
    /// Tokens between it and the nearer end of its window: what is at the edge is classified worst.
    margin: usize,
}

impl Inner {
    fn entities(&self, text: &str) -> Result<Vec<Mention>, String> {
        let words = self.words(text)?;
        // Bytes at which the characters begin, to cut the text where the model found something.
        let mut starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        starts.push(text.len());
        let mention = |run: super::classes::TokenRun<'_>| Mention {
            text: text[starts[run.place.start]..starts[run.place.end]].to_owned(),
            kind: run.kind.to_owned(),
            span: Span { start: run.place.start, end: run.place.end },
            score: run.score,
        };
        Ok(runs(&words, &self.classes).into_iter().map(mention).collect())
    }

    /// The words of a text in order, each as the window in which it stands best shows it.
    fn words(&self, text: &str) -> Result<Vec<TokenWord>, String> {
        let characters: Vec<char> = text.chars().collect();
        let windows = self.tokens.windows(text)?;
        let lengths: Vec<usize> = windows.iter().map(|window| window.row.ids.len()).collect();
        let pieces = self.pool.run_batched(&lengths, |run, pool| {
            let rows: Vec<_> = run.iter().map(|&at| &windows[at].row).collect();
            let logits = self.graph.run(&rows, pool)?;
            let table = self.table(&logits)?;
            let of = |(&at, table)| pieces_of(&windows[at], table, &characters, self.classes.len());
            Ok(run.iter().zip(table).map(of).collect())
        })?;
        let mut pieces: Vec<WordPieces> = pieces.into_iter().flatten().collect();
        pieces.sort_by_key(|word| word.place.start);
        let mut best: Vec<WordPieces> = vec![];
        for word in pieces {
            match best.last_mut() {
                Some(last) if word.place.start < last.place.end => {
                    if word.margin > last.margin {
                        *last = word;
                    }
                }
                _ => best.push(word),
            }
        }
        best.iter().map(word).collect()
    }

    /// The logits row by row, each `[tokens, classes]`.
    fn table<'l>(&self, logits: &'l Logits) -> Result<std::slice::Chunks<'l, f32>, String> {
        let (shape, classes) = (&logits.shape, self.classes.len());
        match shape[..] {
            [_, tokens, columns] if columns == classes && tokens > 0 => {
                Ok(logits.values.chunks(tokens * classes))
            }
            _ => Err(format!(
                "its output has the shape {shape:?}; a token classifier's is [texts, tokens, \
                 classes], and `id2label` names {classes} classes"
            )),
        }
    }
}

/// Pieces into words: those that nothing parts, by their places in the text.
fn pieces_of(window: &Window, table: &[f32], text: &[char], classes: usize) -> Vec<WordPieces> {
    let mut words: Vec<WordPieces> = vec![];
    let last = window.places.len().saturating_sub(1);
    for (at, (place, logits)) in window.places.iter().zip(table.chunks(classes)).enumerate() {
        // Some tokenizers count the blank before a word to it.
        let Some(place) = place.as_ref().map(|place| trimmed(place, text)) else { continue };
        if place.is_empty() {
            continue;
        }
        let likelihoods = softmax(logits);
        let inside = |at: usize| text[at].is_alphanumeric();
        match words.last_mut() {
            Some(word)
                if word.place.end == place.start
                    && inside(place.start)
                    && inside(place.start - 1) =>
            {
                word.place.end = place.end;
                word.pieces += 1;
                word.likelihoods.iter_mut().zip(likelihoods).for_each(|(sum, share)| *sum += share);
            }
            _ => {
                words.push(WordPieces { place, likelihoods, pieces: 1, margin: at.min(last - at) });
            }
        }
    }
    words
}

fn trimmed(place: &Range<usize>, text: &[char]) -> Range<usize> {
    let end = place.end.min(text.len());
    let said = &text[place.start.min(end)..end];
    let blank = said.iter().take_while(|c| c.is_whitespace()).count();
    let trailing = said[blank..].iter().rev().take_while(|c| c.is_whitespace()).count();
    place.start.min(end) + blank..end - trailing
}

fn softmax(logits: &[f32]) -> Vec<f32> {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shares: Vec<f32> = logits.iter().map(|logit| (logit - max).exp()).collect();
    let sum: f32 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

fn word(seen: &WordPieces) -> Result<TokenWord, String> {
    let likeliest = seen.likelihoods.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let (class, sum) = likeliest.ok_or("the graph gave no classes")?;
    #[expect(clippy::cast_precision_loss, reason = "a word has few pieces")]
    let score = sum / seen.pieces as f32;
    if score.is_nan() {
        return Err("the graph gave a score that is not a number".into());
    }
    Ok(TokenWord { place: seen.place.clone(), class, score })
}

#[async_trait]
impl Tagger for TokenClassifier {
    fn name(&self) -> &str {
        &self.0.name
    }

    async fn entities(&self, text: &str) -> Result<Vec<Mention>, LlmError> {
        if text.trim().is_empty() {
            return Ok(vec![]);
        }
        let (inner, text) = (Arc::clone(&self.0), text.to_owned());
        let tagged = tokio::task::spawn_blocking(move || {
            let refused = |e| LlmError::refused(format!("`{}` cannot tag: {e}", inner.name));
            inner.entities(&text).map_err(refused)
        });
        tagged.await.map_err(|e| LlmError::refused(format!("tagging stopped: {e}")))?
    }
}

#[cfg(test)]
#[path = "onnx_tests.rs"]
mod tests;
