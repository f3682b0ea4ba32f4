//! What models have extracted from documents: how it is stored, and how it goes with them.
mod forget;
mod graph;
mod profile;

use halma_core::Layer;
use serde::{Deserialize, Serialize};

pub(crate) use self::forget::{ExtractedFrom, forget_quotes};
pub(crate) use self::graph::UNDONE;
pub(crate) use self::profile::{Profile, Statements};
use crate::store::{Id, Row, Rows, Task, UnitKey};

/// What is kept of a chunk: the reply, as far as the text supports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extraction {
    pub(crate) mentions: Vec<EntityMention>,
    pub(crate) facts: Vec<StatedFact>,
    pub(crate) left_out: LeftOut,
}

/// An entity as one chunk speaks of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntityMention {
    pub(crate) name: String,
    /// As the model said it, in lower case; empty where it did not.
    pub(crate) kind: String,
    pub(crate) description: String,
    /// Short forms that the text itself gives in brackets.
    pub(crate) aliases: Vec<String>,
    /// How often the name stands in the passage.
    pub(crate) times: u32,
}

/// A fact between two of the chunk's mentions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StatedFact {
    pub(crate) head: u32,
    pub(crate) relation: String,
    pub(crate) tail: u32,
    pub(crate) text: String,
}

/// What of a reply was not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Entities whose names do not occur in the text.
    pub invented: u32,
    /// Facts with an end that is no entity and does not occur in the text.
    pub unknown_ends: u32,
    /// Entities and facts beyond the most that are kept of a chunk.
    pub beyond_limit: u32,
}

impl LeftOut {
    #[cfg(test)]
    pub(crate) fn add(&mut self, other: Self) {
        self.invented += other.invented;
        self.unknown_ends += other.unknown_ends;
        self.beyond_limit += other.beyond_limit;
    }
}

/// The part of the graph of one chunk, by which it is compared and removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkGraph {
    /// The entity of each mention.
    pub(crate) entities: Vec<Row>,
    pub(crate) facts: Rows,
}

/// A merge as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredMerge {
    pub(crate) record: MergeRecord,
    /// The entity that both are now.
    pub(crate) entity: Id,
}

/// How two clusters became one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MergeRecord {
    pub(crate) rule: MergeRule,
    pub(crate) one: ClusterSnapshot,
    pub(crate) two: ClusterSnapshot,
    /// How much the descriptions agree, in `[0, 1]`.
    pub(crate) score: f32,
    /// The model's words, where it was asked.
    pub(crate) reason: String,
}

/// Why two clusters of mentions were joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// The text gives the short form in brackets.
    Bracket,
    /// A last name in a document that has one full name with it.
    LastName,
    /// The same name, described alike.
    LikeDescriptions,
    /// The same name of things that rarely share one, and nothing speaks against it.
    SameName,
    /// The model's verdict.
    Verdict,
    Spelling,
    Company,
    Honorific,
    MiddleName,
    Initials,
    /// `Jaws (film)` and `Jaws`.
    Qualifier,
    Abbreviation,
}

/// One of two clusters as it was when they were joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClusterSnapshot {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    /// Id of the document that says so.
    pub(crate) from: Id,
    /// Ids of documents, some of them.
    pub(crate) documents: Vec<Id>,
    /// Prints of what was joined, some of them.
    pub(crate) prints: Vec<Id>,
}

/// A verdict of the model, by the prints of what it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PairVerdict {
    pub(crate) one: Id,
    pub(crate) two: Id,
    pub(crate) same: bool,
    pub(crate) reason: String,
    /// Ids of the documents whose words it was shown.
    pub(crate) documents: Vec<Id>,
}

/// A tag of one text, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkTag {
    pub(crate) class: String,
    pub(crate) name: String,
    /// Other names of the same thing.
    pub(crate) also: Vec<String>,
}

/// A class of tags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagClass {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
}

/// The classes of the corpus as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagVocabulary {
    /// Chunks are tagged again when this changes.
    pub(crate) version: Id,
    pub(crate) classes: Vec<TagClass>,
    /// How many chunks there were.
    pub(crate) chunks: u64,
}

/// Tags of one text.
pub(crate) type Tags = Vec<ChunkTag>;

pub(crate) const CLASSES_KEY: UnitKey =
    UnitKey { task: Task::TagClasses, layer: Layer::Tag, at: 0 };

/// The class of what questions say.
pub(crate) const QUESTION_CLASS: &str = "question";

/// What is taken from a sample: the words of the question, each with the ids of its tags. Of the
/// corpus it holds no words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LearnedTerms {
    pub(crate) terms: Vec<(String, Vec<Id>)>,
}
