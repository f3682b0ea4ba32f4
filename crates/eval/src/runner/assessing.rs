//! Having a model assess answers by criteria, after they were given and stored: an assessment takes
//! several calls, and a run that is killed in the middle of one must not lose the answer.
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use halma_core::{Answer, Cx, Embedder, Error, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

use super::asking::Round;
use super::run_files::RunFiles;
use crate::data::Item;
use crate::error::EvalError;
use crate::fingerprint;
use crate::jobs::{Tick, caught, each};
use crate::journal::{Journal, LINE_VERSION};
use crate::judge::{Marks, Scheme, passages};
use crate::record::file_name;
use crate::report::{Assessment, AssessmentBuilder};
use crate::runner::SystemUnderTest;

/// Has a model assess an answer, through a context of its own. Any error is a failure, and the
/// next run asks again.
pub type AskAssessor =
    Arc<dyn Fn(AssessmentCase, Cx) -> BoxFuture<'static, Result<Marks, Error>> + Send + Sync>;

/// An answer that is assessed.
#[derive(Clone)]
pub struct AssessmentCase {
    pub item: Item,
    pub answer: Arc<Answer>,
    /// What the first system of the evaluation answered; `None` for that system itself.
    pub rival: Option<Arc<Answer>>,
}

/// The answers of the first system, by the item's place.
pub(super) type Rivals = HashMap<usize, Arc<Answer>>;

/// Assesses answers by one scheme, with the name of everything its marks depend on (its words, its
/// models).
#[derive(Clone)]
pub struct Assessor {
    pub scheme: Scheme,
    pub ask: AskAssessor,
    pub fingerprint: String,
}

/// An assessment as it is stored, one line of `OUT/<label>.assessed.jsonl`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AssessmentLine {
    version: u32,
    question: String,
    scheme: Scheme,
    /// Of the assessor, the question, its gold answers, the answer and its passages.
    fingerprint: String,
    marks: Marks,
    usage: UsageTotal,
}

impl Assessor {
    /// A model that is asked for the marks of a scheme. `fingerprint` names its words and its
    /// model; the embedder is for the criterion that compares questions.
    pub fn by_model(
        scheme: Scheme,
        fingerprint: &str,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Self {
        let embeds = embedder.as_ref().filter(|_| scheme == Scheme::Ragas);
        let vectors = embeds.map_or("none", |embedder| embedder.model()).to_owned();
        let ask: AskAssessor = Arc::new(move |case, cx| {
            let embedder = embedder.clone();
            Box::pin(async move {
                let AssessmentCase { item, answer, rival } = &case;
                scheme.marks(&cx, (item, answer, rival.as_deref()), embedder.as_deref()).await
            })
        });
        let parts = [scheme.name(), fingerprint, vectors.as_str()];
        Self { scheme, ask, fingerprint: crate::fingerprint(parts) }
    }

    fn fingerprint_of(&self, case: &AssessmentCase) -> String {
        let AssessmentCase { item, answer, rival } = case;
        let last = item.last.map(|last| last.to_string()).unwrap_or_default();
        let golds = item.answers.len().to_string();
        let mut parts: Vec<String> =
            vec![self.fingerprint.clone(), item.question.text.clone(), answer.text.clone()];
        parts.extend([last, golds]);
        parts.extend(item.answers.iter().cloned());
        for passage in passages(&answer.citations) {
            parts.extend([passage.title, passage.text]);
        }
        if self.scheme == Scheme::Pairwise {
            parts.extend(rival.iter().map(|rival| rival.text.clone()));
        }
        fingerprint(parts)
    }
}

/// One answer for one assessor.
struct PendingAssessment {
    /// The assessor's place.
    by: usize,
    item: usize,
    case: AssessmentCase,
}

/// The result: an error in one word where the model could not be asked.
struct Done {
    due: PendingAssessment,
    line: Result<AssessmentLine, String>,
    trace: Trace,
}

/// The assessments of one system's answers on disk.
struct StoredAssessments {
    journal: Option<Journal<AssessmentLine>>,
    lines: HashMap<(String, String), AssessmentLine>,
}

impl StoredAssessments {
    fn open(out: Option<&Path>, label: &str) -> Result<Self, EvalError> {
        let mut lines = HashMap::new();
        let file = out.map(|out| out.join(format!("{}.assessed.jsonl", file_name(label))));
        let open = |file: &Path| {
            Journal::<AssessmentLine>::open_each(file, |line| {
                lines.insert((line.question.clone(), line.fingerprint.clone()), line);
            })
        };
        let journal = file.as_deref().map(open).transpose()?;
        Ok(Self { journal, lines })
    }

