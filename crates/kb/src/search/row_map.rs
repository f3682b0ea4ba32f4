//! Maps and sets of rows. A search asks them thousands of times, and the standard hasher, which
//! withstands keys that were chosen to collide, takes most of that time. Rows are our own numbers.
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::store::Row;

/// A map by rows.
pub(crate) type RowMap<V> = HashMap<Row, V, BuildHasherDefault<RowHasher>>;

/// A set of a few rows; for many of a layer there is [`crate::store::RowSet`].
pub(crate) type SparseRows = HashSet<Row, BuildHasherDefault<RowHasher>>;

/// Spreads the bits of numbers over the hash.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RowHasher(u64);

impl RowHasher {
    fn add(&mut self, number: u64) {
        // The golden ratio; the high bits, which maps look at first, depend on all others.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

impl Hasher for RowHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;

    #[test]
    fn rows_in_sequence_differ_in_the_bits_that_maps_look_at() {
        let hash = |row: Row| {
            let mut hasher = RowHasher::default();
            row.hash(&mut hasher);
            hasher.finish()
        };
        let places: HashSet<u64> = (0..4096).map(|row| hash(row) % 8192).collect();
        let tags: HashSet<u64> = (0..4096).map(|row| hash(row) >> 57).collect();
        assert!(places.len() > 3000 && tags.len() == 128, "{} {}", places.len(), tags.len());
    }

    #[test]
    fn a_map_holds_what_was_put_in() {
        let map: RowMap<Row> = (0..1000).map(|row| (row * 7919, row)).collect();
        assert!((0..1000).all(|row| map.get(&(row * 7919)) == Some(&row)));
        assert!(!map.contains_key(&1));
    }
}
