//! The rows of the least distances of a scan, collected until they are cut.

/// A row by its segment and its place there.
pub(super) type Place = (u32, u32);

/// The distance within which there are so many, where there are.
fn reached(mut counts: impl Iterator<Item = u32>, limit: usize) -> Option<u16> {
    let mut count = 0;
    let within = counts.position(|of_distance| {
        count += of_distance as usize;
        count >= limit
    });
    within.and_then(|at| u16::try_from(at).ok())
}

/// The rows of the least distances, about: at least `limit` of them, with all that are as near.
pub(super) struct Nearest {
    limit: usize,
    candidates: Vec<(u16, Place)>,
    counts: Vec<u32>,
    /// Farther ones are left out.
    pub(super) within: u16,
}

impl Nearest {
    pub(super) fn new(limit: usize, farthest: usize) -> Self {
        Self { limit, candidates: vec![], counts: vec![0; farthest + 1], within: u16::MAX }
    }

    /// Leaves out from the start what is farther than the nearest of these: of each distance so many.
    pub(super) fn start(&mut self, counts: impl Iterator<Item = u32>) {
        if let Some(within) = reached(counts, self.limit) {
            self.within = self.within.min(within);
        }
    }

    pub(super) fn push(&mut self, distance: u16, place: Place) {
        self.counts[usize::from(distance)] += 1;
        self.candidates.push((distance, place));
        if self.candidates.len() >= self.limit.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if let Some(within) = reached(self.counts.iter().copied(), self.limit) {
            self.within = self.within.min(within);
            // Without branches, which could not be predicted.
            let mut kept = 0;
            for at in 0..self.candidates.len() {
                self.candidates[kept] = self.candidates[at];
                kept += usize::from(self.candidates[at].0 <= within);
            }
            self.candidates.truncate(kept);
        }
    }

    /// The best by similarity, at most so many.
    pub(super) fn best(mut self, count: usize, similarity: impl Fn(Place) -> f32) -> Vec<Place> {
        self.cut();
        if self.candidates.len() <= count || count == 0 {
            return self.candidates.into_iter().map(|(_, place)| place).collect();
        }
        let scored = self.candidates.into_iter().map(|(_, place)| (similarity(place), place));
        let mut scored: Vec<(f32, Place)> = scored.collect();
        scored.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate(count);
        scored.into_iter().map(|(_, place)| place).collect()
    }
}
