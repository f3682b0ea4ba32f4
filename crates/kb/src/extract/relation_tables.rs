//! Tables of a named relation, made of facts: who founded what, with the sentence that says so.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{ColumnKind, Edge, EmbedRole, Layer};

use super::joined_rows::{JoinedRow, entity_names, joined_rows};
use super::table_target::{TableTarget, relations, targets};
use crate::embedding::embed_texts;
use crate::error::run_blocking;
use crate::lexical::query_terms;
use crate::search::least_cosine;
use crate::search::matrix::cosine;
use crate::stages::BuildContext;
use crate::store::{
    ChunkRecord, Column, EntityRecord, FactRecord, Id, Link, Row, RowRecord, Rows, StoreReader,
    StoreWriter, TableRecord, TextPlace, hash,
};
use crate::tables::ColumnReading;
use crate::{Entities, KbError};

/// Relations whose vectors are so near are the same, with all-MiniLM-L6-v2.
const NEAR: f32 = 0.8;

/// The name under which the relations that have a table are kept.
const RELATIONS: &str = "relations";

/// Which side of a relation the doer stands on: the founder, the author, the capital.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doer {
    Head,
    Tail,
}

/// A relation by its words, so that `founder of`, `founded` and `was founded by` are one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Relation {
    stems: BTreeSet<String>,
    doer: Doer,
}

impl Relation {
    fn new(words: &str) -> Self {
        let lower = words.to_lowercase();
        let said: Vec<&str> = lower.split_whitespace().collect();
        let carries = |word: &&&str| !EMPTY.contains(*word);
        let kept: Vec<&str> = said.iter().filter(carries).copied().collect();
        let stems = query_terms(&kept.join(" ")).iter().map(|stem| root(stem)).collect();
        let last = said.last().copied().unwrap_or("");
        let noun = kept.last().is_some_and(|word| !is_verb(word));
        let doer = if last == "by"
            || (noun && last != "of" && !said.iter().any(|w| PLACING.contains(w)))
        {
            Doer::Tail
        } else {
            Doer::Head
        };
        Self { stems, doer }
    }
}

/// Words of a relation that say nothing about which it is.
const EMPTY: &[&str] = &[
    "is", "was", "are", "were", "be", "been", "has", "have", "had", "by", "of", "the", "a", "an",
    "its", "their",
];

/// After these a relation reads from the thing to its place.
const PLACING: &[&str] = &["in", "at", "on", "to", "from", "for", "with", "into"];

fn is_verb(word: &str) -> bool {
    word.ends_with("ed")
        || word.ends_with("es")
        || (word.ends_with('s') && !word.ends_with("ss"))
        || ["wrote", "made", "won", "led", "born", "sold", "built", "held", "ran", "sang"]
            .contains(&word)
}

/// What `founder`, `founded` and `founding` have in common, beyond their stem.
fn root(stem: &str) -> String {
    let written = [("wrote", "writ"), ("written", "writ"), ("won", "win"), ("led", "lead")];
    if let Some((_, root)) = written.iter().find(|(word, _)| *word == stem) {
        return (*root).to_owned();
    }
    for ending in ["er", "or", "ion", "e"] {
        if let Some(root) = stem.strip_suffix(ending).filter(|root| root.chars().count() > 3) {
            return root.to_owned();
        }
    }
    stem.to_owned()
}

/// A table of one relation.
struct RelationTable {
    relation: String,
    columns: Vec<Column>,
    rows: Vec<Line>,
}

struct Line {
    /// Of what it was made of.
    id: Id,
    /// Those that it rests on.
    chunks: Vec<Row>,
    place: TextPlace,
    cells: Vec<String>,
}

impl RelationTable {
    fn table_record(&self, id: Id, rows: Rows) -> TableRecord {
        TableRecord {
            id,
            document: None,
            section: None,
            place: TextPlace::default(),
            caption: Some(self.relation.clone()),
            columns: self.columns.clone(),
            rows,
            page: None,
            merged: vec![],
            relation: Some(self.relation.clone()),
        }
    }

    fn row_records(&self, id: Id, table: Row) -> Vec<RowRecord> {
        let record = |(number, line): (u32, &Line)| RowRecord {
            id: hash(&[&id.to_be_bytes(), &line.id.to_be_bytes()]),
            table,
            chunk: line.chunks[0],
            also: line.chunks[1..].to_vec(),
            number,
            place: line.place,
            cells: line.cells.clone(),
        };
        (1..).zip(&self.rows).map(record).collect()
    }
}

