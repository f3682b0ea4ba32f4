//! Vectors as codes of one bit a dimension, its sign, and the first two cuts of a search over them:
//! by the signs of the query, then by the query at four bits a dimension. What is left is compared
//! by closer vectors.
//!
//! Both cuts count bits of whole words, in plain code. It is compiled once for any machine and once
//! for each set of instructions below, which the compiler makes vectors of, so that every machine
//! gives the same results.
#![expect(unsafe_code, reason = "instructions are used after the machine was asked for them")]

/// Rows whose words lie next to each other: a vector register of 512 bits.
const LANES: usize = 8;

const WORD: usize = u64::BITS as usize;

/// Bits of a component of the query in the second cut.
const PLANES: usize = 4;

/// Rows that the first cut leaves, at least, and one of how many. Of 73,190 vectors of
/// all-MiniLM-L6-v2 the signs alone have 0.9985 of the true ten among the best 1,600.
const FIRST: usize = 1600;
const FIRST_SHARE: usize = 50;

/// Rows that the second cut leaves, at least, and for each row that is asked for. The same vectors:
/// 0.9997 of the true ten are among the best 400.
const SECOND: usize = 400;
const SECOND_EACH: usize = 4;

/// The distance of a row that is not admitted.
const NEVER: u16 = u16::MAX;

/// The signs of vectors, row by row.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// Words of one row.
    words: usize,
    rows: usize,
    /// Blocks of [`LANES`] rows: the first word of each row, then the second of each, and so on.
    bits: Vec<u64>,
}

/// The signs of a query, and its components at [`PLANES`] bits.
struct QueryCode {
    signs: Vec<u64>,
    /// Bit j of every component, for each j.
    planes: [Vec<u64>; PLANES],
    /// The least component, and the size of one step.
    least: f32,
    step: f32,
}

impl Codes {
    pub(crate) fn push(&mut self, vector: &[f32]) {
        if self.rows == 0 {
            self.words = vector.len().div_ceil(WORD);
        }
        let (block, lane) = (self.rows / LANES, self.rows % LANES);
        if lane == 0 {
            self.bits.resize(self.bits.len() + self.words * LANES, 0);
        }
        for (word, bits) in signs(vector).into_iter().enumerate() {
            self.bits[(block * self.words + word) * LANES + lane] = bits;
        }
        self.rows += 1;
    }

    /// The places of the rows that may be among the `most` nearest to a query, in any order; those
    /// that `admits` does not let in are left out before anything is cut.
    pub(crate) fn candidates(
        &self,
        query: &[f32],
        most: usize,
        admits: Option<&dyn Fn(usize) -> bool>,
    ) -> Vec<usize> {
        let code = QueryCode::new(query);
        if code.signs.len() != self.words || most == 0 {
            return vec![];
        }
        let mut distances = vec![0; self.bits.len() / self.words.max(1)];
        self.distances(&code.signs, &mut distances);
        distances.truncate(self.rows);
        if let Some(admits) = admits {
            for (at, distance) in distances.iter_mut().enumerate() {
                *distance = if admits(at) { *distance } else { NEVER };
            }
        }
        let second = most.saturating_mul(SECOND_EACH).max(SECOND);
        let first = FIRST.max(self.rows / FIRST_SHARE).max(second.saturating_mul(2));
        let near = nearest(&distances, first);
        if near.len() <= second {
            return near;
        }
        let mut scored: Vec<(f32, usize)> =
            near.into_iter().map(|at| (self.similarity(&code, at), at)).collect();
        scored.select_nth_unstable_by(second - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate(second);
        scored.into_iter().map(|(_, at)| at).collect()
    }

    /// The places of the rows farthest from a query by signs.
    pub(crate) fn farthest(&self, query: &[f32], most: usize) -> Vec<usize> {
        let opposite: Vec<f32> = query.iter().map(|x| -x).collect();
        self.candidates(&opposite, most, None)
    }

    /// In how many signs each row differs from the query.
    fn distances(&self, query: &[u64], distances: &mut [u16]) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512vpopcntdq")
                && std::arch::is_x86_feature_detected!("avx512vl")
            {
                // SAFETY: the machine has these instructions.
                unsafe { distances_avx512(&self.bits, query, distances) };
                return;
            }
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("popcnt")
            {
                // SAFETY: the machine has these instructions.
                unsafe { distances_avx2(&self.bits, query, distances) };
                return;
            }
        }
        distances_plain(&self.bits, query, distances);
    }

    /// The dot product of the query at four bits and the signs of a row.
    fn similarity(&self, query: &QueryCode, at: usize) -> f32 {
        let first = (at / LANES * self.words) * LANES + at % LANES;
        let (mut set, mut sum) = (0, 0);
        for word in 0..self.words {
            let bits = self.bits[first + word * LANES];
            set += bits.count_ones();
            for (plane, values) in query.planes.iter().enumerate() {
                sum += (bits & values[word]).count_ones() << plane;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "far below 2^24")]
        let (set, sum) = (set as f32, sum as f32);
        query.least * set + query.step * sum
    }
}

