//! How the answers of a data set are scored when no model judges them.
use halma_core::{Answer, AnswerKind};
use serde::{Deserialize, Serialize};

use super::normalise::is_cjk;
use super::{
    Profile, article_f1, law_option, number_in, option_accuracy, rouge_l, same_number, score,
    share, yes_no,
};
use crate::Item;

/// The headline metric of a data set; every value is between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// F1 of words, after the profile's normalisation.
    Span(Profile),
    /// Yes or no.
    YesNo,
    /// One of the options, or a verdict.
    Options,
    /// The same number.
    Number,
    /// `LawBench`: the letter of one option.
    LawOption,
    /// `LawBench`: the set of articles.
    LawArticles,
    /// The longest common subsequence.
    RougeL,
    /// One of the above, by the kind of answer that a question asks for.
    ByKind,
}

impl Metric {
    /// A name for tables.
    pub fn name(self) -> String {
        match self {
            Self::Span(profile) => format!("F1 ({})", profile.name()),
            Self::YesNo | Self::Options | Self::LawOption | Self::Number => "accuracy".into(),
            Self::LawArticles => "F1 of articles".into(),
            Self::RougeL => "ROUGE-L".into(),
            Self::ByKind => "by kind of answer".into(),
        }
    }

    /// Where it comes from, in a sentence.
    pub fn source(self) -> &'static str {
        match self {
            Self::Span(_) => {
                "Exact match, precision and recall are reported beside it, the best over the gold \
                 answers, as in the official scripts"
            }
            Self::YesNo => "The first word decides: yes, no, true or false",
            Self::Options => "The answer must choose one option, by its words or its letter",
            Self::Number => "The last number of the answer, within a ten-thousandth",
            Self::LawOption => "LawBench's scorer: the right letter and no other",
            Self::LawArticles => "LawBench's scorer: F1 of the articles named",
            Self::RougeL => {
                "Lin (2004), with β = 1; Chinese by characters, which gives up to 0.05 more than \
                 the words of LawBench's scorer"
            }
            Self::ByKind => {
                "Short answers by F1 (squad; Chinese by characters), yes/no, options and numbers \
                 by accuracy, long ones by ROUGE-L"
            }
        }
    }

    /// The value of one answer. Where nothing can be answered, to abstain is right and all else is
    /// wrong; elsewhere an abstention is worth nothing.
    pub fn value(self, item: &Item, answer: &Answer) -> f64 {
        if !item.answerable || answer.abstained {
            return share(usize::from(!item.answerable && answer.abstained), 1);
        }
        self.of_text(item, &answer.text)
    }

    fn of_text(self, item: &Item, text: &str) -> f64 {
        let golds = &item.answers;
        let any = |same: &dyn Fn(&str) -> bool| {
            share(usize::from(golds.iter().any(|gold| same(gold))), 1)
        };
        let best = |value: &dyn Fn(&str) -> f64| golds.iter().map(|g| value(g)).fold(0.0, f64::max);
        match self {
            Self::Span(profile) => score(profile, text, golds).f1,
            Self::YesNo => any(&|gold| yes_no(text).is_some() && yes_no(text) == yes_no(gold)),
            Self::Options => option_accuracy(text, &item.question.options, golds),
            Self::Number => any(&|gold| match (number_in(text), number_in(gold)) {
                (Some(given), Some(gold)) => same_number(given, gold),
                _ => false,
            }),
            Self::LawOption => best(&|gold| law_option(text, gold)),
            Self::LawArticles => best(&|gold| article_f1(text, gold)),
            Self::RougeL => rouge_l(text, golds),
            Self::ByKind => Self::for_item(item).of_text(item, text),
        }
    }

    /// The metric for a question of which nothing but its kind of answer is known.
    fn for_item(item: &Item) -> Self {
        match item.question.answer_kind {
            AnswerKind::Option | AnswerKind::Verdict if !item.question.options.is_empty() => {
                Self::Options
            }
            AnswerKind::YesNo => Self::YesNo,
            AnswerKind::Number => Self::Number,
            AnswerKind::Long => Self::RougeL,
            AnswerKind::Short | AnswerKind::Option | AnswerKind::Verdict => {
                let chinese = item.answers.iter().any(|gold| gold.chars().any(is_cjk));
                Self::Span(if chinese { Profile::Chinese } else { Profile::Squad })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: AnswerKind, options: &[&str], gold: &str) -> Item {
        let mut item = Item::new("q", "?", [gold.to_owned()]);
        item.question.answer_kind = kind;
        item.question.options = options.iter().map(|option| (*option).to_owned()).collect();
        item
    }

    fn said(text: &str) -> Answer {
        Answer { text: text.into(), ..Answer::default() }
    }

    fn value(metric: Metric, item: &Item, text: &str) -> String {
        format!("{:.3}", metric.value(item, &said(text)))
    }

    #[test]
    fn each_metric_scores_its_kind_of_answer() {
        use AnswerKind::{Long, Number, Option, Short, Verdict, YesNo};
        for (kind, options, gold, answer, wanted) in [
            (Short, &[][..], "Nile", "the Nile", "1.000"),
            (Short, &[], "北京", "北京市", "0.800"),
            (YesNo, &[], "yes", "Yes, both", "1.000"),
            (YesNo, &[], "no", "perhaps", "0.000"),
            (Number, &[], "5600", "$5,600", "1.000"),
            (Number, &[], "5600", "many", "0.000"),
            (Option, &["Iron", "Copper"], "Copper", "B", "1.000"),
            (Verdict, &["SUPPORTS", "REFUTES"], "REFUTES", "refutes", "1.000"),
            (Long, &[], "police killed the gunman", "the gunman kill police", "0.500"),
        ] {
            let item = item(kind, options, gold);
            assert_eq!(value(Metric::ByKind, &item, answer), wanted, "{kind:?} {answer}");
        }
        let articles = item(Short, &[], "刑法第253、264条");
        assert_eq!(value(Metric::LawArticles, &articles, "第264条"), "0.667");
        assert_eq!(value(Metric::LawOption, &item(Option, &["A", "B"], "B"), "选B"), "1.000");
    }

    #[test]
    fn abstaining_is_right_where_nothing_can_be_answered() {
        let abstained = Answer { abstained: true, ..Answer::default() };
        let known = item(AnswerKind::Short, &[], "Nile");
        let unknown = Item { answerable: false, answers: vec![], ..known.clone() };
        let metric = Metric::Span(Profile::Squad);
        let values = [
            metric.value(&known, &abstained),
            metric.value(&unknown, &abstained),
            metric.value(&unknown, &said("Nile")),
        ];
        assert_eq!(values.map(|value| value > 0.5), [false, true, false]);
    }
}
