//! How the answers of a data set are scored when no model judges them.
use halma_core::text::is_cjk;
use halma_core::{Answer, AnswerKind};
use serde::{Deserialize, Serialize};

use super::{
    Profile, article_f1, law_option, number_in, option_accuracy, rouge_l, same_number, score,
    share, yes_no,
};

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
                "Exact match, precision and recall are reported as well, the best over the gold \
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

    /// The normalisation under which answers of its data sets are compared word by word.
    pub fn profile(self) -> Profile {
        match self {
            Self::Span(profile) => profile,
            Self::LawArticles | Self::LawOption | Self::RougeL => Profile::Chinese,
            Self::YesNo | Self::Options | Self::Number | Self::ByKind => Profile::Squad,
        }
    }

    /// The same with another normalisation, where answers are short spans of text.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        if self.is_span() { Self::Span(profile) } else { self }
    }

    /// Whether its value is already told by the scores of words.
    pub(crate) fn is_span(self) -> bool {
        matches!(self, Self::Span(_))
    }

    /// The value of one answer, between 0 and 1. Where nothing can be answered, abstaining is
    /// right and all else is wrong; elsewhere an abstention is worth nothing.
    pub fn value(self, answer: &Answer, gold: &Gold<'_>) -> f64 {
        if !gold.answerable || answer.abstained {
            return share(usize::from(!gold.answerable && answer.abstained), 1);
        }
        self.value_of_text(&answer.text, gold)
    }

    fn value_of_text(self, text: &str, gold: &Gold<'_>) -> f64 {
        let golds = gold.answers;
        let any = |same: &dyn Fn(&str) -> bool| {
            share(usize::from(golds.iter().any(|gold| same(gold))), 1)
        };
        let best = |value: &dyn Fn(&str) -> f64| golds.iter().map(|g| value(g)).fold(0.0, f64::max);
        match self {
            Self::Span(profile) => score(profile, text, golds).f1,
            Self::YesNo => any(&|gold| yes_no(text).is_some() && yes_no(text) == yes_no(gold)),
            Self::Options => option_accuracy(text, gold.options, golds),
            Self::Number => any(&|gold| match (number_in(text), number_in(gold)) {
                (Some(given), Some(gold)) => same_number(given, gold),
                _ => false,
            }),
            Self::LawOption => best(&|gold| law_option(text, gold)),
            Self::LawArticles => best(&|gold| article_f1(text, gold)),
            Self::RougeL => rouge_l(text, golds),
            Self::ByKind => gold.metric().value_of_text(text, gold),
        }
    }
}

/// What an answer is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Gold<'a> {
    /// The main answer, then its aliases.
    pub answers: &'a [String],
    /// What the question offers to choose from; often empty.
    pub options: &'a [String],
    pub answer_kind: AnswerKind,
    /// `false` where the knowledge does not hold the answer: the right thing is to abstain.
    pub answerable: bool,
}

impl Gold<'_> {
    /// The metric for a question of which nothing but its kind of answer is known.
    fn metric(&self) -> Metric {
        match self.answer_kind {
            AnswerKind::Option | AnswerKind::Verdict if !self.options.is_empty() => Metric::Options,
            AnswerKind::YesNo => Metric::YesNo,
            AnswerKind::Number => Metric::Number,
            AnswerKind::Long => Metric::RougeL,
            AnswerKind::Short | AnswerKind::Option | AnswerKind::Verdict => {
                let chinese = self.answers.iter().any(|gold| gold.chars().any(is_cjk));
                Metric::Span(if chinese { Profile::Chinese } else { Profile::Squad })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Question {
        answer_kind: AnswerKind,
        options: Vec<String>,
        answers: Vec<String>,
        answerable: bool,
    }

    impl Question {
        fn gold(&self) -> Gold<'_> {
            let Self { answer_kind, options, answers, answerable } = self;
            let (answer_kind, answerable) = (*answer_kind, *answerable);
            Gold { answers, options, answer_kind, answerable }
        }
    }

    fn question(answer_kind: AnswerKind, options: &[&str], gold: &str) -> Question {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Question { answer_kind, options, answers: vec![gold.to_owned()], answerable: true }
    }

    fn answer(text: &str) -> Answer {
        Answer { text: text.into(), ..Answer::default() }
    }

    fn value(metric: Metric, question: &Question, text: &str) -> String {
        format!("{:.3}", metric.value(&answer(text), &question.gold()))
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
            let question = question(kind, options, gold);
            assert_eq!(value(Metric::ByKind, &question, answer), wanted, "{kind:?} {answer}");
        }
        let articles = question(Short, &[], "刑法第253、264条");
        assert_eq!(value(Metric::LawArticles, &articles, "第264条"), "0.667");
        assert_eq!(value(Metric::LawOption, &question(Option, &["A", "B"], "B"), "选B"), "1.000");
    }

    #[test]
    fn abstaining_is_right_where_nothing_can_be_answered() {
        let abstained = Answer { abstained: true, ..Answer::default() };
        let answerable = question(AnswerKind::Short, &[], "Nile");
        let unanswerable =
            Question { answerable: false, ..question(AnswerKind::Short, &[], "Nile") };
        let metric = Metric::Span(Profile::Squad);
        let values = [
            metric.value(&abstained, &answerable.gold()),
            metric.value(&abstained, &unanswerable.gold()),
            metric.value(&answer("Nile"), &unanswerable.gold()),
        ];
        assert_eq!(values.map(|value| value > 0.5), [false, true, false]);
    }
}
