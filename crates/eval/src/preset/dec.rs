//! DEC, "Resource-Friendly Dynamic Enhancement Chain": Tables 1, 2 and 4.
use super::{Answerable, Block, Figure, Preset, PresetProtocol, block, row};
use crate::Format;
use crate::judge::Protocol;

const LLAMA: &str = "Llama-3.1-8B";
const GPT: &str = "GPT-4o";

const PROTOCOL: PresetProtocol = PresetProtocol {
    sample: "500 random questions of each validation set",
    corpus: "Wikipedia: the snapshots of HotpotQA's and 2WikiMultiHopQA's authors, for MuSiQue the \
             latter",
    model: "Llama-3.1-8B-Instruct and GPT-4o, E5-base",
    metric: "CoverEM (the gold answer stands in the answer), F1 of words, Acc by \
             Llama-3.1-8B-Instruct as the judge; #SQA counts the sub-questions searched for",
};

const COLUMNS: &[Figure] = &[Figure::SubQuestions, Figure::CoverEm, Figure::F1, Figure::Acc];

const CORPUS: &str = "the passages of the questions as one base are much less to search than a \
                      Wikipedia";
const KEYWORDS: &str = "the paper trained a small model to extract keywords; ours asks the model \
                        of the role";
const DEC: &[(&str, &str)] = &[("mode", "dense")];
const SELF_ASK: &[(&str, &str)] = &[("chunks", "3"), ("n", "5"), ("retrieve", "flat")];

const SELF_ASK_EK: &[(&str, &str)] =
    &[("chunks", "3"), ("n", "5"), ("retrieve", "flat"), ("keywords", "true")];

pub(super) const TABLE_1: Preset = Preset {
    name: "dec-table1",
    paper: "DEC",
    table: "Table 1",
    title: "DEC and baselines with a small and a large model",
    protocol: PROTOCOL,
    judge: Some(Protocol::Dec),
    blocks: &[
        block(LLAMA, Format::Hotpotqa, COLUMNS),
        block(LLAMA, Format::TwoWiki, COLUMNS),
        block(LLAMA, Format::Musique, COLUMNS),
        block(GPT, Format::Hotpotqa, COLUMNS),
        block(GPT, Format::TwoWiki, COLUMNS),
        block(GPT, Format::Musique, COLUMNS),
    ],
    rows: &[
        row(
            "Vanilla Chat",
            "direct",
            &[],
            &[
                &[1.00, 23.00, 28.81, 24.50],
                &[1.00, 23.50, 25.71, 19.00],
                &[1.00, 4.00, 7.08, 4.50],
                &[1.00, 33.50, 41.14, 32.00],
                &[1.00, 33.50, 35.98, 30.00],
                &[1.00, 10.50, 17.28, 12.50],
            ],
        ),
        row(
            "Direct CoT",
            "cot",
            &[],
            &[
                &[1.00, 33.00, 35.90, 36.00],
                &[1.00, 28.00, 30.73, 29.00],
                &[1.00, 9.00, 14.88, 13.00],
                &[1.00, 55.00, 59.31, 58.50],
                &[1.00, 62.00, 59.97, 55.50],
                &[1.00, 25.50, 28.59, 29.50],
            ],
        ),
        row(
            "Direct RAG",
            "naive",
            &[("chunks", "10"), ("mode", "dense")],
            &[
                &[1.00, 37.24, 40.84, 42.35],
                &[1.00, 22.61, 24.05, 22.11],
                &[1.00, 6.81, 11.05, 8.38],
                &[1.00, 57.00, 57.39, 62.00],
                &[1.00, 66.50, 55.79, 59.00],
                &[1.00, 22.00, 24.70, 27.00],
            ],
        ),
        row(
            "Self-Ask",
            "self_ask",
            SELF_ASK,
            &[
                &[4.98, 35.20, 38.33, 37.20],
                &[4.95, 44.60, 44.03, 43.60],
                &[4.99, 13.23, 16.93, 15.23],
                &[3.09, 53.40, 54.49, 55.60],
                &[3.65, 72.00, 66.79, 67.60],
                &[3.44, 20.20, 26.17, 22.80],
            ],
        ),
        row(
            "SearChain",
            "search_chain",
            &[],
            &[
                &[3.75, 40.16, 43.06, 44.18],
                &[3.62, 48.60, 44.72, 43.80],
                &[3.73, 13.05, 17.77, 17.47],
                &[2.24, 53.80, 58.12, 58.00],
                &[2.90, 63.40, 55.66, 54.60],
                &[2.62, 23.45, 27.77, 27.66],
            ],
        ),
        row(
            "GenGround",
            "gen_ground",
            &[],
            &[
                &[5.00, 36.20, 39.88, 39.60],
                &[5.00, 38.40, 35.91, 33.60],
                &[5.00, 10.40, 15.99, 11.60],
                &[5.00, 60.50, 62.37, 63.00],
                &[5.00, 74.50, 68.97, 63.00],
                &[5.00, 23.00, 24.63, 22.50],
            ],
        ),
        row(
            "DEC",
            "dec",
            DEC,
            &[
                &[3.47, 47.19, 50.96, 49.60],
                &[3.28, 49.18, 46.54, 45.70],
                &[3.43, 17.21, 20.96, 19.26],
                &[3.32, 58.52, 62.11, 60.32],
                &[3.41, 78.51, 73.26, 71.29],
                &[3.22, 27.91, 31.30, 30.72],
            ],
        ),
    ],
    notes: &[
        CORPUS,
        KEYWORDS,
        "one run has one model in each role: for the other model's column run it again",
    ],
};

