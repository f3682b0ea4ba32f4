//! The vectors of one embedder and layer: a file with a slot for each row of the layer, which are
//! handed out in sequence. What is removed is overwritten in place, so that nothing of it is left
//! (docs/adr/0024-vectors-in-files.md). LMDB lists the rows that have a vector; a slot counts only
//! if its checksum fits, so that a file that was cut short or damaged is recognised.
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::Vector;
use memmap2::Mmap;
use parking_lot::RwLock;
use simsimd::SpatialSimilarity;

use super::mapped::{map, prefetch, signed};
use super::positioned::{FileIdentity, read_exact, write_all};
use super::slot::{Precision, WORD, quantize};
use crate::store::Row;

const MAGIC: &[u8; 16] = b"halma vectors 1\n";

/// Bytes before the first slot.
const HEAD: usize = 64;

/// Bytes read at a time where all slots are read.
const BLOCK: usize = 1 << 20;

/// A file of vectors.
#[derive(Debug)]
pub(crate) struct VectorFile {
    path: PathBuf,
    file: File,
    identity: FileIdentity,
    dimensions: usize,
    precision: Precision,
    map: RwLock<Option<Arc<Slots>>>,
}

/// The slots of a file as they are mapped.
#[derive(Debug)]
pub(crate) struct Slots {
    map: Mmap,
    dimensions: usize,
    precision: Precision,
}

/// A vector that others are compared with.
#[derive(Debug, Clone)]
pub(crate) struct Comparand {
    whole: Vector,
    /// The vector as the sum of two of bytes, each with the size of one step: to four digits.
    coarse: (Vec<i8>, f32),
    fine: (Vec<i8>, f32),
}

impl Comparand {
    pub(crate) fn new(vector: &[f32]) -> Self {
        let coarse = quantize(vector);
        let rest = vector.iter().zip(&coarse.0).map(|(x, near)| x - f32::from(*near) * coarse.1);
        let fine = quantize(&rest.collect::<Vec<f32>>());
        Self { whole: vector.to_vec(), coarse, fine }
    }

    /// What it was made of.
    pub(crate) fn vector(&self) -> &Vector {
        &self.whole
    }
}

