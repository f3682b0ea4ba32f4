//! Asking a model whether answers are right, and storing its rulings.
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use halma_core::{Answer, Cx, Error, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

use crate::data::Item;
use crate::error::EvalError;
use crate::fingerprint;
use crate::jobs::caught;
use crate::journal::{Journal, LINE_VERSION};
use crate::judge::{Protocol, Ruling, judge};
use crate::record::file_name;

/// Asks a model, through a context of its own, whether the answer is right. An
/// [`Error::BadReply`] is an unreadable ruling; any other error is a failure, and the next run
/// asks again.
pub type AskJudge =
    Arc<dyn Fn(Item, Answer, Cx) -> BoxFuture<'static, Result<Ruling, Error>> + Send + Sync>;

/// A judge with the name of everything its rulings depend on (its words, its model).
#[derive(Clone)]
pub struct Judge {
    pub ask: AskJudge,
    pub fingerprint: String,
}

/// A ruling as it is stored, one line of `OUT/<label>.judged.jsonl`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RulingLine {
    pub(crate) version: u32,
    pub(crate) question: String,
    /// Of the judge, the question, its gold answers and the answer.
    pub(crate) fingerprint: String,
    pub(crate) ruling: Ruling,
    pub(crate) usage: UsageTotal,
}

/// The judge's reply: there is no ruling when it could not be asked.
pub(crate) struct JudgeReply {
    pub(crate) judged: Option<RulingLine>,
    pub(crate) trace: Trace,
}

impl Judge {
    /// A model that is asked by a protocol of the papers. `fingerprint` names its words and its
    /// model.
    pub fn by_model(protocol: Protocol, fingerprint: &str) -> Self {
        let ask: AskJudge = Arc::new(move |item, answer, cx| {
            Box::pin(async move { judge(&cx, protocol, &item, &answer.text).await })
        });
        let protocol = serde_json::json!(protocol).to_string();
        Self { ask, fingerprint: crate::fingerprint([protocol.as_str(), fingerprint]) }
    }

    pub(crate) fn fingerprint_of(&self, item: &Item, answer: &Answer) -> String {
        let fixed = [self.fingerprint.as_str(), &item.question.text, &answer.text];
        fingerprint(fixed.into_iter().chain(item.answers.iter().map(String::as_str)))
    }

    pub(crate) async fn rule(&self, item: &Item, answer: &Answer, cx: Cx) -> JudgeReply {
        let reply = caught((self.ask)(item.clone(), answer.clone(), cx.clone())).await;
        let trace = cx.trace();
        let ruling = match reply {
            Ok(Ok(ruling)) => Some(ruling),
            Ok(Err(Error::BadReply { .. })) => Some(Ruling::Unreadable),
            // Counted as failed judgements; the trace says why.
            Ok(Err(_)) | Err(_) => None,
        };
        let judged = ruling.map(|ruling| RulingLine {
            version: LINE_VERSION,
            question: item.question.id.clone(),
            fingerprint: self.fingerprint_of(item, answer),
            ruling,
            usage: trace.usage(),
        });
        JudgeReply { judged, trace }
    }
}

/// The rulings of one system's answers, in memory and on disk.
#[derive(Default)]
pub(crate) struct RulingStore {
    journal: Option<Journal<RulingLine>>,
    rulings: HashMap<(String, String), (Ruling, UsageTotal)>,
    judge: Option<Judge>,
}

impl RulingStore {
    pub(crate) fn open(
        out: Option<&Path>,
        label: &str,
        judge: Option<&Judge>,
    ) -> Result<Self, EvalError> {
        let mut rulings = Self { judge: judge.cloned(), ..Self::default() };
        if let (Some(out), Some(_)) = (out, &rulings.judge) {
            let file = out.join(format!("{}.judged.jsonl", file_name(label)));
            let stored = &mut rulings.rulings;
            rulings.journal = Some(Journal::<RulingLine>::open_each(&file, |line| {
                stored.insert((line.question, line.fingerprint), (line.ruling, line.usage));
            })?);
        }
        Ok(rulings)
    }

    /// True where a judge is set and has not ruled yet. An abstention says nothing that could be
    /// judged.
    pub(crate) fn needs_ruling(&self, item: &Item, answer: &Answer) -> bool {
        self.is_enabled() && !answer.abstained && self.ruling(item, answer).is_none()
    }

    pub(crate) fn ruling(&self, item: &Item, answer: &Answer) -> Option<(Ruling, UsageTotal)> {
        let judge = self.judge.as_ref().filter(|_| !answer.abstained)?;
        let key = (item.question.id.clone(), judge.fingerprint_of(item, answer));
        self.rulings.get(&key).copied()
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.judge.is_some()
    }

    pub(crate) fn store(&mut self, judged: RulingLine) -> Result<(), EvalError> {
        if let Some(journal) = &mut self.journal {
            journal.append(&judged)?;
        }
        let key = (judged.question, judged.fingerprint);
        self.rulings.insert(key, (judged.ruling, judged.usage));
        Ok(())
    }
}
