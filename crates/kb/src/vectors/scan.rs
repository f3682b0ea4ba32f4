//! The search over codes: one pass over the segments for all queries, which leaves the rows that
//! differ least in signs, and of these the ones most similar to the query at four bits a dimension.
//! What is left is compared by closer vectors.
use std::sync::Arc;

use super::codes::{Codes, QueryCode};
use super::nearest::{Nearest, Place};
use super::simd::Instructions;
use crate::store::{Row, RowSet};

/// Rows of one segment: its codes and the distances of one query fit into the cache of a core.
pub(super) const SEGMENT: usize = 1 << 15;

/// Rows that the first cut leaves, at least, and one of how many. Of 73,190 vectors of
/// all-MiniLM-L6-v2 the signs alone have 0.9985 of the true ten among the best 1,600.
const FIRST: usize = 1600;
const FIRST_SHARE: usize = 50;

/// Rows that the second cut leaves, at least, and for each row that is asked for. The same vectors:
/// 0.9997 of the true ten are among the best 400.
const SECOND: usize = 400;
const SECOND_EACH: usize = 4;

/// Distances that are looked at together.
const BLOCK: usize = 8;
const BLOCK_PLACES: u32 = 8;

/// Rows looked at for the nearest and the farthest one.
const ENDS: usize = 20;
const FIRST_ENDS: usize = 200;

/// A part of the rows with their codes. Rows that were removed stay in their places.
#[derive(Debug, Default, Clone)]
pub(super) struct CodeSegment {
    pub(super) rows: Vec<Row>,
    pub(super) codes: Codes,
    /// How many of the first rows ascend.
    sorted: usize,
    /// Places of rows that were removed.
    pub(super) dead: RowSet,
    pub(super) alive: usize,
}

impl CodeSegment {
    pub(super) fn push(&mut self, row: Row, vector: &[f32]) {
        self.note_order(row);
        self.rows.push(row);
        self.codes.push(vector);
        self.alive += 1;
    }

    /// The place of a row that was not removed.
    pub(super) fn find(&self, row: Row) -> Option<usize> {
        let first = *self.rows.first()?;
        // Rows are stored in their order, mostly without gaps; one that was added later than
        // larger ones is at the end.
        let guess = row.checked_sub(first).map(|at| at as usize);
        let guess = guess.filter(|at| self.rows.get(*at) == Some(&row));
        let sorted = || self.rows[..self.sorted].binary_search(&row).ok();
        let later = || {
            let at = self.rows[self.sorted..].iter().rposition(|other| *other == row)?;
            Some(self.sorted + at)
        };
        let alive = |at: &usize| self.is_alive(*at);
        guess.filter(alive).or_else(|| sorted().filter(alive)).or_else(|| later().filter(alive))
    }

    pub(super) fn is_alive(&self, at: usize) -> bool {
        Row::try_from(at).is_ok_and(|at| !self.dead.contains(at))
    }

    /// Before a row is added.
    fn note_order(&mut self, row: Row) {
        let in_order = self.rows.len() == self.sorted;
        if in_order && self.rows.last().is_none_or(|last| *last < row) {
            self.sorted += 1;
        }
    }

    /// Takes a row out; `false` when it is not here.
    pub(super) fn remove(&mut self, row: Row) -> bool {
        let at = self.find(row);
        let Some(at) = at.and_then(|at| Row::try_from(at).ok()) else { return false };
        self.dead.insert(at);
        self.alive -= 1;
        true
    }

    /// Itself without the rows that were removed.
    pub(super) fn compacted(&self) -> Self {
        let mut compacted = Self::default();
        for at in (0..self.rows.len()).filter(|at| self.is_alive(*at)) {
            compacted.note_order(self.rows[at]);
            compacted.rows.push(self.rows[at]);
            compacted.codes.push_from(&self.codes, at);
        }
        compacted.alive = compacted.rows.len();
        compacted
    }
}

/// What is searched for.
pub(super) struct ScanRequest<'a> {
    /// Rows wanted, at least.
    pub(super) limit: usize,
    /// The rows that may be found; `None` where all may.
    pub(super) admits: Option<&'a dyn Fn(Row) -> bool>,
    /// Whether the nearest and the farthest of all rows are wanted as well.
    pub(super) ends: bool,
    pub(super) is_cancelled: &'a dyn Fn() -> bool,
}

/// Rows for one query, in no order.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// That may be among the nearest that are admitted.
    pub(super) near: Vec<Row>,
    /// That may be the nearest or the farthest of all.
    pub(super) ends: Vec<Row>,
}

/// One query on its way through the segments.
struct QueryScan<'a> {
    code: &'a QueryCode,
    near: Nearest,
    /// Of all rows, the nearest and the farthest, where these are wanted.
    ends: Option<(Nearest, Nearest)>,
}

