//! Segments: keys and values of shared databases, packed.
//!
//! A segment is a byte for its version, then its entries: the number of the database (1 byte), the
//! length of the key (2 bytes), that of the value and 1, or 0 for a key that is deleted (4 bytes,
//! all little-endian), the key and the value.

/// Bytes of a segment from which on another is begun.
const SIZE: usize = 256 << 10;

const VERSION: u8 = 1;

/// Bytes before the key of an entry.
const HEAD: usize = 7;

/// A key of a shared database and its value; `None` where it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedEntry<'a> {
    /// The number of the database (`store/table.rs`).
    pub(super) part: u8,
    pub(super) key: &'a [u8],
    pub(super) value: Option<&'a [u8]>,
}

/// A segment that is being written.
#[derive(Debug, Default)]
pub(super) struct SegmentWriter(Vec<u8>);

impl SegmentWriter {
    pub(super) fn add(&mut self, entry: SharedEntry<'_>) -> heed::Result<()> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).ok().filter(|n| *n < u32::MAX);
        let value = entry.value.map_or(Some(0), |value| length(value).map(|length| length + 1));
        let key = u16::try_from(entry.key.len()).ok();
        let (Some(key), Some(value)) = (key, value) else {
            return Err(heed::Error::Encoding("a value is too long to be sent".into()));
        };
        if self.0.is_empty() {
            self.0.push(VERSION);
        }
        self.0.push(entry.part);
        self.0.extend(key.to_le_bytes());
        self.0.extend(value.to_le_bytes());
        self.0.extend(entry.key);
        self.0.extend(entry.value.unwrap_or_default());
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= SIZE
    }

    /// The segment, unless it is empty.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let segment = std::mem::take(&mut self.0);
        (!segment.is_empty()).then_some(segment)
    }
}

/// The entries of a segment, in sequence.
pub(super) fn entries(
    segment: &[u8],
) -> heed::Result<impl Iterator<Item = heed::Result<SharedEntry<'_>>>> {
    let Some((VERSION, mut rest)) = segment.split_first().map(|(version, rest)| (*version, rest))
    else {
        return Err(damaged("it was written by a newer version of Halma"));
    };
    Ok(std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((entry, others)) = split(rest) else {
            rest = &[];
            return Some(Err(damaged("it is cut short")));
        };
        rest = others;
        Some(Ok(entry))
    }))
}

fn split(bytes: &[u8]) -> Option<(SharedEntry<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let key = usize::from(u16::from_le_bytes([head[1], head[2]]));
    let value = u32::from_le_bytes([head[3], head[4], head[5], head[6]]);
    let (key, rest) = rest.split_at_checked(key)?;
    let Some(length) = value.checked_sub(1) else {
        return Some((SharedEntry { part: head[0], key, value: None }, rest));
    };
    let (value, rest) = rest.split_at_checked(length as usize)?;
    Some((SharedEntry { part: head[0], key, value: Some(value) }, rest))
}

fn damaged(why: &str) -> heed::Error {
    heed::Error::Decoding(format!("a segment of the shared base cannot be read: {why}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_back_and_damage_is_an_error() {
        let mut writer = SegmentWriter::default();
        assert!(writer.take().is_none());
        let entries_in = [
            SharedEntry { part: 3, key: b"one", value: Some(b"a value") },
            SharedEntry { part: 4, key: b"", value: Some(b"") },
            SharedEntry { part: 5, key: b"gone", value: None },
        ];
        for entry in entries_in {
            writer.add(entry).unwrap();
        }
        let segment = writer.take().unwrap();
        let read = |segment: &[u8]| {
            entries(segment)?
                .map(|entry| entry.map(|entry| entry.part))
                .collect::<Result<Vec<_>, _>>()
        };
        let read_back: Vec<_> = entries(&segment).unwrap().map(Result::unwrap).collect();
        assert_eq!(read_back, entries_in);
        for length in 0..segment.len() {
            let cut = read(&segment[..length]);
            let whole = [1, 18, 25].contains(&length);
            assert_eq!(cut.is_ok(), whole, "{length}");
        }
        assert!(read(&[2, 0]).is_err());
    }
}
