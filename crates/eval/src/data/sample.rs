//! Some questions of a set, drawn by a seed.
use serde::{Deserialize, Serialize};

use super::DataSet;
use crate::random::Random;

/// How the questions of a report were drawn; the list is [`crate::Report::questions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub seed: u64,
    pub size: usize,
    /// The number of questions they were drawn from.
    pub of: usize,
}

/// Keeps `size` questions of the set, every choice of them equally likely, in the file's order.
/// The same seed, size and file give the same ones; `size` beyond the set keeps all.
pub fn sample(data: &mut DataSet, size: usize, seed: u64) -> Sample {
    let of = data.items.len();
    let size = size.min(of);
    let mut order: Vec<usize> = (0..of).collect();
    let mut random = Random::new(seed);
    for i in 0..size {
        order.swap(i, i + random.below(of - i));
    }
    let mut keep = vec![false; of];
    for &i in &order[..size] {
        keep[i] = true;
    }
    let mut keep = keep.into_iter();
    data.items.retain(|_| keep.next().unwrap_or(false));
    Sample { seed, size, of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::data;

    fn drawn(size: usize, seed: u64) -> Vec<String> {
        let mut data = data(40);
        let sample = sample(&mut data, size, seed);
        assert_eq!((sample.size, sample.of), (data.items.len(), 40));
        data.items.into_iter().map(|item| item.question.id).collect()
    }

    #[test]
    fn a_seed_names_its_questions() {
        assert_eq!(drawn(9, 7), drawn(9, 7));
        assert_ne!(drawn(9, 7), drawn(9, 8));
        assert_eq!(drawn(9, 7).len(), 9);
        let mut sorted = drawn(9, 7);
        sorted.sort_by_key(|id| id[1..].parse::<usize>().unwrap());
        assert_eq!(sorted, drawn(9, 7), "the file's order is kept");
        assert_eq!(drawn(99, 1).len(), 40);
    }
}
