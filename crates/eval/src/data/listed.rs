//! Long because: it is a list, and a data set is looked up in it as a whole.
//!
//! All data sets with what is known about each. A new one is an entry here, a variant of
//! [`Format`] and a file beside this one.
use super::{
    DataSetEntry, Format, Pool, Split, arithmetic, auslegal, blendqa, contexts, crag, fever, folio,
    lawbench, logiqa, medmcqa, medqa, musique, own, scifact, strategyqa,
};
use crate::Metric;
use crate::metrics::Profile;

const fn split(file: &'static str, records: usize) -> Split {
    Split { file, records, sha256: None }
}

const fn known(file: &'static str, records: usize, sha256: &'static str) -> Split {
    Split { file, records, sha256: Some(sha256) }
}

/// What most entries share.
const COMMON: DataSetEntry = DataSetEntry {
    format: Format::Own,
    name: "own",
    title: "Questions of one's own",
    paper: "",
    source: "",
    licence: "",
    shape: "",
    metric: Metric::Span(Profile::Squad),
    pool: Pool::Pooled,
    splits: &[],
    beside: None,
    keys: &["question", "answers|answer"],
    without: &[],
    table: false,
    read: own::item,
};

/// What the six tasks of `LawBench` share.
const LAWBENCH: DataSetEntry = DataSetEntry {
    paper: "Fei et al., LawBench: Benchmarking Legal Knowledge of Large Language Models, 2023",
    source: "https://github.com/open-compass/LawBench, `data/zero_shot`",
    licence: "Apache-2.0",
    shape: "A JSON list with `instruction`, `question` and `answer`, in Chinese.",
    pool: Pool::Corpus("the laws themselves, which are not part of the set"),
    keys: &["instruction", "question", "answer"],
    ..COMMON
};

