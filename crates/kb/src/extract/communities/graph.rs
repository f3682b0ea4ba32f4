//! The communities of the entity graph, level by level, and what is known of them.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::{Edge, Layer};

use super::louvain::{WeightedGraph, levels};
use super::{ENTITIES, LEVELS};
use crate::KbError;
use crate::store::{ChunkRecord, DocumentRecord, EntityRecord, Id, Row, Store, StoreReader, hash};

/// Facts that are shown of a community, at most.
const FACTS: usize = 60;
/// A chunk that names more entities is a list: that they stand together says nothing.
const CROWD: usize = 40;
/// What standing together in a chunk weighs against being related by a fact.
const TOGETHER: f64 = 0.25;
/// Mentions of an entity that are looked at for the documents that speak of it.
const MENTIONS: usize = 64;

/// A community to be.
pub(super) struct CommunityDraft {
    pub(super) id: Id,
    pub(super) level: u8,
    /// Rows of entities, the most central first.
    pub(super) members: Vec<Row>,
    /// The communities it is made of: places in the list of drafts.
    pub(super) parts: Vec<usize>,
    pub(super) documents: Vec<String>,
    pub(super) facts: Vec<String>,
}

/// What is known of the entity graph.
pub(super) struct CommunityGraph {
    pub(super) drafts: Vec<CommunityDraft>,
    pub(super) entities: HashMap<Row, EntityRecord>,
}

/// The communities of the graph as it is now; `None` when they are those that are stored.
pub(super) fn find(store: &Store) -> Result<Option<(Id, CommunityGraph)>, KbError> {
    store.read(|reader| {
        let mut entities: BTreeMap<Id, (Row, EntityRecord)> = BTreeMap::new();
        for node in reader.nodes::<EntityRecord>()? {
            let (row, entity) = node?;
            entities.insert(entity.id, (row, entity));
        }
        // Numbered in the order of ids, which is the same whatever came in first.
        let ids: Vec<Id> = entities.keys().copied().collect();
        let number: HashMap<Row, usize> =
            entities.values().enumerate().map(|(at, (row, _))| (*row, at)).collect();
        let edges = edges(reader, &number)?;
        let print = print(&ids, &entities, &edges);
        if reader.communities_made_of()? == Some(print) {
            return Ok(None);
        }
        let graph = WeightedGraph::new(
            ids.len(),
            edges.iter().map(|((one, two), weight)| (*one, *two, *weight)),
        );
        let rows: Vec<Row> = entities.values().map(|(row, _)| *row).collect();
        let drafts = drafts(&graph, &ids, &rows);
        let mut whole = CommunityGraph { drafts, entities: entities.into_values().collect() };
        tell(reader, &mut whole)?;
        Ok(Some((print, whole)))
    })
}

type Edges = BTreeMap<(usize, usize), f64>;

/// Facts, and entities that stand in one chunk.
fn edges(reader: &StoreReader<'_>, number: &HashMap<Row, usize>) -> heed::Result<Edges> {
    let mut edges: Edges = BTreeMap::new();
    let mut add = |one: Row, two: Row, weight: f64| {
        if let (Some(one), Some(two)) = (number.get(&one), number.get(&two))
            && one != two
        {
            *edges.entry((*one.min(two), *one.max(two))).or_default() += weight;
        }
    };
    for row in number.keys() {
        for link in reader.edges_from((Layer::Entity, *row), Some(Edge::Relates))? {
            add(*row, link.to.1, f64::from(link.weight));
        }
    }
    for chunk in reader.all_rows(Layer::Chunk)? {
        let named = reader.edges_from((Layer::Chunk, chunk), Some(Edge::Mentions))?;
        if !(2..=CROWD).contains(&named.len()) {
            continue;
        }
        // However many stand in a chunk, each gets the same from it.
        let share = TOGETHER / f64::from(u32::try_from(named.len() - 1).unwrap_or(u32::MAX));
        for (i, one) in named.iter().enumerate() {
            for two in &named[i + 1..] {
                add(one.to.1, two.to.1, share);
            }
        }
    }
    // Sums of fractions depend on their order in the last bits: what is stored must not.
    for weight in edges.values_mut() {
        *weight = (*weight * 1e6).round() / 1e6;
    }
    Ok(edges)
}

