//! Entering the names of documents, and taking out those of former ones.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::Layer;

use super::names::{NewNames, all_names};
use super::{is_chunk, names_in_block};
use crate::store::{
    ChunkForms, DocumentNames, DocumentRecord, Extraction, FormKey, FormsState, Id, NameKey,
    NameRecord, Row, StoreReader, StoreWriter, Task, UnitKey,
};

/// A chunk that was entered, or is to be, with other names.
struct ChunkChange {
    chunk: Row,
    old: Option<ChunkForms>,
    new: Option<NewNames>,
}

/// What is known of a document before and after.
struct DocumentChange {
    row: Row,
    before: DocumentNames,
    /// The names of the chunks that it has now.
    now: BTreeMap<Row, ChunkForms>,
}

pub(super) struct Entering<'w, 't> {
    writer: &'w mut StoreWriter<'t>,
    state: FormsState,
    /// Blocks whose names have changed, and whether there were too many before.
    were_crowded: HashMap<Id, bool>,
    touched: BTreeSet<Id>,
    /// Chunks whose extracts were read.
    read: usize,
}

impl<'w, 't> Entering<'w, 't> {
    pub(super) fn new(writer: &'w mut StoreWriter<'t>) -> heed::Result<Self> {
        let state = writer.forms_state()?.unwrap_or_default();
        let (were_crowded, touched) = (HashMap::new(), BTreeSet::new());
        Ok(Self { writer, state, were_crowded, touched, read: 0 })
    }

    /// Enters what the documents in these rows name now. What is entered is put in before what is no
    /// longer there is taken out, so that a name that only moves is not lost between. Returns how
    /// many extracts were read.
    pub(super) fn enter(mut self, documents: &BTreeSet<Row>) -> heed::Result<usize> {
        let (mut chunks, mut changed) = (vec![], vec![]);
        for row in documents {
            changed.push(self.compare(*row, &mut chunks)?);
        }
        for change in &chunks {
            self.put_in(change)?;
        }
        for change in &chunks {
            self.take_out(change)?;
        }
        for change in &changed {
            self.link(change)?;
        }
        self.touch()?;
        self.writer.put_form_entry(FormKey::State, &self.state)?;
        Ok(self.read)
    }

    /// What has changed in a document.
    fn compare(
        &mut self,
        row: Row,
        changes: &mut Vec<ChunkChange>,
    ) -> heed::Result<DocumentChange> {
        let before: DocumentNames =
            self.writer.form_entry(FormKey::Document(row))?.unwrap_or_default();
        let record = self.writer.node::<DocumentRecord>(row)?;
        let current = record.map_or(0..0, |record| record.chunks.0..record.chunks.1);
        let chunks: BTreeSet<Row> = before.chunks.iter().copied().chain(current).collect();
        let mut now = BTreeMap::new();
        for chunk in chunks {
            let old: Option<ChunkForms> = self.writer.form_entry(FormKey::Chunk(chunk))?;
            let forms =
                |names: &ChunkForms| names.names.iter().map(|name| name.form).collect::<Vec<Id>>();
            self.touched.extend(old.iter().flat_map(forms));
            let mark: Option<bool> = self.writer.form_entry(FormKey::ChangedChunk(chunk))?;
            if mark != Some(false) {
                now.extend(old.map(|old| (chunk, old)));
                continue;
            }
            let key = UnitKey::of(Task::Facts, (Layer::Chunk, chunk));
            let extract = if is_chunk(self.writer, chunk)? {
                self.writer.result_of::<Extraction>(key)?
            } else {
                None
            };
            self.read += usize::from(extract.is_some());
            let new = extract.map(|(_, extract)| NewNames::new(row, &extract));
            if let Some(new) = &new {
                self.touched.extend(forms(&new.chunk));
                now.insert(chunk, new.chunk.clone());
            }
            changes.push(ChunkChange { chunk, old, new });
        }
        Ok(DocumentChange { row, before, now })
    }