/// Makes or renews the tables that the settings name, and removes those they name no more.
/// Returns how many rows there are.
pub(super) async fn update_all(context: &Arc<BuildContext>) -> Result<usize, KbError> {
    let wanted = relations(&context.settings.tables_of);
    let targets = targets(&context.settings.tables_of);
    if !wanted.is_empty() && context.settings.entities != Entities::Model {
        tracing::warn!(
            "tables of relations ({}) are made of facts, which a model extracts with `entities = \
             \"model\"`: without, they stay as they are",
            wanted.join(", ")
        );
    }
    let base = &context.base;
    if wanted.is_empty() && targets.is_empty() && base.store.read(made_of)?.is_empty() {
        return Ok(0);
    }
    let near = nearness(context, &wanted).await?;
    let base = Arc::clone(&context.base);
    run_blocking("making tables", move || {
        let store = &base.store;
        let tables = store.read(|reader| {
            let facts = if wanted.is_empty() { vec![] } else { reader.all_facts()? };
            let mut tables = vec![];
            for relation in &wanted {
                tables.push(collect(reader, relation, &facts, &near)?);
            }
            let names = if targets.is_empty() { HashMap::new() } else { entity_names(reader)? };
            for target in &targets {
                tables.push(targeted(target, joined_rows(reader, target, &names)?));
            }
            Ok(tables)
        })?;
        store.write(|writer| write(writer, &tables))?;
        Ok(tables.iter().map(|table| table.rows.len()).sum())
    })
    .await
}

/// How near the relations of a base are to those that are wanted.
#[derive(Default)]
struct Nearness {
    /// Cosines of wanted relations and those of the base.
    cosines: HashMap<(String, String), f32>,
    /// From which on two relations are the same.
    least: f32,
}

/// How near every relation of the base is to those that are wanted, where there is an embedder.
async fn nearness(context: &BuildContext, wanted: &[String]) -> Result<Nearness, KbError> {
    let mut near = Nearness::default();
    let Some(embedder) = context.embedder.as_ref().filter(|_| !wanted.is_empty()) else {
        return Ok(near);
    };
    let (facts, chance) = context.store().read(|reader| {
        let chance = match reader.embedder(embedder.model())? {
            Some((number, _)) => reader.chance(number)?,
            None => 0.0,
        };
        Ok((reader.all_facts()?, chance))
    })?;
    near.least = least_cosine(NEAR, NEAR, chance);
    let said: BTreeSet<String> = facts.into_iter().map(|(_, fact)| fact.relation).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let asked: Vec<&str> = wanted.iter().map(String::as_str).collect();
    // Without vectors relations are matched by their words alone.
    let embedder = embedder.as_ref();
    let Ok(ours) = embed_texts(embedder, &asked, EmbedRole::Query).await else { return Ok(near) };
    let theirs = embed_texts(embedder, &said, EmbedRole::Passage).await;
    for (relation, vector) in said.iter().zip(theirs.unwrap_or_default()) {
        for (name, own) in asked.iter().zip(&ours) {
            near.cosines.insert(((*name).to_owned(), (*relation).to_owned()), cosine(own, &vector));
        }
    }
    Ok(near)
}

fn collect(
    reader: &StoreReader<'_>,
    name: &str,
    facts: &[(Row, FactRecord)],
    near: &Nearness,
) -> heed::Result<RelationTable> {
    let wanted = Relation::new(name);
    let mut rows = vec![];
    let (mut heads, mut tails): (BTreeMap<String, usize>, BTreeMap<String, usize>) =
        Default::default();
    for (_, fact) in facts {
        let said = Relation::new(&fact.relation);
        let cosine = near.cosines.get(&(name.to_owned(), fact.relation.clone()));
        let same = !wanted.stems.is_empty() && said.stems == wanted.stems;
        if !same && cosine.is_none_or(|cosine| *cosine < near.least) {
            continue;
        }
        let (first, second) =
            if said.doer == wanted.doer { (fact.head, fact.tail) } else { (fact.tail, fact.head) };
        let head: EntityRecord = reader.linked(first)?;
        let tail: EntityRecord = reader.linked(second)?;
        let chunk: ChunkRecord = reader.linked(fact.chunk)?;
        *heads.entry(head.kind).or_default() += 1;
        *tails.entry(tail.kind).or_default() += 1;
        let cells = vec![head.name, tail.name, fact.text.clone()];
        rows.push(Line { id: fact.id, chunks: vec![fact.chunk], place: chunk.place, cells });
    }
    rows.sort_by(|a, b| (&a.cells, a.id).cmp(&(&b.cells, b.id)));
    let first = most(&heads).unwrap_or_else(|| "subject".to_owned());
    let second = most(&tails).map_or_else(|| name.to_owned(), |kind| format!("{name} ({kind})"));
    // Years, dates and amounts compare as such where all cells are.
    let read = |(at, name): (usize, String)| {
        let cells = rows.iter().map(|row: &Line| row.cells[at].as_str());
        Column { name, kind: ColumnReading::of(&cells).kind }
    };
    let mut columns: Vec<Column> = [first, second].into_iter().enumerate().map(read).collect();
    columns.push(column("evidence".to_owned()));
    Ok(RelationTable { relation: name.to_owned(), columns, rows })
}

