//! Texts into vectors, in batches, several in flight; what fails stays searchable by its words and
//! is tried again by the next run.
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{Cx, EmbedRole, Embedder, Layer, Limit, LlmError, Vector};
use parking_lot::Mutex;

use super::embed_queue::Queued;
use super::{BuildContext, Driver, Pace, StageError, StageReport};
use crate::error::run_blocking;
use crate::store::{Cost, History, Row, StoreWriter, Task, node_id};
use crate::vectors::{BATCH, embed_once, embed_once_about, other_dimensions};
use crate::{BasePart, KbError, Phase};

/// Calls in flight.
const IN_FLIGHT: usize = 8;

/// Failed calls in a row after which the rest is left for another run: each has many texts.
const GIVE_UP_AFTER: usize = 3;

/// A text that every embedder has a vector of.
const PROBE: &str = "text";

/// Failed calls in a row that are tried again in halves: as many as it takes to reach the first text
/// of a batch, twice.
const HALVED: u32 = 2 * BATCH.ilog2();

/// A node whose text is searched: layer and row.
pub(crate) type Searched = (Layer, Row);

/// What came of embedding.
#[derive(Debug, Default)]
pub(crate) struct Embedded {
    pub(crate) done: usize,
    /// Texts that were not tried.
    pub(crate) pending: usize,
    /// The limit for which they were not.
    pub(crate) spent: Option<Limit>,
    pub(crate) failure: Option<String>,
}

/// A batch of texts as it was sent: whole, or in parts where it was too long or a text was refused.
pub(crate) struct Call {
    texts: Vec<Searched>,
    characters: u64,
    vectors: Result<Vec<Vector>, KbError>,
}

/// How long any call was in flight: calls run concurrently, so their times cannot be added up.
#[derive(Default)]
struct Busy {
    calls: usize,
    since: Option<Instant>,
    passed: Duration,
}

impl Busy {
    fn begin(&mut self) {
        self.calls += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    fn end(&mut self) {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 {
            self.passed += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }

    /// The time since this was last called.
    fn take(&mut self) -> Duration {
        if let Some(since) = self.since.as_mut() {
            self.passed += since.elapsed();
            *since = Instant::now();
        }
        std::mem::take(&mut self.passed)
    }
}

pub(crate) struct Embed {
    context: Arc<BuildContext>,
    embedder: Arc<dyn Embedder>,
    busy: Mutex<Busy>,
    result: Mutex<Embedded>,
}

impl Embed {
    /// Everything of some layers that has no vector of the embedder in use.
    pub(crate) fn backlog_of(
        context: &BuildContext,
        takes: impl Fn(Layer) -> bool,
    ) -> Result<Vec<Searched>, KbError> {
        if context.embedder.is_none() {
            return Ok(vec![]);
        }
        let mut waiting = context.store().read(|reader| reader.awaiting_vector())?;
        waiting.retain(|(layer, _)| takes(*layer));
        Ok(waiting)
    }

    /// Embeds what comes out of `queue` until that is closed.
    pub(crate) async fn run_queue(
        context: &Arc<BuildContext>,
        queue: Queued,
    ) -> Result<Embedded, KbError> {
        let Some(embedder) = context.embedder.clone() else {
            return Ok(Embedded::default());
        };
        let driver = Driver::new(Self {
            context: Arc::clone(context),
            embedder,
            busy: Mutex::default(),
            result: Mutex::default(),
        });
        let total = queue.counter();
        let StageReport { pending, spent, failure, .. } =
            driver.run(queue.batches(), total).await?;
        let context = Arc::clone(context);
        let left = run_blocking("storing vectors", move || finish(&context)).await?;
        let result = std::mem::take(&mut *driver.stage().result.lock());
        let failure = result.failure.or(failure);
        Ok(Embedded { pending: if pending > 0 { left } else { 0 }, spent, failure, ..result })
    }

    fn texts_of(&self, unit: &[Searched]) -> Result<Vec<(Searched, String)>, KbError> {
        let store = self.context.store();
        store.read(|reader| {
            let mut texts = vec![];
            for (layer, row) in unit {
                // What was replaced meanwhile needs no vector.
                let text = reader.embedded_text(*layer, *row)?;
                texts.extend(text.map(|text| ((*layer, *row), text)));
            }
            Ok(texts)
        })
    }

    /// The documents whose texts these are, where an embedder may keep something of the call.
    fn documents_of(&self, batch: &[(Searched, String)]) -> Result<Vec<String>, KbError> {
        let store = self.context.store();
        if store.replication().is_none() {
            return Ok(vec![]);
        }
        store.read(|reader| reader.names_of_documents(batch.iter().map(|(text, _)| *text)))
    }

    /// Whether the halves of a call that failed may get vectors: it was too long, or the embedder is
    /// up and refuses some of the texts. So many calls have failed in a row.
    async fn may_halve(&self, reason: &KbError, failed: u32) -> bool {
        match reason {
            KbError::Embed { source: LlmError::TooLong { .. }, .. } => true,
            KbError::Embed { source: LlmError::Refused { .. }, .. }
            | KbError::BadVectors { .. } => {
                let probe = embed_once(self.embedder.as_ref(), &[PROBE], EmbedRole::Passage);
                failed <= HALVED && probe.await.is_ok()
            }
            _ => false,
        }
    }

    /// Notes that texts have no vectors; one that was tried alone is named.
    fn store_failure(
        &self,
        writer: &mut StoreWriter<'_>,
        texts: &[Searched],
        reason: String,
    ) -> heed::Result<()> {
        writer.embedding_failed(texts, &reason)?;
        if let [text] = texts
            && let Some(id) = writer.id_of(*text)?
        {
            let documents = writer.names_of_documents([*text].into_iter())?.join("`, `");
            let node = node_id(text.0, id).0;
            tracing::warn!("`{node}` of `{documents}` is found by its keywords only: {reason}");
        }
        self.result.lock().failure = Some(reason);
        Ok(())
    }

    fn store_call(&self, writer: &mut StoreWriter<'_>, call: Call) -> heed::Result<()> {
        let Call { texts, characters, vectors } = call;
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(reason) => return self.store_failure(writer, &texts, reason.to_string()),
        };
        let model = self.embedder.model();
        let dimensions = vectors.first().map_or(0, Vec::len);
        if let Some(stored) = writer.other_dimensions(model, dimensions)?
            && !self.context.rebuild.contains(&BasePart::Embedder)
        {
            let reason = other_dimensions(model, dimensions, stored).to_string();
            return self.store_failure(writer, &texts, reason);
        }
        let number = writer.register_embedder(model, dimensions)?;
        if self.context.base.is_configured(model) {
            writer.set_origin(number, &self.context.base.options.origin)?;
        }
        for (text, vector) in texts.iter().zip(&vectors) {
            // What was replaced meanwhile needs no vector.
            if writer.holds(*text)? {
                writer.embedded(number, *text, vector)?;
            }
        }
        self.result.lock().done += vectors.len();
        let mut history = History::default();
        history.add_embedded(model, characters, self.busy.lock().take().as_secs_f64());
        writer.add_history(&history)
    }
}

impl super::Stage for Embed {
    type Unit = Vec<Searched>;
    type Output = Vec<Call>;

