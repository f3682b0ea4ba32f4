//! Communities of the entity graph, from small to large, each with a title and a summary. Their
//! ids come from their members, so that one that stays the same keeps both and costs nothing.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::store::Writer as RwTxn;
use halma_core::{Cx, Edge, Error, Layer, Prompt};
use minijinja::context;
use serde::{Deserialize, Serialize};

use super::circles::{Draft, Whole, find};
use super::passage::prompt_hash;
use super::units::{Distiller, Job, Ran, run};
use crate::error::run_blocking;
use crate::store::{CommunityRecord, Id, Link, Row, Store, Task, UnitKey, hash};
use crate::{Base, KbError, Stage};

const COMMUNITY: Prompt<Described> = Prompt::json("kb/community");

/// Levels of communities at most.
pub(super) const LEVELS: usize = 4;
/// Of one that large a summary is made by its largest parts.
pub(super) const ENTITIES: usize = 40;
const PARTS: usize = 20;
/// Entities in the title and facts in the summary where no model writes them.
const IN_TITLE: usize = 3;
const IN_SUMMARY: usize = 6;

/// The name under which the state of the communities is kept.
pub(super) const STATE: &str = "communities";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Described {
    title: String,
    summary: String,
}

/// Finds the communities if the graph is another than last time, and describes those that are new.
/// Returns how many there are.
pub(super) async fn make_all(distiller: &Arc<Distiller>) -> Result<(Ran, usize), KbError> {
    let base = Arc::clone(&distiller.base);
    let found = run_blocking("finding communities", move || find(&base.store)).await?;
    let Some((print, whole)) = found else {
        let base = &distiller.base;
        let count = base.store.read(|txn| base.store.count(txn, Layer::Community))?;
        return Ok((Ran::default(), usize::try_from(count).unwrap_or(usize::MAX)));
    };
    let whole = Arc::new(whole);
    let prompt = prompt_hash(&distiller.setup, COMMUNITY.name);
    let (mut ran, mut texts) = (Ran::default(), HashMap::new());
    for level in 0..LEVELS {
        let drafts = whole.drafts.iter().filter(|draft| usize::from(draft.level) == level);
        let drafts: Vec<&Draft> = drafts.collect();
        let asked = describe(distiller, &whole, (&drafts, &mut texts), prompt).await?;
        ran.add(asked);
    }
    let complete = ran.complete();
    let (base, keep) = (Arc::clone(&distiller.base), Arc::clone(&whole));
    run_blocking("storing communities", move || {
        base.store.write(|txn| {
            write(&base.store, txn, &keep, &texts)?;
            // With descriptions missing the next run looks again.
            base.store.set_distilled(txn, STATE, &complete.then_some(print))
        })
    })
    .await?;
    Ok((ran, whole.drafts.len()))
}

/// Asks for the titles and summaries of one level; where no model gives them they are put together
/// from names and facts.
async fn describe(
    distiller: &Arc<Distiller>,
    whole: &Arc<Whole>,
    (drafts, texts): (&[&Draft], &mut HashMap<Id, Described>),
    prompt: Id,
) -> Result<Ran, KbError> {
    let base = &distiller.base;
    let (mut jobs, mut inputs) = (vec![], vec![]);
    for draft in drafts {
        let variables = variables(whole, draft, texts);
        let rendered = variables.to_string();
        let input = hash(&[&prompt.to_be_bytes(), rendered.as_bytes()]);
        let key = UnitKey::with_id(Task::Community, Layer::Community, draft.id);
        if !base.store.read(|txn| base.store.is_done(txn, key, input))? {
            jobs.push(Job { key, input, of: (variables, draft.documents.clone()) });
        }
        inputs.push((key, input));
    }
    let ran = run(distiller, Stage::Communities, jobs, |cx, (variables, documents)| async move {
        Ok(Some(ask(&cx, variables, &documents).await?))
    })
    .await?;
    for (draft, (key, input)) in drafts.iter().zip(inputs) {
        let held = base.store.read(|txn| base.store.done::<Described>(txn, key, input))?;
        texts.insert(draft.id, held.unwrap_or_else(|| extracted(whole, draft)));
    }
    Ok(ran)
}

