//! Everything that can have a say in how names are resolved: the names themselves wherever they
//! stand, those of which one may be short for the other in a document, and those that are alike
//! and meet in a block. What is alike only by a slip of the pen is asked about and never joined by a
//! rule: that leads one step far.
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use halma_core::Layer;

use super::names::all_names;
use super::{max_chunks, names_in_block};
use crate::extract::extracted_chunk::{ChunkReading, ExtractedChunk, OutsideMentions, in_order};
use crate::extract::resolve::{Name, NameSimilarity};
use crate::store::{
    ChunkForms, ChunkGraph, FormKey, Id, NameKey, NameRecord, Row, StoreReader, Task, UnitKey,
};

/// What is resolved together.
pub(in crate::extract) struct Reach {
    /// Those from which it began.
    pub(in crate::extract) touched: BTreeSet<Id>,
    /// All forms.
    pub(in crate::extract) forms: HashSet<Id>,
    /// The chunks with them, in order.
    pub(in crate::extract) reads: Vec<ExtractedChunk>,
    /// Blocks in which too many names meet.
    pub(in crate::extract) crowded: HashSet<Id>,
    /// How many extracts were read.
    pub(in crate::extract) read: usize,
}

/// What is to be resolved, with these forms in addition; `None` where that is so much that everything
/// is resolved.
pub(in crate::extract) fn reach(
    reader: &StoreReader<'_>,
    more: &BTreeSet<Id>,
) -> heed::Result<Option<Reach>> {
    let Some(state) = reader.forms_state()?.filter(|state| !state.everything) else {
        return Ok(None);
    };
    let mut touched = BTreeSet::new();
    for key in reader.form_keys(FormKey::Touched(0))? {
        if let FormKey::Touched(form) = key? {
            touched.insert(form);
        }
    }
    let mut reaching = Reaching::new(reader, max_chunks(&state));
    for key in reader.form_keys(FormKey::ChangedChunk(0))? {
        if let FormKey::ChangedChunk(chunk) = key? {
            reaching.chunks.insert(chunk);
        }
    }
    let first = touched.iter().chain(more).copied().collect();
    let Some(near) = reaching.follow(first)? else { return Ok(None) };
    if reaching.follow(near.into_iter().collect())?.is_none() {
        return Ok(None);
    }
    reaching.finish(touched)
}

/// How a name can be like another.
enum Spelling {
    Name(Name),
    /// A short form that a text gives to it.
    Declared,
}

struct Reaching<'r, 't> {
    reader: &'r StoreReader<'t>,
    max_chunks: usize,
    forms: HashSet<Id>,
    chunks: BTreeSet<Row>,
    crowded: HashSet<Id>,
    chunk_reading: ChunkReading,
    extracts: HashMap<Row, Option<Rc<ExtractedChunk>>>,
    spellings: HashMap<NameKey, Option<Rc<Spelling>>>,
}

impl<'r, 't> Reaching<'r, 't> {
    fn new(reader: &'r StoreReader<'t>, max_chunks: usize) -> Self {
        Self {
            reader,
            max_chunks,
            forms: HashSet::new(),
            chunks: BTreeSet::new(),
            crowded: HashSet::new(),
            chunk_reading: ChunkReading::default(),
            extracts: HashMap::new(),
            spellings: HashMap::new(),
        }
    }

    /// Follows what may be joined with these. Returns what is only near them; `None` where it is too
    /// much.
    fn follow(&mut self, mut open: Vec<Id>) -> heed::Result<Option<BTreeSet<Id>>> {
        let mut near = BTreeSet::new();
        while let Some(form) = open.pop() {
            if !self.forms.insert(form) {
                continue;
            }
            for key in self.reader.form_keys_of(FormKey::Mention(form, 0))? {
                if let FormKey::Mention(_, chunk) = key? {
                    self.chunks.insert(chunk);
                }
                if self.chunks.len() > self.max_chunks {
                    return Ok(None);
                }
            }
            for key in self.reader.form_keys_of(FormKey::Link(form, 0))? {
                if let FormKey::Link(_, other) = key? {
                    open.push(other);
                }
            }
            self.follow_blocks(form, &mut open, &mut near)?;
        }
        Ok(Some(near))
    }

