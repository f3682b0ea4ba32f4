//! Vector search of one layer: all rows as codes of one bit in memory. Codes cut, and what is left
//! is compared with the vectors in the file of the layer, which is mapped. It lives as long as the
//! base is open: what has changed is read, and nothing else.
mod codes;
mod embedding;
mod nearest;
mod scan;
mod simd;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;

use halma_core::Layer;
#[cfg(test)]
use halma_core::Vector;
use simsimd::SpatialSimilarity;

use self::codes::QueryCode;
pub(crate) use self::codes::QueryVector;
pub(crate) use self::embedding::{
    BATCH, embed_once, embed_once_about, embed_texts, other_dimensions,
};
use self::scan::{Candidates, CodeSegment, SEGMENT, ScanRequest, scan_codes};
use self::simd::Instructions;
use crate::KbError;
use crate::parallel::in_order;
use crate::store::{
    Admitted, Changed, Changes, Row, RowSet, Slots, Store, StoreReader, VectorFile,
};

/// Vectors that are brought near while others are compared: what they wait for is the memory.
const AHEAD: usize = 4;

/// Vectors read at a time.
const STEP: usize = 1 << 16;

/// The vectors of one embedder and layer.
#[derive(Clone)]
pub(crate) struct Matrix {
    embedder: u8,
    layer: Layer,
    /// To where in the log of changes it is up to date.
    position: u64,
    file: Option<Arc<VectorFile>>,
    slots: Option<Arc<Slots>>,
    /// The rows that have a vector.
    present: RowSet,
    /// One larger than the largest of them.
    end: Row,
    segments: Vec<Arc<CodeSegment>>,
    /// Rows whose vectors cannot be read.
    lost: usize,
}

/// A search of a matrix for several queries at once.
pub(crate) struct NearRequest<'a> {
    pub(crate) limit: usize,
    pub(crate) admitted: &'a Admitted,
    /// Whether the least and the greatest cosine of any row are wanted.
    pub(crate) ranges: bool,
    pub(crate) is_cancelled: &'a dyn Fn() -> bool,
}

/// The rows nearest to a query.
#[derive(Debug, Default, Clone)]
pub(crate) struct Near {
    /// With their cosines, best first, ties by row.
    pub(crate) rows: Vec<(Row, f32)>,
    /// The least and the greatest cosine of any row, about; zeros where they were not requested.
    pub(crate) range: (f32, f32),
}

impl Matrix {
    /// Reads all vectors of a layer, on all cores. What is published meanwhile may be in it, and
    /// [`Matrix::update`] takes it in again.
    pub(crate) fn load(store: &Store, embedder: u8, layer: Layer) -> Result<Self, KbError> {
        let (position, rows, file) = store.read(|reader| {
            let rows = reader.rows_with_vector(embedder, layer)?;
            Ok((reader.change_position()?, rows, reader.vector_file(embedder, layer)?))
        })?;
        let mut matrix = Self {
            embedder,
            layer,
            position,
            file,
            slots: None,
            present: RowSet::default(),
            end: 0,
            segments: vec![],
            lost: 0,
        };
        let parts: Vec<&[Row]> = rows.chunks(SEGMENT).collect();
        let read = |(): &mut (), rows: &&[Row]| {
            let (mut segment, mut missing) = (CodeSegment::default(), vec![]);
            let lost = store.read(|reader| {
                reader.each_vector_of(embedder, layer, rows, &mut |row, vector| match vector {
                    Some(vector) => segment.push(row, vector),
                    None => missing.push(row),
                })?;
                // Those that were removed since they were listed are not lost.
                missing.iter().try_fold(0, |lost, row| {
                    Ok(lost + usize::from(reader.has_vector(embedder, (layer, *row))?))
                })
            })?;
            Ok((lost, segment))
        };
        in_order(&parts, read, |(lost, segment)| {
            segment.rows.iter().for_each(|row| matrix.present.insert(*row));
            matrix.segments.push(Arc::new(segment));
            matrix.lost += lost;
            Ok(())
        })?;
        store.read(|_| matrix.reach(rows.last().copied()))?;
        matrix.report_lost(store);
        Ok(matrix)
    }

