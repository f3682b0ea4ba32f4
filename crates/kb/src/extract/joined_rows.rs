//! What several passages state of one thing, in one row.
use std::collections::{BTreeMap, HashMap};

use halma_core::Layer;

use crate::settings::TableTarget;
use crate::stages::StatedRow;
use crate::store::{ChunkRecord, EntityRecord, Id, Row, StoreReader, Task, TextPlace, hash};
use crate::terms::form;

/// A row that is made of what one or several passages state.
pub(super) struct JoinedRow {
    pub(super) id: Id,
    /// The passages that it rests on, the first one first.
    pub(super) chunks: Vec<Row>,
    pub(super) place: TextPlace,
    /// Head, tail where the table has one, the columns, and the sentences.
    pub(super) cells: Vec<String>,
}

struct OpenRow {
    /// Tail and columns, by which rows agree or contradict each other.
    cells: Vec<String>,
    head: String,
    sentences: Vec<String>,
    chunks: Vec<Row>,
}

impl OpenRow {
    /// Whether another row states nothing else in any cell, and the same in at least one or nothing
    /// but new cells of the same thing.
    fn agrees(&self, cells: &[String]) -> bool {
        let pairs = self.cells.iter().zip(cells);
        pairs.clone().all(|(a, b)| {
            a.is_empty() || b.is_empty() || form(a) == form(b) || is_within(a, b) || is_within(b, a)
        })
    }

    fn add(&mut self, cells: Vec<String>, chunk: Row, sentence: String) {
        for (cell, other) in self.cells.iter_mut().zip(cells) {
            // A whole date says more than its year, and so does a full name.
            if other.chars().count() > cell.chars().count() {
                *cell = other;
            }
        }
        if !sentence.is_empty() && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
        if !self.chunks.contains(&chunk) {
            self.chunks.push(chunk);
        }
    }
}

/// Whether a day or month in ISO order lies in a month or year: `2017-09-14` in `2017`.
fn is_within(day: &str, period: &str) -> bool {
    let is_iso = |date: &str| {
        let mut parts = date.split('-');
        parts.next().is_some_and(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()))
            && parts.all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let rest = day.strip_prefix(period).and_then(|rest| rest.strip_prefix('-'));
    rest.is_some() && is_iso(day) && is_iso(period)
}

/// The rows of a target, of all passages that were asked for it. Rows of one thing are one as long
/// as they do not contradict each other; a thing is known by any name that only one entity has.
pub(super) fn joined_rows(
    reader: &StoreReader<'_>,
    target: &TableTarget,
    names: &HashMap<String, String>,
) -> heed::Result<Vec<JoinedRow>> {
    let id = target.id();
    let mut things: BTreeMap<String, Vec<OpenRow>> = BTreeMap::new();
    for result in reader.results::<Vec<StatedRow>>(Task::Rows)? {
        let (key, rows) = result?;
        let chunk = key.row();
        for row in rows.into_iter().filter(|row| row.target == id) {
            let head = names.get(&form(&row.head)).cloned().unwrap_or(row.head);
            let mut cells = vec![];
            if !target.tail.is_empty() {
                cells.push(names.get(&form(&row.tail)).cloned().unwrap_or(row.tail));
            }
            cells.extend(row.values);
            let open = things.entry(form(&head)).or_default();
            if let Some(existing) = open.iter_mut().find(|existing| existing.agrees(&cells)) {
                existing.add(cells, chunk, row.sentence);
            } else {
                let (sentences, chunks) = (vec![row.sentence], vec![chunk]);
                open.push(OpenRow { cells, head, sentences, chunks });
            }
        }
    }
    let mut rows = vec![];
    for OpenRow { cells, head, sentences, chunks } in things.into_values().flatten() {
        let Some(chunk) = reader.node::<ChunkRecord>(chunks[0])? else { continue };
        let mut all = vec![head];
        all.extend(cells);
        let parts: Vec<&[u8]> = all.iter().map(|cell| cell.as_bytes()).collect();
        let id = hash(&parts);
        all.push(sentences.join(" "));
        rows.push(JoinedRow { id, chunks, place: chunk.place, cells: all });
    }
    rows.sort_by(|a, b| (&a.cells, a.id).cmp(&(&b.cells, b.id)));
    Ok(rows)
}

/// The names and aliases of entities that only one entity has, each with the name it is shown by.
pub(super) fn entity_names(reader: &StoreReader<'_>) -> heed::Result<HashMap<String, String>> {
    let mut names: HashMap<String, Option<String>> = HashMap::new();
    if reader.count(Layer::Entity)? == 0 {
        return Ok(HashMap::new());
    }
    for node in reader.nodes::<EntityRecord>()? {
        let (_, entity) = node?;
        let all = std::iter::once(&entity.name).chain(&entity.aliases);
        let mut keys: Vec<String> = all.map(|name| form(name)).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let entry = names.entry(key).or_insert_with(|| Some(entity.name.clone()));
            if entry.as_ref() != Some(&entity.name) {
                *entry = None;
            }
        }
    }
    Ok(names.into_iter().filter_map(|(key, name)| Some((key, name?))).collect())
}