    /// Puts in the names that a chunk has now.
    fn put_in(&mut self, change: &ChunkChange) -> heed::Result<()> {
        let Some(new) = &change.new else { return Ok(()) };
        let former: BTreeSet<NameKey> = change.old.iter().flat_map(all_names).collect();
        for (name, record) in new.records.iter().filter(|(name, _)| !former.contains(name)) {
            self.add_name(*name, record, change.chunk)?;
        }
        for name in &new.chunk.names {
            self.writer.put_form_entry(FormKey::Mention(name.form, change.chunk), &())?;
        }
        self.writer.put_form_entry(FormKey::Chunk(change.chunk), &new.chunk)?;
        // It stays marked until the graph has been made of it.
        self.writer.put_form_entry(FormKey::ChangedChunk(change.chunk), &true)?;
        self.count(&new.chunk, u64::wrapping_add);
        Ok(())
    }

    /// Takes out the names that a chunk has no longer.
    fn take_out(&mut self, change: &ChunkChange) -> heed::Result<()> {
        if change.new.is_none() {
            self.writer.delete_form_entry(FormKey::Chunk(change.chunk))?;
            self.writer.delete_form_entry(FormKey::ChangedChunk(change.chunk))?;
        }
        let Some(old) = &change.old else { return Ok(()) };
        let now = change.new.as_ref().map(|new| &new.chunk);
        let forms: BTreeSet<Id> = now.iter().flat_map(|now| &now.names).map(|n| n.form).collect();
        for name in old.names.iter().filter(|name| !forms.contains(&name.form)) {
            self.writer.delete_form_entry(FormKey::Mention(name.form, change.chunk))?;
        }
        let now: BTreeSet<NameKey> = now.into_iter().flat_map(all_names).collect();
        let old_names: BTreeSet<NameKey> = all_names(old).collect();
        for name in old_names.difference(&now) {
            self.remove_name(*name, change.chunk)?;
        }
        self.count(old, u64::wrapping_sub);
        Ok(())
    }

    fn count(&mut self, chunk: &ChunkForms, add: fn(u64, u64) -> u64) {
        self.state.chunks = add(self.state.chunks, 1);
        self.state.facts = add(self.state.facts, chunk.facts.into());
        for (total, part) in self.state.left_out.iter_mut().zip(chunk.left_out) {
            *total = add(*total, part.into());
        }
    }

    fn add_name(&mut self, name: NameKey, new: &NameRecord, chunk: Row) -> heed::Result<()> {
        let key = FormKey::Name(name);
        if let Some(record) = self.writer.form_entry::<NameRecord>(key)? {
            let more = NameRecord { chunks: record.chunks + 1, ..record };
            return self.writer.put_form_entry(key, &more);
        }
        for block in &new.blocks {
            self.note_block(*block)?;
            self.writer.put_form_entry(FormKey::Block(*block, name), &())?;
        }
        self.writer.put_form_entry(key, &NameRecord { chunks: 1, witness: chunk, ..new.clone() })
    }

    fn remove_name(&mut self, name: NameKey, chunk: Row) -> heed::Result<()> {
        let key = FormKey::Name(name);
        let Some(record) = self.writer.form_entry::<NameRecord>(key)? else { return Ok(()) };
        if record.chunks > 1 {
            let other = if record.witness == chunk { self.witness(name)? } else { None };
            let witness = other.unwrap_or(record.witness);
            let fewer = NameRecord { chunks: record.chunks - 1, witness, ..record };
            return self.writer.put_form_entry(key, &fewer);
        }
        for block in record.blocks {
            // What it was like cannot be told from hashes: all that it met are looked at again.
            if !self.note_block(block)? {
                self.touch_block(block)?;
            }
            self.writer.delete_form_entry(FormKey::Block(block, name))?;
        }
        self.writer.delete_form_entry(key).map(|_| ())
    }