    /// Takes in what has changed since it was up to date; `false` when that is not known any more.
    pub(crate) fn update(&mut self, store: &Store) -> Result<bool, KbError> {
        let is_complete = store.read(|reader| {
            let Some(changes) = reader.changes_since(self.position)? else { return Ok(false) };
            self.apply(reader, &changes)?;
            self.position = reader.change_position()?;
            Ok(true)
        })?;
        self.report_lost(store);
        Ok(is_complete)
    }

    fn apply(&mut self, reader: &StoreReader<'_>, changes: &Changes) -> heed::Result<()> {
        let mut added = vec![];
        for row in changes.of(Changed::Vector, self.layer) {
            if self.present.contains(*row) {
                self.remove(*row);
            }
            if reader.has_vector(self.embedder, (self.layer, *row))? {
                added.push(*row);
            }
        }
        self.add(reader, &added)
    }

    fn remove(&mut self, row: Row) {
        self.present.remove(row);
        for segment in self.segments.iter_mut().filter(|segment| segment.find(row).is_some()) {
            let segment = Arc::make_mut(segment);
            if segment.remove(row) {
                if segment.alive < segment.rows.len() / 2 {
                    *segment = segment.compacted();
                }
                return;
            }
        }
    }

    fn place(&self, row: Row) -> Option<(&CodeSegment, usize)> {
        // The segments are in order, unless a vector was replaced.
        let first = |segment: &Arc<CodeSegment>| segment.rows.first().copied().unwrap_or_default();
        let likely = self.segments.partition_point(|segment| first(segment) <= row);
        let likely = likely.checked_sub(1).map(|at| &self.segments[at]);
        let within = |segment: &'_ Arc<CodeSegment>| segment.find(row);
        if let Some((segment, at)) = likely.and_then(|s| Some((s, within(s)?))) {
            return Some((segment, at));
        }
        self.segments.iter().rev().find_map(|segment| Some((segment.as_ref(), within(segment)?)))
    }

    /// Adds rows, which are in order and have vectors.
    fn add(&mut self, reader: &StoreReader<'_>, rows: &[Row]) -> heed::Result<()> {
        let Some(last) = rows.last() else { return Ok(()) };
        self.file = reader.vector_file(self.embedder, self.layer)?;
        for part in rows.chunks(STEP) {
            reader.each_vector_of(
                self.embedder,
                self.layer,
                part,
                &mut |row, vector| match vector {
                    Some(vector) => self.push(row, vector),
                    None => self.lost += 1,
                },
            )?;
        }
        self.reach(Some(*last))
    }

    /// Maps the vectors up to this row.
    fn reach(&mut self, last: Option<Row>) -> heed::Result<()> {
        let Some(last) = last else { return Ok(()) };
        self.end = self.end.max(last + 1);
        self.slots = match &self.file {
            Some(file) => Some(file.slots(self.end - 1).map_err(heed::Error::Io)?),
            None => None,
        };
        Ok(())
    }

    fn push(&mut self, row: Row, vector: &[f32]) {
        if self.segments.last().is_none_or(|last| last.rows.len() >= SEGMENT) {
            self.segments.push(Arc::default());
        }
        if let Some(last) = self.segments.last_mut() {
            Arc::make_mut(last).push(row, vector);
            self.present.insert(row);
        }
    }

    /// Says once that vectors are missing, and lets the next build make them again.
    fn report_lost(&mut self, store: &Store) {
        let lost = std::mem::take(&mut self.lost);
        let Some(path) = self.file.as_ref().map(|file| file.path()).filter(|_| lost > 0) else {
            return;
        };
        tracing::warn!(
            "vectors missing or damaged in `{}`: {lost}. What they stand for is found by keywords \
             only; `halma index` embeds it again",
            path.display()
        );
        if store.is_writable()
            && let Err(reason) = store.write_here(|writer| writer.note_unreadable_vectors())
        {
            tracing::warn!("{reason}");
        }
    }

    /// [`Matrix::near_queries`] of plain vectors.
    #[cfg(test)]
    pub(crate) fn near(&self, queries: &[&Vector], request: &NearRequest<'_>) -> Vec<Near> {
        let queries: Vec<QueryVector> = queries.iter().map(|q| QueryVector::new(q)).collect();
        self.near_queries(&queries.iter().collect::<Vec<_>>(), request)
    }

