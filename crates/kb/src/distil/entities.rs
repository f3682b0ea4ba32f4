//! Entities out of what the chunks say: resolved, asked about where that is unclear, written.
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Cx, EmbedRole, Layer, Prompt};
use minijinja::context;
use serde::Deserialize;

use super::communities;
use super::facts::read_all;
use super::graph::{self, Written};
use super::passage::prompt_hash;
use super::resolve::{Known, Local, Question, Resolved, Undone, Verdict, resolve};
use super::units::{Distiller, Fault, Job, Ran, run};
use crate::error::run_blocking;
use crate::store::{DocumentRecord, Id, Reading, Store, Task, UnitKey, hash};
use crate::{Base, KbError, Stage};

const SAME: Prompt<SameReply> = Prompt::json("kb/same");

/// A verdict may show that another pair is in question; so many times is asked in a row.
const ROUNDS: usize = 3;

/// Names and descriptions that one question shows of each side.
const SHOWN: usize = 4;

/// The name under which undone merges are kept.
const UNDONE: &str = "undone";

/// The name under which it is kept what everything was settled from.
const SETTLED: &str = "settled";

#[derive(Debug, Clone, Deserialize)]
struct SameReply {
    #[serde(default)]
    reason: Option<String>,
    same: bool,
}

/// One side of a question.
struct Shown {
    names: Vec<String>,
    kind: String,
    descriptions: Vec<String>,
    documents: Vec<String>,
}

/// What a question is asked with.
struct Asking {
    one: Shown,
    two: Shown,
    prints: (Id, Id),
    documents: Vec<Id>,
}

/// Resolves what was read and writes the graph. The model is asked where rules do not decide.
/// Nothing is done when nothing has changed since everything was settled.
pub(super) async fn resolve_all(distiller: &Arc<Distiller>) -> Result<(Ran, Written), KbError> {
    let mut ran = Ran::default();
    let base = Arc::clone(&distiller.base);
    let settled = run_blocking("reading the ledger", move || settled(&base)).await?;
    if let Some(written) = settled {
        return Ok((ran, written));
    }
    let mut stopped = false;
    for _ in 0..ROUNDS {
        let questions = open_questions(&distiller.base).await?;
        if questions.is_empty() || stopped {
            break;
        }
        let unmeasured = measure(&distiller.base, questions).await?;
        let asked = ask_all(distiller, unmeasured).await?;
        stopped = asked.done == 0;
        // A unit that fails in every round failed once.
        ran.failed = 0;
        ran.pending = 0;
        ran.add(asked);
    }
    let (base, complete) = (Arc::clone(&distiller.base), ran.complete());
    let written = run_blocking("storing entities", move || {
        let written = settle(&base)?;
        if complete {
            let store = &base.store;
            let print = store.read(|txn| print(store, txn))?;
            store.write(|txn| store.set_distilled(txn, SETTLED, &(print, written)))?;
        }
        Ok(written)
    })
    .await?;
    Ok((ran, written))
}

/// What was written when everything was settled, if nothing has changed since.
fn settled(base: &Base) -> Result<Option<Written>, KbError> {
    let store = &base.store;
    store.read(|txn| {
        let held: Option<(Id, Written)> = store.distilled(txn, SETTLED)?;
        let print = print(store, txn)?;
        Ok(held.filter(|(known, _)| *known == print).map(|(_, written)| written))
    })
}

/// Hash of all that the graph is made of.
fn print(store: &Store, txn: &Reading<'_>) -> heed::Result<Id> {
    let mut hasher = blake3::Hasher::new();
    let parts =
        [(Task::Facts, Layer::Chunk), (Task::Graph, Layer::Chunk), (Task::Near, Layer::Entity)];
    for of in parts.into_iter().chain([(Task::SameEntity, Layer::Entity)]) {
        store.each_asked(txn, of, |key, input, done| {
            hasher.update(&key.at.to_be_bytes());
            hasher.update(&input.to_be_bytes());
            hasher.update(&[u8::from(done)]);
        })?;
    }
    let undone: Vec<Undone> = store.distilled(txn, UNDONE)?.unwrap_or_default();
    for print in undone.iter().flat_map(|undone| undone.one.iter().chain(&undone.two)) {
        hasher.update(&print.to_be_bytes());
    }
    Ok(hash(&[hasher.finalize().as_bytes()]))
}

/// Resolves with what is known, asks nobody, and writes the graph.
pub(super) fn settle(base: &Base) -> Result<Written, KbError> {
    let store = &base.store;
    let (reads, known) = store.read(|txn| Ok((read_all(store, txn)?, known(store, txn)?)))?;
    let resolved = resolve(&reads, &known);
    let written = graph::write(store, &reads, &resolved)?;
    if written.changed {
        store.write(|txn| communities::mark_stale(store, txn))?;
    }
    Ok(written)
}

fn known(store: &Store, txn: &Reading<'_>) -> heed::Result<Known> {
    let mut known = Known {
        undone: store.distilled::<Vec<Undone>>(txn, UNDONE)?.unwrap_or_default(),
        ..Known::default()
    };
    store.each_done(txn, (Task::SameEntity, Layer::Entity), |_, _, verdict: Verdict| {
        known.verdicts.push(verdict);
        Ok(())
    })?;
    store.each_done(
        txn,
        (Task::Near, Layer::Entity),
        |_, _, (one, two, near): (Id, Id, f32)| {
            known.near.insert((one, two), near);
            Ok(())
        },
    )?;
    Ok(known)
}

/// Keeps the two sides of a merge apart from now on.
pub(super) fn undo(base: &Base, undone: Undone) -> Result<Written, KbError> {
    let store = &base.store;
    store.write(|txn| {
        let mut all: Vec<Undone> = store.distilled(txn, UNDONE)?.unwrap_or_default();
        if !all.contains(&undone) {
            all.push(undone);
        }
        store.set_distilled(txn, UNDONE, &all)
    })?;
    settle(base)
}

