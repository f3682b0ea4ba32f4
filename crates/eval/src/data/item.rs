//! What is asked and what a perfect run would answer and find.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{AnswerKind, Question};
use serde::{Deserialize, Serialize};

use crate::metrics::{Gold, GoldPassage};

/// One question with what a perfect run would give.
#[derive(Debug, Clone)]
pub struct Item {
    pub question: Question,
    /// The main answer, then its aliases. Empty only where the question is not answerable.
    pub answers: Vec<String>,
    /// The passages the answer rests on, as the data set's authors marked them.
    pub gold: Vec<GoldPassage>,
    /// `bridge`, `comparison`, …; for `MuSiQue` the number of hops, `2hop`.
    pub kind: Option<String>,
    /// How many facts have to be joined, where the authors say so.
    pub hops: Option<u32>,
    /// `false` where the passages do not hold the answer: the right thing is to abstain.
    pub answerable: bool,
    /// The passages that the record itself brings, gold ones and others. Shared, so that an item
    /// is cheap to clone.
    pub contexts: Arc<[Passage]>,
    /// Further properties by which questions can be selected: the domain of CRAG's, for example.
    pub tags: BTreeMap<String, String>,
    /// For a question about what is to come, the last value that was known.
    pub last: Option<f64>,
}

impl Item {
    /// An answerable question with a short answer and nothing else known about it.
    pub fn new(
        id: impl Into<String>,
        text: impl Into<String>,
        answers: impl IntoIterator<Item = String>,
    ) -> Self {
        let question = Question { id: id.into(), ..Question::new(text) };
        Self {
            question,
            answers: answers.into_iter().collect(),
            gold: vec![],
            kind: None,
            hops: None,
            answerable: true,
            contexts: Arc::from([]),
            tags: BTreeMap::new(),
            last: None,
        }
    }

    /// What an answer to it is compared with.
    pub fn gold_answer(&self) -> Gold<'_> {
        Gold {
            answers: &self.answers,
            options: &self.question.options,
            answer_kind: self.question.answer_kind,
            answerable: self.answerable,
        }
    }

    pub(super) fn with_answer_kind(mut self, kind: AnswerKind) -> Self {
        self.question.answer_kind = kind;
        self
    }

    /// With the time at which it was asked, as the file gives it.
    pub(super) fn with_asked_at(mut self, asked_at: Option<String>) -> Self {
        self.question.asked_at = asked_at.filter(|at| !at.trim().is_empty());
        self
    }

    pub(super) fn with_options<T: Into<String>>(
        mut self,
        options: impl IntoIterator<Item = T>,
    ) -> Self {
        self.question.options = options.into_iter().map(Into::into).collect();
        self
    }
}

/// A passage that a record brings to be searched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Passage {
    pub title: String,
    pub text: String,
    /// The text is a page of HTML, to be parsed before it is indexed.
    #[serde(default)]
    pub html: bool,
}

impl Passage {
    pub(super) fn plain(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), html: false }
    }
}

/// A record that was left out, and why. Both numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRecord {
    pub record: usize,
    /// The line of the file at which it begins.
    pub line: usize,
    /// What is wrong with it and what to do.
    pub reason: String,
}

impl From<&Passage> for GoldPassage {
    fn from(passage: &Passage) -> Self {
        Self { title: passage.title.clone(), text: passage.text.clone() }
    }
}
