//! Which segments of the lexical index are merged. Few are searched faster than many; but a segment
//! that holds a deleted row is rewritten before `delete` returns, so none may be large.

/// Rows of the largest segment that is made: rewriting one takes about a quarter of a second
/// (docs/how-fast.md).
pub(super) const LARGEST: usize = 25_000;

/// A segment is joined with smaller ones when those hold at least an eighth of its rows together,
/// so that small additions to a large base stay cheap.
const GROWTH: usize = 8;

/// The segments (places in `sizes`) to join next; `None` when they are well as they are. Asked
/// again after each join, it comes to an end.
pub(super) fn next(sizes: &[u32]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    let (mut sum, mut count) = (0, 0);
    for (taken, at) in order.iter().enumerate() {
        let size = sizes[*at] as usize;
        if sum + size > LARGEST {
            break;
        }
        let grown = taken == 0 || sum * GROWTH >= size;
        sum += size;
        if grown {
            count = taken + 1;
        }
    }
    order.truncate(count);
    (count > 1).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes after all joins, smallest first.
    fn joined(mut sizes: Vec<u32>) -> (Vec<u32>, u32) {
        let mut written = 0;
        while let Some(join) = next(&sizes) {
            let sum: u32 = join.iter().map(|at| sizes[*at]).sum();
            let rest = (0..sizes.len()).filter(|at| !join.contains(at)).map(|at| sizes[at]);
            sizes = rest.chain([sum]).collect();
            written += sum;
        }
        sizes.sort_unstable();
        (sizes, written)
    }

    #[test]
    fn what_grew_is_joined_and_nothing_gets_too_large() {
        assert_eq!(joined(vec![]).0, [0; 0]);
        assert_eq!(joined(vec![10]).0, [10]);
        assert_eq!(joined(vec![10, 10, 10]).0, [30]);
        assert_eq!(joined(vec![1, 8000]).0, [1, 8000]);
        assert_eq!(joined(vec![1000, 8000]).0, [9000]);
        assert_eq!(joined(vec![25_000, 25_000, 24_000]).0, [24_000, 25_000, 25_000]);
        assert_eq!(joined(vec![14_000, 11_000, 20_000]).0, [20_000, 25_000]);
    }

    #[test]
    fn additions_one_by_one_leave_few_segments_and_cost_little() {
        let (mut sizes, mut written) = (vec![], 0);
        for _ in 0..60_000 {
            sizes.push(1);
            let (after, cost) = joined(sizes);
            sizes = after;
            written += cost;
            assert!(sizes.len() <= 10, "{sizes:?}");
        }
        assert!(sizes.iter().all(|size| *size as usize <= LARGEST), "{sizes:?}");
        assert!(written < 60_000 * 60, "{written}");
    }
}
