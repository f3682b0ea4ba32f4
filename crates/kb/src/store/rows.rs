//! Sets and maps of rows. A search asks them thousands of times, and the standard hasher, which
//! withstands keys that were chosen to collide, takes most of that time. Rows are our own numbers.
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::store::Row;

/// A set of rows, one bit each.
#[derive(Debug, Default, Clone)]
pub(crate) struct RowSet(Vec<u64>);

impl RowSet {
    pub(crate) fn insert(&mut self, row: Row) {
        let at = row as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (row % 64);
    }

    pub(crate) fn remove(&mut self, row: Row) {
        if let Some(bits) = self.0.get_mut(row as usize / 64) {
            *bits &= !(1 << (row % 64));
        }
    }

    /// How many rows are in it.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub(crate) fn contains(&self, row: Row) -> bool {
        self.0.get(row as usize / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }
}

/// What a search may return.
#[derive(Debug, Default, Clone)]
pub(crate) struct Admitted {
    pub(crate) excluded: HashSet<Row>,
    /// `None` where there is no filter.
    pub(crate) allowed: Option<Arc<RowSet>>,
}

impl Admitted {
    pub(crate) fn is_everything(&self) -> bool {
        self.excluded.is_empty() && self.allowed.is_none()
    }

    pub(crate) fn admits(&self, row: Row) -> bool {
        !self.excluded.contains(&row)
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(row))
    }
}

/// A map by rows.
pub(crate) type RowMap<V> = HashMap<Row, V, BuildHasherDefault<RowHasher>>;

/// A set of a few rows; for many of a layer there is [`RowSet`].
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
    fn rows_are_held_one_bit_each() {
        let mut rows = RowSet::default();
        for row in [0, 63, 64, 1000] {
            rows.insert(row);
        }
        let contained: Vec<Row> = (0..1100).filter(|row| rows.contains(*row)).collect();
        assert_eq!(contained, [0, 63, 64, 1000]);
        assert_eq!(rows.count(), 4);
    }

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
