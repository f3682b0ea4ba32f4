//! For tests: a base with something in every layer, and marks in every text of one document.
use std::path::Path;
use std::sync::Arc;

use halma_core::{ColumnKind, Edge, Layer};
use halma_parse::Parsed;

use crate::store::{
    At, AtomDraft, ChunkDraft, Column, CommunityRecord, DocumentDraft, DocumentRecord,
    EntityRecord, FactRecord, FigureRecord, Link, Outline, Row, RowRecord, SectionDraft, Store,
    StoreWriter, SummaryRecord, TableRecord, TagRecord, TextPlace, atoms_input, hash,
};
use crate::{Atoms, Base, BaseOptions};

/// Entities of the sample: the first document names the first two, the second the last two.
pub(crate) const ENTITIES: [&str; 3] = ["Alone", "Shared", "Other"];

/// A base of two documents, `one` and `two`; every text of the first holds `mark` and a number.
pub(crate) fn create(dir: &Path, mark: &str) -> Arc<Base> {
    let base = Base::create_or_open(dir, BaseOptions::default()).unwrap();
    let mut marks = Marks::new(mark);
    let one = add_document(&base.store, "one", &mut marks);
    let two = add_document(&base.store, "two", &mut Marks::new("other"));
    share(&base.store, &mut marks, one, two);
    drop(base);
    // The lexical index is brought up to date.
    Base::open(dir, BaseOptions::default()).unwrap()
}

/// Texts that all differ.
pub(crate) struct Marks {
    mark: String,
    count: usize,
}

impl Marks {
    pub(crate) fn new(mark: &str) -> Self {
        Self { mark: mark.to_owned(), count: 0 }
    }

    pub(crate) fn next(&mut self) -> String {
        self.count += 1;
        format!("{}{:04}", self.mark, self.count)
    }
}

fn place(text: &str, range: std::ops::Range<usize>) -> TextPlace {
    let chars = |end: usize| text[..end].chars().count();
    TextPlace { bytes: (range.start, range.end), chars: (chars(range.start), chars(range.end)) }
}

