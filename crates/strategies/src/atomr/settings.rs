//! The settings of `AtomR` with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The defaults are the paper's but for `mode` and `select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Atomr {
    /// The sources that may be asked, by name: `text` is the base. Empty: all that are
    /// configured. Leaving one out is the ablation of Table 4.
    pub sources: Vec<String>,
    /// How the sources of a leaf are chosen (Section 3.3.1).
    pub select: Select,
    /// When the knowledge graph is asked.
    pub kg: Kg,
    /// k, passages of each source for one query (Section 4.1.4).
    pub chunks: usize,
    /// t, the least overlap coefficient of an entity's query and passages in a Filter.
    pub overlap: f32,
    /// Drop what lies below 0.85 when the best of a Filter's entities reaches that (released code).
    pub drop_below_best: bool,
    /// Read no passage of the base after one whose cosine exceeds 0.75 (Search) or 0.85 (Relate);
    /// the released code goes by its retriever's probability.
    pub stop_early: bool,
    /// The most lookups that one becomes where what it refers to has several answers.
    pub fan_out: usize,
    /// The most entities of a Filter that are looked up one by one, and that a prompt lists.
    pub entities: usize,
    /// The most nodes of a plan; a longer one is asked for again. Released plans have 20 at most.
    pub max_nodes: usize,
    /// Answer the whole question from memory where nothing that was found answers it.
    pub closed_book: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub min_score: Option<f32>,
    pub mode: Mode,
}

/// How the sources of a leaf are chosen where there are more than two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// By the model, for all leaves of a plan in one call.
    Plan,
    /// By the model, in one call for each leaf (the paper).
    Leaf,
    /// All of them, always.
    All,
}

/// When the knowledge graph is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kg {
    /// Together with the other sources of a leaf.
    With,
    /// Before the others, which are left alone where it has the answer.
    First,
}

impl Default for Atomr {
    fn default() -> Self {
        Self {
            sources: vec![],
            select: Select::Plan,
            kg: Kg::With,
            chunks: 3,
            overlap: 0.5,
            drop_below_best: false,
            stop_early: false,
            fan_out: 8,
            entities: 32,
            max_nodes: 40,
            closed_book: false,
            min_score: None,
            mode: Mode::Graph,
        }
    }
}

impl Atomr {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("chunks", self.chunks)?;
        at_least_one("fan_out", self.fan_out)?;
        at_least_one("entities", self.entities)?;
        at_least_one("max_nodes", self.max_nodes)?;
        a_cosine("min_score", self.min_score)?;
        if !(0.0..=1.0).contains(&self.overlap) {
            let overlap = self.overlap;
            return Err(format!(
                "`overlap` is {overlap}, but the coefficient lies between 0 and 1"
            ));
        }
        Ok(self)
    }
}
