//! `halma kg find`, `relate` and `filter`: queries over the knowledge graph.
use console::style;
use halma_core::{BoxError, Entity, Error, Fact, Facts};
use halma_engine::{Engine, EngineError};

use crate::args::{Common, KbDir, KgFilter, KgFind, KgRelate};
use crate::commands::setup::{load_config, open_chosen};
use crate::view::{self, shorten, table};

/// The most entities of one name that `relate` and `filter` consider.
const MAX_SAME_NAME: usize = 10;

fn open(kb: &KbDir, common: &Common) -> anyhow::Result<Engine> {
    open_chosen(load_config(common, vec![])?.config.without_unset_model_keys(), kb)
}

pub(super) async fn find(args: &KgFind, common: &Common) -> anyhow::Result<()> {
    let engine = open(&args.kb, common)?;
    let descriptor = args.descriptor.as_deref();
    let graph = engine.knowledge_graph()?;
    let entities = graph.find(&args.name, descriptor, args.top as usize).await.map_err(failed)?;
    if args.json {
        return view::print_json(&entities);
    }
    if entities.is_empty() {
        return view::print(&no_entity(&args.name));
    }
    let row = |entity: &Entity| {
        vec![
            format!("{:.2}", entity.score),
            style(&entity.label).bold().to_string(),
            entity.types.join(", "),
            shorten(&entity.description, 60),
            style(&entity.id).dim().to_string(),
        ]
    };
    view::print(&table(&entities.iter().map(row).collect::<Vec<_>>()))
}

pub(super) async fn relate(args: &KgRelate, common: &Common) -> anyhow::Result<()> {
    let engine = open(&args.kb, common)?;
    let graph = engine.knowledge_graph()?;
    let entities = best(graph, &args.name, args.descriptor.as_deref()).await?;
    let others = match &args.to {
        Some(other) => best(graph, other, None).await?,
        None => vec![],
    };
    let mut facts = vec![];
    for entity in &entities {
        if let Some(relation) = &args.relation {
            facts.extend(graph.relate(&entity.id, relation).await.map_err(failed)?);
        }
        for other in &others {
            facts.extend(graph.between(&entity.id, &other.id).await.map_err(failed)?);
        }
    }
    if args.json {
        return view::print_json(&facts);
    }
    if entities.is_empty() {
        return view::print(&no_entity(&args.name));
    }
    if let (Some(to), true) = (&args.to, others.is_empty()) {
        return view::print(&no_entity(to));
    }
    print_facts(&facts, "The graph has no such fact.")
}

pub(super) async fn filter(args: &KgFilter, common: &Common) -> anyhow::Result<()> {
    let engine = open(&args.kb, common)?;
    let graph = engine.knowledge_graph()?;
    let mut ids = vec![];
    for name in &args.names {
        let entities = best(graph, name, None).await?;
        if entities.is_empty() {
            view::warn(&no_entity(name));
        }
        ids.extend(entities.into_iter().map(|entity| entity.id));
    }
    if ids.is_empty() && !args.json {
        return view::print("No entity meets the condition.");
    }
    let facts = graph.filter(&ids, &args.condition).await.map_err(failed)?;
    if args.json {
        return view::print_json(
            &serde_json::json!({ "decided": facts.is_some(), "facts": facts }),
        );
    }
    match facts {
        Some(facts) => print_facts(&facts, "No entity meets the condition."),
        None => view::print("The graph cannot evaluate this condition."),
    }
}

/// The entities that match a name best: several if the graph has several of equal score.
async fn best(
    graph: &dyn Facts,
    name: &str,
    descriptor: Option<&str>,
) -> anyhow::Result<Vec<Entity>> {
    let mut entities = graph.find(name, descriptor, MAX_SAME_NAME).await.map_err(failed)?;
    let top = entities.first().map_or(0.0, |entity| entity.score);
    entities.retain(|entity| entity.score >= top);
    Ok(entities)
}

fn print_facts(facts: &[Fact], if_empty: &str) -> anyhow::Result<()> {
    if facts.is_empty() {
        return view::print(if_empty);
    }
    let row = |fact: &Fact| {
        vec![
            style(&fact.head.label).bold().to_string(),
            style(&fact.relation).cyan().to_string(),
            fact.tail.shown(),
            style(&fact.evidence.document).dim().to_string(),
        ]
    };
    view::print(&table(&facts.iter().map(row).collect::<Vec<_>>()))
}

fn no_entity(name: &str) -> String {
    format!("The graph has no entity named {name:?}.")
}

fn failed(source: BoxError) -> EngineError {
    EngineError::Run(Error::Source { name: "kg".into(), source })
}