/// A document with two chunks, an atom of each, a table, a figure, a summary and vectors.
pub(crate) fn add_document(store: &Store, name: &str, marks: &mut Marks) -> Row {
    let text = format!("é {} first.\n{} second.\n", marks.next(), marks.next());
    let middle = text.find('\n').unwrap() + 1;
    let chunk = |range| {
        let place = place(&text, range);
        ChunkDraft { tile: place, place, text: None, summary: None, forward: None }
    };
    let mut chunks = vec![chunk(0..middle), chunk(middle..text.len())];
    chunks[1].summary = Some(marks.next());
    let whole = place(&text, 0..text.len());
    let heading = Some(marks.next());
    let section = SectionDraft { name: heading, indexed: true, level: 1, place: whole, chunks };
    let outline = Outline { sections: vec![section], ..Outline::default() };
    let title = marks.next();
    let id = hash(&[title.as_bytes(), text.as_bytes()]);
    let file = format!("{name} {}", marks.next());
    let parsed =
        Parsed { format: "text", url: Some(file.clone()), text: text.clone(), ..Parsed::default() };
    let draft = DocumentDraft {
        id,
        name,
        source: &file,
        title: &title,
        origin: "",
        parsed: &parsed,
        outline: &outline,
        cut_with: 0,
    };
    store
        .write(|writer| {
            writer.put_document(&draft)?;
            let row = writer.find(Layer::Document, id)?.unwrap();
            let mut record: DocumentRecord = writer.linked(row)?;
            writer.add_name(row, &format!("{name} again"), "", false)?;
            record.names.push(format!("{name} again"));
            let (first, last) = (record.chunks.0, record.chunks.1 - 1);
            let chars = text.chars().count();
            for (chunk, span) in [(first, (0, 3)), (last, (chars - 2, chars))] {
                let atom = AtomDraft { text: marks.next(), span };
                writer.put_atoms(chunk, atoms_input(Atoms::Sentences), &[atom])?;
            }
            let table = writer.take_rows(Layer::Table, 1)?;
            let section = record.sections.0;
            let rows = writer.take_rows(Layer::Row, 2)?;
            let column = Column { name: marks.next(), kind: ColumnKind::Text };
            let record_of_table = TableRecord {
                id: hash(&[b"table", title.as_bytes()]),
                document: Some(row),
                section: Some(section),
                place: whole,
                caption: Some(marks.next()),
                columns: vec![column],
                rows: (rows, rows + 2),
                page: None,
                merged: vec![],
                relation: None,
            };
            writer.put_node(table, &record_of_table)?;
            for number in 0..2 {
                let cells = vec![marks.next()];
                let id = hash(&[cells[0].as_bytes()]);
                let number = number + 1;
                let record = RowRecord {
                    id,
                    table,
                    chunk: first,
                    also: vec![],
                    number,
                    place: whole,
                    cells,
                };
                writer.put_node(rows + number - 1, &record)?;
            }
            let figure = writer.take_rows(Layer::Figure, 1)?;
            let record_of_figure = FigureRecord {
                id: hash(&[b"figure", title.as_bytes()]),
                document: row,
                section,
                place: whole,
                caption: Some(marks.next()),
                description: Some(marks.next()),
                page: None,
            };
            writer.put_node(figure, &record_of_figure)?;
            let summary = writer.take_rows(Layer::Summary, 1)?;
            let text = marks.next();
            let record_of_summary =
                SummaryRecord { id: hash(&[text.as_bytes()]), document: row, text };
            writer.put_node(summary, &record_of_summary)?;
            edge(writer, (Layer::Summary, summary), Edge::DerivedFrom, (Layer::Document, row))?;
            record.tables = (table, table + 1);
            record.figures = (figure, figure + 1);
            record.links = vec![((0, 1), marks.next())];
            record.warnings = vec![marks.next()];
            writer.put_node(row, &record)?;
            let number = writer.register_embedder("numbers", 3)?;
            writer.put_vector(number, (Layer::Chunk, first), &[0.6, 0.8, 0.0])?;
            writer.embedding_failed(&[(Layer::Chunk, last)], &marks.next())?;
            Ok(row)
        })
        .unwrap()
}

fn edge(writer: &mut StoreWriter<'_>, from: At, edge: Edge, to: At) -> heed::Result<()> {
    writer.put_edge(Link { from, edge, to, weight: 1.0 })
}

