//! The least cosines that count as a match: cosines of different embedders, layers and languages
//! cannot be compared, but what is chance can be read from the base itself.
pub(super) mod trust;

use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::text::sentences;
use halma_core::{EmbedRole, Layer, Vector};
use serde::{Deserialize, Serialize};

use crate::error::run_blocking;
use crate::store::{AtomRecord, ChunkRecord, DocumentRecord, Row, SectionRecord, StoreReader};
use crate::vectors::{cosine, embed_texts};
use crate::{Atoms, Base, BuildContext, Calibration, KbError, Thresholds};

/// Questions, and nodes of a layer, that are compared.
pub(super) const QUESTIONS: usize = 64;
pub(super) const PASSAGES: usize = 400;

/// A base of fewer chunks tells nothing, nor does a layer of fewer nodes.
pub(super) const LEAST_CHUNKS: u64 = 50;
const LEAST_NODES: u64 = 8;

/// Of pairs that have nothing to do with each other, this share is below the threshold.
const BELOW: f32 = 0.95;

/// What was measured is measured again when it has grown to this many times what it was.
pub(super) const GROWN: u64 = 4;

/// What was measured of a layer other than chunks and atoms.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LayerCalibration {
    /// Its name: the order of layers in memory is not that of the format.
    layer: String,
    cosine: f32,
    /// The nodes that the layer had then.
    nodes: u64,
}

fn key(embedder: u8) -> String {
    format!("calibration {embedder}")
}

/// The kind of atoms whose threshold was measured.
fn atoms_key(embedder: u8) -> String {
    format!("calibrated atoms {embedder}")
}

fn layers_key(embedder: u8) -> String {
    format!("calibration of layers {embedder}")
}

impl StoreReader<'_> {
    pub(crate) fn calibration(&self, embedder: u8) -> heed::Result<Option<Calibration>> {
        self.meta(&key(embedder))
    }

    /// The cosine that most unrelated texts stay below; 0 where it was not measured.
    pub(crate) fn chance(&self, embedder: u8) -> heed::Result<f32> {
        Ok(self.calibration(embedder)?.map_or(0.0, |measured| measured.chunk))
    }

    fn layer_calibrations(&self, embedder: u8) -> heed::Result<Vec<LayerCalibration>> {
        Ok(self.meta(&layers_key(embedder))?.unwrap_or_default())
    }

    /// The least cosine of a layer other than chunks and atoms, where it was measured.
    pub(crate) fn layer_threshold(&self, embedder: u8, layer: Layer) -> heed::Result<Option<f32>> {
        let measured = self.layer_calibrations(embedder)?;
        Ok(measured.into_iter().find(|entry| entry.layer == layer.name()).map(|entry| entry.cosine))
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

    /// The least cosines that were measured of the layers other than chunks and atoms.
    pub fn layer_thresholds(&self) -> Result<BTreeMap<Layer, f32>, KbError> {
        self.store.read(|reader| {
            let Some((number, _)) = reader.active_embedder()? else { return Ok(BTreeMap::new()) };
            let measured = reader.layer_calibrations(number)?;
            let layer = |name: &str| Layer::ALL.into_iter().find(|layer| layer.name() == name);
            let named = measured.iter().filter_map(|one| Some((layer(&one.layer)?, one.cosine)));
            Ok(named.collect())
        })
    }
}

/// Questions that are compared, each with the chunk that it is from.
type Questions = Vec<(Row, String)>;

/// What is to be measured of the vectors of one embedder.
#[derive(Default)]
struct Due {
    embedder: u8,
    /// The chunks that there are, if chunks and atoms are to be measured.
    chunks: Option<u64>,
    /// The kind of atoms that the base has.
    atoms: Atoms,
    /// Other layers with the nodes that they have.
    layers: Vec<(Layer, u64)>,
    questions: Questions,
}

/// Measures what chance gives where the base is large enough. A
/// failing embedder is no reason to fail: the next run tries again.
pub(super) async fn calibrate(context: &Arc<BuildContext>) -> Result<(), KbError> {
    let Some(embedder) = context.embedder.clone() else { return Ok(()) };
    let atoms = context.settings.atoms;
    let mut due = context.store().read(|reader| due(reader, embedder.model(), atoms))?;
    if due.questions.is_empty() {
        return Ok(());
    }
    let texts: Vec<&str> = due.questions.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = match embed_texts(embedder.as_ref(), &texts, EmbedRole::Query).await {
        Ok(vectors) => vectors,
        Err(error) => {
            tracing::warn!(
                "the thresholds of the embedder cannot be measured, and the usual ones are used: {error}"
            );
            return Ok(());
        }
    };
    let context = Arc::clone(context);
    run_blocking("measuring thresholds", move || {
        let rows = std::mem::take(&mut due.questions).into_iter().map(|(chunk, _)| chunk);
        measure(&context, &due, &rows.zip(vectors).collect::<Vec<_>>())
    })
    .await
}