impl QueryScan<'_> {
    fn add(
        &mut self,
        at: u32,
        segment: &CodeSegment,
        distances: &[u16],
        request: &ScanRequest<'_>,
    ) {
        let (blocks, rest) = distances.as_chunks::<BLOCK>();
        let mut place = 0;
        for block in blocks {
            if self.takes_any(block) {
                self.add_block((at, place), segment, block, request);
            }
            place += BLOCK_PLACES;
        }
        self.add_block((at, place), segment, rest, request);
    }

    /// Before the first rows are added: what is farther than as many of these as are wanted is not
    /// looked at.
    fn start(&mut self, segment: &CodeSegment, distances: &[u16], request: &ScanRequest<'_>) {
        if segment.alive < segment.rows.len() {
            return;
        }
        let counts = counted(distances, self.code.farthest());
        if request.admits.is_none() {
            self.near.start(counts.iter().copied());
        }
        if let Some((first, last)) = &mut self.ends {
            first.start(counts.iter().copied());
            last.start(counts.iter().rev().copied());
        }
    }

    fn farthest(&self) -> u16 {
        u16::try_from(self.code.farthest()).unwrap_or(u16::MAX)
    }

    /// Whether any of these distances is of use: of most blocks none is. Written so that the
    /// compiler compares the whole block at once.
    fn takes_any(&self, block: &[u16; BLOCK]) -> bool {
        let any = |within: u16| block.iter().fold(0, |any, d| any | u8::from(*d <= within)) != 0;
        let farther = |from: u16| block.iter().fold(0, |any, d| any | u8::from(*d >= from)) != 0;
        let ends = |(first, last): &(Nearest, Nearest)| {
            any(first.within) || farther(self.farthest().saturating_sub(last.within))
        };
        any(self.near.within) || self.ends.as_ref().is_some_and(ends)
    }

    /// Takes in the distances of the rows from a place on.
    fn add_block(
        &mut self,
        (at, first_place): Place,
        segment: &CodeSegment,
        distances: &[u16],
        request: &ScanRequest<'_>,
    ) {
        let farthest = self.farthest();
        for (place, distance) in (first_place..).zip(distances) {
            if !segment.is_alive(place as usize) {
                continue;
            }
            if let Some((first, last)) = &mut self.ends {
                if *distance <= first.within {
                    first.push(*distance, (at, place));
                }
                if farthest - distance <= last.within {
                    last.push(farthest - distance, (at, place));
                }
            }
            let row = segment.rows[place as usize];
            if *distance <= self.near.within && request.admits.is_none_or(|admits| admits(row)) {
                self.near.push(*distance, (at, place));
            }
        }
    }

    fn finish(self, segments: &[Arc<CodeSegment>], second: usize) -> Candidates {
        let best = Instructions::best();
        let segment = |place: Place| &segments[place.0 as usize];
        let row = |place: Place| segment(place).rows[place.1 as usize];
        let similarity =
            |place: Place| segment(place).codes.similarity(best, self.code, place.1 as usize);
        let mut ends = vec![];
        if let Some((first, last)) = self.ends {
            ends.extend(first.best(ENDS, similarity));
            ends.extend(last.best(ENDS, |place| -similarity(place)));
        }
        let near = self.near.best(second, similarity);
        Candidates {
            near: near.into_iter().map(row).collect(),
            ends: ends.into_iter().map(row).collect(),
        }
    }
}

/// How many rows have each distance. Two next to each other are counted apart, because one that is
/// the same would wait for the other.
fn counted(distances: &[u16], farthest: usize) -> Vec<u32> {
    let mut counts = vec![[0_u32; 2]; farthest + 1];
    for pair in distances.chunks(2) {
        for (at, distance) in pair.iter().enumerate() {
            counts[usize::from(*distance)][at] += 1;
        }
    }
    counts.into_iter().map(|[even, odd]| even + odd).collect()
}

/// Scans the segments for all queries at once.
pub(super) fn scan_codes(
    instructions: Instructions,
    segments: &[Arc<CodeSegment>],
    queries: &[&QueryCode],
    request: &ScanRequest<'_>,
) -> Vec<Candidates> {
    let rows: usize = segments.iter().map(|segment| segment.alive).sum();
    let second = request.limit.saturating_mul(SECOND_EACH).max(SECOND);
    let first = FIRST.max(rows / FIRST_SHARE).max(second.saturating_mul(2));
    let mut scans: Vec<QueryScan<'_>> = queries
        .iter()
        .map(|code| {
            let farthest = code.farthest();
            let end = || Nearest::new(FIRST_ENDS, farthest);
            let ends = request.ends.then(|| (end(), end()));
            QueryScan { near: Nearest::new(first, farthest), ends, code }
        })
        .collect();
    let mut distances = vec![];
    for (at, segment) in (0..).zip(segments) {
        if (request.is_cancelled)() {
            break;
        }
        for scan in &mut scans {
            if segment.codes.distances(instructions, scan.code, &mut distances) {
                if at == 0 {
                    scan.start(segment, &distances, request);
                }
                scan.add(at, segment, &distances, request);
            }
        }
    }
    let nothing = request.limit == 0;
    let finish = |scan: QueryScan<'_>| {
        let candidates = scan.finish(segments, second);
        if nothing { Candidates { near: vec![], ..candidates } } else { candidates }
    };
    scans.into_iter().map(finish).collect()
}

