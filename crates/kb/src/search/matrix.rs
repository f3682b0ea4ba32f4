//! Exact vector search of one layer: all rows as i8 in memory, the best rescored with the f32
//! vectors of the store.
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use halma_core::{Layer, Vector};
use simsimd::SpatialSimilarity;

use super::filter::Admitted;
use crate::KbError;
use crate::store::{Row, Store, StoreReader};

/// Rows scanned for all queries before the next ones are touched; 384 dimensions of them stay in
/// the second-level cache.
const BLOCK: usize = 512;

/// Candidates rescored for each hit wanted, and the least of them: of 100,000 × 384 the ten best
/// are among the forty best by i8 (recall 1.0 over 50 queries, `benches/search.rs`).
const CANDIDATES: usize = 4;
const LEAST_CANDIDATES: usize = 50;

/// The vectors of one embedder and layer as they were at one moment.
pub(crate) struct Matrix {
    embedder: u8,
    layer: Layer,
    dimensions: usize,
    rows: Vec<Row>,
    /// Row after row, each scaled so that its largest component is 127.
    values: Vec<i8>,
    /// What a component of 1 stands for in each row.
    scales: Vec<f32>,
}

impl Matrix {
    pub(crate) fn load(store: &Store, embedder: u8, layer: Layer) -> Result<Self, KbError> {
        let mut matrix =
            Self { embedder, layer, dimensions: 0, rows: vec![], values: vec![], scales: vec![] };
        store.read(|reader| {
            reader.each_vector(embedder, layer, |row, vector| matrix.push(row, vector))
        })?;
        Ok(matrix)
    }

    /// The number of the embedder that it holds vectors of.
    pub(crate) fn embedder(&self) -> u8 {
        self.embedder
    }

    fn push(&mut self, row: Row, vector: &[f32]) {
        if self.rows.is_empty() {
            self.dimensions = vector.len();
        }
        // One embedder's vectors are of one length; anything else could not be compared.
        if vector.len() == self.dimensions {
            let (values, scale) = quantize(vector);
            self.rows.push(row);
            self.values.extend(values);
            self.scales.push(scale);
        }
    }

    /// The rows nearest to each query by cosine, best first, ties by row.
    pub(crate) fn search(
        &self,
        reader: &StoreReader<'_>,
        queries: &[&Vector],
        limit: usize,
        admitted: &Admitted,
    ) -> heed::Result<Vec<Vec<(Row, f32)>>> {
        let most = (CANDIDATES * limit).max(LEAST_CANDIDATES);
        let mut found = vec![];
        for (query, heap) in queries.iter().zip(self.scan(queries, most, admitted)) {
            let mut best = vec![];
            for candidate in heap {
                let vector = reader.vector(self.embedder, self.layer, candidate.0.row)?;
                best.extend(vector.map(|vector| (candidate.0.row, cosine(query, &vector))));
            }
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            best.truncate(limit);
            found.push(best);
        }
        Ok(found)
    }

    /// The best rows by i8, for all queries in one pass over memory.
    fn scan(
        &self,
        queries: &[&Vector],
        most: usize,
        admitted: &Admitted,
    ) -> Vec<BinaryHeap<Reverse<Candidate>>> {
        let quantized: Vec<Vec<i8>> = queries.iter().map(|query| quantize(query).0).collect();
        let mut heaps: Vec<_> =
            queries.iter().map(|_| BinaryHeap::with_capacity(most + 1)).collect();
        if self.dimensions == 0 {
            return heaps;
        }
        let width = BLOCK * self.dimensions;
        for (block, values) in self.values.chunks(width).enumerate() {
            for (query, heap) in quantized.iter().zip(&mut heaps) {
                let mut least = threshold(heap, most);
                for (i, row) in values.chunks_exact(self.dimensions).enumerate() {
                    let at = block * BLOCK + i;
                    let score = dot(query, row) * self.scales[at];
                    if score > least && admitted.admits(self.rows[at]) {
                        heap.push(Reverse(Candidate { score, row: self.rows[at] }));
                        if heap.len() > most {
                            heap.pop();
                        }
                        least = threshold(heap, most);
                    }
                }
            }
        }
        heaps
    }
}

/// The cosine of a row, where it has a vector, by i8: good to about 0.005.
pub(crate) struct Probe<'m> {
    matrix: &'m Matrix,
    values: Vec<i8>,
    scale: f32,
}

impl<'m> Probe<'m> {
    pub(crate) fn new(matrix: &'m Matrix, query: &Vector) -> Self {
        let (values, scale) = quantize(query);
        Self { matrix, values, scale }
    }

