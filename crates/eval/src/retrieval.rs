//! What the base finds for a question by itself, before any strategy: the same for every
//! contestant, searched once and kept in `OUT/retrieval.jsonl`.
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::jobs::{caught, each};
use crate::journal::{Journal, LINE_VERSION};
use crate::metrics::ranks;
use crate::record::fingerprint;
use crate::runner::{Bench, Progress, Runner, Tick};
use crate::{DataSet, EvalError, Item};

/// The places of a question's gold passages among its hits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) version: u32,
    /// The question's id.
    question: String,
    /// Of the base, the question's words and its gold passages.
    fingerprint: String,
    /// For each gold passage the place (from 1) of the first hit in it.
    pub(crate) ranks: Vec<Option<usize>>,
}

/// For each item, in order, where its gold passages were found; or why the search failed. `None`
/// when the item has no gold passages.
pub(crate) type Retrieved = Vec<Option<Result<Vec<Option<usize>>, String>>>;

/// Searches the base once for every question with gold passages.
pub(crate) async fn retrieve_all(
    runner: &Runner,
    data: &DataSet,
    bench: &Bench,
    progress: &Progress,
) -> Result<Retrieved, EvalError> {
    let (mut journal, mut known) = open(runner)?;
    let mut retrieved: Retrieved = vec![None; data.items.len()];
    let mut todo = vec![];
    for (i, item) in data.items.iter().enumerate().filter(|(_, item)| !item.gold.is_empty()) {
        let fingerprint = fingerprint_of(item, &bench.fingerprint);
        match known.remove(&(item.question.id.clone(), fingerprint.clone())) {
            Some(ranks) => retrieved[i] = Some(Ok(ranks)),
            None => todo.push((i, fingerprint)),
        }
    }
    let taken_over = retrieved.iter().flatten().count();
    let mut tick = Tick::new("retrieval", taken_over + todo.len(), taken_over);
    progress(&tick);
    let jobs = todo.into_iter().map(|(i, fingerprint)| {
        let hits = (bench.retrieve)(data.items[i].question.text.clone());
        async move {
            let hits = match caught(hits).await {
                Ok(hits) => hits.map_err(|error| error.to_string()),
                Err(panic) => Err(panic),
            };
            (i, fingerprint, hits)
        }
    });
    each(runner.concurrency, jobs, |(i, fingerprint, hits)| {
        let item = &data.items[i];
        let ranks = hits.map(|hits| ranks(&item.gold, &hits));
        if let (Some(journal), Ok(ranks)) = (&mut journal, &ranks) {
            let (question, ranks) = (item.question.id.clone(), ranks.clone());
            journal.append(&Found { version: LINE_VERSION, question, fingerprint, ranks })?;
        }
        tick.count(ranks.is_err());
        progress(&tick);
        retrieved[i] = Some(ranks);
        Ok(())
    })
    .await?;
    Ok(retrieved)
}

/// Ranks by question id and fingerprint.
type Known = HashMap<(String, String), Vec<Option<usize>>>;

fn open(runner: &Runner) -> Result<(Option<Journal<Found>>, Known), EvalError> {
    let Some(out) = &runner.out else { return Ok((None, Known::new())) };
    let (journal, lines) = Journal::<Found>::open(&out.join("retrieval.jsonl"))?;
    let known = lines.into_iter().map(|found| ((found.question, found.fingerprint), found.ranks));
    Ok((Some(journal), known.collect()))
}

fn fingerprint_of(item: &Item, base: &str) -> String {
    let gold = item.gold.iter().flat_map(|passage| [passage.title.as_str(), &passage.text]);
    fingerprint([base, &item.question.text].into_iter().chain(gold))
}
