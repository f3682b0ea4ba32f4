//! A base whose chunks say what a test wants, and all that it holds of entities.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{Edge, Layer};
use halma_parse::Parsed;

use crate::extract::graph::Written;
use crate::extract::name_index::{Names, check};
use crate::extract::resolution::{Resolution, Unanswered, totals};
use crate::extract::resolve::Undone;
use crate::store::{
    ChunkDraft, ChunkRecord, DocumentDraft, DocumentRecord, EntityMention, EntityRecord,
    Extraction, FactRecord, FormKey, Id, Outline, PairVerdict, Row, SectionDraft, StatedFact,
    StoreReader, StoreWriter, StoredMerge, Task, TextPlace, UNDONE, UnitKey, hash,
};
use crate::{Base, BaseOptions};

/// The mentions of each chunk of a document.
pub(super) type Content = Vec<Vec<EntityMention>>;

pub(super) struct Library {
    _dir: Option<tempfile::TempDir>,
    pub(super) base: Arc<Base>,
    /// What each document says, with its id.
    pub(super) documents: BTreeMap<String, (Id, Content)>,
}

pub(super) fn mention(name: &str, kind: &str, description: &str) -> EntityMention {
    let (name, kind, description) = (name.into(), kind.into(), description.into());
    EntityMention { name, kind, description, aliases: vec![], times: 1 }
}

fn extraction(mentions: &[EntityMention]) -> Extraction {
    let fact = StatedFact { head: 0, relation: "knows".into(), tail: 1, text: "So it is.".into() };
    let facts = if mentions.len() > 1 { vec![fact] } else { vec![] };
    let mut extract = Extraction { mentions: mentions.to_vec(), facts, ..Extraction::default() };
    extract.left_out.invented = u32::try_from(mentions.len()).unwrap();
    extract
}

impl Library {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
        Self { _dir: Some(dir), base, documents: BTreeMap::new() }
    }

    /// One in a base that is open already.
    pub(super) fn of(base: Arc<Base>) -> Self {
        Self { _dir: None, base, documents: BTreeMap::new() }
    }

    /// Puts in a document, or replaces the one of that name.
    pub(super) fn put(&mut self, name: &str, content: Content) {
        let id = hash(&[name.as_bytes(), format!("{content:?}").as_bytes()]);
        self.put_with_id(name, id, content);
    }

    fn put_with_id(&mut self, name: &str, id: Id, content: Content) {
        self.remove(name);
        self.base.store.write(|writer| put_document(writer, (name, id), &content)).unwrap();
        self.documents.insert(name.into(), (id, content));
    }

    /// Puts in many documents that are not there yet, and that are not kept for comparisons.
    pub(super) fn fill(&self, documents: &[(String, Content)]) {
        for batch in documents.chunks(500) {
            let put = self.base.store.write(|writer| {
                for (name, content) in batch {
                    put_document(writer, (name, hash(&[name.as_bytes()])), content)?;
                }
                Ok(())
            });
            put.unwrap();
        }
    }

    /// Extracts otherwise from the first chunk of a document.
    pub(super) fn extract_again(&mut self, name: &str, mentions: Vec<EntityMention>) {
        let Some((_, content)) = self.documents.get_mut(name) else { return };
        let put = self.base.store.write(|writer| {
            let row = writer.named(name)?.unwrap();
            let chunk = writer.linked::<DocumentRecord>(row)?.chunks.0;
            let key = UnitKey::of(Task::Facts, (Layer::Chunk, chunk));
            writer.put_done(key, 2, &extraction(&mentions))
        });
        put.unwrap();
        content[0] = mentions;
    }

    pub(super) fn remove(&mut self, name: &str) {
        if self.documents.remove(name).is_none() {
            return;
        }
        let remove = self.base.store.write(|writer| {
            let row = writer.named(name)?.unwrap();
            writer.remove_document(row)
        });
        remove.unwrap();
    }

    /// Resolves what has changed, and writes it.
    pub(super) fn settle(&self) -> Option<Resolution> {
        let resolution = Resolution::load(&self.base).unwrap()?;
        resolution.write(&self.base, Unanswered::AskAgain).unwrap();
        Some(resolution)
    }

    /// Another base of the same documents, put in in another order, with what the model and the user
    /// have said.
    pub(super) fn made_again(&self) -> (Self, Option<Resolution>) {
        let mut other = Self::new();
        let store = &self.base.store;
        let (verdicts, undone) = store
            .read(|reader| {
                let verdicts = reader.results::<PairVerdict>(Task::SameEntity)?;
                let undone = reader.meta::<Vec<Undone>>(UNDONE)?;
                Ok((verdicts.collect::<heed::Result<Vec<_>>>()?, undone))
            })
            .unwrap();
        for (name, (id, content)) in self.documents.iter().rev() {
            other.put_with_id(name, *id, content.clone());
        }
        let say = other.base.store.write(|writer| {
            for (key, verdict) in &verdicts {
                writer.put_done(*key, 1, verdict)?;
            }
            undone.map_or(Ok(()), |undone| writer.set_meta(UNDONE, &undone))
        });
        say.unwrap();
        let resolution = other.settle();
        (other, resolution)
    }

    /// What is kept of names and is not as it was extracted.
    pub(super) fn differences(&self) -> (Names, Vec<String>) {
        let mut differences = vec![];
        let read = |reader: &StoreReader<'_>| check(reader, &mut |_, what| differences.push(what));
        let names = self.base.store.read(read).unwrap();
        (names, differences)
    }

    /// [`Library::differences`] of a base that is settled, as if no question were to be asked again.
    pub(super) fn settled_differences(&self) -> (Names, Vec<String>) {
        let store = &self.base.store;
        let like = FormKey::Touched(0);
        let open = store.read(|reader| reader.form_keys(like)?.collect::<heed::Result<Vec<_>>>());
        store.write(|writer| writer.delete_form_entries(like)).unwrap();
        let differences = self.differences();
        let open = open.unwrap();
        let put = |writer: &mut StoreWriter<'_>| {
            open.iter().try_for_each(|key| writer.put_form_entry(*key, &()))
        };
        store.write(put).unwrap();
        differences
    }

    /// Everything that the base holds of entities, without rows.
    pub(super) fn picture(&self) -> Vec<String> {
        let lines = self.base.store.read(|reader| {
            let mut lines = vec![];
            for node in reader.nodes::<EntityRecord>()? {
                lines.push(format!("{:?}", node?.1));
            }
            lines.extend(edges(reader)?);
            for node in reader.nodes::<FactRecord>()? {
                let FactRecord { chunk, head, relation, tail, text, .. } = node?.1;
                let (chunk, head) = (place(reader, chunk)?, key(reader, head)?);
                let tail = key(reader, tail)?;
                lines.push(format!("fact {chunk} {head} {relation} {tail} {text}"));
            }
            for (id, StoredMerge { record, entity }) in reader.all_merges::<StoredMerge>()? {
                lines.push(format!("merge {id:x} {record:?} {entity:x}"));
            }
            let Written { entities, facts, merges, left_out, .. } = totals(reader)?;
            lines.push(format!("{entities} entities {facts} facts {merges} merges {left_out:?}"));
            Ok(lines)
        });
        let mut lines = lines.unwrap();
        lines.sort();
        lines
    }
}

