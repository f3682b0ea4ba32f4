//! Rounds of resolving entities and asking where the rules do not decide.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{EmbedRole, Layer};

use super::graph::Written;
use super::resolution::{Resolution, Unanswered, totals};
use super::resolve::{Local, Question, Resolved};
use crate::error::run_blocking;
use crate::stages::{
    BuildContext, Comparison, ComparisonSide, Corpus, Driver, SameEntity, StageReport,
    remember_units,
};
use crate::store::{DocumentRecord, Id, Task, UnitKey, hash};
use crate::vectors::{cosine, embed_texts};
use crate::{Base, KbError};

/// A verdict may show that another pair is in question; the model is asked in this many rounds.
const ROUNDS: usize = 3;

/// Names and descriptions that are shown of each side of a question.
const SHOWN: usize = 4;

/// Resolves what was extracted and writes the graph. The model is asked where rules do not decide.
/// Nothing is done when nothing has changed since everything was resolved. `fresh` is the number of
/// chunks that this build has extracted from.
pub(super) async fn resolve_all(
    context: &Arc<BuildContext>,
    fresh: usize,
) -> Result<(StageReport, Written), KbError> {
    let mut report = StageReport::default();
    let base = Arc::clone(&context.base);
    let loaded = run_blocking("resolving entities", move || Resolution::load(&base)).await?;
    let Some(resolution) = loaded else { return Ok((report, context.store().read(totals)?)) };
    let mut resolution = Arc::new(resolution);
    for _ in 0..ROUNDS {
        let questions = comparisons(&resolution, &context.base)?;
        if questions.is_empty() {
            break;
        }
        let (unmeasured, measured) = measure(context, &resolution, questions).await?;
        resolution = measured;
        // A new driver for each round: what failed in one is tried in the next.
        let driver = Driver::new(SameEntity::new(context));
        let units = unmeasured.into_iter().map(|asking| driver.stage().unit(asking)).collect();
        let round = driver.run_all(units).await?;
        let stopped = round.done == 0;
        // A unit that fails in every round failed once.
        report.failed = 0;
        report.pending = 0;
        report.add(round);
        if stopped {
            break;
        }
        resolution = again(&resolution, &context.base).await?;
    }
    let (context, complete, pairs) = (Arc::clone(context), report.is_complete(), report.done);
    let written = run_blocking("storing entities", move || {
        // What the model failed at is tried again; what more rounds would ask can wait.
        let left = if complete { Unanswered::Wait } else { Unanswered::AskAgain };
        let written = resolution.write(&context.base, left)?;
        if complete {
            context.store().write(|writer| {
                let corpus = Corpus { fresh: fresh as u64, ..Corpus::default() };
                remember_units(&SameEntity::new(&context), writer, &corpus, pairs)
            })?;
        }
        Ok(written)
    })
    .await?;
    Ok((report, written))
}

async fn again(resolution: &Arc<Resolution>, base: &Arc<Base>) -> Result<Arc<Resolution>, KbError> {
    let (base, resolution) = (Arc::clone(base), Arc::clone(resolution));
    run_blocking("resolving entities", move || resolution.again(&base).map(Arc::new)).await
}

/// What the rules do not decide.
fn comparisons(resolution: &Resolution, base: &Base) -> Result<Vec<Comparison>, KbError> {
    let Resolved { locals, questions, .. } = &resolution.resolved;
    if questions.is_empty() {
        return Ok(vec![]);
    }
    resolution.note_questions(base)?;
    let mut names: HashMap<Id, String> = HashMap::new();
    let documents = questions.iter().flat_map(|question| question.one.iter().chain(&question.two));
    let documents: BTreeSet<Id> = documents.map(|at| locals[*at].document).collect();
    base.store.read(|reader| {
        for id in documents {
            let Some(row) = reader.find(Layer::Document, id)? else { continue };
            let record: DocumentRecord = reader.linked(row)?;
            names.insert(id, record.names.into_iter().next().unwrap_or_default());
        }
        Ok(())
    })?;
    Ok(questions.iter().map(|question| comparison(question, locals, &names)).collect())
}

fn comparison(question: &Question, locals: &[Local], names: &HashMap<Id, String>) -> Comparison {
    let mut documents = BTreeSet::new();
    let mut side = |of: &[usize]| {
        let of: Vec<&Local> = of.iter().take(SHOWN).map(|at| &locals[*at]).collect();
        let shown: BTreeSet<&String> = of.iter().flat_map(|local| local.names()).collect();
        let described: Vec<&String> = of.iter().flat_map(|local| &local.descriptions).collect();
        let from: BTreeSet<Id> = of.iter().map(|local| local.document).collect();
        documents.extend(from.iter().copied());
        ComparisonSide {
            names: shown.into_iter().take(SHOWN).cloned().collect(),
            kind: of.iter().find_map(|local| local.kind_word()).unwrap_or_default(),
            descriptions: described.into_iter().take(SHOWN).cloned().collect(),
            documents: from.iter().filter_map(|id| names.get(id).cloned()).collect(),
        }
    };
    let (one, two) = (side(&question.one), side(&question.two));
    Comparison { one, two, prints: question.prints, documents: documents.into_iter().collect() }
}

/// Measures how near descriptions are, where there is an embedder; what that decides needs no
/// model. Returns the questions that are left, and what is known by then.
async fn measure(
    context: &BuildContext,
    resolution: &Arc<Resolution>,
    questions: Vec<Comparison>,
) -> Result<(Vec<Comparison>, Arc<Resolution>), KbError> {
    let base = &context.base;
    let resolution = Arc::clone(resolution);
    let Some(embedder) = context.embedder.clone() else { return Ok((questions, resolution)) };
    let input = hash(&[embedder.model().as_bytes()]);
    let key = |asking: &Comparison| near_key(asking.prints);
    let open = base.store.read(|reader| {
        let mut open = vec![];
        for asking in &questions {
            let described = [&asking.one, &asking.two].map(|side| side.descriptions.join(" "));
            if described.iter().all(|text| !text.is_empty())
                && !reader.is_done(key(asking), input)?
            {
                open.push((asking.prints, described));
            }
        }
        Ok(open)
    })?;
    let texts: Vec<&str> =
        open.iter().flat_map(|(_, sides)| sides.iter().map(String::as_str)).collect();
    // Without vectors the model decides alone: an embedder that is down loses nothing.
    let vectors = embed_texts(embedder.as_ref(), &texts, EmbedRole::Passage).await;
    let vectors = vectors.unwrap_or_default();
    let pairs = open.iter().zip(vectors.as_chunks::<2>().0);
    let near: HashMap<(Id, Id), f32> =
        pairs.map(|((prints, _), [one, two])| (*prints, cosine(one, two))).collect();
    base.store.write(|writer| {
        for ((one, two), near) in &near {
            writer.put_done(near_key((*one, *two)), input, &(one, two, near))?;
        }
        Ok(())
    })?;
    if near.is_empty() {
        return Ok((questions, resolution));
    }
    // Some are settled now; the others are the same.
    let resolution = again(&resolution, base).await?;
    Ok((comparisons(&resolution, base)?, resolution))
}

fn near_key((one, two): (Id, Id)) -> UnitKey {
    let id = hash(&[&one.to_be_bytes(), &two.to_be_bytes()]);
    UnitKey::with_id(Task::Near, Layer::Entity, id)
}
