//! What the knowledge graph says to an operator, and whether that decides it without a model.
use futures::future::try_join_all;
use halma_core::text::words;
use halma_core::{Entity, Fact, FactsCx, Hit, Layer, NodeId, Result, Span, Tail};

use super::answers::Thing;
use super::operators::Operation;
use super::settings::Atomr;

/// The most entities of one name that are looked at.
const NAMESAKES: usize = 10;

/// What the graph found.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphResult {
    pub(super) facts: Vec<Fact>,
    /// What was found, as a reader sees it.
    pub(super) lines: Vec<String>,
    /// What was found, as it is cited.
    pub(super) evidence: Vec<Hit>,
    /// Every entity that was found.
    pub(super) entities: Vec<Entity>,
    /// Where the graph decides the operator.
    pub(super) answers: Option<Vec<String>>,
}

/// Asks the graph.
pub(super) async fn ask(
    operation: &Operation,
    limits: &Atomr,
    graph: &FactsCx<'_>,
) -> Result<GraphResult> {
    match operation {
        Operation::Search { names, descriptor } => {
            let searches = names.iter().map(|name| search(name, descriptor.as_deref(), graph));
            Ok(searched(&try_join_all(searches).await?.concat(), graph.name()))
        }
        Operation::Relate { heads, relation, tails } => relate(heads, relation, tails, graph).await,
        Operation::Filter { entities, condition } => {
            filter(entities, condition, limits, graph).await
        }
    }
}

/// The entities of a name that fit equally well, and better than all others.
async fn search(name: &str, descriptor: Option<&str>, graph: &FactsCx<'_>) -> Result<Vec<Entity>> {
    let mut entities = graph.find(name, descriptor, NAMESAKES).await?;
    let best = entities.iter().map(|entity| entity.score).fold(0.0, f32::max);
    entities.retain(|entity| entity.score >= best);
    Ok(entities)
}

fn searched(entities: &[Entity], graph: &str) -> GraphResult {
    let answers = distinct(entities.iter().map(|entity| entity.label.clone()));
    GraphResult {
        facts: vec![],
        lines: entities.iter().map(described).collect(),
        evidence: entities.iter().map(|entity| evidence(entity, graph)).collect(),
        entities: entities.to_vec(),
        answers: Some(answers).filter(|answers| !answers.is_empty()),
    }
}

/// Equations 1 to 3. Facts that begin with the entity count before those that end in it: with the
/// relation "child", an entity's children and not its parents.
async fn relate(
    heads: &[Thing],
    relation: &str,
    tails: &[Thing],
    graph: &FactsCx<'_>,
) -> Result<GraphResult> {
    let of_heads = try_join_all(heads.iter().map(|head| entities(head, graph))).await?;
    if relation.is_empty() {
        let tails = try_join_all(tails.iter().map(|tail| entities(tail, graph))).await?.concat();
        return between(&of_heads.concat(), &tails, graph).await;
    }
    let facts = try_join_all(of_heads.iter().map(|one| related(one, relation, graph))).await?;
    if facts.iter().all(Vec::is_empty) && tails.is_empty() {
        // What is written as a relation may be the other entity.
        let named = search(relation, None, graph).await?;
        let named: Vec<Entity> =
            named.into_iter().filter(|entity| words(&entity.label) == words(relation)).collect();
        return between(&of_heads.concat(), &named, graph).await;
    }
    let ends: Vec<(Fact, Tail)> = facts.concat();
    let answers = distinct(ends.iter().map(|(_, end)| end.shown()));
    let mut of_answers = entities_of(ends.iter().map(|(_, end)| end));
    of_answers.extend(of_heads.concat());
    // Whether a third thing is what was found is for the reader to say.
    let decided = tails.is_empty() && !answers.is_empty();
    let facts = ends.into_iter().map(|(fact, _)| fact).collect();
    Ok(GraphResult { answers: decided.then_some(answers), ..from_facts(facts, of_answers) })
}

