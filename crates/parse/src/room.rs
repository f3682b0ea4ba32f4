//! How large a document may become: every place of a table and every byte of text is counted, in
//! all formats, because a small file can name the same text or a wide table a million times.

/// Places of tables that a file may have without a value of its own for each.
pub(crate) const MAX_PLACES: usize = 2_000_000;

/// Columns of a table. Spreadsheets have 16,384 at most.
pub(crate) const MAX_COLUMNS: usize = 100_000;

/// Bytes of values that stand in further places than their first, because their cell spans them.
const MAX_COPIES: usize = 20_000_000;

/// Bytes of text and of cells of one document.
pub(crate) const MAX_TEXT: usize = 200_000_000;

/// Bytes of pictures that are kept of one document.
pub(crate) const MAX_PICTURE_BYTES: usize = 50_000_000;

/// What is left for the rest of a document.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    places: usize,
    bytes: usize,
    copies: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { places: MAX_PLACES, bytes: MAX_TEXT, copies: MAX_COPIES }
    }
}

impl Room {
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Takes up places; those that do not fit are counted as far as there are any.
    pub(crate) fn take_places(&mut self, places: usize) {
        self.places = self.places.saturating_sub(places);
    }

    /// Takes up bytes, if they fit.
    pub(crate) fn take_bytes(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }

    /// [`Room::take_bytes`] for values that are repeated.
    pub(crate) fn take_copies(&mut self, bytes: usize) -> bool {
        let left = self.copies.checked_sub(bytes);
        self.copies = left.unwrap_or(self.copies);
        left.is_some()
    }
}

/// Whether a table of rows of one width may be made of this number of values: a table that is
/// mostly filled may be of any size, one that is mostly empty may not.
pub(crate) fn may_fill(rows: usize, width: usize, values: usize) -> bool {
    let most = MAX_PLACES.max(values.saturating_mul(4));
    width <= MAX_COLUMNS && rows.checked_mul(width).is_some_and(|places| places <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_up_nothing() {
        let mut room = Room::default();
        assert!(room.take_bytes(MAX_TEXT - 10));
        assert!(!room.take_bytes(11));
        assert!(room.take_bytes(10));
        assert!(!room.take_bytes(1));
    }

    #[test]
    fn a_full_table_may_be_large_and_an_empty_one_may_not() {
        assert!(may_fill(1_000_000, 50, 50_000_000));
        assert!(!may_fill(100_000, 1_000_000, 1_100_000));
        assert!(!may_fill(usize::MAX, 2, 10));
        assert!(!may_fill(1, MAX_COLUMNS + 1, MAX_COLUMNS + 1));
        assert!(may_fill(10, 10, 1));
    }
}