/// A table that was asked for. Its columns are of the types that it names as far as all values fit.
fn targeted(target: &TableTarget, rows: Vec<JoinedRow>) -> RelationTable {
    let mut columns = vec![column(target.head.clone())];
    if !target.tail.is_empty() {
        let same = target.tail == target.head;
        let name = if same { target.relation.clone() } else { target.tail.clone() };
        columns.push(column(name));
    }
    for asked in &target.columns {
        let at = columns.len();
        let values = rows.iter().map(|row| row.cells[at].as_str()).filter(|cell| !cell.is_empty());
        let mut kinds = values.map(|value| ColumnReading::of(&std::iter::once(value)).kind);
        let kind = asked.kind;
        let fits = |held: ColumnKind| {
            held == kind || kind == ColumnKind::Number && held == ColumnKind::Integer
        };
        // A date of which only the year is known compares as text does.
        let kind = if kinds.all(fits) { kind } else { ColumnKind::Text };
        columns.push(Column { name: asked.name.clone(), kind });
    }
    columns.push(column("evidence".to_owned()));
    let line = |JoinedRow { id, chunks, place, cells }| Line { id, chunks, place, cells };
    let rows = rows.into_iter().map(line).collect();
    RelationTable { relation: target.relation.clone(), columns, rows }
}

fn column(name: String) -> Column {
    Column { name, kind: ColumnKind::Text }
}

/// The most frequent word, if there is one.
fn most(counts: &BTreeMap<String, usize>) -> Option<String> {
    let best = counts.iter().max_by_key(|(word, count)| (**count, std::cmp::Reverse(*word)));
    best.map(|(word, _)| word.clone()).filter(|word| !word.is_empty())
}

fn write(writer: &mut StoreWriter<'_>, tables: &[RelationTable]) -> heed::Result<()> {
    let mut kept = vec![];
    for made in tables.iter().filter(|made| !made.rows.is_empty()) {
        put(writer, made)?;
        kept.push(made.relation.clone());
    }
    for relation in made_of(writer)?.iter().filter(|name| !kept.contains(name)) {
        if let Some(row) = writer.find(Layer::Table, table_id(relation))? {
            let table: TableRecord = writer.linked(row)?;
            remove_rows(writer, &table)?;
            writer.remove_node::<TableRecord>(row)?;
        }
    }
    writer.set_meta(RELATIONS, &kept)
}

/// The relations that have a table.
fn made_of(reader: &StoreReader<'_>) -> heed::Result<Vec<String>> {
    Ok(reader.meta(RELATIONS)?.unwrap_or_default())
}

fn table_id(relation: &str) -> Id {
    hash(&[b"relation", relation.as_bytes()])
}

/// Puts in a table unless it is there as it should be.
fn put(writer: &mut StoreWriter<'_>, made: &RelationTable) -> heed::Result<()> {
    let id = table_id(&made.relation);
    let held = writer.find(Layer::Table, id)?;
    let table = match held {
        Some(row) => row,
        None => writer.take_rows(Layer::Table, 1)?,
    };
    let rows = made.row_records(id, table);
    if let Some(known) = writer.node::<TableRecord>(table)? {
        let mut held = vec![];
        for row in known.rows.0..known.rows.1 {
            held.extend(writer.node::<RowRecord>(row)?);
        }
        if held == rows && known == made.table_record(id, known.rows) {
            return Ok(());
        }
        remove_rows(writer, &known)?;
    }
    let first = writer.take_rows(Layer::Row, rows.len())?;
    let mut row = first;
    for line in &rows {
        writer.put_node(row, line)?;
        for chunk in line.also.iter().chain(Some(&line.chunk)).filter(|_| !line.also.is_empty()) {
            let (from, to) = ((Layer::Row, row), (Layer::Chunk, *chunk));
            writer.put_edge(Link::new(from, Edge::DerivedFrom, to))?;
        }
        row += 1;
    }
    writer.put_node(table, &made.table_record(id, (first, row)))
}

fn remove_rows(writer: &mut StoreWriter<'_>, table: &TableRecord) -> heed::Result<()> {
    for row in table.rows.0..table.rows.1 {
        writer.remove_node::<RowRecord>(row)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_one_whatever_their_voice() {
        let wanted = Relation::new("founder of");
        for (words, doer) in [
            ("founded", Doer::Head),
            ("is the founder of", Doer::Head),
            ("was founded by", Doer::Tail),
            ("founder", Doer::Tail),
            ("has founder", Doer::Tail),
        ] {
            let said = Relation::new(words);
            assert_eq!((&said.stems, said.doer), (&wanted.stems, doer), "{words}");
        }
        assert_ne!(Relation::new("funded").stems, wanted.stems);
        assert_eq!(Relation::new("wrote").stems, Relation::new("written by").stems);
        assert_eq!(Relation::new("directed").stems, Relation::new("director").stems);
        assert_eq!(Relation::new("located in").doer, Doer::Head);
    }
}
