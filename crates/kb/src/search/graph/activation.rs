//! What a question activates: entities with how strongly, and by what each was reached.
use std::collections::BTreeMap;

use crate::store::Row;

/// The entities that are active, by row.
pub(super) type Activations = BTreeMap<Row, Activation>;

/// How strongly an entity is activated, and by what it was reached so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Activation {
    /// a(e): 1 for an entity that the question names.
    pub(super) weight: f32,
    pub(super) by: Reach,
}

/// By what an entity was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The question has its name.
    Name,
    /// The question has another name of it, or one that several entities share.
    Alias,
    /// The question has a name like its own.
    SimilarName,
    /// A sentence that also names an active entity.
    Sentence,
    /// A fact about it and an active entity.
    Fact,
}

impl Reach {
    /// What an explanation says after the entity's name; the question's own names need no note.
    pub(super) fn note(self) -> &'static str {
        match self {
            Self::Name => "",
            Self::Alias => " [alias]",
            Self::SimilarName => " [similar name]",
            Self::Sentence => " [sentence]",
            Self::Fact => " [fact]",
        }
    }
}

/// Activates an entity, or raises its activation: of several ways the strongest counts, and of
/// equally strong ones the first.
pub(super) fn activate(active: &mut Activations, entity: Row, activation: Activation) {
    let current = active.entry(entity).or_insert(activation);
    if activation.weight > current.weight {
        *current = activation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_way_to_an_entity_counts_and_the_first_of_equals() {
        let mut active = Activations::new();
        for (weight, by) in
            [(0.2, Reach::Fact), (0.7, Reach::Sentence), (0.7, Reach::Alias), (0.5, Reach::Name)]
        {
            activate(&mut active, 3, Activation { weight, by });
        }
        assert_eq!(active[&3], Activation { weight: 0.7, by: Reach::Sentence });
    }
}