    fn follow_blocks(
        &mut self,
        form: Id,
        open: &mut Vec<Id>,
        near: &mut BTreeSet<Id>,
    ) -> heed::Result<()> {
        let mut names = vec![];
        for key in self.reader.form_keys_of(FormKey::Name(NameKey { form, variant: 0 }))? {
            if let FormKey::Name(name) = key? {
                names.push(name);
            }
        }
        for name in names {
            let record: Option<NameRecord> = self.reader.form_entry(FormKey::Name(name))?;
            for block in record.into_iter().flat_map(|record| record.blocks) {
                if self.crowded.contains(&block) {
                    continue;
                }
                let Some(others) = names_in_block(self.reader, block)? else {
                    self.crowded.insert(block);
                    continue;
                };
                for other in others.into_iter().filter(|other| other.form != form) {
                    if self.forms.contains(&other.form) {
                        continue;
                    }
                    match self.compare(name, other)? {
                        Some(NameSimilarity::Near) => drop(near.insert(other.form)),
                        Some(_) => open.push(other.form),
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// How two names that meet in a block are alike.
    fn compare(&mut self, one: NameKey, two: NameKey) -> heed::Result<Option<NameSimilarity>> {
        let (one, two) = (self.spelling(one)?, self.spelling(two)?);
        let (Some(one), Some(two)) = (one, two) else { return Ok(None) };
        Ok(match (one.as_ref(), two.as_ref()) {
            (Spelling::Name(one), Spelling::Name(two)) => one.like(two),
            _ => Some(NameSimilarity::Abbreviation),
        })
    }

    /// A name as a chunk has it.
    fn spelling(&mut self, name: NameKey) -> heed::Result<Option<Rc<Spelling>>> {
        if let Some(spelling) = self.spellings.get(&name) {
            return Ok(spelling.clone());
        }
        let spelling = self.read_spelling(name)?.map(Rc::new);
        self.spellings.insert(name, spelling.clone());
        Ok(spelling)
    }

    fn read_spelling(&mut self, name: NameKey) -> heed::Result<Option<Spelling>> {
        let record: Option<NameRecord> = self.reader.form_entry(FormKey::Name(name))?;
        let Some(NameRecord { witness, .. }) = record else { return Ok(None) };
        let names: Option<ChunkForms> = self.reader.form_entry(FormKey::Chunk(witness))?;
        let Some(names) = names else { return Ok(None) };
        let Some(at) = names.names.iter().position(|other| *other == name) else {
            return Ok(all_names(&names).any(|other| other == name).then_some(Spelling::Declared));
        };
        let extract = self.extract(witness)?;
        let mention = extract.as_ref().and_then(|read| read.extract.mentions.get(at));
        Ok(mention.map(|mention| Spelling::Name(Name::new(&mention.name))))
    }

    fn extract(&mut self, chunk: Row) -> heed::Result<Option<Rc<ExtractedChunk>>> {
        if let Some(read) = self.extracts.get(&chunk) {
            return Ok(read.clone());
        }
        let read = self.chunk_reading.read(self.reader, chunk)?.map(Rc::new);
        self.extracts.insert(chunk, read.clone());
        Ok(read)
    }

    /// Reads the chunks that are left. `None` where one has no graph yet in which what is not resolved
    /// could stay.
    fn finish(mut self, touched: BTreeSet<Id>) -> heed::Result<Option<Reach>> {
        let mut reads = vec![];
        for chunk in std::mem::take(&mut self.chunks) {
            let Some(read) = self.extract(chunk)? else { continue };
            let mut read = Rc::unwrap_or_clone(read);
            let names: Option<ChunkForms> = self.reader.form_entry(FormKey::Chunk(chunk))?;
            let names = names.map_or(vec![], |names| names.names);
            if names.len() != read.extract.mentions.len() {
                return Ok(None);
            }
            let resolved: Vec<bool> =
                names.iter().map(|name| self.forms.contains(&name.form)).collect();
            if resolved.contains(&false) {
                let key = UnitKey::of(Task::Graph, (Layer::Chunk, chunk));
                let made = self.reader.result_of::<ChunkGraph>(key)?.map(|(_, made)| made.entities);
                let Some(entities) = made.filter(|made| made.len() == resolved.len()) else {
                    return Ok(None);
                };
                read.outside = Some(OutsideMentions { resolved, entities });
            }
            reads.push(read);
        }
        let read = self.extracts.len();
        let (forms, crowded) = (self.forms, self.crowded);
        Ok(Some(Reach { touched, forms, reads: in_order(reads), crowded, read }))
    }
}