/// The facts of a relation, best first with what they lead to, for the entities of one name. Of
/// namesakes those count that the relation fits best.
async fn related(
    entities: &[Entity],
    relation: &str,
    graph: &FactsCx<'_>,
) -> Result<Vec<(Fact, Tail)>> {
    let facts = try_join_all(entities.iter().map(|entity| graph.relate(entity, relation))).await?;
    let mut ends = vec![];
    for (entity, facts) in entities.iter().zip(facts) {
        let forward = |fact: &Fact| fact.head.id == entity.id;
        let any = facts.iter().any(forward);
        for fact in facts.into_iter().filter(|fact| forward(fact) == any) {
            let end = if any { fact.tail.clone() } else { Tail::Entity(fact.head.clone()) };
            ends.push((fact, end));
        }
    }
    let best = ends.iter().map(|(fact, _)| fact.score).fold(0.0, f32::max);
    ends.retain(|(fact, _)| fact.score >= best);
    Ok(ends)
}

/// What relates two things: the answers are relations.
async fn between(heads: &[Entity], tails: &[Entity], graph: &FactsCx<'_>) -> Result<GraphResult> {
    let pairs = heads.iter().flat_map(|head| tails.iter().map(move |tail| (head, tail)));
    let facts = pairs.map(|(head, tail)| graph.between(head, tail));
    let facts = try_join_all(facts).await?.concat();
    let answers = distinct(facts.iter().map(|fact| fact.relation.clone()));
    let answers = Some(answers).filter(|answers| !answers.is_empty());
    let entities = [heads, tails].concat();
    Ok(GraphResult { answers, ..from_facts(facts, entities) })
}

/// A comparison is decided for all entities at once; for another condition the reader is given
/// what the graph knows of each.
async fn filter(
    things: &[Thing],
    condition: &str,
    limits: &Atomr,
    graph: &FactsCx<'_>,
) -> Result<GraphResult> {
    // Names are looked up one by one, entities of earlier answers are known.
    let open = things.iter().filter(|thing| thing.entities.is_empty()).take(limits.entities);
    let mut looked = try_join_all(open.map(|thing| entities(thing, graph))).await?.into_iter();
    let entities = things.iter().map(|thing| match thing.entities.as_slice() {
        [] => looked.next().unwrap_or_default(),
        entities => entities.to_vec(),
    });
    let entities: Vec<Entity> = entities.flatten().collect();
    if entities.is_empty() {
        return Ok(GraphResult::default());
    }
    if let Some(facts) = graph.filter(&entities, condition).await? {
        let answers = distinct(facts.iter().map(|fact| fact.head.label.clone()));
        let kept = facts.iter().map(|fact| fact.head.clone()).collect();
        let answers = Some(answers).filter(|answers| !answers.is_empty());
        return Ok(GraphResult { answers, ..from_facts(facts, kept) });
    }
    let first = entities.iter().take(limits.entities);
    let facts = try_join_all(first.map(|entity| graph.relate(entity, condition))).await?;
    Ok(from_facts(facts.concat(), entities))
}

/// The entities that a thing is.
async fn entities(thing: &Thing, graph: &FactsCx<'_>) -> Result<Vec<Entity>> {
    if thing.entities.is_empty() {
        return search(&thing.name, None, graph).await;
    }
    Ok(thing.entities.clone())
}

fn from_facts(facts: Vec<Fact>, entities: Vec<Entity>) -> GraphResult {
    GraphResult {
        lines: facts.iter().map(Fact::line).collect(),
        evidence: facts.iter().map(|fact| fact.evidence.clone()).collect(),
        facts,
        entities,
        answers: None,
    }
}

fn entities_of<'a>(ends: impl Iterator<Item = &'a Tail>) -> Vec<Entity> {
    let entity = |end: &Tail| match end {
        Tail::Entity(entity) => Some(entity.clone()),
        Tail::Value(_) => None,
    };
    ends.filter_map(entity).collect()
}

/// An entity as a reader sees it.
fn described(entity: &Entity) -> String {
    let Entity { label, description, types, .. } = entity;
    let kinds = types.join(", ");
    let details = [description.as_str(), kinds.as_str()];
    let details: Vec<&str> = details.into_iter().filter(|detail| !detail.is_empty()).collect();
    if details.is_empty() { label.clone() } else { format!("{label}: {}", details.join("; ")) }
}

/// An entity as it is cited: the graph stands for the document.
fn evidence(entity: &Entity, graph: &str) -> Hit {
    let text = described(entity);
    Hit {
        id: NodeId(entity.id.0.clone()),
        layer: Layer::Entity,
        parent: None,
        document: graph.to_owned(),
        title: entity.label.clone(),
        section: None,
        page: None,
        score: entity.score,
        cosine: None,
        parts: vec![],
        span: Span { start: 0, end: text.chars().count() },
        text,
    }
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
