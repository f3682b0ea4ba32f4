//! How a vector is stored in its slot: as bytes with a scale or as the embedder gave it, with a
//! checksum, so that a slot that is empty, damaged or in another place is recognised.
use halma_core::Vector;
use serde::{Deserialize, Serialize};

use super::mapped::signed;
use super::rounding::rounded;
use crate::store::Row;

/// Bytes of the scale and of the checksum of a slot.
pub(super) const WORD: usize = 4;

/// How the numbers of vectors are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Precision {
    /// A byte for each dimension, scaled to the largest of each vector: cosines are good to about
    /// 0.001.
    Int8 = 1,
    /// As the embedder gave them.
    Float32 = 2,
}

impl Precision {
    pub(super) fn read(byte: u8) -> Option<Self> {
        [Self::Int8, Self::Float32].into_iter().find(|precision| *precision as u8 == byte)
    }

    /// Bytes of a slot, the checksum included.
    pub(super) fn slot(self, dimensions: usize) -> usize {
        match self {
            Self::Int8 => (dimensions + WORD).next_multiple_of(WORD) + WORD,
            Self::Float32 => dimensions * WORD + WORD,
        }
    }

    pub(super) fn encode(self, vector: &[f32], row: Row) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.slot(vector.len()));
        match self {
            Self::Int8 => {
                let (values, scale) = quantize(vector);
                bytes.extend(scale.to_le_bytes());
                bytes.extend(values.into_iter().map(i8::cast_unsigned));
                bytes.resize(bytes.len().next_multiple_of(WORD), 0);
            }
            Self::Float32 => bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes())),
        }
        bytes.extend(checksum(&bytes, row).to_le_bytes());
        bytes
    }

    /// `None` for a slot that is empty or damaged.
    pub(super) fn decode(self, slot: &[u8], row: Row, dimensions: usize) -> Option<Vector> {
        let (bytes, sum) = slot.split_last_chunk::<WORD>()?;
        if slot.len() != self.slot(dimensions) {
            return None;
        }
        if u32::from_le_bytes(*sum) != checksum(bytes, row) {
            return None;
        }
        Some(match self {
            Self::Int8 => {
                let (scale, values) = bytes.split_first_chunk::<WORD>()?;
                let scale = f32::from_le_bytes(*scale);
                let values = signed(values.get(..dimensions)?);
                values.iter().map(|x| f32::from(*x) * scale).collect()
            }
            Self::Float32 => {
                bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
            }
        })
    }
}

/// Of a slot in its place; never that of an empty one.
fn checksum(bytes: &[u8], row: Row) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&row.to_le_bytes());
    sum.update(bytes);
    sum.finalize().max(1)
}

/// A vector as bytes with the size of one step. Scaling each vector to its own largest component
/// keeps far more of it than one scale for all: components of unit vectors are small.
#[expect(clippy::cast_possible_truncation, reason = "scaled to at most 127")]
pub(super) fn quantize(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return (vec![0; vector.len()], 0.0);
    }
    let step = largest / 127.0;
    (vector.iter().map(|x| rounded(x / step) as i8).collect(), step)
}
