//! Vector search of one layer: all rows as codes of one bit and as i8 in memory. Codes cut, i8
//! orders what is left, and the best are rescored with the f32 vectors of the store.
use std::cmp::Ordering;

use halma_core::{Layer, Vector};
use simsimd::SpatialSimilarity;

use super::codes::Codes;
use super::filter::Admitted;
use crate::KbError;
use crate::store::{Row, Store, StoreReader};

/// Candidates rescored for each hit wanted, and the least of them: of 100,000 × 384 the ten best
/// are among the forty best by i8 (recall 1.0 over 50 queries, `benches/search.rs`).
const CANDIDATES: usize = 4;
const LEAST_CANDIDATES: usize = 50;

/// Rows looked at for the nearest and the farthest one.
const ENDS: usize = 10;

/// The vectors of one embedder and layer as they were at one moment.
pub(crate) struct Matrix {
    embedder: u8,
    layer: Layer,
    dimensions: usize,
    rows: Vec<Row>,
    codes: Codes,
    /// Row after row, each scaled so that its largest component is 127.
    values: Vec<i8>,
    /// What a component of 1 stands for in each row.
    scales: Vec<f32>,
}

impl Matrix {
    pub(crate) fn load(store: &Store, embedder: u8, layer: Layer) -> Result<Self, KbError> {
        let mut matrix = Self::new(embedder, layer);
        store.read(|reader| {
            reader.each_vector(embedder, layer, |row, vector| matrix.push(row, vector))
        })?;
        Ok(matrix)
    }

    fn new(embedder: u8, layer: Layer) -> Self {
        Self {
            embedder,
            layer,
            dimensions: 0,
            rows: vec![],
            codes: Codes::default(),
            values: vec![],
            scales: vec![],
        }
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
            self.codes.push(vector);
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
        let most = limit.saturating_mul(CANDIDATES).max(LEAST_CANDIDATES);
        let mut found = vec![];
        for (query, near) in queries.iter().zip(self.near(queries, most, admitted)) {
            let mut best = vec![];
            for (row, _) in near {
                let vector = reader.vector(self.embedder, self.layer, row)?;
                best.extend(vector.map(|vector| (row, cosine(query, &vector))));
            }
            best.sort_by(by_score);
            best.truncate(limit);
            found.push(best);
        }
        Ok(found)
    }

    /// The rows nearest to each query by i8, whose cosines are good to about 0.005, best first,
    /// ties by row. The store is not read.
    pub(crate) fn near(
        &self,
        queries: &[&Vector],
        most: usize,
        admitted: &Admitted,
    ) -> Vec<Vec<(Row, f32)>> {
        let admits = |at: usize| admitted.admits(self.rows[at]);
        let admits: Option<&dyn Fn(usize) -> bool> =
            if admitted.is_everything() { None } else { Some(&admits) };
        let near = |query: &&Vector| {
            let probe = Probe::new(self, query);
            let candidates = self.codes.candidates(query, most, admits);
            let scored = candidates.into_iter().map(|at| (self.rows[at], probe.at(at)));
            let mut scored: Vec<(Row, f32)> = scored.collect();
            scored.sort_unstable_by(by_score);
            scored.truncate(most);
            scored
        };
        queries.iter().map(near).collect()
    }
}

/// Best first, ties by row.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "sorting passes references")]
fn by_score(a: &(Row, f32), b: &(Row, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
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
        Some(self.at(at))
    }

    /// The cosine of the row in this place.
    fn at(&self, at: usize) -> f32 {
        let matrix = self.matrix;
        let start = at * matrix.dimensions;
        let values = matrix.values.get(start..start + matrix.dimensions);
        values.map_or(0.0, |values| dot(&self.values, values) * matrix.scales[at] * self.scale)
    }
}

