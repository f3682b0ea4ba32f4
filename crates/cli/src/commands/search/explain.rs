//! `--explain`: what each layer and each kind of edge gave to a hit.
use std::fmt::Write as _;

use console::style;
use halma_core::{Hit, Layer, Mode, ScorePart};
use halma_engine::DenseTrust;
use serde_json::{Value, json};

use crate::view::shorten;

/// What scores of one search are explained by.
pub(super) struct Explanation {
    pub(super) layer: Layer,
    pub(super) mode: Mode,
    /// The cosine from which nodes of the layer count as near; `None` without vectors.
    pub(super) usual: Option<f32>,
    /// How much cosines say about the text of the base, where that was measured.
    pub(super) trust: Option<DenseTrust>,
}

impl Explanation {
    /// The line above the hits.
    pub(super) fn heading(&self) -> String {
        let (mode, layer) = (self.mode.name(), self.layer.name());
        let weight = match self.trust {
            Some(trust) if trust.are_compared() => {
                format!("; cosines weigh {:.2}", trust.weight())
            }
            Some(trust) => {
                let DenseTrust { queries, dense, bm25, .. } = trust;
                return format!(
                    "{mode} search of layer {layer} by BM25: the embedder does not understand the \
                     text (of {queries} parts of passages cosines find {dense}, BM25 {bm25})"
                );
            }
            None => String::new(),
        };
        match self.usual {
            Some(usual) => {
                format!("{mode} search of layer {layer}; near from cosine {usual:.3}{weight}")
            }
            None => format!("{mode} search of layer {layer}, which has no vectors"),
        }
    }

    pub(super) fn json(&self) -> Value {
        let weight = self.trust.map(|trust| trust.weight());
        json!({
            "mode": self.mode,
            "layer": self.layer,
            "near_from_cosine": self.usual,
            "dense_weight": weight,
        })
    }

    /// Whether methods take a hit as near enough; `None` where it has no cosine.
    pub(super) fn is_near(&self, hit: &Hit) -> Option<bool> {
        Some(hit.cosine? >= self.usual?)
    }

    /// The parts of a score, of which there is one where the mode compares one thing only.
    fn parts(&self, hit: &Hit) -> Vec<ScorePart> {
        if !hit.parts.is_empty() {
            return hit.parts.clone();
        }
        // Where a layer has no vectors, every mode searches it by BM25.
        let name = if self.mode == Mode::Dense && self.usual.is_some() { "dense" } else { "bm25" };
        vec![ScorePart { name: name.to_owned(), score: hit.score, through: String::new() }]
    }

    pub(super) fn parts_json(&self, hit: &Hit) -> Value {
        let part = |part: ScorePart| {
            json!({
                "layer": part.layer().unwrap_or(self.layer),
                "edge": part.edge(),
                "name": part.name,
                "score": part.score,
                "through": part.through,
            })
        };
        self.parts(hit).into_iter().map(part).collect()
    }

    /// One line for each part: layer, edge, name, score, and what it came through.
    pub(super) fn table(&self, hit: &Hit) -> String {
        let mut lines = vec![];
        for part in self.parts(hit) {
            let layer = part.layer().unwrap_or(self.layer).name();
            let edge = part.edge().map_or("", |edge| edge.name());
            let mut line = format!("{layer:<10} {edge:<13} {:<10} {:>7.3}", part.name, part.score);
            if !part.through.is_empty() {
                let _ = write!(line, "  {}", shorten(&part.through, 100));
            }
            lines.push(format!("     {}", style(line).cyan()));
        }
        if let Some(cosine) = hit.cosine {
            let near = match self.is_near(hit) {
                Some(false) => "below what counts as near",
                _ => "near",
            };
            lines.push(format!("     {}", style(format!("cosine {cosine:.3}: {near}")).dim()));
        }
        lines.join("\n")
    }
}
