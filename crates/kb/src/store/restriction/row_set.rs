//! Sets of rows.
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

#[cfg(test)]
mod tests {
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
}
