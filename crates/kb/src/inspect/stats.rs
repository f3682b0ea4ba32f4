//! Statistics of a base: counts of everything it holds, sizes, times.
use std::collections::BTreeMap;
use std::path::Path;

use halma_core::{Edge, Layer};
use serde::Serialize;

use super::Inspector;
use crate::base::store_dir;
use crate::store::{
    DocumentRecord, EmbedderRecord, FORMAT, StoreReader, TableRecord, Task, UnitCounts, UnitState,
    searched,
};
use crate::{KbError, Migration};

/// Counts of everything a base holds; what is zero is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Nodes.
    pub layers: BTreeMap<Layer, u64>,
    /// Those that are stored and those that follow from the records.
    pub edges: BTreeMap<Edge, u64>,
    /// Units of work by task and state (`done`, `pending`, `failed`).
    pub units: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Documents by format; the key is empty where the format is not known.
    pub formats: BTreeMap<String, u64>,
}

/// Statistics of a base.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    pub format: u32,
    pub documents: u64,
    pub sections: u64,
    pub chunks: u64,
    pub atoms: u64,
    pub vectors: Vec<VectorStats>,
    pub failed_units: u64,
    pub pending_units: u64,
    /// How far the base is on its way to another embedder, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration: Option<Migration>,
    /// Whether the communities are those of former entities, or not all of them are described; the
    /// next build makes them again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub communities_stale: bool,
    #[serde(flatten)]
    pub figures: Figures,
    pub bytes_on_disk: u64,
    /// Hash over the ids of the documents: equal content, equal fingerprint.
    pub fingerprint: String,
    /// Seconds since 1970.
    pub created: u64,
    pub updated: u64,
}

/// How many nodes of each layer have a vector of one embedder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VectorStats {
    pub embedder: String,
    pub dimensions: u32,
    pub chunks: u64,
    pub atoms: u64,
    /// Nodes of the other layers.
    pub others: BTreeMap<Layer, u64>,
}

/// How large a base is.
#[derive(Debug, Clone, Default)]
pub struct Sizes {
    /// Nodes of every layer, also of empty ones.
    pub layers: BTreeMap<Layer, u64>,
    pub bytes_on_disk: u64,
}

impl Inspector<'_> {
    /// How large the base is, in a time that does not grow with it.
    pub fn sizes(&self) -> Result<Sizes, KbError> {
        let base = self.base;
        let bytes_on_disk = size_of(&store_dir(&base.dir)) + size_of(&base.dir.join("bm25"));
        base.store.read(|reader| {
            let count = |layer| Ok((layer, reader.count(layer)?));
            let layers: heed::Result<_> = Layer::ALL.into_iter().map(count).collect();
            Ok(Sizes { layers: layers?, bytes_on_disk })
        })
    }

    /// Statistics of what the base holds.
    pub fn stats(&self) -> Result<Stats, KbError> {
        let (base, store) = (self.base, &self.base.store);
        let bytes_on_disk = size_of(&store_dir(&base.dir)) + size_of(&base.dir.join("bm25"));
        let (migration, communities_stale) = (base.migration()?, base.communities_are_stale()?);
        store.read(|reader| {
            let (created, updated) = reader.times()?;
            let figures = figures(reader)?;
            let units = |state: UnitState| {
                figures.units.values().filter_map(|states| states.get(state.name())).sum()
            };
            let mut vectors = vec![];
            for (number, record) in (0u8..).zip(reader.embedders()?) {
                let EmbedderRecord { model, dimensions, .. } = record;
                let chunks = reader.count_vectors(number, Layer::Chunk)?;
                let atoms = reader.count_vectors(number, Layer::Atom)?;
                let mut others = BTreeMap::new();
                for layer in Layer::ALL.into_iter().filter(|layer| !searched(*layer)) {
                    others.insert(layer, reader.count_vectors(number, layer)?);
                }
                others.retain(|_, count| *count > 0);
                if chunks + atoms > 0 {
                    let stats = VectorStats { embedder: model, dimensions, chunks, atoms, others };
                    vectors.push(stats);
                }
            }
            let mut hasher = blake3::Hasher::new();
            for id in reader.ids(Layer::Document)? {
                hasher.update(&id.to_be_bytes());
            }
            Ok(Stats {
                format: FORMAT,
                documents: reader.count(Layer::Document)?,
                sections: reader.count(Layer::Section)?,
                chunks: reader.count(Layer::Chunk)?,
                atoms: reader.count(Layer::Atom)?,
                vectors,
                failed_units: units(UnitState::Failed),
                pending_units: units(UnitState::Pending),
                migration,
                communities_stale,
                figures,
                bytes_on_disk,
                fingerprint: hasher.finalize().to_hex()[..16].to_owned(),
                created,
                updated,
            })
        })
    }
}

fn figures(reader: &StoreReader<'_>) -> heed::Result<Figures> {
    let mut figures = Figures::default();
    for layer in Layer::ALL {
        figures.layers.insert(layer, reader.count(layer)?);
    }
    reader.each_edge(|link| *figures.edges.entry(link.edge).or_default() += 1)?;
    let mut next = 0;
    for node in reader.nodes::<DocumentRecord>()? {
        let (_, record) = node?;
        next += u64::from((record.chunks.1 - record.chunks.0).saturating_sub(1));
        *figures.formats.entry(record.format).or_default() += 1;
    }
    let mut placed = 0;
    for table in reader.nodes::<TableRecord>()? {
        placed += u64::from(table?.1.section.is_some());
    }
    let count = |layer: Layer| figures.layers[&layer];
    let (sections, chunks, rows) = (count(Layer::Section), count(Layer::Chunk), count(Layer::Row));
    let contains = sections + chunks + placed + count(Layer::Figure) + rows;
    // Those of what was accepted from answers are stored.
    let accepted = reader.accepted_atoms()?.len() as u64;
    let derived = count(Layer::Atom) - accepted + count(Layer::Fact) + rows;
    for (edge, implied) in
        [(Edge::Contains, contains), (Edge::Next, next), (Edge::DerivedFrom, derived)]
    {
        *figures.edges.entry(edge).or_default() += implied;
    }
    for task in Task::all() {
        let UnitCounts { done, mut pending, failed } = reader.unit_counts(task)?;
        if task == Task::Embed {
            pending += waiting_texts(reader, failed)?;
        }
        let states =
            [(UnitState::Done, done), (UnitState::Pending, pending), (UnitState::Failed, failed)];
        for (state, count) in states.into_iter().filter(|(_, count)| *count > 0) {
            figures.units.entry(task.name()).or_default().insert(state.name(), count);
        }
    }
    figures.layers.retain(|_, count| *count > 0);
    figures.edges.retain(|_, count| *count > 0);
    Ok(figures)
}

/// Texts that have no vector yet of the embedder that the base is built with, apart from those that
/// failed; none in a base without one.
fn waiting_texts(reader: &StoreReader<'_>, failed: u64) -> heed::Result<u64> {
    if reader.target_model()?.is_none() {
        return Ok(0);
    }
    Ok((reader.awaiting_vector()?.len() as u64).saturating_sub(failed))
}

/// Bytes that a folder takes up.
fn size_of(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(size).sum()
}
