//! KAR³, "From Complex to Atomic", ICML 2025: Tables 1, 3 and 8.
use super::{Block, Figure, Preset, PresetProtocol, PresetRow, UNREADABLE, block, not, row};
use crate::Format;
use crate::judge::Protocol;

const PROTOCOL: PresetProtocol = PresetProtocol {
    sample: "500 random questions of each dev set",
    corpus: "the passages of all sampled questions of a data set as one base",
    model: "GPT-4 (1106-preview), text-embedding-ada-002",
    metric: "F1 of words; Acc by GPT-4 as the judge",
};

const COLUMNS: &[Figure] = &[Figure::F1, Figure::Acc];

const BLOCKS: &[Block] = &[
    block("GPT-4", Format::Hotpotqa, COLUMNS),
    block("GPT-4", Format::TwoWiki, COLUMNS),
    block("GPT-4", Format::Musique, COLUMNS),
];

const ATOMS: &str = "the base needs `atoms = \"questions\"` and a model that writes them";
const THRESHOLDS: &str = "the paper's thresholds (0.5 for atoms, 0.2 for chunks) are on another \
                          scale; ours are the embedder's own";
const FEW_SHOT: &str = "the paper gave examples to Self-Ask, IRCoT and ProbTree; ours have none";

/// The whole method, in Tables 1 and 3.
const KAR3: PresetRow = row(
    "KAR³",
    "kar3",
    &[("k", "4"), ("mode", "dense"), ("n", "5")],
    &[&[76.48, 88.00], &[75.00, 82.20], &[57.86, 62.60]],
);

pub(super) const TABLE_1: Preset = Preset {
    name: "kar3-table1",
    paper: "KAR³",
    table: "Table 1",
    title: "KAR³ and baselines on multi-hop questions",
    protocol: PROTOCOL,
    judge: Some(Protocol::Pike),
    blocks: BLOCKS,
    rows: &[
        row("Zero-Shot CoT", "cot", &[], &[&[43.94, 53.60], &[41.40, 43.87], &[22.90, 23.47]]),
        row(
            "Naive RAG",
            "naive",
            &[("chunks", "16"), ("mode", "dense")],
            &[&[72.67, 82.60], &[59.74, 62.80], &[43.31, 44.40]],
        ),
        row(
            "Self-Ask w/ R.",
            "self_ask",
            &[("chunks", "4"), ("n", "5"), ("retrieve", "flat")],
            &[&[71.40, 80.00], &[69.06, 75.00], &[46.76, 51.40]],
        ),
        row(
            "IRCoT",
            "ircot",
            &[("chunks", "4"), ("n", "5")],
            &[&[67.30, 81.00], &[63.83, 70.40], &[47.57, 49.20]],
        ),
        row(
            "Iter-RetGen",
            "iter_retgen",
            &[("chunks", "16"), ("n", "5")],
            &[&[75.27, 86.60], &[67.21, 73.60], &[52.48, 55.60]],
        ),
        row("ProbTree", "prob_tree", &[], &[&[62.41, 73.40], &[69.42, 80.00], &[43.26, 52.86]]),
        KAR3,
    ],
    notes: &[ATOMS, THRESHOLDS, FEW_SHOT],
};

pub(super) const TABLE_3: Preset = Preset {
    name: "kar3-table3",
    paper: "KAR³",
    table: "Table 3",
    title: "KAR³ with one component replaced at a time",
    protocol: PROTOCOL,
    judge: Some(Protocol::Pike),
    blocks: BLOCKS,
    rows: &[
        not(
            "Knowledge Atomizer: plain texts",
            "its atoms are a setting of the base: make another one with `atoms = \"sentences\"` \
             and run the last row on it",
            &[&[73.05, 84.50], &[64.18, 69.80], &[50.72, 55.20]],
        ),
        row(
            "Query Proposer: a single query",
            "kar3",
            &[("k", "4"), ("k_single", "4"), ("mode", "dense"), ("n", "5"), ("proposals", "one")],
            &[&[UNREADABLE, 85.60], &[70.19, 76.40], &[49.67, 52.20]],
        ),
        row(
            "Atomic Retriever: chunks",
            "kar3",
            &[("k", "4"), ("mode", "dense"), ("n", "5"), ("retrieve", "chunks")],
            &[&[76.31, 86.60], &[67.14, 72.40], &[49.05, 53.00]],
        ),
        row(
            "Atomic Selector: chunks directly",
            "kar3",
            &[("k", "4"), ("mode", "dense"), ("n", "5"), ("select_by", "chunk")],
            &[&[72.80, 83.20], &[61.65, 65.80], &[49.31, 53.40]],
        ),
        KAR3,
    ],
    notes: &[
        ATOMS,
        THRESHOLDS,
        "the F1 of a single query on HotpotQA is missing from the text of the paper at hand",
    ],
};

const DEPTHS: &[Figure] = &[Figure::SupportRecall, Figure::F1, Figure::Acc];

/// Table 8 by N.
macro_rules! depth {
    ($n:literal, $figures:expr) => {
        row(concat!("N = ", $n), "kar3", &[("k", "4"), ("mode", "dense"), ("n", $n)], $figures)
    };
}

pub(super) const TABLE_8: Preset = Preset {
    name: "kar3-table8",
    paper: "KAR³",
    table: "Table 8",
    title: "KAR³ by the most hops N (Figure 5)",
    protocol: PresetProtocol {
        metric: "recall of the supporting facts; F1 of words; Acc by GPT-4 as the judge",
        ..PROTOCOL
    },
    judge: Some(Protocol::Pike),
    blocks: &[
        block("GPT-4", Format::Hotpotqa, DEPTHS),
        block("GPT-4", Format::TwoWiki, DEPTHS),
        block("GPT-4", Format::Musique, DEPTHS),
    ],
    rows: &[
        depth!("1", &[&[42.96, 59.46, 70.20], &[40.41, 41.08, 43.00], &[31.20, 32.55, 32.80]]),
        depth!("2", &[&[82.04, 74.27, 84.80], &[78.83, 70.22, 77.20], &[56.43, 48.46, 50.00]]),
        depth!("3", &[&[90.16, 76.90, 87.20], &[87.71, 72.84, 79.40], &[64.82, 53.50, 57.20]]),
        depth!("4", &[&[92.46, 76.49, 87.80], &[92.86, 74.68, 81.80], &[69.87, 55.73, 59.40]]),
        depth!("5", &[&[92.83, 76.48, 88.00], &[94.06, 75.00, 82.20], &[73.08, 57.86, 62.60]]),
        depth!("6", &[&[93.35, 77.67, 89.00], &[94.76, 75.12, 81.80], &[74.88, 57.03, 61.20]]),
        depth!("7", &[&[93.68, 77.32, 88.80], &[94.91, 75.44, 82.40], &[76.07, 56.66, 61.40]]),
        depth!("8", &[&[93.78, 76.88, 88.40], &[95.06, 75.16, 82.00], &[76.72, 57.65, 62.40]]),
        depth!("9", &[&[93.78, 76.99, 88.60], &[95.11, 74.89, 81.80], &[76.90, 57.17, 61.40]]),
        depth!("10", &[&[93.78, 77.52, 89.00], &[95.16, 75.09, 82.00], &[77.20, 57.69, 62.40]]),
    ],
    notes: &[
        ATOMS,
        THRESHOLDS,
        "the paper's recall is of supporting facts, ours of gold passages among the citations",
    ],
};
