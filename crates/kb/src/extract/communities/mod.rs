//! Communities of the entity graph, from small to large, each with a title and a summary. Their
//! ids come from their members, so that one that stays the same keeps both and costs nothing.
mod graph;
mod louvain;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Edge, Layer};
use minijinja::context;

use self::graph::{CommunityDraft, CommunityGraph, find};
use crate::error::run_blocking;
use crate::stages::{
    BuildContext, Communities, CommunityRequest, CommunityText, Corpus, Driver, Stage as _,
    StageReport, remember_units,
};
use crate::store::{CommunityRecord, Id, Link, Row, StoreWriter};
use crate::{Base, KbError};

/// Levels of communities at most.
const LEVELS: usize = 4;
/// Of one that large a summary is made by its largest parts.
const ENTITIES: usize = 40;
const PARTS: usize = 20;
/// Entities in the title and facts in the summary where no model writes them.
const IN_TITLE: usize = 3;
const IN_SUMMARY: usize = 6;

/// Finds the communities if the graph is another than last time, and describes those that are new.
/// Returns how many there are. `fresh` is the number of chunks that the build has added.
pub(super) async fn update_all(
    context: &Arc<BuildContext>,
    fresh: usize,
) -> Result<(StageReport, usize), KbError> {
    let base = Arc::clone(&context.base);
    let changed = run_blocking("finding communities", move || find(&base.store)).await?;
    let Some((print, graph)) = changed else {
        let store = context.store();
        let count = store.read(|reader| reader.count(Layer::Community))?;
        return Ok((StageReport::default(), usize::try_from(count).unwrap_or(usize::MAX)));
    };
    let driver = Driver::new(Communities::new(context));
    let (mut report, mut texts) = (StageReport::default(), Texts::new());
    for level in 0..LEVELS {
        report.add(describe(&driver, &graph, level, &mut texts).await?);
    }
    let (context, complete, units) = (Arc::clone(context), report.is_complete(), report.done);
    let count = graph.drafts.len();
    run_blocking("storing communities", move || {
        let store = context.store();
        store.write(|writer| {
            if complete {
                let chunks = writer.count(Layer::Chunk)?;
                let corpus = Corpus { chunks, fresh: fresh as u64, ..Corpus::default() };
                remember_units(driver.stage(), writer, &corpus, units)?;
            }
            write(writer, &graph, &texts)?;
            // With descriptions missing the next run looks again.
            writer.set_communities_made_of(complete.then_some(print))
        })
    })
    .await?;
    Ok((report, count))
}

/// What is written about communities, by their ids.
type Texts = HashMap<Id, CommunityText>;

/// Asks for the titles and summaries of one level; where no model gives them they are put together
/// from names and facts.
async fn describe(
    driver: &Driver<Communities>,
    graph: &CommunityGraph,
    level: usize,
    texts: &mut Texts,
) -> Result<StageReport, KbError> {
    let store = driver.stage().context().store();
    let drafts = graph.drafts.iter().filter(|draft| usize::from(draft.level) == level);
    let (mut units, mut inputs) = (vec![], vec![]);
    for draft in drafts {
        let variables = variables(graph, draft, texts);
        let request = CommunityRequest { variables, documents: draft.documents.clone() };
        let unit = driver.stage().unit(draft.id, request);
        inputs.push((draft, unit.key, unit.input));
        if !store.read(|reader| unit.is_done(reader))? {
            units.push(unit);
        }
    }
    let report = driver.run_all(units).await?;
    for (draft, key, input) in inputs {
        let stored = store.read(|reader| reader.done::<CommunityText>(key, input))?;
        texts.insert(draft.id, stored.unwrap_or_else(|| extracted(graph, draft)));
    }
    Ok(report)
}

fn variables(graph: &CommunityGraph, draft: &CommunityDraft, texts: &Texts) -> minijinja::Value {
    let entity = |row: &Row| {
        graph.entities.get(row).map(|entity| {
            context! {
                name => &entity.name,
                type => &entity.kind,
                description => &entity.description,
            }
        })
    };
    let entities: Vec<_> = draft.members.iter().take(ENTITIES).filter_map(entity).collect();
    let part = |at: &usize| {
        texts
            .get(&graph.drafts[*at].id)
            .map(|text| context! { title => &text.title, summary => &text.summary })
    };
    let parts: Vec<_> = draft.parts.iter().take(PARTS).filter_map(part).collect();
    context! { entities, facts => &draft.facts, parts }
}

/// Title and summary without a model, and labelled as such.
fn extracted(graph: &CommunityGraph, draft: &CommunityDraft) -> CommunityText {
    let named = draft.members.iter().filter_map(|row| graph.entities.get(row));
    let title: Vec<&str> = named.clone().take(IN_TITLE).map(|e| e.name.as_str()).collect();
    let mut lines: Vec<&str> = draft.facts.iter().take(IN_SUMMARY).map(String::as_str).collect();
    if lines.is_empty() {
        let described = named.map(|entity| entity.description.as_str());
        lines = described.filter(|text| !text.is_empty()).take(IN_SUMMARY).collect();
    }
    let summary = format!("(Extracted, not written by a model.) {}", lines.join(" "));
    CommunityText { title: title.join(", "), summary: summary.trim().to_owned() }
}

/// Puts in what is new, takes out what is gone.
fn write(writer: &mut StoreWriter<'_>, graph: &CommunityGraph, texts: &Texts) -> heed::Result<()> {
    let mut rows = vec![];
    for draft in &graph.drafts {
        let CommunityText { title, summary } = texts[&draft.id].clone();
        let record = CommunityRecord { id: draft.id, level: draft.level, title, summary };
        let existing = writer.find(Layer::Community, draft.id)?;
        let (row, _) = writer.put_by_id(&record)?;
        if existing.is_none() && draft.level == 0 {
            for member in &draft.members {
                let (from, to) = ((Layer::Entity, *member), (Layer::Community, row));
                writer.put_edge(Link::new(from, Edge::MemberOf, to))?;
            }
        }
        rows.push(row);
    }
    for (draft, row) in graph.drafts.iter().zip(&rows) {
        let mut within: BTreeSet<Row> = draft.members.iter().copied().collect();
        for part in &draft.parts {
            for member in &graph.drafts[*part].members {
                within.remove(member);
            }
            let (from, to) = ((Layer::Community, rows[*part]), (Layer::Community, *row));
            writer.put_edge(Link::new(from, Edge::MemberOf, to))?;
        }
        // Entities that no smaller one holds belong to this one.
        for member in within.into_iter().filter(|_| draft.level > 0) {
            let (from, to) = ((Layer::Entity, member), (Layer::Community, *row));
            writer.put_edge(Link::new(from, Edge::MemberOf, to))?;
        }
    }
    let kept: BTreeSet<Row> = rows.into_iter().collect();
    for row in writer.all_rows(Layer::Community)? {
        if !kept.contains(&row) {
            writer.remove_node::<CommunityRecord>(row)?;
        }
    }
    Ok(())
}

impl Base {
    /// Whether the communities are not those of the entities that the base holds now, or not all of
    /// them are described; the next build makes them again where they are wanted.
    pub(crate) fn communities_are_stale(&self) -> Result<bool, KbError> {
        self.store
            .read(|reader| Ok(reader.communities_exist()? && !reader.communities_are_current()?))
    }
}
