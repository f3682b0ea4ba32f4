//! Cosines alone.
use super::ranker::{Ranked, Ranker, Search};
use crate::KbError;

pub(super) struct Dense;

impl Ranker for Dense {
    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let found = search.nearest(search.query.layer, search.query.limit)?;
        let ranked = |list: Vec<_>| list.into_iter().map(Ranked::plain).collect();
        Ok(found.into_iter().map(ranked).collect())
    }
}
