//! The least cosines that count as a match, for an embedder that no one has measured: cosines of
//! different embedders cannot be compared, but what is chance can be read from the base itself.
use std::sync::Arc;

use halma_core::text::sentences;
use halma_core::{EmbedRole, Layer, Vector};

use crate::embedding::embed_texts;
use crate::error::run_blocking;
use crate::kept::Calibration;
use crate::search::matrix::cosine;
use crate::stages::BuildContext;
use crate::store::{AtomRecord, ChunkRecord, Row, StoreReader};
use crate::{Base, KbError, Thresholds};

/// Questions, and passages of a layer, that are compared.
const QUESTIONS: usize = 64;
const PASSAGES: usize = 400;

/// A base of fewer chunks tells nothing.
const LEAST_CHUNKS: u64 = 50;

/// Of pairs that have nothing to do with each other, this share is below the threshold.
const BELOW: f32 = 0.95;

/// The base is measured again when it has grown to this many times what it was.
const GROWN: u64 = 4;

fn key(embedder: u8) -> String {
    format!("calibration {embedder}")
}

impl StoreReader<'_> {
    pub(crate) fn calibration(&self, embedder: u8) -> heed::Result<Option<Calibration>> {
        self.meta(&key(embedder))
    }
}

impl Base {
    /// The least cosines in use, with the name of the embedder; `None` without vectors.
    pub fn thresholds(&self) -> Result<Option<(String, Thresholds)>, KbError> {
        self.store.read(|reader| {
            let Some((number, record)) = reader.active_embedder()? else { return Ok(None) };
            let Some((_, given)) = self.opened(&record.model) else { return Ok(None) };
            Ok(Some((record.model, given.or(reader.calibration(number)?))))
        })
    }
}

/// Questions that are compared, each with the chunk that it is from.
type Questions = Vec<(Row, String)>;

/// Measures what chance gives, where the thresholds of the embedder are not known and the base is
/// large enough. A failing embedder is no reason to fail: the next run tries again.
pub(super) async fn calibrate(context: &Arc<BuildContext>) -> Result<(), KbError> {
    let Some(embedder) = context.embedder.clone() else { return Ok(()) };
    let known = context.base.opened(embedder.model()).is_some_and(|(_, given)| given.are_known());
    let store = context.store();
    let (number, chunks, questions) = store.read(|reader| {
        let chunks = reader.count(Layer::Chunk)?;
        let number = reader.embedder(embedder.model())?.map(|(number, _)| number);
        let Some(number) = number.filter(|_| !known && chunks >= LEAST_CHUNKS) else {
            return Ok((0, 0, vec![]));
        };
        let held = reader.calibration(number)?;
        let fits = held.is_some_and(|held| chunks < held.chunks.saturating_mul(GROWN));
        Ok((number, chunks, if fits { vec![] } else { questions(reader)? }))
    })?;
    if questions.is_empty() {
        return Ok(());
    }
    let texts: Vec<&str> = questions.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = match embed_texts(embedder.as_ref(), &texts, EmbedRole::Query).await {
        Ok(vectors) => vectors,
        Err(error) => {
            tracing::warn!("the thresholds of the embedder are not measured: {error}");
            return Ok(());
        }
    };
    let own = Arc::clone(context);
    run_blocking("measuring thresholds", move || {
        let rows = questions.iter().map(|(chunk, _)| *chunk);
        let asked: Vec<(Row, Vector)> = rows.zip(vectors).collect();
        let measured = own.store().read(|reader| {
            let of = |layer| share(reader, number, layer, &asked);
            Ok((of(Layer::Chunk)?, of(Layer::Atom)?))
        })?;
        let (Some(chunk), atom) = measured else { return Ok(()) };
        let calibration = Calibration { chunk, atom: atom.unwrap_or(chunk), chunks };
        own.store().write(|writer| writer.set_meta(&key(number), &calibration))
    })
    .await
}

/// Atoms of chunks all over the base, or their first sentences where there are none.
fn questions(reader: &StoreReader<'_>) -> heed::Result<Questions> {
    let mut questions = vec![];
    for chunk in spread(reader, Layer::Chunk, QUESTIONS)? {
        let atom = reader.atoms_of(chunk)?.next();
        let atom = atom.map_or(Ok(None), |atom| reader.node::<AtomRecord>(atom))?;
        if let Some(atom) = atom {
            questions.push((chunk, atom.text));
        } else if let Some(record) = reader.node::<ChunkRecord>(chunk)? {
            let text = reader.chunk_text(&record)?;
            questions.extend(
                sentences(&text).first().map(|range| (chunk, text[range.clone()].to_owned())),
            );
        }
    }
    Ok(questions)
}

/// Rows at equal distances over a layer.
fn spread(reader: &StoreReader<'_>, layer: Layer, most: usize) -> heed::Result<Vec<Row>> {
    let rows: Vec<Row> = reader.all_rows(layer)?.into_iter().collect();
    Ok(rows.iter().step_by(rows.len().div_ceil(most).max(1)).copied().collect())
}

/// The cosine that a share of [`BELOW`] of unrelated pairs stays below; `None` for too few pairs.
fn share(
    reader: &StoreReader<'_>,
    embedder: u8,
    layer: Layer,
    questions: &[(Row, Vector)],
) -> heed::Result<Option<f32>> {
    let mut cosines = vec![];
    for row in spread(reader, layer, PASSAGES)? {
        let Some(passage) = reader.vector(embedder, layer, row)? else { continue };
        let chunk = match layer {
            Layer::Atom => reader.node::<AtomRecord>(row)?.map_or(row, |atom| atom.chunk),
            _ => row,
        };
        let others = questions.iter().filter(|(from, _)| *from != chunk);
        cosines.extend(others.map(|(_, question)| cosine(question, &passage)));
    }
    if cosines.len() < QUESTIONS {
        return Ok(None);
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of some ten thousand"
    )]
    let at = (cosines.len() as f32 * BELOW) as usize;
    let (_, cosine, _) = cosines.select_nth_unstable_by(at, f32::total_cmp);
    Ok(Some(*cosine))
}