async fn open_questions(base: &Arc<Base>) -> Result<Vec<Asking>, KbError> {
    let base = Arc::clone(base);
    run_blocking("resolving entities", move || {
        let store = &base.store;
        let (reads, known) = store.read(|txn| Ok((read_all(store, txn)?, known(store, txn)?)))?;
        let Resolved { locals, questions, .. } = resolve(&reads, &known);
        let mut names: HashMap<Id, String> = HashMap::new();
        store.read(|txn| {
            for read in &reads {
                if let Entry::Vacant(name) = names.entry(read.document_id) {
                    let record: DocumentRecord = store.linked(txn, read.document)?;
                    name.insert(record.names.into_iter().next().unwrap_or_default());
                }
            }
            Ok(())
        })?;
        Ok(questions.iter().map(|question| asking(question, &locals, &names)).collect())
    })
    .await
}

fn asking(question: &Question, locals: &[Local], names: &HashMap<Id, String>) -> Asking {
    let mut documents = BTreeSet::new();
    let mut side = |of: &[usize]| {
        let of: Vec<&Local> = of.iter().take(SHOWN).map(|at| &locals[*at]).collect();
        let shown: BTreeSet<&String> = of.iter().flat_map(|local| local.names()).collect();
        let described: Vec<&String> = of.iter().flat_map(|local| &local.descriptions).collect();
        let from: BTreeSet<Id> = of.iter().map(|local| local.document).collect();
        documents.extend(from.iter().copied());
        Shown {
            names: shown.into_iter().take(SHOWN).cloned().collect(),
            kind: of.iter().find_map(|local| local.kind_word()).unwrap_or_default(),
            descriptions: described.into_iter().take(SHOWN).cloned().collect(),
            documents: from.iter().filter_map(|id| names.get(id).cloned()).collect(),
        }
    };
    let (one, two) = (side(&question.one), side(&question.two));
    Asking { one, two, prints: question.prints, documents: documents.into_iter().collect() }
}

/// Measures how near descriptions are, where there is an embedder; what that decides needs no
/// model. Returns the questions that are left.
async fn measure(base: &Arc<Base>, questions: Vec<Asking>) -> Result<Vec<Asking>, KbError> {
    let Some(embedder) = base.embedder.clone() else { return Ok(questions) };
    let input = hash(&[embedder.model().as_bytes()]);
    let key = |asking: &Asking| near_key(asking.prints);
    let open = base.store.read(|txn| {
        let mut open = vec![];
        for asking in &questions {
            let described = [&asking.one, &asking.two].map(|side| side.descriptions.join(" "));
            if described.iter().all(|text| !text.is_empty())
                && !base.store.is_done(txn, key(asking), input)?
            {
                open.push((asking.prints, described));
            }
        }
        Ok(open)
    })?;
    let mut near: HashMap<(Id, Id), f32> = HashMap::new();
    for batch in open.chunks(64) {
        let texts: Vec<&str> =
            batch.iter().flat_map(|(_, sides)| sides.iter().map(String::as_str)).collect();
        // Without vectors the model decides alone: an embedder that is down loses nothing.
        let Ok(vectors) = embedder.embed(&texts, EmbedRole::Passage).await else { break };
        let dot = |pair: &[Vec<f32>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| a * b).sum();
        let (pairs, rest) = vectors.as_chunks::<2>();
        if pairs.len() != batch.len() || !rest.is_empty() {
            break;
        }
        near.extend(batch.iter().zip(pairs).map(|((prints, _), pair)| (*prints, dot(pair))));
    }
    base.store.write(|txn| {
        for ((one, two), near) in &near {
            base.store.put_done(txn, near_key((*one, *two)), input, &(one, two, near))?;
        }
        Ok(())
    })?;
    if near.is_empty() {
        return Ok(questions);
    }
    // Some are settled now; the others are the same.
    open_questions(base).await
}

fn near_key((one, two): (Id, Id)) -> UnitKey {
    let id = hash(&[&one.to_be_bytes(), &two.to_be_bytes()]);
    UnitKey::with_id(Task::Near, Layer::Entity, id)
}

async fn ask_all(distiller: &Arc<Distiller>, questions: Vec<Asking>) -> Result<Ran, KbError> {
    let prompt = prompt_hash(&distiller.setup, SAME.name);
    let job = |asking: Asking| {
        let (one, two) = (asking.prints.0.to_be_bytes(), asking.prints.1.to_be_bytes());
        let key = UnitKey::with_id(Task::SameEntity, Layer::Entity, hash(&[&one, &two]));
        Job { key, input: hash(&[&prompt.to_be_bytes(), &one, &two]), of: asking }
    };
    let jobs = questions.into_iter().map(job).collect();
    run(distiller, Stage::Resolve, jobs, |cx, asking| async move { ask(&cx, asking).await }).await
}

async fn ask(cx: &Cx, asking: Asking) -> Result<Option<Verdict>, Fault> {
    for document in asking.one.documents.iter().chain(&asking.two.documents) {
        cx.quote(document);
    }
    let side = |shown: &Shown| {
        context! {
            names => &shown.names,
            type => &shown.kind,
            descriptions => &shown.descriptions,
            documents => &shown.documents,
        }
    };
    let variables = context! { first => side(&asking.one), second => side(&asking.two) };
    let reply = cx.ask(&SAME, variables).await?;
    Ok(Some(Verdict {
        one: asking.prints.0,
        two: asking.prints.1,
        same: reply.same,
        reason: reply.reason.unwrap_or_default().trim().to_owned(),
        documents: asking.documents,
    }))
}
