//! Why no questions can be made at all.
use std::collections::BTreeMap;

use super::kind::{Dropped, Kind};

#[derive(Debug, thiserror::Error)]
pub enum BlendError {
    #[error("there are no passages to make questions of; index some documents first")]
    NoPassages,
    #[error(
        "`{0}` questions need a knowledge graph, and none is configured; load one, or leave \
         this kind out"
    )]
    NoGraph(&'static str),
    #[error(
        "`{kind}` questions need the source `{source_name}`, and it is not configured; name one \
         under [sources], or leave this kind out"
    )]
    NoSource { kind: &'static str, source_name: String },
    #[error("no kind of question is asked for; use one of: {}", Kind::ALL.map(Kind::name).join(", "))]
    NoKinds,
    #[error(
        "not one question could be made and verified ({}); the sources may have no entity in \
         common",
        reasons(.0)
    )]
    NothingMade(BTreeMap<Dropped, u64>),
    #[error(transparent)]
    Run(#[from] halma_core::Error),
}

impl BlendError {
    /// Whether it is what was asked for that is wrong, and not something that happened.
    pub fn is_wrong_use(&self) -> bool {
        !matches!(self, Self::Run(_))
    }
}

/// `12 no_entity, 3 unverified`.
pub(super) fn reasons(dropped: &BTreeMap<Dropped, u64>) -> String {
    if dropped.is_empty() {
        return "nothing was found to try".into();
    }
    let one = |(why, count): (&Dropped, &u64)| format!("{count} {}", why.name());
    dropped.iter().map(one).collect::<Vec<_>>().join(", ")
}