fn print(ids: &[Id], entities: &BTreeMap<Id, (Row, EntityRecord)>, edges: &Edges) -> Id {
    let mut hasher = blake3::Hasher::new();
    for (id, (_, entity)) in entities {
        hasher.update(&id.to_be_bytes());
        hasher.update(entity.description.as_bytes());
    }
    for ((one, two), weight) in edges {
        hasher.update(&ids[*one].to_be_bytes());
        hasher.update(&ids[*two].to_be_bytes());
        hasher.update(&weight.to_bits().to_be_bytes());
    }
    hash(&[hasher.finalize().as_bytes()])
}

/// The communities of all levels. One that is the same as its only part is left out.
fn drafts(graph: &WeightedGraph, ids: &[Id], rows: &[Row]) -> Vec<CommunityDraft> {
    let mut drafts: Vec<CommunityDraft> = vec![];
    // Of every entity the largest community so far: a place in `drafts`.
    let mut within: Vec<Option<usize>> = vec![None; ids.len()];
    for (level, numbers) in (0_u8..).zip(levels(graph, LEVELS)) {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, number) in numbers.iter().enumerate() {
            groups.entry(*number).or_default().push(at);
        }
        for group in groups.into_values().filter(|group| group.len() > 1) {
            let parts: BTreeSet<usize> = group.iter().filter_map(|at| within[*at]).collect();
            let grown = parts.iter().all(|part| drafts[*part].members.len() < group.len());
            if !grown {
                continue;
            }
            let mut bytes = vec![level];
            bytes.extend(group.iter().flat_map(|at| ids[*at].to_be_bytes()));
            let mut central = group.clone();
            let weight = |at: &usize| -> f64 {
                let near = graph.neighbours[*at].iter();
                let inside = near.filter(|(to, _)| numbers[*to] == numbers[*at]);
                inside.map(|(_, weight)| weight).sum()
            };
            let weights: HashMap<usize, f64> = group.iter().map(|at| (*at, weight(at))).collect();
            central.sort_by(|a, b| weights[b].total_cmp(&weights[a]).then(a.cmp(b)));
            for at in &group {
                within[*at] = Some(drafts.len());
            }
            drafts.push(CommunityDraft {
                id: hash(&[&bytes]),
                level,
                members: central.iter().map(|at| rows[*at]).collect(),
                parts: parts.into_iter().collect(),
                documents: vec![],
                facts: vec![],
            });
        }
    }
    drafts
}

/// Gives every community its facts, and the documents they are from.
fn tell(reader: &StoreReader<'_>, whole: &mut CommunityGraph) -> heed::Result<()> {
    let facts = reader.all_facts()?;
    let mut of: HashMap<Row, Vec<usize>> = HashMap::new();
    for (at, draft) in whole.drafts.iter().enumerate() {
        for member in &draft.members {
            of.entry(*member).or_default().push(at);
        }
    }
    for (_, fact) in &facts {
        let heads = of.get(&fact.head).map_or(&[][..], Vec::as_slice);
        let tails = of.get(&fact.tail).map_or(&[][..], Vec::as_slice);
        for at in heads.iter().filter(|at| tails.contains(at)) {
            let draft = &mut whole.drafts[*at];
            if draft.facts.len() < FACTS {
                let chunk: ChunkRecord = reader.linked(fact.chunk)?;
                let document: DocumentRecord = reader.linked(chunk.document)?;
                draft.facts.push(fact.text.clone());
                draft.documents.extend(document.names.into_iter().next());
            }
        }
    }
    // Descriptions are from whatever mentions an entity.
    for draft in &mut whole.drafts {
        for member in draft.members.iter().take(ENTITIES) {
            let entity = (Layer::Entity, *member);
            for from in reader.first_edges_to(entity, Edge::Mentions, MENTIONS)? {
                if let Some(chunk) = reader.node::<ChunkRecord>(from.1)? {
                    let document: DocumentRecord = reader.linked(chunk.document)?;
                    draft.documents.extend(document.names.into_iter().next());
                }
            }
        }
        draft.documents.sort();
        draft.documents.dedup();
    }
    Ok(())
}