/// What is to be measured; no questions where it is nothing.
fn due(reader: &StoreReader<'_>, model: &str, atoms: Atoms) -> heed::Result<Due> {
    let chunks = reader.count(Layer::Chunk)?;
    let number = reader.embedder(model)?.map(|(number, _)| number);
    let Some(embedder) = number.filter(|_| chunks >= LEAST_CHUNKS) else {
        return Ok(Due::default());
    };
    let former = reader.calibration(embedder)?;
    let fits = former.is_some_and(|former| chunks < former.chunks.saturating_mul(GROWN))
        && reader.meta::<Atoms>(&atoms_key(embedder))? == Some(atoms);
    let measured = reader.layer_calibrations(embedder)?;
    let mut layers = vec![];
    for layer in Layer::ALL.into_iter().filter(|l| !matches!(l, Layer::Chunk | Layer::Atom)) {
        let nodes = reader.count(layer)?;
        let former = measured.iter().find(|former| former.layer == layer.name());
        let fits = former.is_some_and(|former| nodes < former.nodes.saturating_mul(GROWN));
        if !fits && nodes >= LEAST_NODES && reader.has_vectors(embedder, layer)? {
            layers.push((layer, nodes));
        }
    }
    let is_due = !fits || !layers.is_empty();
    let questions = if is_due { questions(reader)? } else { vec![] };
    let chunks = (!fits).then_some(chunks);
    Ok(Due { embedder, chunks, atoms, layers, questions })
}

fn measure(context: &BuildContext, due: &Due, questions: &[(Row, Vector)]) -> Result<(), KbError> {
    let store = context.store();
    let (calibration, layers) = store.read(|reader| {
        let of = |layer| share(reader, due.embedder, layer, questions);
        let mut calibration = None;
        if let Some(chunks) = due.chunks
            && let Some(chunk) = of(Layer::Chunk)?
        {
            let atom = of(Layer::Atom)?.unwrap_or(chunk);
            calibration = Some(Calibration { chunk, atom, chunks });
        }
        let mut layers = reader.layer_calibrations(due.embedder)?;
        for (layer, nodes) in due.layers.iter().copied() {
            let Some(cosine) = of(layer)? else { continue };
            layers.retain(|former| former.layer != layer.name());
            layers.push(LayerCalibration { layer: layer.name().to_owned(), cosine, nodes });
        }
        Ok((calibration, layers))
    })?;
    store.write(|writer| {
        if let Some(calibration) = calibration {
            writer.set_meta(&key(due.embedder), &calibration)?;
            writer.set_meta(&atoms_key(due.embedder), &due.atoms)?;
        }
        writer.set_meta(&layers_key(due.embedder), &layers)
    })
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
pub(super) fn spread(
    reader: &StoreReader<'_>,
    layer: Layer,
    limit: usize,
) -> heed::Result<Vec<Row>> {
    let rows: Vec<Row> = reader.all_rows(layer)?.into_iter().collect();
    Ok(rows.iter().step_by(rows.len().div_ceil(limit).max(1)).copied().collect())
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
        let rows = chunks_behind(reader, layer, row)?;
        let others = questions.iter().filter(|(at, _)| !rows.iter().any(|run| run.contains(at)));
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

/// The chunks that a node is, holds or was made of: a question of one of these is about it.
fn chunks_behind(
    reader: &StoreReader<'_>,
    layer: Layer,
    row: Row,
) -> heed::Result<Vec<std::ops::Range<Row>>> {
    let mut chunks = vec![];
    let sources = reader.record((layer, row))?;
    for (layer, row) in sources.map_or(Ok(vec![]), |record| record.sources(reader, row))? {
        match layer {
            Layer::Chunk => chunks.push(row..row + 1),
            Layer::Section => {
                let section = reader.node::<SectionRecord>(row)?;
                chunks.extend(section.map(|section| section.chunks.0..section.chunks.1));
            }
            Layer::Document => {
                let document = reader.node::<DocumentRecord>(row)?;
                chunks.extend(document.map(|document| document.chunks.0..document.chunks.1));
            }
            _ => {}
        }
    }
    Ok(chunks)
}