fn put_document(
    writer: &mut StoreWriter<'_>,
    (name, id): (&str, Id),
    content: &Content,
) -> heed::Result<()> {
    let lines: Vec<String> =
        (0..content.len()).map(|number| format!("Part {number} of {name}.\n")).collect();
    let (mut chunks, mut at) = (vec![], 0);
    for line in &lines {
        let place = TextPlace { bytes: (at, at + line.len()), chars: (at, at + line.len()) };
        chunks.push(ChunkDraft { tile: place, place, text: None, summary: None, forward: None });
        at += line.len();
    }
    let place = TextPlace { bytes: (0, at), chars: (0, at) };
    let section = SectionDraft { name: None, indexed: false, level: 0, place, chunks };
    let outline = Outline { sections: vec![section], ..Outline::default() };
    let parsed = Parsed { format: "text", text: lines.concat(), ..Parsed::default() };
    let draft = DocumentDraft {
        id,
        name,
        source: name,
        title: name,
        origin: "",
        parsed: &parsed,
        outline: &outline,
        cut_with: 0,
    };
    writer.put_document(&draft)?;
    let row = writer.find(Layer::Document, id)?.unwrap();
    let record: DocumentRecord = writer.linked(row)?;
    for (chunk, mentions) in (record.chunks.0..).zip(content) {
        let key = UnitKey::of(Task::Facts, (Layer::Chunk, chunk));
        writer.put_done(key, 1, &extraction(mentions))?;
    }
    Ok(())
}

fn edges(reader: &StoreReader<'_>) -> heed::Result<Vec<String>> {
    let (mut all, mut lines) = (vec![], vec![]);
    reader.each_edge(|link| all.push(link))?;
    for link in all {
        let (weight, from) = (link.weight, link.from.1);
        match link.edge {
            Edge::Mentions => {
                let (chunk, entity) = (place(reader, from)?, key(reader, link.to.1)?);
                lines.push(format!("{chunk} mentions {entity} {weight}"));
            }
            Edge::Relates => {
                let (head, tail) = (key(reader, from)?, key(reader, link.to.1)?);
                lines.push(format!("{head} relates {tail} {weight}"));
            }
            _ => {}
        }
    }
    Ok(lines)
}

fn key(reader: &StoreReader<'_>, entity: Row) -> heed::Result<String> {
    Ok(reader.linked::<EntityRecord>(entity)?.key)
}

/// Which chunk of which document.
fn place(reader: &StoreReader<'_>, chunk: Row) -> heed::Result<String> {
    let record: ChunkRecord = reader.linked(chunk)?;
    let document: DocumentRecord = reader.linked(record.document)?;
    Ok(format!("{} {}", document.names[0], chunk - document.chunks.0))
}

/// A question by what it is about.
pub(super) fn questions(resolution: Option<&Resolution>) -> Vec<(Id, Id)> {
    let questions = resolution.iter().flat_map(|resolution| &resolution.resolved.questions);
    questions.map(|question| question.prints).collect()
}