/// All data sets, in the order of the reference.
pub const DATA_SETS: &[DataSetEntry] = &[
    DataSetEntry {
        format: Format::Hotpotqa,
        name: "hotpotqa",
        title: "HotpotQA",
        paper: "Yang et al., HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question \
                Answering, EMNLP 2018",
        source: "https://hotpotqa.github.io",
        licence: "CC BY-SA 4.0",
        shape: "A JSON list; `context` holds ten paragraphs as `[title, [sentences]]`, \
                `supporting_facts` names sentences as `[title, index]`.",
        metric: Metric::Span(Profile::Hotpot),
        splits: &[
            split("hotpot_train_v1.1.json", 90_447),
            split("hotpot_dev_distractor_v1.json", 7_405),
            split("hotpot_dev_fullwiki_v1.json", 7_405),
        ],
        keys: &["_id|id", "question", "answer", "supporting_facts|context"],
        without: &["evidences", "paragraphs"],
        read: contexts::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::TwoWiki,
        name: "2wiki",
        title: "2WikiMultiHopQA",
        paper: "Ho et al., Constructing A Multi-hop QA Dataset for Comprehensive Evaluation of \
                Reasoning Steps, COLING 2020",
        source: "https://github.com/Alab-NII/2wikimultihop",
        licence: "Apache-2.0",
        shape: "HotpotQA's shape with `evidences` (triples). Aliases of the answers come from \
                `id_aliases.json`, by `answer_id`.",
        metric: Metric::Span(Profile::Hotpot),
        splits: &[split("train.json", 167_454), split("dev.json", 12_576)],
        beside: Some("id_aliases.json"),
        keys: &["_id|id", "question", "answer", "supporting_facts|context"],
        without: &["level", "paragraphs"],
        read: contexts::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Musique,
        name: "musique",
        title: "MuSiQue (answerable)",
        paper: "Trivedi et al., MuSiQue: Multihop Questions via Single-hop Question Composition, \
                TACL 2022",
        source: "https://github.com/StonyBrookNLP/musique",
        licence: "CC BY 4.0",
        shape: "JSON lines; 20 `paragraphs` with `title`, `paragraph_text`, `is_supporting`; \
                `question_decomposition`, `answer_aliases`.",
        splits: &[
            split("musique_ans_v1.0_train.jsonl", 19_938),
            split("musique_ans_v1.0_dev.jsonl", 2_417),
        ],
        keys: &["id", "question", "answer", "paragraphs"],
        read: musique::answerable,
        ..COMMON
    },
    DataSetEntry {
        format: Format::MusiqueFull,
        name: "musique-full",
        title: "MuSiQue (full)",
        paper: "Trivedi et al., MuSiQue: Multihop Questions via Single-hop Question Composition, \
                TACL 2022",
        source: "https://github.com/StonyBrookNLP/musique",
        licence: "CC BY 4.0",
        shape: "As `musique`, each question twice: the second time `answerable` is false, a \
                supporting paragraph is gone, and the right thing is to abstain.",
        pool: Pool::EachAlone,
        splits: &[
            split("musique_full_v1.0_train.jsonl", 39_876),
            split("musique_full_v1.0_dev.jsonl", 4_834),
        ],
        keys: &["id", "question", "answer", "paragraphs"],
        read: musique::full,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Strategyqa,
        name: "strategyqa",
        title: "StrategyQA",
        paper: "Geva et al., Did Aristotle Use a Laptop? A Question Answering Benchmark with \
                Implicit Reasoning Strategies, TACL 2021",
        source: "https://allenai.org/data/strategyqa; the split of its authors' code: \
                 https://github.com/eladsegal/strategyqa, `data/strategyqa`",
        licence: "MIT",
        shape: "A JSON list; `answer` is true or false; `evidence` names paragraphs, whose texts \
                are in `strategyqa_train_paragraphs.json`.",
        metric: Metric::YesNo,
        pool: Pool::Corpus(
            "the paragraphs of `strategyqa_train_paragraphs.json` that its questions name, or a \
             Wikipedia of one's own",
        ),
        splits: &[
            split("strategyqa_train.json", 2_290),
            known(
                "train.json",
                2_061,
                "0f72560b8a6fad3db847d2f1a7524fb087297843bb45a8d3245ffd68cbe0de12",
            ),
            known(
                "dev.json",
                229,
                "0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde",
            ),
        ],
        beside: Some("strategyqa_train_paragraphs.json"),
        keys: &["qid", "question", "answer", "term|facts|decomposition"],
        read: strategyqa::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Medqa,
        name: "medqa",
        title: "MedQA (US)",
        paper: "Jin et al., What Disease does this Patient Have?, 2020",
        source: "https://github.com/jind11/MedQA, `questions/US`",
        licence: "MIT",
        shape: "JSON lines; `options` by letter (four or five), `answer_idx` the right letter.",
        metric: Metric::Options,
        pool: Pool::Corpus("the textbooks that are published with it (`textbooks/en`)"),
        splits: &[
            split("train.jsonl", 10_178),
            split("dev.jsonl", 1_272),
            split("test.jsonl", 1_273),
        ],
        keys: &["question", "answer", "options", "answer_idx"],
        read: medqa::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Medmcqa,
        name: "medmcqa",
        title: "MedMCQA",
        paper: "Pal et al., MedMCQA: A Large-scale Multi-Subject Multi-Choice Dataset for Medical \
                domain Question Answering, CHIL 2022",
        source: "https://github.com/medmcqa/medmcqa",
        licence: "MIT",
        shape: "JSON lines; options `opa` to `opd`, `cop` the right one's number, counted from 1.",
        metric: Metric::Options,
        pool: Pool::Corpus("medical texts of one's own; none are published with it"),
        splits: &[split("train.json", 182_822), split("dev.json", 4_183)],
        keys: &["question", "opa", "opb", "opc", "opd", "cop"],
        read: medmcqa::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Scifact,
        name: "scifact",
        title: "SciFact",
        paper: "Wadden et al., Fact or Fiction: Verifying Scientific Claims, EMNLP 2020",
        source: "https://github.com/allenai/scifact",
        licence: "CC BY-NC 2.0 (claims)",
        shape: "JSON lines; `evidence` gives, by abstract, rationales with `SUPPORT` or \
                `CONTRADICT`; a claim without is `NOT ENOUGH INFO`. Abstracts come from \
                `corpus.jsonl`.",
        metric: Metric::Options,
        pool: Pool::Corpus("the 5,183 abstracts of `corpus.jsonl`"),
        splits: &[split("claims_train.jsonl", 809), split("claims_dev.jsonl", 300)],
        beside: Some("corpus.jsonl"),
        keys: &["id", "claim", "evidence", "cited_doc_ids"],
        read: scifact::claim,
        ..COMMON
    },
    DataSetEntry {
        format: Format::ScifactPairs,
        name: "scifact-pairs",
        title: "SciFact (pairs)",
        paper: "Wadden et al., Fact or Fiction: Verifying Scientific Claims, EMNLP 2020",
        source: "SciFact's claims and rationales as a table; several benchmarks pass it on so",
        licence: "CC BY-NC 2.0 (claims)",
        shape: "A table with tabs: `index`, `sentence1` (the rationale), `sentence2` (the claim), \
                `entailment` (`entailment` or `not_entailment`).",
        metric: Metric::Options,
        keys: &["index", "sentence1", "sentence2", "entailment"],
        table: true,
        read: scifact::pair,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Fever,
        name: "fever",
        title: "FEVER",
        paper: "Thorne et al., FEVER: a Large-scale Dataset for Fact Extraction and VERification, \
                NAACL 2018",
        source: "https://fever.ai/dataset/fever.html",
        licence: "CC BY-SA 3.0",
        shape: "JSON lines; `label` is `SUPPORTS`, `REFUTES` or `NOT ENOUGH INFO`; `evidence` \
                names pages and sentences.",
        metric: Metric::Options,
        pool: Pool::Corpus("the Wikipedia pages of June 2017 (`wiki-pages`), published beside it"),
        splits: &[
            split("train.jsonl", 145_449),
            split("shared_task_dev.jsonl", 19_998),
            split("paper_dev.jsonl", 9_999),
            split("paper_test.jsonl", 9_999),
        ],
        keys: &["id", "claim", "label", "evidence"],
        read: fever::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Logiqa2,
        name: "logiqa2",
        title: "LogiQA 2.0",
        paper: "Liu et al., LogiQA 2.0: An Improved Dataset for Logical Reasoning in Natural \
                Language Understanding, TASLP 2023",
        source: "https://github.com/csitfun/LogiQA2.0, `logiqa/DATA/LOGIQA`",
        licence: "CC BY-NC-SA 4.0",
        shape: "JSON lines; `text`, `question`, four `options`, `answer` the right one's number, \
                counted from 0; `type` the kinds of reasoning.",
        metric: Metric::Options,
        pool: Pool::Nothing,
        splits: &[
            split("train.txt", 12_567),
            known(
                "dev.txt",
                1_569,
                "bbefb563b7ddc02640ccdc314c1315d5727dba48539d0ecdd126fa351e511b09",
            ),
            known(
                "test.txt",
                1_572,
                "71940b37ae0184b677c253a148d57ad4e75d6113447b1563c2ca82483e4e4f8d",
            ),
        ],
        keys: &["text", "question", "options", "answer"],
        read: logiqa::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Folio,
        name: "folio",
        title: "FOLIO",
        paper: "Han et al., FOLIO: Natural Language Reasoning with First-Order Logic, 2022",
        source: "https://github.com/Yale-LILY/FOLIO, `data/v0.0`",
        licence: "CC BY-SA 4.0",
        shape: "JSON lines; `premises`, `conclusion`, `label` (`True`, `False`, `Uncertain`; the \
                training file says `Unknown` for the last).",
        metric: Metric::Options,
        pool: Pool::Nothing,
        splits: &[
            known(
                "folio-train.jsonl",
                1_004,
                "008d34b750d31fa7f014e953228adf4db81ec34bbda9e7f67c96c60438d1e6b2",
            ),
            known(
                "folio-validation.jsonl",
                204,
                "6922c988ef10987bd6545568ee8e63e897af80994591fa20539767da58f8e3d1",
            ),
        ],
        keys: &["premises", "conclusion", "label"],
        read: folio::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Gsm8k,
        name: "gsm8k",
        title: "GSM8K",
        paper: "Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021",
        source: "https://github.com/openai/grade-school-math, `grade_school_math/data`",
        licence: "MIT",
        shape: "JSON lines; `answer` is the working, then `####` and the number.",
        metric: Metric::Number,
        pool: Pool::Nothing,
        splits: &[
            known(
                "train.jsonl",
                7_473,
                "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
            ),
            known(
                "test.jsonl",
                1_319,
                "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
            ),
        ],
        keys: &["question", "answer"],
        read: arithmetic::gsm8k,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Mawps,
        name: "mawps",
        title: "MAWPS",
        paper: "Koncel-Kedziorski et al., MAWPS: A Math Word Problem Repository, NAACL 2016",
        source: "https://github.com/LYH-YF/MWPToolkit, `dataset/mawps`",
        licence: "MIT",
        shape: "A JSON list; `original_text`, `equation`, `ans` (a number or its text).",
        metric: Metric::Number,
        pool: Pool::Nothing,
        splits: &[split("testset.json", 238)],
        keys: &["original_text", "equation", "ans"],
        read: arithmetic::mawps,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Lawbench11,
        name: "lawbench-1-1",
        title: "LawBench 1-1 (statute recitation)",
        metric: Metric::RougeL,
        splits: &[known(
            "1-1.json",
            500,
            "2e4fbcb42a7e7cce6f1a3f771a01cf7896384aecdc5b2900c74550497426c40e",
        )],
        read: lawbench::recitation,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::Lawbench12,
        name: "lawbench-1-2",
        title: "LawBench 1-2 (knowledge of the law)",
        metric: Metric::LawOption,
        splits: &[known(
            "1-2.json",
            500,
            "860d9f9e64706d5396d014027e571e1191b25c753fbea35a31710fc741fa8aa3",
        )],
        read: lawbench::knowledge,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::Lawbench31,
        name: "lawbench-3-1",
        title: "LawBench 3-1 (articles behind facts)",
        metric: Metric::LawArticles,
        splits: &[known(
            "3-1.json",
            500,
            "6ca91fff5ab6cd4fd6f46316edf0e4c6fd5bddd3ebf73ad3e7dc505e29591c1a",
        )],
        read: lawbench::articles_of_facts,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::Lawbench32,
        name: "lawbench-3-2",
        title: "LawBench 3-2 (articles behind a scenario)",
        metric: Metric::RougeL,
        splits: &[known(
            "3-2.json",
            500,
            "2e209fb2343db7dea424131ac8f7cb41d1bd291e6fe09be761e474eb1fdaa87d",
        )],
        read: lawbench::articles_of_scenario,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::Lawbench36,
        name: "lawbench-3-6",
        title: "LawBench 3-6 (case analysis)",
        metric: Metric::LawOption,
        splits: &[known(
            "3-6.json",
            500,
            "17f8f78c9c279417455cd543577468acb16e88a3193b73c1f3d67240b8fe7fdf",
        )],
        read: lawbench::case,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::Lawbench38,
        name: "lawbench-3-8",
        title: "LawBench 3-8 (consultation)",
        metric: Metric::RougeL,
        splits: &[known(
            "3-8.json",
            500,
            "3eb1989dd55e03e1414d8a68854e551e044d8d32544971e63c9d24d271374382",
        )],
        read: lawbench::consultation,
        ..LAWBENCH
    },
    DataSetEntry {
        format: Format::OpenAustralianLegalQa,
        name: "open-australian-legal-qa",
        title: "Open Australian Legal QA",
        paper: "Butler, Open Australian Legal QA, 2023",
        source: "https://huggingface.co/datasets/umarbutler/open-australian-legal-qa",
        licence: "that of the Open Australian Legal Corpus (per document; see its page)",
        shape: "JSON lines; `source` is the excerpt that question and answer were made from, with \
                `citation` and `text`.",
        metric: Metric::Span(Profile::Squad),
        splits: &[split("qa.jsonl", 2_124)],
        keys: &["question", "answer", "source"],
        read: auslegal::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Crag,
        name: "crag",
        title: "CRAG",
        paper: "Yang et al., CRAG: Comprehensive RAG Benchmark, NeurIPS 2024",
        source: "https://github.com/facebookresearch/CRAG",
        licence: "CC BY-NC 4.0",
        shape: "JSON lines (unpack the `.bz2`); `query`, `answer`, `alternative_answers`, \
                `search_results` with five pages of HTML. AtomR's shorter form (`question_id`, \
                `question`, `answers`) is read too.",
        metric: Metric::Span(Profile::Atomr),
        splits: &[
            split("crag_task_1_and_2_dev_v4.jsonl", 2_706),
            known(
                "CRAG_test_500.jsonl",
                500,
                "f38d86dc393f1a3741d787b00e46f3c8d4ab5e370868875ad3414efe94443d5a",
            ),
        ],
        keys: &["query|question", "answer|answers", "query_time", "question_type"],
        read: crag::item,
        ..COMMON
    },
    DataSetEntry {
        format: Format::Blendqa,
        name: "blendqa",
        title: "BlendQA",
        paper: "Xin et al., AtomR: Atomic Operator-Empowered Large Language Models for \
                Heterogeneous Knowledge Reasoning, 2024",
        source: "https://github.com/THU-KEG/AtomR, `datasets/multi_source/BlendQA`",
        licence: "none stated",
        shape: "JSON lines, one file a pair of sources; `sub_q1`, `sub_source1`, `sub_q2`, \
                `sub_source2`, `answers`.",
        metric: Metric::Span(Profile::Atomr),
        pool: Pool::Corpus("Wikipedia, the web and Wikidata, which are not part of the set"),
        splits: &[
            known(
                "kg-web_132.jsonl",
                132,
                "39467881d1e01c6c942eb85d6b5a4614f4b7e07f1c74db27f2b8c1b1965f2267",
            ),
            known(
                "text-kg_163.jsonl",
                163,
                "6a13c65df2c299e99e9cc3d35ba1c5775cea24c6956adb9daf70ad0c8e4e2c9d",
            ),
            known(
                "web-text_150.jsonl",
                150,
                "8ad55a0b2308084213436d7c5ddd7c46ce806a4bfd2be0bb2d24459194ec2430",
            ),
        ],
        keys: &["question", "sub_q1", "sub_q2", "answers|short_answer"],
        read: blendqa::item,
        ..COMMON
    },
    DataSetEntry {
        source: "written by you",
        licence: "yours",
        shape: "JSON lines; `question` and `answers` (a text, a number or a list). Where known: \
                `id`, `evidence` (texts, or objects with `title` and `text`), `kind`, `hops`, \
                `options`, `answer_kind`, `answerable`, `contexts`, `asked_at`.",
        metric: Metric::ByKind,
        pool: Pool::Corpus("your documents; `contexts` where the file brings them"),
        ..COMMON
    },
];