impl VectorFile {
    /// Makes the file in the place of any that is there.
    pub(super) fn create(path: &Path, dimensions: usize, precision: Precision) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(path)?;
        let mut head = [0; HEAD];
        head[..16].copy_from_slice(MAGIC);
        head[16..20].copy_from_slice(&u32::try_from(dimensions).unwrap_or(u32::MAX).to_le_bytes());
        head[20] = precision as u8;
        write_all(&file, &head, 0)?;
        let (path, identity) = (path.to_owned(), FileIdentity::of(&file.metadata()?)?);
        Ok(Self { path, file, identity, dimensions, precision, map: RwLock::default() })
    }

    /// Opens the file; `None` where there is none, or none of vectors of these dimensions.
    pub(super) fn open(path: &Path, dimensions: usize, write: bool) -> io::Result<Option<Self>> {
        let file = match File::options().read(true).write(write).open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut head = [0; HEAD];
        match read_exact(&file, &mut head, 0) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let file_dimensions = head[16..20].try_into().map_or(0, u32::from_le_bytes);
        let precision = Precision::read(head[20]);
        if !head.starts_with(MAGIC) || file_dimensions as usize != dimensions {
            return Ok(None);
        }
        let (path, identity) = (path.to_owned(), FileIdentity::of(&file.metadata()?)?);
        let map = RwLock::default();
        Ok(precision.map(|precision| Self { path, file, identity, dimensions, precision, map }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn identity(&self) -> FileIdentity {
        self.identity
    }

    fn slot(&self) -> usize {
        self.precision.slot(self.dimensions)
    }

    fn place(&self, row: Row) -> u64 {
        HEAD as u64 + u64::from(row) * self.slot() as u64
    }

    pub(super) fn put(&self, row: Row, vector: &[f32]) -> io::Result<()> {
        write_all(&self.file, &self.precision.encode(vector, row), self.place(row))
    }

    /// Puts what [`VectorFile::stored`] gave of the same row of another file; `false` if that is
    /// not a slot of this one.
    pub(super) fn put_stored(&self, row: Row, slot: &[u8]) -> io::Result<bool> {
        if self.precision.decode(slot, row, self.dimensions).is_none() {
            return Ok(false);
        }
        write_all(&self.file, slot, self.place(row)).map(|()| true)
    }

    /// A slot as it is in the file; `None` when it is empty or damaged.
    pub(super) fn stored(&self, row: Row) -> io::Result<Option<Vec<u8>>> {
        let mut slot = vec![0; self.slot()];
        match read_exact(&self.file, &mut slot, self.place(row)) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let is_whole = self.precision.decode(&slot, row, self.dimensions).is_some();
        Ok(is_whole.then_some(slot))
    }

    /// Overwrites slots, given in order.
    pub(super) fn erase(&self, rows: &[Row]) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        for run in rows.chunk_by(|a, b| a + 1 == *b) {
            let (mut at, end) = (self.place(run[0]), self.place(run[run.len() - 1]));
            let end = (end + self.slot() as u64).min(length);
            let zeros = vec![0; BLOCK.min(usize::try_from(end.saturating_sub(at)).unwrap_or(0))];
            while at < end {
                let part = zeros.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
                write_all(&self.file, &zeros[..part], at)?;
                at += part as u64;
            }
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The vector in a slot; `None` when the slot is empty or damaged.
    pub(crate) fn get(&self, row: Row) -> io::Result<Option<Vector>> {
        let mut slot = vec![0; self.slot()];
        match read_exact(&self.file, &mut slot, self.place(row)) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(e) => Err(e),
            Ok(()) => Ok(self.precision.decode(&slot, row, self.dimensions)),
        }
    }

    /// Calls `each` with the vectors of rows, given in order; with `None` for one that is missing.
    pub(crate) fn each(
        &self,
        rows: &[Row],
        each: &mut dyn FnMut(Row, Option<&[f32]>),
    ) -> io::Result<()> {
        let size = self.slot();
        let within = (BLOCK / size).max(1);
        let length = self.file.metadata()?.len();
        let mut block = vec![];
        let mut rest = rows;
        while let Some(first) = rest.first().copied() {
            let count = rest.iter().take_while(|row| ((**row - first) as usize) < within).count();
            let (now, later) = rest.split_at(count);
            let start = self.place(first);
            let end = self.place(now[count - 1]) + size as u64;
            let available = end.min(length).saturating_sub(start);
            block.resize(usize::try_from(available).unwrap_or(0), 0);
            read_exact(&self.file, &mut block, start)?;
            for row in now {
                let at = (row - first) as usize * size;
                let slot = block.get(at..at + size);
                let decode = |slot| self.precision.decode(slot, *row, self.dimensions);
                each(*row, slot.and_then(decode).as_deref());
            }
            rest = later;
        }
        Ok(())
    }

    /// The slots up to this row, mapped.
    pub(crate) fn slots(&self, last: Row) -> io::Result<Arc<Slots>> {
        let needed = self.place(last) + self.slot() as u64;
        let slots = self.map.read().clone();
        if let Some(slots) = slots.filter(|slots| slots.map.len() as u64 >= needed) {
            return Ok(slots);
        }
        let (dimensions, precision) = (self.dimensions, self.precision);
        let slots = Arc::new(Slots { map: map(&self.file)?, dimensions, precision });
        let mut mapped = self.map.write();
        *mapped = Some(Arc::clone(&slots));
        Ok(slots)
    }
}

impl Slots {
    fn slot(&self, row: Row) -> Option<&[u8]> {
        let size = self.precision.slot(self.dimensions);
        let at = HEAD + row as usize * size;
        self.map.get(at..at + size)
    }

    /// Has the vector of a row brought near, for a comparison that comes soon.
    pub(crate) fn prefetch(&self, row: Row) {
        self.slot(row).into_iter().for_each(prefetch);
    }

    /// The cosine with the vector of a row that is known to have one.
    pub(crate) fn cosine(&self, other: &Comparand, row: Row) -> f32 {
        let Some(slot) = self.slot(row) else { return 0.0 };
        if other.whole.len() != self.dimensions {
            return 0.0;
        }
        let dot = match self.precision {
            Precision::Int8 => {
                let Some((scale, values)) = slot.split_first_chunk::<WORD>() else { return 0.0 };
                let values = signed(&values[..self.dimensions]);
                let (coarse, fine) = (dot(&other.coarse.0, values), dot(&other.fine.0, values));
                (coarse * other.coarse.1 + fine * other.fine.1) * f32::from_le_bytes(*scale)
            }
            Precision::Float32 => {
                let values =
                    slot.as_chunks::<WORD>().0.iter().map(|four| f32::from_le_bytes(*four));
                let values: Vector = values.take(self.dimensions).collect();
                #[expect(clippy::cast_possible_truncation, reason = "a cosine")]
                let dot = f32::dot(&other.whole, &values).unwrap_or_default() as f32;
                dot
            }
        };
        dot.clamp(-1.0, 1.0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 127² for each dimension")]
fn dot(a: &[i8], b: &[i8]) -> f32 {
    i8::dot(a, b).unwrap_or_default() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(seed: u16) -> Vector {
        let raw: Vec<f32> =
            (0..100_u16).map(|i| (f32::from(seed) * 0.7 + f32::from(i) * 1.3).sin()).collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.into_iter().map(|x| x / length).collect()
    }

    #[test]
    fn a_vector_is_read_back_compared_and_erased() {
        let dir = tempfile::tempdir().unwrap();
        for (precision, close) in [(Precision::Int8, 2e-3), (Precision::Float32, 1e-6)] {
            let path = dir.path().join("vectors");
            let file = VectorFile::create(&path, 100, precision).unwrap();
            for row in [0, 1, 9000] {
                file.put(row, &vector(u16::try_from(row).unwrap())).unwrap();
            }
            let file = VectorFile::open(&path, 100, true).unwrap().unwrap();
            assert!(VectorFile::open(&path, 99, false).unwrap().is_none());
            let query = Comparand::new(&vector(9000));
            for row in [0, 1, 9000] {
                let expected = vector(u16::try_from(row).unwrap());
                let vector_read = file.get(row).unwrap().unwrap();
                assert!(vector_read.iter().zip(&expected).all(|(a, b)| (a - b).abs() < close));
                // What was read and is stored again stays the same.
                file.put(row, &vector_read).unwrap();
                assert_eq!(file.get(row).unwrap().unwrap(), vector_read);
                let cosine: f32 = expected.iter().zip(&vector(9000)).map(|(a, b)| a * b).sum();
                let computed = file.slots(9000).unwrap().cosine(&query, row);
                assert!((computed - cosine).abs() < close, "{precision:?} {computed} {cosine}");
            }
            file.erase(&[0, 1]).unwrap();
            let mut present = vec![];
            let rows = [0, 1, 2, 9000, 9001];
            file.each(&rows, &mut |row, vector| present.push((row, vector.is_some()))).unwrap();
            assert_eq!(present, rows.map(|row| (row, row == 9000)));
            let bytes = std::fs::read(&path).unwrap();
            let end = usize::try_from(file.place(9000)).unwrap();
            assert!(bytes[HEAD..end].iter().all(|byte| *byte == 0), "of what was erased");
        }
    }

    #[test]
    fn a_file_that_was_cut_or_damaged_holds_what_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors");
        let file = VectorFile::create(&path, 100, Precision::Int8).unwrap();
        (0..10).for_each(|row| file.put(row, &vector(3)).unwrap());
        write_all(&file.file, &[1, 2, 3], file.place(4) + 20).unwrap();
        file.file.set_len(file.place(8) + 50).unwrap();
        let readable_rows = |file: &VectorFile| -> Vec<Row> {
            (0..12).filter(|row| file.get(*row).unwrap().is_some()).collect()
        };
        assert_eq!(readable_rows(&file), [0, 1, 2, 3, 5, 6, 7]);
        let mut each = vec![];
        let rows: Vec<Row> = (0..12).collect();
        file.each(&rows, &mut |row, vector| each.extend(vector.map(|_| row))).unwrap();
        assert_eq!(each, readable_rows(&file));
        // A slot in the place of another one does not count.
        let mut slot = vec![0; file.slot()];
        read_exact(&file.file, &mut slot, file.place(2)).unwrap();
        write_all(&file.file, &slot, file.place(6)).unwrap();
        assert!(!readable_rows(&file).contains(&6));
        file.file.set_len(30).unwrap();
        assert!(VectorFile::open(&path, 100, true).unwrap().is_none());
    }
}
