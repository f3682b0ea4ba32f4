//! What the base finds for a question by itself, before any strategy: the same for every
//! system, searched once and stored in `OUT/retrieval.jsonl`.
use std::collections::HashMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::figures::mean;
use crate::fingerprint;
use crate::jobs::{Progress, Tick, caught, each};
use crate::journal::{Journal, LINE_VERSION};
use crate::metrics::{ranks, recall_of_ranks};
use crate::runner::{Bench, Retrieve, Runner};

/// The places of a question's gold passages among its hits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RetrievalLine {
    pub(crate) version: u32,
    /// The question's id.
    question: String,
    /// Of the base, the question's words and its gold passages.
    fingerprint: String,
    /// For each gold passage the place (from 1) of the first hit in it.
    pub(crate) ranks: Vec<Option<usize>>,
}

/// How well one way of searching finds the gold passages of the questions that have some, by the
/// question alone. Fractions between 0 and 1, `None` without such questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recall {
    /// Questions that were searched for.
    pub n: usize,
    /// Questions whose search failed; they are not in any mean.
    pub failed: usize,
    /// The mean share of a question's gold passages among the first 5 hits.
    pub r5: Option<f64>,
    pub r10: Option<f64>,
    /// The share of questions with all their gold passages among the first 5 hits.
    pub all5: Option<f64>,
    pub all10: Option<f64>,
    /// Median time of a search in milliseconds, one after the other.
    pub p50_ms: Option<f64>,
}

/// Searches for every question once, one after the other, so that the times say something. The
/// search must give at least 10 hits.
pub async fn recall(data: &DataSet, retrieve: &Retrieve) -> Recall {
    let (mut ranked, mut times, mut failed) = (vec![], vec![], 0);
    for item in data.items.iter().filter(|item| !item.gold.is_empty()) {
        let began = Instant::now();
        let hits = caught(retrieve(item.question.text.clone())).await;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        match hits {
            Ok(Ok(hits)) => ranked.push(ranks(&item.gold, &hits)),
            Ok(Err(_)) | Err(_) => failed += 1,
        }
    }
    times.sort_by(f64::total_cmp);
    let shares = |k: usize| ranked.iter().filter_map(move |ranks| recall_of_ranks(ranks, k));
    let whole = |share: f64| if share >= 1.0 { 1.0 } else { 0.0 };
    Recall {
        n: times.len(),
        failed,
        r5: mean(shares(5)),
        r10: mean(shares(10)),
        all5: mean(shares(5).map(whole)),
        all10: mean(shares(10).map(whole)),
        p50_ms: times.get(times.len() / 2).copied(),
    }
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
    let (mut journal, mut stored) = open(runner)?;
    let mut retrieved: Retrieved = vec![None; data.items.len()];
    let mut todo = vec![];
    for (i, item) in data.items.iter().enumerate().filter(|(_, item)| !item.gold.is_empty()) {
        let fingerprint = fingerprint_of(item, &bench.fingerprint);
        match stored.remove(&(item.question.id.clone(), fingerprint.clone())) {
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
            journal.append(&RetrievalLine {
                version: LINE_VERSION,
                question,
                fingerprint,
                ranks,
            })?;
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
type StoredRanks = HashMap<(String, String), Vec<Option<usize>>>;

fn open(runner: &Runner) -> Result<(Option<Journal<RetrievalLine>>, StoredRanks), EvalError> {
    let Some(out) = &runner.out else { return Ok((None, StoredRanks::new())) };
    let (journal, lines) = Journal::<RetrievalLine>::open(&out.join("retrieval.jsonl"))?;
    let stored = lines.into_iter().map(|line| ((line.question, line.fingerprint), line.ranks));
    Ok((Some(journal), stored.collect()))
}

fn fingerprint_of(item: &Item, base: &str) -> String {
    let gold = item.gold.iter().flat_map(|passage| [passage.title.as_str(), &passage.text]);
    fingerprint([base, &item.question.text].into_iter().chain(gold))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use halma_core::{Hit, Layer, Span};

    use super::*;
    use crate::{Format, load};

    fn hit(title: &str, text: &str) -> Hit {
        Hit {
            id: title.into(),
            layer: Layer::Chunk,
            parent: None,
            document: title.to_owned(),
            title: title.to_owned(),
            section: None,
            page: None,
            text: text.to_owned(),
            score: 0.0,
            cosine: None,
            parts: vec![],
            span: Span::default(),
        }
    }

    #[tokio::test]
    async fn shares_and_whole_sets_of_gold_passages_are_distinguished() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hotpotqa.json");
        let data = load(&path, Format::HOTPOTQA, None).unwrap();
        let gold: Vec<_> = data.items.iter().flat_map(|item| item.gold.clone()).collect();
        let with_gold = data.items.iter().filter(|item| !item.gold.is_empty()).count();
        // Everything but the first question's first passage, at the head of the list.
        let all = gold.clone();
        let retrieve: Retrieve = Arc::new(move |_| {
            let hits = all[1..].iter().map(|passage| hit(&passage.title, &passage.text)).collect();
            Box::pin(async move { Ok(hits) })
        });
        let recall = recall(&data, &retrieve).await;
        assert_eq!((recall.n, recall.failed), (with_gold, 0));
        assert!(recall.r10.unwrap() > recall.all10.unwrap(), "{recall:?}");
        assert!(recall.all10.unwrap() < 1.0 && recall.r5.unwrap() > 0.0, "{recall:?}");
        let fails: Retrieve = Arc::new(|_| Box::pin(async { Err("the base is gone".into()) }));
        let recall = super::recall(&data, &fails).await;
        assert_eq!((recall.failed, recall.r5), (with_gold, None));
    }
}