const ABLATED: &[Figure] = &[Figure::CoverEm, Figure::F1];

const ABLATION: &[Block] = &[
    block(LLAMA, Format::Hotpotqa, ABLATED),
    block(LLAMA, Format::TwoWiki, ABLATED),
    block(LLAMA, Format::Musique, ABLATED),
];

pub(super) const TABLE_2: Preset = Preset {
    name: "dec-table2",
    paper: "DEC",
    table: "Table 2",
    title: "DEC without one component at a time",
    protocol: PresetProtocol {
        model: "Llama-3.1-8B-Instruct, E5-base",
        metric: "CoverEM (the gold answer stands in the answer), F1 of words",
        ..PROTOCOL
    },
    judge: None,
    blocks: ABLATION,
    rows: &[
        row("DEC", "dec", DEC, &[&[47.19, 50.96], &[49.18, 46.54], &[17.21, 20.96]]),
        row(
            "w/o EK",
            "dec",
            &[("keywords", "false"), ("mode", "dense")],
            &[&[46.00, 49.04], &[42.60, 41.40], &[16.87, 20.42]],
        ),
        row(
            "w/o QD",
            "dec",
            &[("decompose", "false"), ("mode", "dense")],
            &[&[44.44, 45.97], &[35.68, 38.28], &[12.24, 17.40]],
        ),
        row(
            "w/o QR",
            "dec",
            &[("mode", "dense"), ("rewrite", "false")],
            &[&[36.47, 40.56], &[27.80, 28.54], &[8.74, 14.78]],
        ),
        row(
            "w/o COT",
            "dec",
            &[("decompose", "false"), ("mode", "dense"), ("rewrite", "false")],
            &[&[39.00, 43.18], &[26.80, 27.82], &[8.62, 12.95]],
        ),
        row("Self-Ask", "self_ask", SELF_ASK, &[&[35.20, 38.33], &[44.60, 44.03], &[13.23, 16.93]]),
        row(
            "Self-Ask w/ EK",
            "self_ask",
            SELF_ASK_EK,
            &[&[43.40, 47.69], &[47.28, 45.39], &[15.07, 17.70]],
        ),
    ],
    notes: &[CORPUS, KEYWORDS],
};

pub(super) const TABLE_4: Preset = Preset {
    name: "dec-table4",
    paper: "DEC",
    table: "Table 4",
    title: "Telling what can be answered from what cannot",
    protocol: PresetProtocol {
        sample: "200 random questions of the validation set, answerable and unanswerable",
        corpus: "not told; for MuSiQue the paper searches 2WikiMultiHopQA's Wikipedia",
        model: "not told for this table; E5-base",
        metric: "to be answerable is the positive class; C Acc is over the answerable questions \
                 that were answered, O Acc over all; right by Llama-3.1-8B-Instruct as the judge",
    },
    judge: Some(Protocol::Dec),
    blocks: &[block(
        "DEC's model",
        Format::MusiqueFull,
        &[
            Figure::Answerable(Answerable::Accuracy),
            Figure::Answerable(Answerable::Precision),
            Figure::Answerable(Answerable::Recall),
            Figure::Answerable(Answerable::F1),
            Figure::Answerable(Answerable::Specificity),
            Figure::Answerable(Answerable::Conditional),
            Figure::Answerable(Answerable::Overall),
        ],
    )],
    rows: &[
        row(
            "Self Ask",
            "self_ask",
            SELF_ASK,
            &[&[53.00, 62.22, 26.67, 37.33, 82.11, 21.43, 42.00]],
        ),
        row("GenGround", "gen_ground", &[], &[&[56.00, 58.25, 57.14, 57.69, 54.74, 35.00, 36.50]]),
        row("DEC", "dec", DEC, &[&[63.13, 75.41, 44.23, 55.76, 84.04, 58.70, 53.54]]),
    ],
    notes: &[
        "each question is asked over its own passages: those of the others would answer what is \
         unanswerable",
        KEYWORDS,
        "without a judge, C Acc and O Acc go by exact match",
    ],
};