    pub(crate) fn cosine(&self, row: Row) -> Option<f32> {
        let matrix = self.matrix;
        // Rows are stored in their order, mostly without gaps.
        let guess = matrix.rows.first().and_then(|first| row.checked_sub(*first))? as usize;
        let at = match matrix.rows.get(guess) {
            Some(found) if *found == row => guess,
            _ => matrix.rows.binary_search(&row).ok()?,
        };
        let start = at * matrix.dimensions;
        let values = matrix.values.get(start..start + matrix.dimensions)?;
        Some(dot(&self.values, values) * matrix.scales[at] * self.scale)
    }
}

impl Matrix {
    /// The least and the greatest cosine of each query with any row, by i8.
    pub(crate) fn ranges(&self, queries: &[&Vector]) -> Vec<(f32, f32)> {
        let probes: Vec<Probe<'_>> = queries.iter().map(|query| Probe::new(self, query)).collect();
        let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); queries.len()];
        if self.dimensions == 0 {
            return vec![(0.0, 0.0); queries.len()];
        }
        for (block, values) in self.values.chunks(BLOCK * self.dimensions).enumerate() {
            for (probe, range) in probes.iter().zip(&mut ranges) {
                for (i, row) in values.chunks_exact(self.dimensions).enumerate() {
                    let scale = self.scales[block * BLOCK + i] * probe.scale;
                    let near = dot(&probe.values, row) * scale;
                    *range = (range.0.min(near), range.1.max(near));
                }
            }
        }
        ranges
    }
}

/// The score a row must beat to get into a heap.
fn threshold(heap: &BinaryHeap<Reverse<Candidate>>, most: usize) -> f32 {
    if heap.len() < most {
        return f32::NEG_INFINITY;
    }
    heap.peek().map_or(f32::NEG_INFINITY, |worst| worst.0.score)
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    score: f32,
    row: Row,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A vector as i8 with the size of one step. Scaling each row to its own largest component keeps
/// far more of it than one scale for all: components of unit vectors are small.
#[expect(clippy::cast_possible_truncation, reason = "scaled to at most 127")]
fn quantize(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return (vec![0; vector.len()], 0.0);
    }
    let step = largest / 127.0;
    (vector.iter().map(|x| (x / step).round() as i8).collect(), step)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 127² for each dimension")]
fn dot(a: &[i8], b: &[i8]) -> f32 {
    i8::dot(a, b).unwrap_or_default() as f32
}

/// The cosine of two unit vectors; 0 when their lengths differ.
#[expect(clippy::cast_possible_truncation, reason = "a cosine")]
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    f32::dot(a, b).map_or(0.0, |dot| dot.clamp(-1.0, 1.0) as f32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantizing_keeps_the_direction() {
        let vector: Vec<f32> =
            (0_u16..384).map(|i| (f32::from(i * 37 % 101) - 50.0) / 600.0).collect();
        let (values, step) = quantize(&vector);
        let back: Vec<f32> = values.iter().map(|x| f32::from(*x) * step).collect();
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        let dot: f32 = vector.iter().zip(&back).map(|(a, b)| a * b).sum();
        assert!(dot / length(&vector) / length(&back) > 0.9999);
        assert_eq!(quantize(&[0.0, 0.0]), (vec![0, 0], 0.0));
        assert_eq!(quantize(&[f32::NAN, 1.0]).0[1], 127);
    }

    proptest! {
        #[test]
        fn the_scan_finds_the_nearest_whatever_the_block(
            seeds in proptest::collection::vec(0u16..10_000, 1..1200),
            most in 1usize..6,
        ) {
            let unit = |seed: u16| {
                let raw: Vec<f32> =
                    (1u16..9).map(|i| (f32::from(seed) * 0.37 * f32::from(i)).sin()).collect();
                let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
                raw.into_iter().map(|x| x / length).collect::<Vec<f32>>()
            };
            let mut matrix = Matrix {
                embedder: 0, layer: Layer::Chunk, dimensions: 0,
                rows: vec![], values: vec![], scales: vec![],
            };
            for (row, seed) in (0..).zip(&seeds) {
                matrix.push(row, &unit(*seed));
            }
            let query = unit(1);
            let excluded = Admitted { excluded: [0].into(), allowed: None };
            let found = matrix.scan(&[&query], most, &excluded).remove(0);
            prop_assert_eq!(found.len(), most.min(seeds.len() - 1));
            let mut exact: Vec<f32> =
                seeds.iter().skip(1).map(|seed| cosine(&query, &unit(*seed))).collect();
            exact.sort_by(|a, b| b.total_cmp(a));
            for candidate in found {
                prop_assert!(candidate.0.row != 0);
                let near = cosine(&query, &unit(seeds[candidate.0.row as usize]));
                prop_assert!(near > exact[most.min(exact.len()) - 1] - 0.05);
            }
        }
    }
}
