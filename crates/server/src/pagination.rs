//! Lists, one page at a time.
use halma_engine::DEFAULT_LIMIT;
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// Items of a page at most.
const MAX_LIMIT: usize = 500;

pub(crate) fn limit(requested: Option<usize>) -> Result<usize, Problem> {
    limit_of(requested, (DEFAULT_LIMIT, MAX_LIMIT))
}

/// The number of items that is asked for, or else the default; it is cut to a maximum.
pub(crate) fn limit_of(
    requested: Option<usize>,
    (default, max): (usize, usize),
) -> Result<usize, Problem> {
    match requested {
        Some(0) => Err(Problem::unfit("`limit` must be at least 1")
            .hint(format!("omit `limit` for the default, which is {default}"))),
        requested => Ok(requested.unwrap_or(default).min(max)),
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
    /// What to send as `after` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> Items<T> {
    /// A list that fits one page.
    pub(crate) fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    /// The first `limit` items; of `limit + 1` that were read, the last one only says that there
    /// are more.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, id: impl Fn(&T) -> String) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(id);
        Self { items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_refused_and_one_too_high_is_cut() {
        assert_eq!(limit(Some(0)).unwrap_err().status(), 422);
        let limits = [None, Some(1), Some(usize::MAX)].map(|requested| limit(requested).unwrap());
        assert_eq!(limits, [DEFAULT_LIMIT, 1, MAX_LIMIT]);
    }
}