    /// The admitted rows nearest to each query by cosine.
    pub(crate) fn near_queries(
        &self,
        queries: &[&QueryVector],
        request: &NearRequest<'_>,
    ) -> Vec<Near> {
        let NearRequest { limit, admitted, ranges, is_cancelled } = *request;
        let admits = |row: Row| admitted.admits(row);
        let admits: Option<&dyn Fn(Row) -> bool> =
            if admitted.is_everything() { None } else { Some(&admits) };
        let codes: Vec<&QueryCode> = queries.iter().map(|query| &query.code).collect();
        let scanned = ScanRequest { limit, admits, ends: ranges, is_cancelled };
        let candidates = scan_codes(Instructions::best(), &self.segments, &codes, &scanned);
        let near = |(query, candidates): (&&QueryVector, Candidates)| {
            let probe = Probe::new(self, query);
            let cosines = |mut rows: Vec<Row>| -> Vec<(Row, f32)> {
                // In the order in which they lie in the file.
                rows.sort_unstable();
                let cosines = rows.iter().zip(probe.cosines(&rows));
                cosines.filter_map(|(row, cosine)| Some((*row, cosine?))).collect()
            };
            let mut ends = cosines(candidates.ends);
            let mut rows = cosines(candidates.near);
            if limit > 0 && limit < rows.len() {
                rows.select_nth_unstable_by(limit - 1, by_score);
            }
            rows.truncate(limit);
            rows.sort_unstable_by(by_score);
            ends.extend(rows.first());
            Near { range: range(&ends), rows }
        };
        queries.iter().zip(candidates).map(near).collect()
    }
}

fn range(ends: &[(Row, f32)]) -> (f32, f32) {
    let widest = (f32::INFINITY, f32::NEG_INFINITY);
    let range =
        ends.iter().fold(widest, |range, (_, near)| (range.0.min(*near), range.1.max(*near)));
    if range.0 > range.1 { (0.0, 0.0) } else { range }
}

/// Best first, ties by row.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "sorting passes references")]
fn by_score(a: &(Row, f32), b: &(Row, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Cosines of single rows with one query.
pub(crate) struct Probe<'m> {
    matrix: &'m Matrix,
    query: &'m QueryVector,
    instructions: Instructions,
}

impl<'m> Probe<'m> {
    pub(crate) fn new(matrix: &'m Matrix, query: &'m QueryVector) -> Self {
        Self { matrix, query, instructions: Instructions::best() }
    }

    /// What orders rows about as their cosines do, by their codes: at a fifth of the cost, because
    /// a code is one line of the processor's cache. 0 for a row without a vector.
    pub(crate) fn rough(&self, row: Row) -> f32 {
        let place = self.matrix.place(row);
        let code = &self.query.code;
        let similarity =
            place.map(|(segment, at)| segment.codes.similarity(self.instructions, code, at));
        similarity.unwrap_or(0.0)
    }

    /// Whether a row has a vector.
    pub(crate) fn has(&self, row: Row) -> bool {
        self.matrix.slots.is_some() && self.matrix.present.contains(row)
    }

    /// The cosines of rows, best in the order in which they lie in the file.
    pub(crate) fn cosines(&self, rows: &[Row]) -> Vec<Option<f32>> {
        let prefetch = |row: &Row| {
            if let Some(slots) = &self.matrix.slots {
                slots.prefetch(*row);
            }
        };
        rows.iter().take(AHEAD).for_each(prefetch);
        let cosine = |(at, row): (usize, &Row)| {
            rows.get(at + AHEAD).into_iter().for_each(prefetch);
            self.cosine(*row)
        };
        rows.iter().enumerate().map(cosine).collect()
    }

    /// The cosine of a row, where it has a vector.
    pub(crate) fn cosine(&self, row: Row) -> Option<f32> {
        let slots = self.matrix.slots.as_ref().filter(|_| self.matrix.present.contains(row))?;
        Some(slots.cosine(&self.query.comparand, row))
    }
}

/// The cosine of two unit vectors; 0 when their lengths differ.
#[expect(clippy::cast_possible_truncation, reason = "a cosine")]
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    f32::dot(a, b).map_or(0.0, |dot| dot.clamp(-1.0, 1.0) as f32)
}
