//! Which layers are compared by vectors.
use halma_core::Layer;
use serde::{Deserialize, Serialize};

/// The `[kb.vectors]` table: the layers whose nodes have vectors next to those of the chunks, which
/// always have them. A base keeps the layers that it was made with until `halma index --rebuild
/// vectors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
pub struct VectorLayers {
    /// Questions or sentences.
    pub atom: bool,
    /// Documents of more than one chunk, by their summary or their beginning.
    pub document: bool,
    /// Sections of more than one chunk, likewise.
    pub section: bool,
    /// Tables, by caption and columns.
    pub table: bool,
    /// Figures with a caption or a description.
    pub figure: bool,
    /// The first 1,000 rows of each table.
    pub row: bool,
    /// Summaries of chunks, tables, sections and documents.
    pub summary: bool,
    /// Names of tags.
    pub tag: bool,
    /// Entities with a description; a bare name is found by its spelling.
    pub entity: bool,
    /// Facts.
    pub fact: bool,
    /// Communities, by title and summary.
    pub community: bool,
}

impl Default for VectorLayers {
    /// All that methods search: `pike_l1` every layer, `graph_local` entities and facts,
    /// `graph_global` communities.
    fn default() -> Self {
        Self::from_holds(|_| true)
    }
}

impl VectorLayers {
    /// Those of a base that no build has set any for.
    pub(crate) fn of_new_bases() -> Self {
        Self::from_holds(|layer| matches!(layer, Layer::Atom | Layer::Tag))
    }

    /// The layers of which this holds.
    pub(crate) fn from_holds(holds: impl Fn(Layer) -> bool) -> Self {
        Self {
            atom: holds(Layer::Atom),
            document: holds(Layer::Document),
            section: holds(Layer::Section),
            table: holds(Layer::Table),
            figure: holds(Layer::Figure),
            row: holds(Layer::Row),
            summary: holds(Layer::Summary),
            tag: holds(Layer::Tag),
            entity: holds(Layer::Entity),
            fact: holds(Layer::Fact),
            community: holds(Layer::Community),
        }
    }

    /// Whether nodes of this layer have vectors.
    pub fn holds(&self, layer: Layer) -> bool {
        match layer {
            Layer::Chunk => true,
            Layer::Atom => self.atom,
            Layer::Document => self.document,
            Layer::Section => self.section,
            Layer::Table => self.table,
            Layer::Figure => self.figure,
            Layer::Row => self.row,
            Layer::Summary => self.summary,
            Layer::Tag => self.tag,
            Layer::Entity => self.entity,
            Layer::Fact => self.fact,
            Layer::Community => self.community,
        }
    }

    /// The layers that have vectors, in the order of [`Layer::ALL`].
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        let layers = *self;
        Layer::ALL.into_iter().filter(move |layer| layers.holds(*layer))
    }
}
