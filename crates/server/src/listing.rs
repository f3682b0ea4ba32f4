//! Lists, a page at a time.
use serde::Serialize;
use utoipa::ToSchema;
const USUAL: usize = 50;
const MOST: usize = 500;

pub(crate) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(USUAL).clamp(1, MOST)
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
    /// What to give as `after` for the next page; not there on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> Items<T> {
    /// A list that is given whole.
    pub(crate) fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    /// Of `limit + 1` items that were looked for, at most `limit` are given.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, id: impl Fn(&T) -> String) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(id);
        Self { items, next }
    }
}
