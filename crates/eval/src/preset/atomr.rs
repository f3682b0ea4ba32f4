//! `AtomR`, "Atomic operator-empowered large language models for heterogeneous knowledge
//! reasoning": Table 2, whose columns are also by kind of question.
use super::{Figure, Preset, PresetProtocol, block, row};
use crate::Format;

pub(super) const TABLE_2: Preset = Preset {
    name: "atomr-table2",
    paper: "AtomR",
    table: "Table 2",
    title: "AtomR and baselines with texts as the only source",
    protocol: PresetProtocol {
        sample: "the 500 test questions that IRCoT's authors drew from each dev set",
        corpus: "Wikipedia: the abstracts of October 2017 for HotpotQA, the full one of December \
                 2021 for the others",
        model: "GPT-4o (2024-08-06), ColBERTv2",
        metric: "F1 of words",
    },
    judge: None,
    blocks: &[
        block(
            "GPT-4o",
            Format::Hotpotqa,
            &[Figure::F1, Figure::KindF1("bridge"), Figure::KindF1("comparison")],
        ),
        block(
            "GPT-4o",
            Format::TwoWiki,
            &[
                Figure::F1,
                Figure::KindF1("compositional"),
                Figure::KindF1("inference"),
                Figure::KindF1("comparison"),
                Figure::KindF1("bridge_comparison"),
            ],
        ),
        block(
            "GPT-4o",
            Format::Musique,
            &[Figure::F1, Figure::HopsF1(2), Figure::HopsF1(3), Figure::HopsF1(4)],
        ),
    ],
    rows: &[
        row(
            "Standard Prompting",
            "direct",
            &[],
            &[
                &[50.02, 45.22, 72.50],
                &[41.09, 14.44, 32.24, 71.63, 63.13],
                &[19.31, 21.84, 16.03, 17.81],
            ],
        ),
        row(
            "CoT",
            "cot",
            &[],
            &[
                &[58.38, 55.48, 71.91],
                &[58.32, 38.24, 54.83, 77.27, 77.17],
                &[29.03, 36.26, 24.07, 17.38],
            ],
        ),
        row(
            "Standard RAG",
            "naive",
            &[("chunks", "3"), ("mode", "dense")],
            &[
                &[60.31, 61.88, 52.97],
                &[47.94, 34.96, 54.32, 56.96, 57.27],
                &[22.07, 28.51, 15.81, 14.77],
            ],
        ),
        row(
            "IRCoT",
            "ircot",
            &[],
            &[
                &[60.20, 58.00, 69.40],
                &[63.80, 46.20, 45.50, 91.60, 79.00],
                &[34.20, 44.20, 26.30, 20.10],
            ],
        ),
        row(
            "SearChain",
            "search_chain",
            &[],
            &[
                &[59.04, 69.73, 51.12],
                &[63.10, 48.85, 50.38, 81.41, 84.21],
                &[31.68, 38.89, 28.38, 17.28],
            ],
        ),
        row(
            "ProbTree",
            "prob_tree",
            &[],
            &[
                &[65.91, 65.50, 67.81],
                &[69.32, 52.45, 64.08, 88.17, 90.00],
                &[34.92, 42.52, 30.38, 21.53],
            ],
        ),
        row(
            "AtomR",
            "atomr",
            &[],
            &[
                &[71.27, 68.96, 82.07],
                &[78.72, 59.07, 80.04, 97.48, 93.33],
                &[36.11, 45.63, 29.94, 20.15],
            ],
        ),
    ],
    notes: &[
        "the paper's IRCoT figures are taken over from the authors of ProbTree, not run with the \
         same model",
        "the paper gave two examples to the baselines; ours have none",
        "the kind that the paper calls bridge is `compositional` in 2WikiMultiHopQA's files",
        "the passages of the questions as one base are much less to search than a Wikipedia",
    ],
};
