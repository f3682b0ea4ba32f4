//! What a column of a paper's table shows, and where a report holds the same.
use serde::{Serialize, Serializer};

use crate::report::number;
use crate::{Metric, Run};

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The share that a model judge calls right.
    Acc,
    /// Accuracy by the data set's own metric.
    Accuracy,
    Em,
    F1,
    Precision,
    Recall,
    /// The gold answer stands in the answer.
    CoverEm,
    /// Recall of the supporting facts; ours is that of the gold passages among the citations.
    SupportRecall,
    /// Sub-questions that were searched for; a count.
    SubQuestions,
    /// F1 of the questions of one kind.
    KindF1(&'static str),
    /// F1 of the questions of so many hops.
    HopsF1(usize),
    /// Telling what can be answered from what cannot.
    Answerable(Answerable),
}

/// The figures of DEC's Table 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answerable {
    Accuracy,
    Precision,
    Recall,
    F1,
    Specificity,
    Conditional,
    Overall,
}

/// A figure of a run, and over how many questions it is.
pub(super) struct Measured {
    /// In percent, counts as they are.
    pub(super) value: Option<f64>,
    pub(super) n: usize,
}

impl Figure {
    /// The head of its column.
    pub fn name(self) -> String {
        let name = match self {
            Self::Acc => "Acc",
            Self::Accuracy => "accuracy",
            Self::Em => "EM",
            Self::F1 => "F1",
            Self::Precision => "P",
            Self::Recall => "R",
            Self::CoverEm => "CoverEM",
            Self::SupportRecall => "support",
            Self::SubQuestions => "#SQA",
            Self::KindF1(kind) => return format!("F1 {kind}"),
            Self::HopsF1(hops) => return format!("F1 {hops} hops"),
            Self::Answerable(Answerable::Accuracy) => "answerable",
            Self::Answerable(Answerable::Precision) => "answerable P",
            Self::Answerable(Answerable::Recall) => "answerable R",
            Self::Answerable(Answerable::F1) => "answerable F1",
            Self::Answerable(Answerable::Specificity) => "specificity",
            Self::Answerable(Answerable::Conditional) => "C Acc",
            Self::Answerable(Answerable::Overall) => "O Acc",
        };
        name.to_owned()
    }

    /// Why a report may lack it, in words that say how to get it.
    pub(super) fn lacking(self) -> &'static str {
        match self {
            Self::Acc => "a model judge gives it (`--judge`), and none ruled",
            Self::Accuracy => "it needs a data set that is scored by accuracy",
            Self::SupportRecall => "the questions name no gold passages, or nothing was scored",
            Self::KindF1(_) | Self::HopsF1(_) => "no scored question of the report is of that kind",
            Self::Answerable(_) => "every question of the report can be answered",
            Self::Em
            | Self::CoverEm
            | Self::F1
            | Self::Precision
            | Self::Recall
            | Self::SubQuestions => "nothing was scored",
        }
    }

    pub(super) fn of(self, run: &Run) -> Measured {
        let metrics = &run.metrics;
        let scored = run.results.iter().filter(|result| result.score.is_some()).count();
        let of_kind = run.by_kind.get(if let Self::KindF1(kind) = self { kind } else { "" });
        let of_hops = run.by_hops.get(if let Self::HopsF1(hops) = &self { hops } else { &0 });
        let (share, n) = match self {
            Self::Acc => match &run.judged {
                Some(judged) => (judged.accuracy, judged.right + judged.wrong),
                None => (None, 0),
            },
            Self::Accuracy => {
                let spans = matches!(run.metric, Metric::Span(_));
                (metrics.value.filter(|_| !spans), scored)
            }
            Self::Em => (metrics.em, scored),
            Self::F1 => (metrics.f1, scored),
            Self::Precision => (metrics.precision, scored),
            Self::Recall => (metrics.recall, scored),
            Self::CoverEm => (metrics.cover_em, scored),
            Self::SupportRecall => {
                let gold = run.results.iter().filter(|result| result.support.is_some()).count();
                (metrics.support_recall, gold)
            }
            Self::SubQuestions => return Measured { value: run.sub_questions, n: scored },
            Self::KindF1(_) => of_kind.map_or((None, 0), |group| (group.f1, group.n)),
            Self::HopsF1(_) => of_hops.map_or((None, 0), |group| (group.f1, group.n)),
            Self::Answerable(which) => (which.of(run), scored),
        };
        Measured { value: share.map(|share| share * number(100)), n }
    }
}

impl Answerable {
    fn of(self, run: &Run) -> Option<f64> {
        let told = run.answerability?;
        match self {
            Self::Accuracy => told.accuracy,
            Self::Precision => told.precision,
            Self::Recall => told.recall,
            Self::F1 => told.f1,
            Self::Specificity => told.specificity,
            Self::Conditional => told.conditional,
            Self::Overall => told.overall,
        }
    }
}

/// By its name.
impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}
