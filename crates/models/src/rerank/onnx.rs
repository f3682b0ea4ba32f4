//! A cross-encoder from an ONNX file: it reads query and text together and says how well they fit.
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{LlmError, Reranker};

use super::sigmoid;
use crate::onnx::{Files, Graph, InferencePool, Logits, OnnxError, Row, Tokens, threads};

/// A model that scores pairs, run on this machine's processor. Cheap to clone.
///
/// With one output the score is its sigmoid; with several (relevant or not; entailed, neutral,
/// contradicted) it is the share that the softmax gives to one of them.
#[derive(Clone)]
pub struct CrossEncoder(Arc<Inner>);

struct Inner {
    name: String,
    tokens: Tokens,
    graph: Graph,
    pool: InferencePool,
    head: Head,
}

/// How a score is read from the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    One,
    Class {
        at: usize,
        /// The model tells whether its first text entails the second, so that the text stands
        /// first and the query second.
        entails: bool,
    },
}

impl CrossEncoder {
    /// Opens the model in a folder, or an `.onnx` file next to its `tokenizer.json`, and tries it
    /// on a pair of words.
    ///
    /// `label` names the class that makes the score, or gives its number; `threads`: how many to
    /// compute with, all processors when `None`.
    pub fn open(
        path: &Path,
        label: Option<&str>,
        threads: Option<usize>,
    ) -> Result<Self, OnnxError> {
        let files = Files::at(path)?;
        let tokens = Tokens::open(&files)?;
        let graph = Graph::open(&files.graph, files.pad())?;
        let pool = InferencePool::new(self::threads(threads));
        let name = files.name.clone();
        let mut inner = Inner { name, tokens, graph, pool, head: Head::One };
        let wrong = |reason: String| OnnxError::graph(&files.graph, &reason);
        let pair = inner.tokens.pair("a", "b").map_err(wrong)?;
        let tried = inner.pool.run_batched(&[pair.ids.len()], |_, pool| {
            Ok(vec![inner.graph.run(&[&pair], pool).and_then(|logits| classes(&logits))?])
        });
        let classes = tried.map_err(wrong)?[0];
        inner.head = head(classes, &files.labels()?, label).map_err(|e| files.wrong(e))?;
        Ok(Self(Arc::new(inner)))
    }
}

/// How many outputs there are for a pair.
fn classes(logits: &Logits) -> Result<usize, String> {
    match logits.shape[..] {
        [_] => Ok(1),
        [_, classes] if classes > 0 => Ok(classes),
        _ => Err(format!(
            "its output has the shape {:?}; a cross-encoder's is [pairs, classes]",
            logits.shape
        )),
    }
}

fn head(classes: usize, labels: &[String], wanted: Option<&str>) -> Result<Head, String> {
    if classes == 1 {
        return Ok(Head::One);
    }
    let entailing = |label: &str| {
        let label = label.to_lowercase();
        label.contains("entail") && !label.contains("not") && !label.contains("non")
    };
    let class = match wanted {
        Some(wanted) => labels
            .iter()
            .position(|label| label.eq_ignore_ascii_case(wanted))
            .or_else(|| wanted.parse().ok()),
        None => labels
            .iter()
            .position(|label| entailing(label))
            // By custom the second of two says yes.
            .or((classes == 2).then_some(1)),
    };
    let at = class.filter(|at| *at < classes).ok_or_else(|| {
        let names = labels.join("`, `");
        let which = wanted.map_or("that entails".into(), |wanted| format!("`{wanted}`"));
        format!("none of its {classes} classes is the one {which} (`{names}`); set `label`")
    })?;
    Ok(Head::Class { at, entails: labels.get(at).is_some_and(|label| entailing(label)) })
}

impl Inner {
    fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, String> {
        let pair = |text: &String| match self.head {
            Head::Class { entails: true, .. } => self.tokens.pair(text, query),
            _ => self.tokens.pair(query, text),
        };
        let rows: Vec<Row> = texts.iter().map(pair).collect::<Result<_, _>>()?;
        let lengths: Vec<usize> = rows.iter().map(|row| row.ids.len()).collect();
        self.pool.run_batched(&lengths, |run, pool| {
            let rows: Vec<&Row> = run.iter().map(|&at| &rows[at]).collect();
            let logits = self.graph.run(&rows, pool)?;
            let classes = classes(&logits)?;
            logits.values.chunks(classes).map(|logits| score(logits, self.head)).collect()
        })
    }
}

fn score(logits: &[f32], head: Head) -> Result<f32, String> {
    let score = match (head, logits) {
        (Head::One, [logit]) => sigmoid(*logit),
        (Head::Class { at, .. }, logits) if at < logits.len() => {
            let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = logits.iter().map(|logit| (logit - max).exp()).sum();
            (logits[at] - max).exp() / sum
        }
        _ => return Err(format!("the graph gave {} outputs for a pair", logits.len())),
    };
    if score.is_nan() {
        Err("the graph gave a score that is not a number".into())
    } else {
        Ok(score)
    }
}

#[async_trait]
impl Reranker for CrossEncoder {
    fn name(&self) -> &str {
        &self.0.name
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let (inner, query) = (Arc::clone(&self.0), query.to_owned());
        let scored = tokio::task::spawn_blocking(move || {
            let refused = |e| LlmError::refused(format!("`{}` cannot rerank: {e}", inner.name));
            inner.rerank(&query, &texts).map_err(refused)
        });
        scored.await.map_err(|e| LlmError::refused(format!("reranking stopped: {e}")))?
    }
}

#[cfg(test)]
#[path = "onnx_tests.rs"]
mod tests;