/// What two documents say together: entities, facts, tags, a table of facts, communities.
fn share(store: &Store, marks: &mut Marks, one: Row, two: Row) {
    store
        .write(|writer| {
            let first: DocumentRecord = writer.linked(one)?;
            let second: DocumentRecord = writer.linked(two)?;
            let (mine, theirs) = ((Layer::Chunk, first.chunks.0), (Layer::Chunk, second.chunks.0));
            let entities = writer.take_rows(Layer::Entity, ENTITIES.len())?;
            for (row, name) in (entities..).zip(ENTITIES) {
                // What only the first document names may hold its words.
                let of_one = name == ENTITIES[0];
                let words = |marks: &mut Marks| if of_one { marks.next() } else { name.into() };
                let record = EntityRecord {
                    id: hash(&[name.as_bytes()]),
                    key: words(marks),
                    name: words(marks),
                    kind: "thing".into(),
                    description: words(marks),
                    aliases: vec![words(marks)],
                };
                writer.put_node(row, &record)?;
            }
            let entity = |at: u32| (Layer::Entity, entities + at);
            edge(writer, mine, Edge::Mentions, entity(0))?;
            edge(writer, mine, Edge::Mentions, entity(1))?;
            edge(writer, theirs, Edge::Mentions, entity(1))?;
            edge(writer, theirs, Edge::Mentions, entity(2))?;
            // Two facts say the same of the same, one in each document; a third only in the first.
            let facts = writer.take_rows(Layer::Fact, 3)?;
            for (at, (chunk, tail)) in
                [(mine.1, 2), (theirs.1, 2), (mine.1, 0)].into_iter().enumerate()
            {
                let text = if chunk == mine.1 { marks.next() } else { "other".into() };
                let record = FactRecord {
                    id: hash(&[text.as_bytes(), &[u8::try_from(at).unwrap()]]),
                    chunk,
                    head: entities + 1,
                    relation: text.clone(),
                    tail: entities + tail,
                    text,
                };
                writer.put_node(facts + u32::try_from(at).unwrap(), &record)?;
            }
            for (tail, weight) in [(2, 2.0), (0, 1.0)] {
                let (from, to) = (entity(1), entity(tail));
                writer.put_edge(Link { from, edge: Edge::Relates, to, weight })?;
            }
            let tags = writer.take_rows(Layer::Tag, 2)?;
            for (row, of_one) in [(tags, true), (tags + 1, false)] {
                let name = if of_one { marks.next() } else { "other".into() };
                let id = hash(&[name.as_bytes()]);
                writer.put_node(row, &TagRecord { id, class: name.clone(), name, also: vec![] })?;
                edge(writer, mine, Edge::Tagged, (Layer::Tag, row))?;
            }
            edge(writer, theirs, Edge::Tagged, (Layer::Tag, tags + 1))?;
            // The first community describes what the first document says, the last does not.
            let communities = writer.take_rows(Layer::Community, 3)?;
            for at in 0..3 {
                let title = if at < 2 { marks.next() } else { "other".into() };
                let summary = if at < 2 { marks.next() } else { "other".into() };
                let id = hash(&[title.as_bytes()]);
                let level = u8::from(at == 1);
                let record = CommunityRecord { id, level, title, summary };
                writer.put_node(communities + at, &record)?;
            }
            let community = |at: u32| (Layer::Community, communities + at);
            edge(writer, entity(1), Edge::MemberOf, community(0))?;
            edge(writer, community(0), Edge::MemberOf, community(1))?;
            edge(writer, entity(2), Edge::MemberOf, community(2))?;
            for (table, chunks) in [(0, vec![mine.1]), (1, vec![mine.1, theirs.1])] {
                made(writer, marks, (table, mine.1), &chunks)?;
            }
            edge(writer, (Layer::Document, two), Edge::RefersTo, (Layer::Document, one))
        })
        .unwrap();
}

/// A table made from facts, with a row of each chunk.
fn made(
    writer: &mut StoreWriter<'_>,
    marks: &mut Marks,
    (number, mine): (u8, Row),
    chunks: &[Row],
) -> heed::Result<()> {
    let table = writer.take_rows(Layer::Table, 1)?;
    let count = u32::try_from(chunks.len()).unwrap();
    let rows = writer.take_rows(Layer::Row, chunks.len())?;
    let record = TableRecord {
        id: hash(&[b"made", &[number]]),
        document: None,
        section: None,
        place: TextPlace::default(),
        caption: None,
        columns: vec![Column { name: "who".into(), kind: ColumnKind::Text }],
        rows: (rows, rows + count),
        page: None,
        merged: vec![],
        relation: Some(format!("relation {number}")),
    };
    writer.put_node(table, &record)?;
    for (row, chunk) in (rows..).zip(chunks) {
        let cells = vec![if *chunk == mine { marks.next() } else { "other".into() }];
        let id = hash(&[b"row", cells[0].as_bytes(), &[number]]);
        let place = TextPlace::default();
        let record = RowRecord {
            id,
            table,
            chunk: *chunk,
            also: vec![],
            number: row - rows + 1,
            place,
            cells,
        };
        writer.put_node(row, &record)?;
    }
    Ok(())
}

/// How often bytes are in the files below a folder. Indexes delete files of theirs meanwhile: one that
/// is gone holds none.
pub(crate) fn count_bytes(dir: &Path, wanted: &[u8]) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        count += if path.is_dir() {
            count_bytes(&path, wanted)
        } else {
            match std::fs::read(&path) {
                Ok(bytes) => bytes.windows(wanted.len()).filter(|part| *part == wanted).count(),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => 0,
                Err(e) => panic!("{}: {e}", path.display()),
            }
        };
    }
    count
}