    fn take(&mut self, by: &Assessor, case: &AssessmentCase) -> Option<AssessmentLine> {
        self.lines.remove(&(case.item.question.id.clone(), by.fingerprint_of(case)))
    }

    fn store(&mut self, line: &AssessmentLine) -> Result<(), EvalError> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(line))
    }
}

impl Round<'_> {
    /// Assesses the answers of a system, as far as that was not done by an earlier run. Those of the
    /// first are what others are compared with.
    pub(super) async fn assess(
        &self,
        system: &SystemUnderTest,
        (answers, rivals): (Vec<(usize, Answer)>, &mut Option<Rivals>),
        files: &RunFiles,
    ) -> Result<Vec<Assessment>, EvalError> {
        let assessors = &self.bench.assessors;
        if assessors.is_empty() {
            return Ok(vec![]);
        }
        let mut stored = StoredAssessments::open(self.runner.out.as_deref(), &system.label)?;
        let mut builders: Vec<AssessmentBuilder> =
            assessors.iter().map(|by| AssessmentBuilder::new(by.scheme)).collect();
        let mut due = vec![];
        let mut taken_over = 0;
        let mut firsts = Rivals::new();
        for (item, answer) in answers {
            let answer = Arc::new(answer);
            firsts.insert(item, Arc::clone(&answer));
            let rival = rivals.as_ref().and_then(|rivals| rivals.get(&item)).cloned();
            let case = AssessmentCase { item: self.data.items[item].clone(), answer, rival };
            for (by, assessor) in assessors.iter().enumerate() {
                if case.answer.abstained {
                    builders[by].abstained();
                } else if let Some(line) = stored.take(assessor, &case) {
                    taken_over += 1;
                    builders[by].enter(item, line.marks, line.usage);
                } else {
                    due.push(PendingAssessment { by, item, case: case.clone() });
                }
            }
        }
        rivals.get_or_insert(firsts);
        let label = format!("{}, assessing", system.label);
        let mut tick = Tick::new(&label, taken_over + due.len(), taken_over);
        (self.progress)(&tick);
        let jobs = due.into_iter().map(|due| {
            let cx = (self.bench.open)(&due.case.item, &self.runner.budget);
            assessed(assessors[due.by].clone(), due, cx)
        });
        each(self.runner.concurrency, jobs, |Done { due, line, trace }| {
            let (builder, scheme) = (&mut builders[due.by], assessors[due.by].scheme);
            let item = &self.data.items[due.item];
            files.store_assessment(item, &system.fingerprint, &trace, scheme.name())?;
            tick.count(line.is_err());
            match line {
                Ok(line) => {
                    stored.store(&line)?;
                    builder.enter(due.item, line.marks, line.usage);
                }
                Err(kind) => builder.failed(kind),
            }
            (self.progress)(&tick);
            Ok(())
        })
        .await?;
        Ok(builders.into_iter().map(AssessmentBuilder::close).collect())
    }
}

async fn assessed(by: Assessor, due: PendingAssessment, cx: Cx) -> Done {
    let fingerprint = by.fingerprint_of(&due.case);
    let question = due.case.item.question.id.clone();
    let reply = caught((by.ask)(due.case.clone(), cx.clone())).await;
    let trace = cx.trace();
    // The trace has more about a failure.
    let marks = match reply {
        Ok(Ok(marks)) => Ok(marks),
        Ok(Err(error)) => Err(error.kind().to_owned()),
        Err(_) => Err("panic".to_owned()),
    };
    let line = marks.map(|marks| AssessmentLine {
        version: LINE_VERSION,
        question,
        scheme: by.scheme,
        fingerprint,
        marks,
        usage: trace.usage(),
    });
    Done { due, line, trace }
}
