//! Resolving entities with all that is known about them: what the chunks say, the model's verdicts,
//! the embedder's similarities, and what a user has undone.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{EmbedRole, Layer};

use super::extraction::{ExtractedChunk, extracted_chunks};
use super::graph::{self, Written};
use super::resolve::{Local, PairVerdict, Question, ResolutionEvidence, Resolved, Undone, resolve};
use crate::embedding::embed_texts;
use crate::error::run_blocking;
use crate::search::matrix::cosine;
use crate::stages::{
    BuildContext, Comparison, ComparisonSide, Corpus, Driver, SameEntity, StageReport,
    remember_units,
};
use crate::store::{DocumentRecord, Id, StoreReader, Task, UnitKey, UnitState, hash};
use crate::{Base, KbError};

/// A verdict may show that another pair is in question; the model is asked in this many rounds.
const ROUNDS: usize = 3;

/// Names and descriptions that are shown of each side of a question.
const SHOWN: usize = 4;

/// The name under which undone merges are kept.
const UNDONE: &str = "undone";

/// The name under which it is kept what everything was settled from.
const SETTLED: &str = "settled from";

/// Resolves what was extracted and writes the graph. The model is asked where rules do not decide.
/// Nothing is done when nothing has changed since everything was settled. `fresh` is the number of
/// chunks that this build has extracted from.
pub(super) async fn resolve_all(
    context: &Arc<BuildContext>,
    fresh: usize,
) -> Result<(StageReport, Written), KbError> {
    let mut report = StageReport::default();
    let base = Arc::clone(&context.base);
    let settled = run_blocking("reading the ledger", move || settled(&base)).await?;
    if let Some(written) = settled {
        return Ok((report, written));
    }
    let base = Arc::clone(&context.base);
    let known = run_blocking("resolving entities", move || Resolution::load(&base)).await?;
    let mut known = Arc::new(known);
    for _ in 0..ROUNDS {
        let questions = known.questions(&context.base)?;
        if questions.is_empty() {
            break;
        }
        let (unmeasured, measured) = measure(context, &known, questions).await?;
        known = measured;
        // A new driver for each round: what failed in one is tried in the next.
        let driver = Driver::new(SameEntity::new(context));
        let units = unmeasured.into_iter().map(|asking| driver.stage().unit(asking)).collect();
        let asked = driver.run_all(units).await?;
        let stopped = asked.done == 0;
        // A unit that fails in every round failed once.
        report.failed = 0;
        report.pending = 0;
        report.add(asked);
        if stopped {
            break;
        }
        known = known.again(&context.base).await?;
    }
    let (own, complete, pairs) = (Arc::clone(context), report.is_complete(), report.done);
    let written = run_blocking("storing entities", move || {
        let written = known.write(&own.base)?;
        if complete {
            let store = own.store();
            let print = store.read(print)?;
            store.write(|writer| {
                let corpus = Corpus { fresh: fresh as u64, ..Corpus::default() };
                remember_units(&SameEntity::new(&own), writer, &corpus, pairs)?;
                writer.set_meta(SETTLED, &(print, written))
            })?;
        }
        Ok(written)
    })
    .await?;
    Ok((report, written))
}

/// What the chunks say, and what comes of it with what is known besides.
struct Resolution {
    reads: Arc<Vec<ExtractedChunk>>,
    resolved: Resolved,
}

impl Resolution {
    fn load(base: &Base) -> Result<Self, KbError> {
        let (reads, known) =
            base.store.read(|reader| Ok((extracted_chunks(reader)?, evidence(reader)?)))?;
        let resolved = resolve(&reads, &known);
        Ok(Self { reads: Arc::new(reads), resolved })
    }

    /// The same chunks with what is known besides by now.
    async fn again(&self, base: &Arc<Base>) -> Result<Arc<Self>, KbError> {
        let (base, reads) = (Arc::clone(base), Arc::clone(&self.reads));
        run_blocking("resolving entities", move || {
            let resolved = resolve(&reads, &base.store.read(evidence)?);
            Ok(Arc::new(Self { reads, resolved }))
        })
        .await
    }

