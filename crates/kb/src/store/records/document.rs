//! A source file or record as a whole.
use std::collections::BTreeMap;
use std::ops::Range;

use halma_core::{Edge, Hit, Layer, Metadata, Span};

use super::details::Details;
use super::hit::{self, BEGINNING, EMBEDDED, joined};
use super::types::{AtomRecord, DocumentRecord, SectionRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::restriction::Scope;
use crate::store::{At, Id, Link, Row, StoreReader};

impl LayerRecord for DocumentRecord {
    const LAYER: Layer = Layer::Document;

    fn narrow(self, scope: &Scope) -> Option<Self> {
        scope.narrow(self)
    }
}

impl NodeRecord for DocumentRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Itself
    }

    fn document(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Option<Row>> {
        Ok(Some(row))
    }

    fn chunks(&self, _: Row) -> Range<Row> {
        self.chunks.0..self.chunks.1
    }

    fn hit(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Hit> {
        let text = reader.slice(row, (0, reader.text_bytes(row)?))?;
        let span = Span { start: 0, end: text.chars().count() };
        Ok(Hit { text, ..hit::in_document(self, Self::LAYER, self.id, span) })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        let mut parts = vec![self.title.clone(), self.names.join(" ")];
        for section in self.sections.0..self.sections.1 {
            let section = reader.node::<SectionRecord>(section)?;
            parts.extend(section.and_then(|section| section.name));
        }
        parts.push(reader.beginning(row, (0, reader.text_bytes(row)?), BEGINNING)?);
        Ok(joined(parts))
    }

    fn embedded_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        let whole = (0, reader.text_bytes(row)?);
        let text = match reader.summary_of((Self::LAYER, row))? {
            Some(summary) => summary,
            None => reader.beginning(row, whole, EMBEDDED)?,
        };
        Ok(joined([self.title.clone(), text]))
    }

    /// A document of one chunk is as near to a question as that chunk.
    fn has_vector(&self) -> bool {
        self.chunks.1 - self.chunks.0 > 1
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let sections = self.sections.0..self.sections.1;
        let contains =
            |section| Link::new((Self::LAYER, row), Edge::Contains, (Layer::Section, section));
        Ok(sections.map(contains).collect())
    }

    fn details(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Details> {
        Ok(Details::Document {
            names: self.names.clone(),
            source: self.source.clone(),
            format: self.format.clone(),
            url: self.url.clone(),
            date: self.date.clone(),
            author: self.author.clone(),
            language: self.language.clone(),
            pages: self.pages.clone(),
            links: self.links.clone(),
            warnings: self.warnings.clone(),
            metadata: self.metadata_of(0),
            parts: self.part_counts(reader, row)?,
        })
    }

    fn sources(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        Ok(vec![(Self::LAYER, row)])
    }
}

impl DocumentRecord {
    /// The fields that a user gave to it under its name at this place.
    pub(crate) fn metadata_of(&self, at: usize) -> Metadata {
        let stored = self.metadata.get(at).filter(|json| !json.is_empty());
        // What is stored was checked and written by this program.
        stored.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// The fields under a name; none where it does not have the name.
    pub(crate) fn metadata_under(&self, name: &str) -> Metadata {
        let at = self.names.iter().position(|other| other == name);
        at.map_or_else(Metadata::default, |at| self.metadata_of(at))
    }

    /// As a hit with the first bytes of its text only, and so without a span.
    pub(crate) fn head(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
        max_bytes: usize,
    ) -> heed::Result<Hit> {
        let text = reader.beginning(row, (0, reader.text_bytes(row)?), max_bytes)?;
        Ok(Hit { text, ..hit::in_document(self, Self::LAYER, self.id, Span::default()) })
    }

    /// What it is made of, by layer.
    pub(crate) fn part_counts(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
    ) -> heed::Result<BTreeMap<Layer, u64>> {
        let mut parts = BTreeMap::new();
        for (layer, rows) in [
            (Layer::Section, self.sections),
            (Layer::Chunk, self.chunks),
            (Layer::Table, self.tables),
            (Layer::Figure, self.figures),
        ] {
            parts.insert(layer, u64::from(rows.1 - rows.0));
        }
        let mut listed = reader.listed_under((Layer::Document, row))?;
        for chunk in self.chunks.0..self.chunks.1 {
            listed.extend(reader.listed_under((Layer::Chunk, chunk))?);
            let atoms = reader.atoms_of(chunk)?;
            *parts.entry(Layer::Atom).or_default() += u64::from(atoms.end - atoms.start);
        }
        for (layer, _) in listed {
            *parts.entry(layer).or_default() += 1;
        }
        parts.retain(|_, count| *count > 0);
        Ok(parts)
    }

    /// The rows of its parts of one layer, in the order of their places; none of a layer whose
    /// nodes belong to several documents.
    pub(crate) fn parts(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
        layer: Layer,
    ) -> heed::Result<Vec<Row>> {
        let range = match layer {
            Layer::Document => (row, row + 1),
            Layer::Section => self.sections,
            Layer::Chunk => self.chunks,
            Layer::Table => self.tables,
            Layer::Figure => self.figures,
            _ => (0, 0),
        };
        let mut rows: Vec<Row> = (range.0..range.1).collect();
        if layer == Layer::Summary {
            rows.extend(listed(reader, (Layer::Document, row), layer)?);
        }
        for chunk in self.chunks.0..self.chunks.1 {
            match layer {
                Layer::Atom => {
                    rows.extend(reader.atoms_of(chunk)?);
                    for atom in reader.accepted_atoms_of(chunk)? {
                        let record = reader.node::<AtomRecord>(atom)?;
                        rows.extend(record.filter(|record| record.chunk == chunk).map(|_| atom));
                    }
                }
                Layer::Row | Layer::Fact => {
                    rows.extend(listed(reader, (Layer::Chunk, chunk), layer)?);
                }
                _ => break,
            }
        }
        Ok(rows)
    }
}

fn listed(reader: &StoreReader<'_>, owner: At, layer: Layer) -> heed::Result<Vec<Row>> {
    let listed = reader.listed_under(owner)?;
    Ok(listed.into_iter().filter(|at| at.0 == layer).map(|at| at.1).collect())
}