#[cfg(test)]
fn scan(
    segments: &[Arc<CodeSegment>],
    queries: &[&[f32]],
    request: &ScanRequest<'_>,
) -> Vec<Candidates> {
    scan_with(Instructions::best(), segments, queries, request)
}

#[cfg(test)]
fn scan_with(
    instructions: Instructions,
    segments: &[Arc<CodeSegment>],
    queries: &[&[f32]],
    request: &ScanRequest<'_>,
) -> Vec<Candidates> {
    let codes: Vec<QueryCode> = queries.iter().map(|query| QueryCode::new(query)).collect();
    scan_codes(instructions, segments, &codes.iter().collect::<Vec<_>>(), request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(seed: u32, dimensions: usize) -> Vec<f32> {
        let mut state = u64::from(seed) * 2 + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f32::from(u16::try_from(state >> 48).unwrap_or_default()) / 32768.0 - 1.0
        };
        (0..dimensions).map(next).collect()
    }

    /// Rows whose numbers are those of their vectors, in segments of this size.
    fn segments(count: u32, dimensions: usize, size: usize) -> Vec<Arc<CodeSegment>> {
        let rows: Vec<Row> = (0..count).collect();
        let segment = |rows: &[Row]| {
            let mut segment = CodeSegment::default();
            for row in rows {
                segment.push(*row, &vector(*row, dimensions));
            }
            Arc::new(segment)
        };
        rows.chunks(size).map(segment).collect()
    }

    fn request(limit: usize, admits: Option<&dyn Fn(Row) -> bool>) -> ScanRequest<'_> {
        ScanRequest { limit, admits, ends: true, is_cancelled: &|| false }
    }

    fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
        rows.sort_unstable();
        rows
    }

    #[test]
    fn the_nearest_are_candidates_however_rows_are_cut_and_with_any_instructions() {
        let whole = segments(6000, 384, 6000);
        let cut = segments(6000, 384, 700);
        let queries: Vec<Vec<f32>> = [0, 17, 5999]
            .map(|target| {
                let noise = vector(90_000, 384).into_iter().map(|x| x / 2.0);
                vector(target, 384).into_iter().zip(noise).map(|(x, y)| x + y).collect()
            })
            .into();
        let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
        let odd = |row: Row| row % 2 == 1;
        for admits in [None, Some(&odd as &dyn Fn(Row) -> bool)] {
            let ranked = scan(&whole, &queries, &request(10, admits));
            for (target, ranked) in [0, 17, 5999].into_iter().zip(&ranked) {
                let admitted = admits.is_none_or(|admits| admits(target));
                assert_eq!(ranked.near.contains(&target), admitted);
                assert!(ranked.near.len() == SECOND && ranked.ends.contains(&target));
                assert!(ranked.near.iter().all(|row| admits.is_none_or(|admits| admits(*row))));
            }
            for instructions in Instructions::available() {
                for (ranked, others) in
                    ranked.iter().zip(scan_with(instructions, &cut, &queries, &request(10, admits)))
                {
                    assert_eq!(
                        sorted(ranked.near.clone()),
                        sorted(others.near),
                        "{instructions:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_was_removed_is_not_found_and_goes_when_compacted() {
        let mut all = segments(50, 64, 50);
        let segment = Arc::make_mut(&mut all[0]);
        assert!(segment.remove(7) && !segment.remove(7) && !segment.remove(99));
        let query = vector(7, 64);
        let near_rows = |all: &[Arc<CodeSegment>]| {
            sorted(scan(all, &[&query], &request(100, None)).remove(0).near)
        };
        let expected: Vec<Row> = (0..50).filter(|row| *row != 7).collect();
        assert_eq!(near_rows(&all), expected);
        let compacted = vec![Arc::new(all[0].compacted())];
        assert_eq!((near_rows(&compacted), compacted[0].rows.len()), (expected, 49));
    }

    #[test]
    fn odd_queries_find_something_or_nothing_and_do_not_panic() {
        let all = segments(20, 64, 20);
        let near =
            |query: &[f32], limit| scan(&all, &[query], &request(limit, None)).remove(0).near;
        assert_eq!(near(&[f32::NAN; 64], 3).len(), 20);
        assert_eq!(near(&[0.0; 64], 3).len(), 20);
        assert!(near(&[1.0; 32], 3).is_empty() || near(&[1.0; 32], 3).len() == 20);
        assert!(near(&[1.0; 128], 3).is_empty() && near(&[], 3).is_empty());
        assert!(near(&[1.0; 64], 0).is_empty());
        assert!(scan(&[], &[&[1.0; 64]], &request(3, None))[0].near.is_empty());
        let stopped = ScanRequest { is_cancelled: &|| true, ..request(3, None) };
        assert!(scan(&all, &[&[1.0; 64]], &stopped)[0].near.is_empty());
    }
}