fn variables(whole: &Whole, draft: &Draft, texts: &HashMap<Id, Described>) -> minijinja::Value {
    let entity = |row: &Row| {
        whole.entities.get(row).map(|entity| {
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
            .get(&whole.drafts[*at].id)
            .map(|text| context! { title => &text.title, summary => &text.summary })
    };
    let parts: Vec<_> = draft.parts.iter().take(PARTS).filter_map(part).collect();
    context! { entities, facts => &draft.facts, parts }
}

async fn ask(
    cx: &Cx,
    variables: minijinja::Value,
    documents: &[String],
) -> Result<Described, Error> {
    for document in documents {
        cx.quote(document);
    }
    let check = |reply: &Described| {
        let empty = reply.title.trim().is_empty() || reply.summary.trim().is_empty();
        if empty { Err("`title` or `summary` is empty".to_owned()) } else { Ok(()) }
    };
    cx.ask_checked(&COMMUNITY, variables, check).await
}

/// Title and summary without a model, and labelled as such.
fn extracted(whole: &Whole, draft: &Draft) -> Described {
    let named = draft.members.iter().filter_map(|row| whole.entities.get(row));
    let title: Vec<&str> = named.clone().take(IN_TITLE).map(|e| e.name.as_str()).collect();
    let mut lines: Vec<&str> = draft.facts.iter().take(IN_SUMMARY).map(String::as_str).collect();
    if lines.is_empty() {
        let described = named.map(|entity| entity.description.as_str());
        lines = described.filter(|text| !text.is_empty()).take(IN_SUMMARY).collect();
    }
    let summary = format!("(Extracted, not written by a model.) {}", lines.join(" "));
    Described { title: title.join(", "), summary: summary.trim().to_owned() }
}

/// Puts in what is new, takes out what is gone.
fn write(
    store: &Store,
    txn: &mut RwTxn<'_>,
    whole: &Whole,
    texts: &HashMap<Id, Described>,
) -> heed::Result<()> {
    let mut rows = vec![];
    for draft in &whole.drafts {
        let Described { title, summary } = texts[&draft.id].clone();
        let record = CommunityRecord { id: draft.id, level: draft.level, title, summary };
        let held = store.find(txn, Layer::Community, draft.id)?;
        let row = match held {
            Some(row) => row,
            None => store.take_rows(txn, Layer::Community, 1)?,
        };
        if store.node::<CommunityRecord>(txn, row)?.as_ref() != Some(&record) {
            store.remove_vectors(txn, (Layer::Community, row))?;
            store.put_node(txn, row, &record)?;
        }
        if held.is_none() && draft.level == 0 {
            for member in &draft.members {
                let (from, to) = ((Layer::Entity, *member), (Layer::Community, row));
                store.put_edge(txn, Link { from, edge: Edge::MemberOf, to, weight: 1.0 })?;
            }
        }
        rows.push(row);
    }
    for (draft, row) in whole.drafts.iter().zip(&rows) {
        let mut within: BTreeSet<Row> = draft.members.iter().copied().collect();
        for part in &draft.parts {
            for member in &whole.drafts[*part].members {
                within.remove(member);
            }
            let (from, to) = ((Layer::Community, rows[*part]), (Layer::Community, *row));
            store.put_edge(txn, Link { from, edge: Edge::MemberOf, to, weight: 1.0 })?;
        }
        // Entities that no smaller one holds belong to this one.
        for member in within.into_iter().filter(|_| draft.level > 0) {
            let (from, to) = ((Layer::Entity, member), (Layer::Community, *row));
            store.put_edge(txn, Link { from, edge: Edge::MemberOf, to, weight: 1.0 })?;
        }
    }
    let kept: BTreeSet<Row> = rows.into_iter().collect();
    for row in store.rows(txn, Layer::Community, 0, usize::MAX)? {
        if !kept.contains(&row) {
            remove(store, txn, row)?;
        }
    }
    Ok(())
}

/// Takes out a community with what was asked about it.
pub(super) fn remove(store: &Store, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<()> {
    if let Some(community) = store.node::<CommunityRecord>(txn, row)? {
        store.remove_vectors(txn, (Layer::Community, row))?;
        let key = UnitKey::with_id(Task::Community, Layer::Community, community.id);
        store.forget_unit(txn, key)?;
        store.remove_node::<CommunityRecord>(txn, row)?;
    }
    Ok(())
}

/// Takes out every community that holds one of these entities: what is said of it may be gone.
pub(super) fn forget(
    store: &Store,
    txn: &mut RwTxn<'_>,
    entities: &BTreeSet<Row>,
) -> heed::Result<()> {
    let mut open: Vec<(Layer, Row)> = entities.iter().map(|row| (Layer::Entity, *row)).collect();
    let mut found = BTreeSet::new();
    while let Some(node) = open.pop() {
        for link in store.edges_from(txn, node, Some(Edge::MemberOf))? {
            if found.insert(link.to.1) {
                open.push(link.to);
            }
        }
    }
    for row in found {
        remove(store, txn, row)?;
    }
    mark_stale(store, txn)
}

/// Notes that the entities are others than those the communities were made of.
pub(super) fn mark_stale(store: &Store, txn: &mut RwTxn<'_>) -> heed::Result<()> {
    match store.distilled::<Option<Id>>(txn, STATE)? {
        Some(Some(_)) => store.set_distilled(txn, STATE, &None::<Id>),
        _ => Ok(()),
    }
}

impl Base {
    /// Whether the communities are not those of the entities that the base holds now; the next
    /// build makes them anew where they are wanted.
    pub fn communities_are_stale(&self) -> Result<bool, KbError> {
        self.store.read(|txn| {
            let state = self.store.distilled::<Option<Id>>(txn, STATE)?;
            Ok(matches!(state, Some(None)))
        })
    }
}
