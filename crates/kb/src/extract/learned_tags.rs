//! What sample questions teach: which words of a question stand for which tags of the corpus
//! (PIKE-RAG, Figure 7). Each pair is an edge, weighed by how many samples say so.
use std::collections::{BTreeMap, HashMap};

use halma_core::{Edge, Layer};

use super::tag_joins::{tag_id, tag_key};
use crate::store::{Id, LearnedTerms, Link, QUESTION_CLASS, Row, StoreWriter, TagRecord, Task};

/// Samples that have not been seen count for this much: one sample proves less than five.
const SMOOTHING: f32 = 0.5;

#[derive(Default)]
struct Term {
    name: String,
    samples: u16,
    tags: BTreeMap<Row, u16>,
}

/// Makes the terms that were learned and their edges to the tags of the corpus. `rows` are the tags
/// by their ids, those of joined spellings included.
pub(super) fn put_learned(
    writer: &mut StoreWriter<'_>,
    rows: &HashMap<Id, Row>,
) -> heed::Result<()> {
    let mut terms: BTreeMap<String, Term> = BTreeMap::new();
    for result in writer.results::<LearnedTerms>(Task::MapTags)? {
        for (name, tags) in result?.1.terms {
            let term = terms.entry(tag_key(&name)).or_default();
            term.samples = term.samples.saturating_add(1);
            if term.name.is_empty() || name < term.name {
                term.name = name;
            }
            for row in tags.iter().filter_map(|id| rows.get(id)) {
                let count = term.tags.entry(*row).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
    terms.retain(|_, term| !term.tags.is_empty());
    let tags: Vec<(Row, TagRecord)> = writer.nodes()?.collect::<heed::Result<_>>()?;
    for (row, tag) in tags {
        if tag.class == QUESTION_CLASS && !terms.contains_key(&tag_key(&tag.name)) {
            writer.remove_node::<TagRecord>(row)?;
        }
    }
    for (key, term) in terms {
        let id = tag_id(QUESTION_CLASS, &key);
        let class = QUESTION_CLASS.to_owned();
        let record = TagRecord { id, class, name: term.name, also: vec![] };
        let from = (Layer::Tag, writer.put_by_id(&record)?.0);
        for link in writer.edges_from(from, Some(Edge::MapsTo))? {
            if !term.tags.contains_key(&link.to.1) {
                writer.remove_edge(&link)?;
            }
        }
        for (row, count) in term.tags {
            let weight = f32::from(count) / (f32::from(term.samples) + SMOOTHING);
            writer.put_edge(Link { from, edge: Edge::MapsTo, to: (Layer::Tag, row), weight })?;
        }
    }
    Ok(())
}