    const PHASE: Phase = Phase("embedding");

    fn name(&self) -> &'static str {
        "embed"
    }

    fn prompt(&self) -> Option<&'static str> {
        None
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn pace(&self) -> Pace {
        let (in_flight, queued) = (IN_FLIGHT, IN_FLIGHT * 2);
        Pace { in_flight, queued, give_up_after: GIVE_UP_AFTER, may_be_unable: false }
    }

    fn forecast(&self, unit: &Vec<Searched>) -> Cost {
        Cost { calls: 1, texts: unit.len() as u64, ..Cost::default() }
    }

    fn weight(&self, unit: &Vec<Searched>) -> usize {
        unit.len()
    }

    /// One call, or several where the texts are too long together or some are refused.
    async fn run(&self, _: &Cx, unit: &Vec<Searched>) -> Result<Option<Vec<Call>>, StageError> {
        // Vectors cost no calls and no tokens of the budget, but they take time.
        if self.context.meter.is_time_over() {
            return Err(StageError::Spent(Limit::Seconds));
        }
        let mut open = vec![self.texts_of(unit).map_err(StageError::Base)?];
        let (mut calls, mut failed) = (Vec::<Call>::new(), 0);
        while let Some(mut batch) = open.pop().filter(|batch| !batch.is_empty()) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let about = self.documents_of(&batch).map_err(StageError::Base)?;
            self.busy.lock().begin();
            let embedder = self.embedder.as_ref();
            let vectors = embed_once_about(embedder, &texts, EmbedRole::Passage, &about).await;
            self.busy.lock().end();
            failed = if vectors.is_ok() { 0 } else { failed + 1 };
            if let Err(reason) = &vectors
                && batch.len() > 1
                && self.may_halve(reason, failed).await
            {
                let rest = batch.split_off(batch.len() / 2);
                open.extend([rest, batch]);
                continue;
            }
            let characters = texts.iter().map(|text| text.chars().count() as u64).sum();
            let texts = batch.into_iter().map(|(text, _)| text).collect();
            calls.push(Call { texts, characters, vectors });
        }
        // The largest says how many dimensions the vectors have.
        calls.sort_by_key(|call| Reverse(call.texts.len()));
        // A batch of which nothing succeeded says that the embedder is down, unless it was halved down
        // to texts that are refused.
        if calls.iter().all(|call| call.vectors.is_err())
            && (calls.len() == 1 || failed > HALVED)
            && let Some(Err(reason)) = calls.pop().map(|call| call.vectors)
        {
            return Err(StageError::Failed(reason));
        }
        Ok(Some(calls))
    }

    fn store(
        &self,
        writer: &mut StoreWriter<'_>,
        unit: &Vec<Searched>,
        result: Result<Vec<Call>, String>,
    ) -> heed::Result<()> {
        match result {
            Ok(calls) => calls.into_iter().try_for_each(|call| self.store_call(writer, call))?,
            Err(reason) => self.store_failure(writer, unit, reason)?,
        }
        writer.switch_when_complete().map(|_| ())
    }
}

/// When nothing is missing any more, vectors of former embedders go. Returns what is missing and
/// was not tried.
fn finish(context: &BuildContext) -> Result<usize, KbError> {
    let store = context.store();
    let Some(embedder) = &context.embedder else { return Ok(0) };
    let number = store.write(|writer| {
        // What was the last to be missing may have been removed instead of embedded.
        writer.switch_when_complete()?;
        Ok(writer.embedder(embedder.model())?.map(|(number, _)| number))
    })?;
    store.write(|writer| writer.forget_others(number))?;
    let missing = Embed::backlog_of(context, |_| true)?.len();
    let failed = store.read(|reader| reader.unit_counts(Task::Embed))?.failed;
    Ok(missing.saturating_sub(usize::try_from(failed).unwrap_or(usize::MAX)))
}
