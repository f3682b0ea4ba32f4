//! Counting the signs in which vectors differ: one implementation in plain code, compiled for any
//! machine and once for each set of instructions below, which the compiler makes vectors of. So
//! every machine gives the same results.
#![expect(unsafe_code, reason = "instructions are used after the machine was asked for them")]

/// Rows whose words lie next to each other: a vector register of 512 bits.
pub(super) const LANES: usize = 8;

/// Bits of a component of the query in the second cut.
pub(super) const PLANES: usize = 4;

/// A set of instructions that the code is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instructions {
    /// Those that every machine has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// All, the best first.
    const ALL: &'static [Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        Self::Portable,
    ];

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512vpopcntdq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && std::arch::is_x86_feature_detected!("avx512bw")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("popcnt")
            }
            Self::Portable => true,
        }
    }

    /// What this machine has, the best first.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|one| one.is_available()).collect()
    }

    /// The best that this machine has.
    pub(super) fn best() -> Self {
        Self::ALL.iter().copied().find(|one| one.is_available()).unwrap_or(Self::Portable)
    }

    /// In how many signs each row differs from the query. `bits` are blocks of [`LANES`] rows: the
    /// first word of each row, then the second of each, and so on.
    pub(super) fn distances(self, bits: &[u64], query: &[u64], distances: &mut [u16]) {
        match self {
            // SAFETY: only `best` and `available` give these, which ask the machine.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { distances_avx512(bits, query, distances) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { distances_avx2(bits, query, distances) },
            Self::Portable => count(bits, query, distances),
        }
    }
}

impl Instructions {
    /// How many bits of a row are set, and their sum weighted by the query at [`PLANES`] bits.
    /// `bits` begin with the first word of the row; the others follow [`LANES`] apart.
    pub(super) fn weigh(self, bits: &[u64], planes: &[[u64; PLANES]]) -> (u32, u32) {
        match self {
            // SAFETY: only `best` and `available` give these, which ask the machine.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Avx2 => unsafe { weigh_popcnt(bits, planes) },
            Self::Portable => weigh(bits, planes),
        }
    }
}

#[expect(clippy::inline_always, reason = "it is compiled with the instructions of its caller")]
#[inline(always)]
fn weigh(bits: &[u64], planes: &[[u64; PLANES]]) -> (u32, u32) {
    let (mut set, mut sum) = (0, 0);
    for (bits, planes) in bits.iter().step_by(LANES).zip(planes) {
        set += bits.count_ones();
        for (plane, values) in planes.iter().enumerate() {
            sum += (bits & values).count_ones() << plane;
        }
    }
    (set, sum)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn weigh_popcnt(bits: &[u64], planes: &[[u64; PLANES]]) -> (u32, u32) {
    weigh(bits, planes)
}

/// The one implementation.
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
            #[expect(clippy::cast_possible_truncation, reason = "at most the dimensions")]
            let sum = sum as u16;
            *distance = sum;
        }
    }
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

    proptest! {
        #[test]
        fn every_set_of_instructions_counts_the_same(
            words in prop_oneof![Just(1usize), Just(6), Just(16)],
            blocks in 1usize..6,
            seed in any::<u64>(),
        ) {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state ^ state >> 29
            };
            let bits: Vec<u64> = (0..words * blocks * LANES).map(|_| next()).collect();
            let query: Vec<u64> = (0..words).map(|_| next()).collect();
            let expected: Vec<u16> = (0..blocks * LANES)
                .map(|row| {
                    let word = |word: usize| bits[(row / LANES * words + word) * LANES + row % LANES];
                    let differ = |at: usize| (word(at) ^ query[at]).count_ones();
                    u16::try_from((0..words).map(differ).sum::<u32>()).unwrap()
                })
                .collect();
            for instructions in Instructions::available() {
                let mut distances = vec![0; blocks * LANES];
                instructions.distances(&bits, &query, &mut distances);
                prop_assert_eq!(&distances, &expected, "{:?}", instructions);
                let planes: Vec<[u64; PLANES]> =
                    query.iter().map(|word| [0, 7, 13, 29].map(|by| word.rotate_left(by))).collect();
                let weighed = instructions.weigh(&bits[3..], &planes);
                prop_assert_eq!(weighed, Instructions::Portable.weigh(&bits[3..], &planes));
            }
        }
    }
}
