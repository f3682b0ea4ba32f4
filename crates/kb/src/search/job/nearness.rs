//! How near the rows of a list are to the text that it was made for.
use std::sync::Arc;

use halma_core::Vector;

use crate::search::single_chunk;
use crate::store::{At, StoreReader};
use crate::vectors::{Matrix, Probe, QueryVector, cosine};

/// How near a node is to the text of a query.
#[derive(Clone, Copy)]
pub(super) struct Nearness {
    /// The cosine with the vector of the text.
    pub(super) original: f32,
    /// The greater of it and that with the same vector moved towards those of its tags: what the
    /// tags of the text lead to may be far from its own words.
    pub(super) greatest: f32,
}

impl Nearness {
    fn new(original: f32, moved: f32) -> Self {
        Self { original, greatest: original.max(moved) }
    }
}

/// The vectors of a text that rows are compared with.
pub(super) struct TextVectors<'a> {
    /// The text's own.
    pub(super) original: &'a QueryVector,
    /// Moved towards those of its tags.
    pub(super) moved: &'a QueryVector,
    /// Both over the rows of the layer that is searched, where that has vectors.
    probes: Option<(Probe<'a>, Probe<'a>)>,
}

impl<'a> TextVectors<'a> {
    pub(super) fn new(
        original: &'a QueryVector,
        moved: &'a QueryVector,
        matrix: Option<&'a Arc<Matrix>>,
    ) -> Self {
        let probes = matrix.map(|matrix| (Probe::new(matrix, original), Probe::new(matrix, moved)));
        Self { original, moved, probes }
    }

    /// How near a node of the layer that is searched is; `None` where it has no vector by this
    /// embedder.
    pub(super) fn nearness(
        &self,
        reader: &StoreReader<'_>,
        embedder: u8,
        at: At,
    ) -> heed::Result<Option<Nearness>> {
        if let Some((original, moved)) = &self.probes
            && original.has(at.1)
        {
            let cosines = original.cosine(at.1).zip(moved.cosine(at.1));
            return Ok(cosines.map(|(original, moved)| Nearness::new(original, moved)));
        }
        let node = single_chunk::vector(reader, embedder, at)?;
        let near = |node: Vector| {
            let original = cosine(self.original.vector(), &node);
            Nearness::new(original, cosine(self.moved.vector(), &node))
        };
        Ok(node.map(near))
    }
}