impl QueryCode {
    fn new(query: &[f32]) -> Self {
        let least = query.iter().copied().fold(f32::INFINITY, f32::min);
        let most = query.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = ((most - least) / 15.0).max(f32::MIN_POSITIVE);
        let words = query.len().div_ceil(WORD);
        let mut planes: [Vec<u64>; PLANES] = std::array::from_fn(|_| vec![0; words]);
        for (at, x) in query.iter().enumerate() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 15; what is not a number is 0"
            )]
            let value = ((x - least) / step).round().clamp(0.0, 15.0) as u64;
            for (plane, bits) in planes.iter_mut().enumerate() {
                bits[at / WORD] |= (value >> plane & 1) << (at % WORD);
            }
        }
        Self { signs: signs(query), planes, least, step }
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

/// The places of at least `most` of the least distances, or of all that are admitted.
fn nearest(distances: &[u16], most: usize) -> Vec<usize> {
    let mut counts = vec![0_usize; usize::from(NEVER) + 1];
    for distance in distances {
        counts[usize::from(*distance)] += 1;
    }
    let mut held = 0;
    let within = counts[..usize::from(NEVER)].iter().position(|count| {
        held += count;
        held >= most
    });
    let within = within.and_then(|at| u16::try_from(at).ok()).unwrap_or(NEVER - 1);
    let near = distances.iter().enumerate().filter(|(_, distance)| **distance <= within);
    near.map(|(at, _)| at).collect()
}

/// The one implementation, compiled for several sets of instructions.
#[expect(clippy::inline_always, reason = "it is compiled with the instructions of its caller")]
#[inline(always)]
fn count(bits: &[u64], query: &[u64], distances: &mut [u16]) {
    let width = query.len() * LANES;
    if width == 0 {
        return;
    }
    for (block, distances) in bits.chunks_exact(width).zip(distances.chunks_exact_mut(LANES)) {
        let mut sums = [0_u64; LANES];
        for (row_words, word) in block.as_chunks::<LANES>().0.iter().zip(query) {
            for (sum, bits) in sums.iter_mut().zip(row_words) {
                *sum += u64::from((bits ^ word).count_ones());
            }
        }
        for (distance, sum) in distances.iter_mut().zip(sums) {
            // Below NEVER: vectors have fewer dimensions.
            #[expect(clippy::cast_possible_truncation, reason = "at most the dimensions")]
            let sum = sum as u16;
            *distance = sum;
        }
    }
}

fn distances_plain(bits: &[u64], query: &[u64], distances: &mut [u16]) {
    count(bits, query, distances);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn distances_avx2(bits: &[u64], query: &[u64], distances: &mut [u16]) {
    count(bits, query, distances);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
fn distances_avx512(bits: &[u64], query: &[u64], distances: &mut [u16]) {
    count(bits, query, distances);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(seed: u32, dimensions: usize) -> Vec<f32> {
        let mut state = u64::from(seed) * 2 + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f32::from(u16::try_from(state >> 48).unwrap_or_default()) / 32768.0 - 1.0
        };
        (0..dimensions).map(next).collect()
    }

    fn codes(seeds: &[u32], dimensions: usize) -> Codes {
        let mut codes = Codes::default();
        for seed in seeds {
            codes.push(&vector(*seed, dimensions));
        }
        codes
    }

    proptest! {
        #[test]
        fn every_set_of_instructions_counts_the_same(
            seeds in proptest::collection::vec(0u32..10_000, 1..60),
            dimensions in prop_oneof![Just(1usize), Just(63), Just(64), Just(384), Just(1000)],
        ) {
            let codes = codes(&seeds, dimensions);
            let query = signs(&vector(7, dimensions));
            let mut by_row = vec![0; codes.bits.len() / codes.words];
            for (at, seed) in seeds.iter().enumerate() {
                let row = signs(&vector(*seed, dimensions));
                let differ: u32 = row.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum();
                by_row[at] = u16::try_from(differ).unwrap();
            }
            let (mut plain, mut fast) = (by_row.clone(), by_row.clone());
            distances_plain(&codes.bits, &query, &mut plain);
            codes.distances(&query, &mut fast);
            prop_assert_eq!(&plain[..seeds.len()], &by_row[..seeds.len()]);
            prop_assert_eq!(plain, fast);
        }
    }

    #[test]
    fn the_nearest_are_among_the_candidates_and_what_is_not_admitted_is_not() {
        let seeds: Vec<u32> = (0..6000).collect();
        let codes = codes(&seeds, 384);
        for target in [0, 17, 5999] {
            let mut query = vector(target, 384);
            query.iter_mut().zip(vector(90_000, 384)).for_each(|(x, noise)| *x += noise / 2.0);
            let at = target as usize;
            let found = codes.candidates(&query, 10, None);
            assert!(found.len() == SECOND && found.contains(&at), "{target}");
            let odd = |row: usize| row % 2 == 1;
            let found = codes.candidates(&query, 10, Some(&odd));
            assert_eq!(found.contains(&at), at % 2 == 1);
            assert!(found.len() == SECOND && found.iter().all(|row| row % 2 == 1));
            assert!(!codes.farthest(&query, 10).contains(&at));
        }
        assert!(codes.candidates(&vector(1, 64), 10, None).is_empty(), "another dimension");
        assert!(Codes::default().candidates(&[], 10, None).is_empty());
    }

    #[test]
    fn a_query_that_is_not_made_of_numbers_finds_something_and_does_not_panic() {
        let codes = codes(&(0..20).collect::<Vec<_>>(), 64);
        assert_eq!(codes.candidates(&vec![f32::NAN; 64], 3, None).len(), 20);
        assert_eq!(codes.candidates(&vec![0.0; 64], 3, None).len(), 20);
    }
}
