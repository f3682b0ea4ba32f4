//! The page `docs/reference/calls-and-tokens.md`.
use std::fmt::Write as _;

use crate::run::End;

/// Sums over the questions of one strategy.
#[derive(Default, Clone, Copy)]
pub(crate) struct Cost {
    questions: u64,
    calls: u64,
    searches: u64,
    prompt_tokens: u64,
    reply_tokens: u64,
}

impl Cost {
    pub(crate) fn add(&mut self, end: &End) {
        self.questions += 1;
        self.calls += end.calls;
        self.searches += end.searches;
        self.prompt_tokens += end.prompt_tokens;
        self.reply_tokens += end.reply_tokens;
    }

    #[expect(clippy::cast_precision_loss, reason = "sums over twenty questions")]
    fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.questions.max(1) as f64
    }
}

/// What a paper gives for a question: LLM calls, tokens of prompts and replies together, where.
type Published = (&'static str, &'static str, &'static str, &'static str);

/// Calls are a table's sum over 500 questions divided by 500; so are the tokens of DEC.
const PUBLISHED: &[Published] = &[
    ("kar3", "", "8820", "KAR³, Table 10, MuSiQue"),
    ("dec", "", "4801 to 6072", "DEC, Table 5, HotpotQA and MuSiQue"),
    ("atomr", "7.3 to 10.0", "", "AtomR, Table 5, HotpotQA and 2Wiki"),
    ("prob_tree", "8.1 to 10.3", "25875", "AtomR, Table 5, and KAR³, Table 10"),
    ("ircot", "", "9789", "KAR³, Table 10, MuSiQue"),
    ("iter_retgen", "", "8614", "KAR³, Table 10, MuSiQue"),
    ("self_ask", "", "6149 to 6514", "DEC, Table 5, HotpotQA, and KAR³, Table 10"),
    ("search_chain", "", "6564 to 6803", "DEC, Table 5, HotpotQA and MuSiQue"),
    ("gen_ground", "", "9766 to 10236", "DEC, Table 5, HotpotQA and MuSiQue"),
    ("naive", "", "1869", "KAR³, Table 10, MuSiQue"),
    ("cot", "", "191", "KAR³, Table 10, MuSiQue"),
];

pub(crate) fn page(costs: impl Iterator<Item = (&'static str, Cost)>) -> String {
    let mut page = HEAD.to_owned();
    for (name, cost) in costs {
        let of = |(published, ..): &&Published| *published == name;
        let (_, calls, tokens, place) = PUBLISHED.iter().find(of).unwrap_or(&("", "", "", ""));
        let _ = writeln!(
            page,
            "| [`{name}`](../strategies/{name}.md) | {:.1} | {:.1} | {:.0} | {:.0} | {calls} | \
             {tokens} | {place} |",
            cost.mean(cost.calls),
            cost.mean(cost.searches),
            cost.mean(cost.prompt_tokens),
            cost.mean(cost.reply_tokens),
        );
    }
    page.push_str(TAIL);
    page
}

const HEAD: &str = "# Calls and tokens

What a question costs with each strategy at its default settings. `make robustness` makes this page from the same runs as [the table of bad replies](../robustness.md): the offline model, with rules for the tasks that it does not know, answers 20 questions about the sample library, with keyword search and short passages. A query is a text that is searched for; one search may have several. A token is counted as four characters. The figures compare strategies with each other and show the size of the prompts; a language model writes longer rationales and takes more hops, so that its figures are higher, most of all where the offline model stops early.

The papers' figures are means for each question with their models and data sets, prompts and replies together.

| strategy | calls | queries | tokens of prompts | tokens of replies | calls in the paper | tokens in the paper | source |
|---|--:|--:|--:|--:|--:|--:|---|
";

const TAIL: &str = "
`halma eval` measures the same for your own model and questions: its report has calls, searches, and tokens of prompts and replies for each strategy, and for each prompt of a strategy. The plans that the authors of AtomR recorded take 6.7 calls a question here and 7.3 in the paper; KAR³'s recorded runs take a third fewer tokens than the reference code, a quarter fewer for the same hops.
";
