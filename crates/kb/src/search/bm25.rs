//! BM25 alone.
use super::ranker::{Ranked, Ranker, Search, VectorUse};
use crate::KbError;

pub(super) struct Bm25;

impl Ranker for Bm25 {
    fn vectors(&self) -> VectorUse {
        VectorUse::Unused
    }

    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let query = search.query;
        let rank = |text: &String| {
            let found = search.bm25(query.layer, text, query.limit)?;
            Ok(found.into_iter().map(Ranked::plain).collect())
        };
        query.texts.iter().map(rank).collect()
    }
}
