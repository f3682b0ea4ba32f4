//! Lists, one page at a time.
use serde::Serialize;
use utoipa::ToSchema;

/// Items of a page where the request does not say, and at most.
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;

pub(crate) fn limit(requested: Option<usize>) -> usize {
    requested.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
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
