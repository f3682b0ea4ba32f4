//! The names of chunks and documents, and what is counted of them.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::Layer;

use super::super::entering::links_of;
use super::super::is_chunk;
use super::super::names::{NewNames, all_names};
use super::{Differences, count, entry, readable};
use crate::store::{
    ChunkForms, ChunkRecord, DocumentNames, Extraction, FormKey, Id, NameKey, NameRecord, Row,
    StoreReader, Task, UnitKey, UnitState,
};

const OTHER: &str = "the index of names holds other names of it than were extracted";
const LEFT_OVER: &str = "the index of names holds it, and nothing is extracted from it";

pub(super) struct ChunkCheck<'a, 'r, 'f> {
    reader: &'a StoreReader<'r>,
    differences: &'a mut Differences<'f>,
    /// Each name, with how many chunks have it.
    names: HashMap<NameKey, u32>,
    /// Chunks with names, by their documents.
    documents: BTreeMap<Row, Vec<Row>>,
    mentions: usize,
    /// Chunks, facts, and what was left out, in all.
    totals: [u64; 5],
}

impl<'a, 'r, 'f> ChunkCheck<'a, 'r, 'f> {
    pub(super) fn new(reader: &'a StoreReader<'r>, differences: &'a mut Differences<'f>) -> Self {
        let (names, documents) = (HashMap::new(), BTreeMap::new());
        Self { reader, differences, names, documents, mentions: 0, totals: [0; 5] }
    }

    /// Returns what there is in all, as it is kept in the state.
    pub(super) fn check(mut self) -> heed::Result<[u64; 5]> {
        self.check_extracts()?;
        for key in self.reader.form_keys(FormKey::Chunk(0))? {
            if let FormKey::Chunk(chunk) = key? {
                self.take_chunk(chunk)?;
            }
        }
        let count = count(self.reader, FormKey::Mention(0, 0))?;
        self.differences.compare_counts("mentions", self.mentions, count);
        self.check_names()?;
        self.check_documents()?;
        Ok(self.totals)
    }

    /// Whether a chunk is entered as it was extracted, and not yet to be entered.
    fn is_entered(&self, chunk: Row) -> heed::Result<bool> {
        Ok(entry(self.reader, FormKey::ChangedChunk(chunk))? != Some(false))
    }

    /// Every extract against what is kept of its chunk.
    fn check_extracts(&mut self) -> heed::Result<()> {
        for unit in self.reader.entries(Task::Facts)? {
            let unit = unit?;
            let chunk = unit.key.row();
            if unit.state != UnitState::Done || !self.is_entered(chunk)? {
                continue;
            }
            let record = readable(self.reader.node::<ChunkRecord>(chunk))?.flatten();
            let Some(record) = record else { continue };
            let extract = readable(self.reader.result_of::<Extraction>(unit.key))?.flatten();
            let Some((_, extract)) = extract else { continue };
            let expected = NewNames::new(record.document, &extract);
            if entry(self.reader, FormKey::Chunk(chunk))? != Some(expected.chunk) {
                self.differences.report_chunk((Layer::Chunk, chunk), OTHER);
            }
            for (name, of_name) in &expected.records {
                let record: Option<NameRecord> = entry(self.reader, FormKey::Name(*name))?;
                if record.is_none_or(|h| (&h.blocks, h.last) != (&of_name.blocks, of_name.last)) {
                    self.differences.note("names");
                }
            }
        }
        Ok(())
    }

    /// Counts what a chunk names, and looks for it under its names.
    fn take_chunk(&mut self, chunk: Row) -> heed::Result<()> {
        let Some(names) = entry::<ChunkForms>(self.reader, FormKey::Chunk(chunk))? else {
            return Ok(());
        };
        let unit = self.reader.entry(UnitKey::of(Task::Facts, (Layer::Chunk, chunk)))?;
        let is_done = unit.is_some_and(|unit| unit.state == UnitState::Done);
        if self.is_entered(chunk)? && !(is_done && is_chunk(self.reader, chunk)?) {
            self.differences.report_chunk((Layer::Chunk, chunk), LEFT_OVER);
        }
        let forms: BTreeSet<Id> = names.names.iter().map(|name| name.form).collect();
        for form in &forms {
            if !self.reader.has_form_entry(FormKey::Mention(*form, chunk))? {
                self.differences.note("mentions");
            }
        }
        self.mentions += forms.len();
        for name in all_names(&names).collect::<BTreeSet<NameKey>>() {
            *self.names.entry(name).or_default() += 1;
        }
        self.documents.entry(names.document).or_default().push(chunk);
        let counts = [1, names.facts, names.left_out[0], names.left_out[1], names.left_out[2]];
        for (total, count) in self.totals.iter_mut().zip(counts) {
            *total = total.wrapping_add(count.into());
        }
        Ok(())
    }

    /// Names with their counts, witnesses and blocks.
    fn check_names(&mut self) -> heed::Result<()> {
        let mut blocks = 0;
        for (name, chunks) in &self.names {
            let record: Option<NameRecord> = entry(self.reader, FormKey::Name(*name))?;
            let Some(record) = record.filter(|record| record.chunks == *chunks) else {
                self.differences.note("names");
                continue;
            };
            let witness: Option<ChunkForms> = entry(self.reader, FormKey::Chunk(record.witness))?;
            if !witness.is_some_and(|chunk| all_names(&chunk).any(|other| other == *name)) {
                self.differences.note("names");
            }
            for block in record.blocks.iter().collect::<BTreeSet<&Id>>() {
                blocks += 1;
                if !self.reader.has_form_entry(FormKey::Block(*block, *name))? {
                    self.differences.note("blocks");
                }
            }
        }
        let any = NameKey { form: 0, variant: 0 };
        let entries = count(self.reader, FormKey::Name(any))?;
        self.differences.compare_counts("names", self.names.len(), entries);
        let entries = count(self.reader, FormKey::Block(0, any))?;
        self.differences.compare_counts("blocks", blocks, entries);
        Ok(())
    }

    /// What the names of documents say of each other.
    fn check_documents(&mut self) -> heed::Result<()> {
        let mut weights: HashMap<(Id, Id), i64> = HashMap::new();
        for (document, chunks) in &self.documents {
            let mut names = vec![];
            for chunk in chunks {
                names.extend(entry::<ChunkForms>(self.reader, FormKey::Chunk(*chunk))?);
            }
            // A name that cannot be read is noted already.
            let Some(links) = readable(links_of(self.reader, names.iter()))? else { continue };
            for (one, two) in &links {
                *weights.entry((*one, *two)).or_default() += 1;
                *weights.entry((*two, *one)).or_default() += 1;
            }
            let expected =
                DocumentNames { chunks: chunks.clone(), links: links.into_iter().collect() };
            if entry(self.reader, FormKey::Document(*document))? != Some(expected) {
                self.differences.note("documents");
            }
        }
        for ((one, two), weight) in &weights {
            if entry(self.reader, FormKey::Link(*one, *two))? != Some(*weight) {
                self.differences.note("links");
            }
        }
        let entries = count(self.reader, FormKey::Document(0))?;
        self.differences.compare_counts("documents", self.documents.len(), entries);
        let entries = count(self.reader, FormKey::Link(0, 0))?;
        self.differences.compare_counts("links", weights.len(), entries);
        Ok(())
    }
}