impl Matrix {
    /// The least and the greatest cosine of each query with any row, by i8.
    pub(crate) fn ranges(&self, queries: &[&Vector]) -> Vec<(f32, f32)> {
        let range = |query: &&Vector| {
            let probe = Probe::new(self, query);
            let near = self.codes.candidates(query, ENDS, None);
            let far = self.codes.farthest(query, ENDS);
            let cosines = near.into_iter().chain(far).map(|at| probe.at(at));
            let range = cosines.fold((f32::INFINITY, f32::NEG_INFINITY), |range, near| {
                (range.0.min(near), range.1.max(near))
            });
            if range.0 > range.1 { (0.0, 0.0) } else { range }
        };
        queries.iter().map(range).collect()
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
        fn the_nearest_are_found(
            seeds in proptest::collection::vec(0u16..10_000, 1..1200),
            most in 1usize..6,
        ) {
            let unit = |seed: u16| {
                let raw: Vec<f32> =
                    (1u16..9).map(|i| (f32::from(seed) * 0.37 * f32::from(i)).sin()).collect();
                let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
                raw.into_iter().map(|x| x / length).collect::<Vec<f32>>()
            };
            let mut matrix = Matrix::new(0, Layer::Chunk);
            for (row, seed) in (0..).zip(&seeds) {
                matrix.push(row, &unit(*seed));
            }
            let query = unit(1);
            let excluded = Admitted { excluded: [0].into(), allowed: None };
            let found = matrix.near(&[&query], most, &excluded).remove(0);
            prop_assert_eq!(found.len(), most.min(seeds.len() - 1));
            let mut exact: Vec<f32> =
                seeds.iter().skip(1).map(|seed| cosine(&query, &unit(*seed))).collect();
            exact.sort_by(|a, b| b.total_cmp(a));
            for (row, _) in found {
                prop_assert!(row != 0);
                let near = cosine(&query, &unit(seeds[row as usize]));
                prop_assert!(near > exact[most.min(exact.len()) - 1] - 0.05);
            }
        }
    }

    /// Recall against exact f32 over the vectors of all bases in a folder:
    /// `HALMA_DATA=DIR cargo test -p halma-kb --lib recall_of_codes -- --ignored --nocapture`.
    #[test]
    #[ignore = "needs HALMA_DATA: a folder of bases"]
    #[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a measurement")]
    fn recall_of_codes() {
        let mut all: Vec<Vector> = vec![];
        for dir in std::fs::read_dir(std::env::var("HALMA_DATA").unwrap()).unwrap() {
            let dir = dir.unwrap().path().join("store");
            if !Store::exists(&dir) {
                continue;
            }
            let store = Store::open(&dir).unwrap();
            for layer in [Layer::Chunk, Layer::Atom] {
                let each = |_, vector: &[f32]| all.push(vector.to_vec());
                store.read(|reader| reader.each_vector(0, layer, each)).unwrap();
            }
        }
        let mut matrix = Matrix::new(0, Layer::Chunk);
        (0..).zip(&all).for_each(|(row, vector)| matrix.push(row, vector));
        for limit in [10, 50, 200] {
            let (mut cut, mut near, mut asked) = (0, 0, 0);
            // A vector half way to another one stands for a question.
            for (at, vector) in all.iter().enumerate().step_by(all.len() / 300 + 1) {
                let other = &all[(at * 7919 + 13) % all.len()];
                let query: Vector = vector.iter().zip(other).map(|(a, b)| a + b / 2.0).collect();
                let exact = |vector: &Vector| query.iter().zip(vector).map(|(a, b)| a * b).sum();
                let mut exact: Vec<(Row, f32)> = (0..).zip(all.iter().map(exact)).collect();
                exact.sort_by(by_score);
                exact.truncate(limit);
                let most = limit.saturating_mul(CANDIDATES).max(LEAST_CANDIDATES);
                let codes = matrix.codes.candidates(&query, most, None);
                let found = matrix.near(&[&query], most, &Admitted::default()).remove(0);
                asked += limit;
                cut += exact.iter().filter(|(row, _)| codes.contains(&(*row as usize))).count();
                near += exact.iter().filter(|(row, _)| found.iter().any(|f| f.0 == *row)).count();
            }
            let share = |count: usize| count as f64 / asked as f64;
            println!(
                "of {}: recall@{limit} by codes {:.5}, by codes and i8 {:.5}",
                all.len(),
                share(cut),
                share(near)
            );
        }
    }
}