    /// A chunk that has a name.
    fn witness(&self, name: NameKey) -> heed::Result<Option<Row>> {
        for key in self.writer.form_keys_of(FormKey::Mention(name.form, 0))? {
            let FormKey::Mention(_, chunk) = key? else { continue };
            let names: Option<ChunkForms> = self.writer.form_entry(FormKey::Chunk(chunk))?;
            if names.is_some_and(|names| all_names(&names).any(|other| other == name)) {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    /// Notes how it was with a block before its names change. Returns whether there were too many.
    fn note_block(&mut self, block: Id) -> heed::Result<bool> {
        // Where everything is resolved it does not matter.
        if self.state.everything {
            return Ok(true);
        }
        if let Some(crowded) = self.were_crowded.get(&block) {
            return Ok(*crowded);
        }
        let crowded = names_in_block(self.writer, block)?.is_none();
        self.were_crowded.insert(block, crowded);
        Ok(crowded)
    }

    fn touch_block(&mut self, block: Id) -> heed::Result<()> {
        let any = NameKey { form: 0, variant: 0 };
        for key in self.writer.form_keys_of(FormKey::Block(block, any))? {
            if let FormKey::Block(_, name) = key? {
                self.touched.insert(name.form);
            }
        }
        Ok(())
    }

    /// Renews what the names of a document say of each other.
    fn link(&mut self, change: &DocumentChange) -> heed::Result<()> {
        let links = links_of(self.writer, change.now.values())?;
        let before: BTreeSet<(Id, Id)> = change.before.links.iter().copied().collect();
        for (one, two) in links.difference(&before) {
            self.weigh_link(*one, *two, 1)?;
        }
        for (one, two) in before.difference(&links) {
            self.weigh_link(*one, *two, -1)?;
        }
        let key = FormKey::Document(change.row);
        let chunks = change.now.keys().copied().collect();
        let now = DocumentNames { chunks, links: links.into_iter().collect() };
        if now.chunks.is_empty() {
            self.writer.delete_form_entry(key)?;
        } else if now != change.before {
            self.writer.put_form_entry(key, &now)?;
        }
        Ok(())
    }

    fn weigh_link(&mut self, one: Id, two: Id, by: i64) -> heed::Result<()> {
        for key in [FormKey::Link(one, two), FormKey::Link(two, one)] {
            let count = self.writer.form_entry::<i64>(key)?.unwrap_or_default() + by;
            if count > 0 {
                self.writer.put_form_entry(key, &count)?;
            } else {
                self.writer.delete_form_entry(key)?;
            }
        }
        Ok(())
    }

    /// Keeps what is to be resolved: all names of what changed, and those of a block that has become
    /// too large or is no longer so.
    fn touch(&mut self) -> heed::Result<()> {
        if self.state.everything {
            return Ok(());
        }
        for (block, crowded) in std::mem::take(&mut self.were_crowded) {
            if crowded != names_in_block(self.writer, block)?.is_none() {
                self.touch_block(block)?;
            }
        }
        for form in std::mem::take(&mut self.touched) {
            self.writer.touch_form(form)?;
        }
        Ok(())
    }
}

/// The forms of which one may be short for the other in a document with these chunks, whose names are
/// entered.
pub(super) fn links_of<'c>(
    reader: &StoreReader<'_>,
    chunks: impl Iterator<Item = &'c ChunkForms> + Clone,
) -> heed::Result<BTreeSet<(Id, Id)>> {
    let names = || chunks.clone().flat_map(|chunk| chunk.names.iter().copied());
    let forms: BTreeSet<Id> = names().map(|name| name.form).collect();
    let people: BTreeSet<Id> = chunks.clone().flat_map(|chunk| chunk.people.clone()).collect();
    let mut links = BTreeSet::new();
    let of_people = names().filter(|name| people.contains(&name.form));
    for name in of_people.collect::<BTreeSet<NameKey>>() {
        let record: Option<NameRecord> = reader.form_entry(FormKey::Name(name))?;
        let last = record.and_then(|record| record.last).filter(|last| forms.contains(last));
        links.extend(last.map(|last| (name.form, last)));
    }
    let declared = chunks.flat_map(|chunk| &chunk.aliases);
    let declared = declared.map(|(name, alias)| (name.form, *alias));
    links.extend(declared.filter(|(of, alias)| of != alias && forms.contains(alias)));
    Ok(links)
}
