//! `UniRAG`, "A Unified RAG Framework for Knowledge-Intensive Queries": Table 5.
use super::{Figure, Preset, PresetProtocol, block, row};
use crate::Format;

const WORDS: &[Figure] = &[Figure::Em, Figure::F1];

pub(super) const TABLE_5: Preset = Preset {
    name: "unirag-table5",
    paper: "UniRAG",
    table: "Table 5",
    title: "UniRAG, one module after another added",
    protocol: PresetProtocol {
        sample: "the first 500 questions: of the dev sets of HotpotQA and 2WikiMultiHopQA, of the \
                 training set of StrategyQA",
        corpus: "the abstracts of Wikipedia, 2017",
        model: "GPT-3.5-Turbo, GTE",
        metric: "EM and F1 of words, accuracy on StrategyQA; fractions there, percent here",
    },
    judge: None,
    blocks: &[
        block("GPT-3.5-Turbo", Format::Hotpotqa, WORDS),
        block("GPT-3.5-Turbo", Format::TwoWiki, WORDS),
        block("GPT-3.5-Turbo", Format::Strategyqa, &[Figure::Accuracy]),
    ],
    rows: &[
        row(
            "Let's Break It Down",
            "unirag",
            &[("decompose", "false"), ("mode", "dense"), ("rerank", "false"), ("rewrite", "false")],
            &[&[44.0, 50.63], &[41.0, 44.52], &[72.4]],
        ),
        row(
            "w/ Decomp",
            "unirag",
            &[("mode", "dense"), ("rerank", "false"), ("rewrite", "false")],
            &[&[47.8, 53.54], &[42.2, 46.08], &[70.2]],
        ),
        row(
            "w/ Decomp+Rewrite",
            "unirag",
            &[("mode", "dense"), ("rerank", "false")],
            &[&[49.2, 54.59], &[43.6, 48.25], &[70.6]],
        ),
        row(
            "w/ Decomp+Rewrite+Rerank",
            "unirag",
            &[("mode", "dense")],
            &[&[58.4, 61.38], &[58.4, 60.90], &[73.0]],
        ),
    ],
    notes: &[
        "the paper's tables contradict one another (with Llama-3.1-8B the whole method has EM 76.6 \
         on HotpotQA in Table 6 and at most 59.4 in Table 7), so they are no targets",
        "the reranked row needs a reranker",
        "whether the first row searched is not told; ours searches with the question",
    ],
};
