//! An atomic piece of a chunk: a question that it answers, or a sentence. Also what was accepted from
//! an answer: a question with its answer and the chunks that it rests on.
use halma_core::{Edge, Hit, Layer, NodeId, Span};

use super::super::feedback::feedback_id;
use super::details::{AcceptedDetails, Details};
use super::types::{AtomRecord, ChunkRecord};
use super::{LayerRecord, NodeRecord, Owner, hit};
use crate::store::{At, Id, Link, Row, StoreReader, node_id};

impl LayerRecord for AtomRecord {
    const LAYER: Layer = Layer::Atom;
}

impl NodeRecord for AtomRecord {
    fn id(&self) -> Id {
        self.id
    }

    /// What was accepted may hold words of several documents and of a person: it has a key of its
    /// own, which is wiped when it is taken back or any of the documents goes.
    fn owner(&self) -> Owner {
        if self.accepted.is_some() { Owner::Itself } else { Owner::Chunk(self.chunk) }
    }

    fn depends_on(&self) -> Vec<At> {
        if self.accepted.is_none() {
            return vec![];
        }
        self.chunks_below().into_iter().map(|chunk| (Layer::Chunk, chunk)).collect()
    }

    fn document(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Option<Row>> {
        let mut documents = vec![];
        for chunk in self.chunks_below() {
            documents.extend(reader.node::<ChunkRecord>(chunk)?.map(|chunk| chunk.document));
        }
        documents.dedup();
        Ok(if documents.len() == 1 { documents.pop() } else { None })
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let span = Span { start: self.start, end: self.end };
        Ok(Hit { text: self.content(), span, ..hit::in_chunk(self, reader, self.chunk)? })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let chunk: ChunkRecord = reader.linked(self.chunk)?;
        Ok(under_title(&hit::title(reader, chunk.document)?, self.content()))
    }

    /// Of what was accepted, the question: it is found by questions.
    fn embedded_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        if self.accepted.is_some() {
            return Ok(self.text.clone());
        }
        self.searched_text(reader, row)
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        // Those of what was accepted are stored.
        if self.accepted.is_some() {
            return Ok(vec![]);
        }
        let chunk = (Layer::Chunk, self.chunk);
        Ok(vec![Link::new((Self::LAYER, row), Edge::DerivedFrom, chunk)])
    }

    fn details(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let Some(accepted) = &self.accepted else { return Ok(Details::Atom { accepted: None }) };
        let mut sources: Vec<NodeId> = vec![];
        for chunk in self.chunks_below() {
            let id = reader.id_of((Layer::Chunk, chunk))?;
            sources.extend(id.map(|id| node_id(Layer::Chunk, id)));
        }
        let accepted = AcceptedDetails {
            feedback: feedback_id(accepted.feedback),
            of_kind: accepted.kind,
            answer: accepted.answer.clone(),
            by: accepted.by.clone(),
            at: accepted.at,
            sources,
        };
        Ok(Details::Atom { accepted: Some(Box::new(accepted)) })
    }

    fn sources(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Vec<At>> {
        Ok(self.chunks_below().into_iter().map(|chunk| (Layer::Chunk, chunk)).collect())
    }
}

impl AtomRecord {
    /// The chunks that it was made of.
    pub(crate) fn chunks_below(&self) -> Vec<Row> {
        let also = self.accepted.iter().flat_map(|accepted| accepted.also.iter().copied());
        std::iter::once(self.chunk).chain(also).collect()
    }

    /// Its text, with the answer where one was accepted.
    fn content(&self) -> String {
        match self.accepted.as_ref().map(|accepted| accepted.answer.trim()) {
            Some(answer) if !answer.is_empty() => format!("{} {answer}", self.text),
            _ => self.text.clone(),
        }
    }
}

/// An atom as it is searched: under its document's title, unless it names that itself. A sentence
/// alone often leaves open what it is about (measured on `HotpotQA`: docs/developers/measurements.md).
fn under_title(title: &str, atom: String) -> String {
    if title.is_empty() || atom.to_lowercase().contains(&title.to_lowercase()) {
        return atom;
    }
    format!("{title}: {atom}")
}
