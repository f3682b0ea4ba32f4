//! What models have extracted from documents: how it is stored, and how it goes with them.
mod forget;
mod graph;
mod profile;
mod records;

pub(crate) use self::forget::{ExtractedFrom, forget_quotes};
pub(crate) use self::graph::UNDONE;
pub(crate) use self::profile::{Profile, Statements};
pub(crate) use self::records::{
    CLASSES_KEY, ChunkGraph, ChunkTag, ClusterSnapshot, EntityMention, Extraction, LearnedTerms,
    MergeRecord, PairVerdict, QUESTION_CLASS, StatedFact, StoredMerge, TagClass, TagVocabulary,
    Tags,
};
pub use self::records::{LeftOut, MergeRule};
