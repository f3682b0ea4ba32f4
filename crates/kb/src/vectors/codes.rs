//! Vectors as codes of one bit a dimension, its sign, and the query as the signs and at four bits a
//! dimension. What the two cuts of a search are made of (`scan.rs`).
use halma_core::Vector;

use super::simd::{Instructions, LANES, PLANES};
use crate::store::{Comparand, rounded};

const WORD: usize = u64::BITS as usize;

/// The signs of vectors, row by row.
#[derive(Debug, Default, Clone)]
pub(super) struct Codes {
    /// Words of one row.
    words: usize,
    rows: usize,
    /// Blocks of [`LANES`] rows: the first word of each row, then the second of each, and so on.
    bits: Vec<u64>,
}

/// The signs of a query, and its components at [`PLANES`] bits.
#[derive(Debug)]
pub(super) struct QueryCode {
    signs: Vec<u64>,
    /// For each word of components bit j of each, for each j.
    planes: Vec<[u64; PLANES]>,
    /// The least component, and the size of one step.
    least: f32,
    step: f32,
}

impl Codes {
    pub(super) fn push(&mut self, vector: &[f32]) {
        self.push_words(&signs(vector));
    }

    /// The code of a row of others.
    pub(super) fn push_from(&mut self, other: &Self, at: usize) {
        self.push_words(&other.words_of(at).collect::<Vec<u64>>());
    }

    fn push_words(&mut self, words: &[u64]) {
        if self.rows == 0 {
            self.words = words.len();
        }
        let (block, column) = (self.rows / LANES, self.rows % LANES);
        if column == 0 {
            self.bits.resize(self.bits.len() + self.words * LANES, 0);
        }
        for (word, bits) in words.iter().enumerate().take(self.words) {
            self.bits[(block * self.words + word) * LANES + column] = *bits;
        }
        self.rows += 1;
    }

    fn words_of(&self, at: usize) -> impl Iterator<Item = u64> {
        let first = (at / LANES * self.words) * LANES + at % LANES;
        (0..self.words).map(move |word| self.bits[first + word * LANES])
    }

    /// In how many signs each row differs from the query; `false` when they cannot be compared.
    pub(super) fn distances(
        &self,
        instructions: Instructions,
        query: &QueryCode,
        distances: &mut Vec<u16>,
    ) -> bool {
        distances.resize(self.rows.next_multiple_of(LANES), 0);
        if query.signs.len() == self.words {
            instructions.distances(&self.bits, &query.signs, distances);
        }
        distances.truncate(self.rows);
        query.signs.len() == self.words && self.rows > 0
    }

    /// The dot product of the query at four bits and the signs of a row.
    pub(super) fn similarity(
        &self,
        instructions: Instructions,
        query: &QueryCode,
        at: usize,
    ) -> f32 {
        let first = (at / LANES * self.words) * LANES + at % LANES;
        let (set, sum) = instructions.weigh(&self.bits[first..], &query.planes);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^24")]
        let (set, sum) = (set as f32, sum as f32);
        query.least * set + query.step * sum
    }
}

impl QueryCode {
    pub(super) fn new(query: &[f32]) -> Self {
        let least = query.iter().copied().fold(f32::INFINITY, f32::min);
        let greatest = query.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = ((greatest - least) / 15.0).max(f32::MIN_POSITIVE);
        let words = query.len().div_ceil(WORD);
        // Between 0 and 15; what is not a number is 0.
        let value = |x: &f32| rounded(((x - least) / step).clamp(0.0, 15.0));
        let values: Vec<i32> = query.iter().map(value).collect();
        let mut planes = vec![[0; PLANES]; words];
        for (values, planes) in values.chunks(WORD).zip(&mut planes) {
            for (at, value) in values.iter().enumerate() {
                for (plane, bits) in planes.iter_mut().enumerate() {
                    *bits |= u64::from(value >> plane & 1 == 1) << at;
                }
            }
        }
        Self { signs: signs(query), planes, least, step }
    }

    /// The largest distance that a row may have.
    pub(super) fn farthest(&self) -> usize {
        self.signs.len() * WORD
    }
}

/// A bit for each component above 0.
fn signs(vector: &[f32]) -> Vec<u64> {
    let mut words = vec![0; vector.len().div_ceil(WORD)];
    for (at, x) in vector.iter().enumerate() {
        words[at / WORD] |= u64::from(*x > 0.0) << (at % WORD);
    }
    words
}

/// A query's vector, its code, and the two vectors of bytes that make it up.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(super) code: QueryCode,
    pub(super) comparand: Comparand,
}

impl QueryVector {
    pub(crate) fn new(vector: &[f32]) -> Self {
        Self { code: QueryCode::new(vector), comparand: Comparand::new(vector) }
    }

    /// As the embedder gave it.
    pub(crate) fn vector(&self) -> &Vector {
        self.comparand.vector()
    }
}