    /// What the rules do not decide.
    fn questions(&self, base: &Base) -> Result<Vec<Comparison>, KbError> {
        let Resolved { locals, questions, .. } = &self.resolved;
        if questions.is_empty() {
            return Ok(vec![]);
        }
        let mut names: HashMap<Id, String> = HashMap::new();
        let asked = questions.iter().flat_map(|question| question.one.iter().chain(&question.two));
        let asked: BTreeSet<Id> = asked.map(|at| locals[*at].document).collect();
        base.store.read(|reader| {
            for id in asked {
                let Some(row) = reader.find(Layer::Document, id)? else { continue };
                let record: DocumentRecord = reader.linked(row)?;
                names.insert(id, record.names.into_iter().next().unwrap_or_default());
            }
            Ok(())
        })?;
        Ok(questions.iter().map(|question| comparison(question, locals, &names)).collect())
    }

    /// Writes the graph.
    fn write(&self, base: &Base) -> Result<Written, KbError> {
        let written = graph::write(&base.store, &self.reads, &self.resolved)?;
        base.store.write(|writer| {
            if written.changed {
                writer.mark_communities_stale()?;
            }
            writer.set_unsettled(false)
        })?;
        Ok(written)
    }
}

/// What was written when everything was settled, if nothing has changed since.
fn settled(base: &Base) -> Result<Option<Written>, KbError> {
    let store = &base.store;
    store.read(|reader| {
        let held: Option<(Id, Written)> = reader.meta(SETTLED)?;
        let print = print(reader)?;
        Ok(held.filter(|(known, _)| *known == print).map(|(_, written)| written))
    })
}

/// Hash of all that the graph is made of.
fn print(reader: &StoreReader<'_>) -> heed::Result<Id> {
    let mut hasher = blake3::Hasher::new();
    for task in [Task::Facts, Task::Graph, Task::Near, Task::SameEntity] {
        for entry in reader.entries(task)? {
            let entry = entry?;
            hasher.update(&entry.key.at.to_be_bytes());
            hasher.update(&entry.input.to_be_bytes());
            hasher.update(&[u8::from(entry.state == UnitState::Done)]);
        }
    }
    let undone: Vec<Undone> = reader.meta(UNDONE)?.unwrap_or_default();
    for print in undone.iter().flat_map(|undone| undone.one.iter().chain(&undone.two)) {
        hasher.update(&print.to_be_bytes());
    }
    Ok(hash(&[hasher.finalize().as_bytes()]))
}

/// Resolves with what is known, asks nobody, and writes the graph.
fn settle(base: &Base) -> Result<Written, KbError> {
    Resolution::load(base)?.write(base)
}

fn evidence(reader: &StoreReader<'_>) -> heed::Result<ResolutionEvidence> {
    let mut known = ResolutionEvidence {
        undone: reader.meta::<Vec<Undone>>(UNDONE)?.unwrap_or_default(),
        ..ResolutionEvidence::default()
    };
    for verdict in reader.results::<PairVerdict>(Task::SameEntity)? {
        known.verdicts.push(verdict?.1);
    }
    for measured in reader.results::<(Id, Id, f32)>(Task::Near)? {
        let (_, (one, two, near)) = measured?;
        known.near.insert((one, two), near);
    }
    Ok(known)
}

/// Keeps the two sides of a merge apart from now on.
pub(super) fn undo(base: &Base, undone: Undone) -> Result<Written, KbError> {
    let store = &base.store;
    store.write(|writer| {
        let mut all: Vec<Undone> = writer.meta(UNDONE)?.unwrap_or_default();
        if !all.contains(&undone) {
            all.push(undone);
        }
        writer.set_meta(UNDONE, &all)
    })?;
    settle(base)
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
    known: &Arc<Resolution>,
    questions: Vec<Comparison>,
) -> Result<(Vec<Comparison>, Arc<Resolution>), KbError> {
    let base = &context.base;
    let known = Arc::clone(known);
    let Some(embedder) = context.embedder.clone() else { return Ok((questions, known)) };
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
        return Ok((questions, known));
    }
    // Some are settled now; the others are the same.
    let known = known.again(base).await?;
    Ok((known.questions(base)?, known))
}

fn near_key((one, two): (Id, Id)) -> UnitKey {
    let id = hash(&[&one.to_be_bytes(), &two.to_be_bytes()]);
    UnitKey::with_id(Task::Near, Layer::Entity, id)
}
