//! `halma kg find`, `relate` and `filter`: the operators one by one.
use console::style;
use halma_core::{Entity, Fact};
use halma_engine::Engine;

use super::opened;
use crate::args::{Common, KgFilter, KgFind, KgRelate};
use crate::view::{self, shorten, table::table};

/// Entities of one name that are looked at for `relate` and `filter`.
const SAME_NAME: usize = 10;

pub(super) async fn find(args: &KgFind, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let descriptor = args.descriptor.as_deref();
    let found = engine.find_in_kg(&args.name, descriptor, args.top as usize).await?;
    if args.json {
        return view::say_json(&found);
    }
    if found.is_empty() {
        return view::say(&nothing(&args.name));
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
    view::say(&table(&found.iter().map(row).collect::<Vec<_>>()))
}

pub(super) async fn relate(args: &KgRelate, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let entities = best(&engine, &args.name, args.descriptor.as_deref()).await?;
    let others = match &args.to {
        Some(other) => best(&engine, other, None).await?,
        None => vec![],
    };
    let mut facts = vec![];
    for entity in &entities {
        if let Some(relation) = &args.relation {
            facts.extend(engine.relate_in_kg(entity, relation).await?);
        }
        for other in &others {
            facts.extend(engine.between_in_kg(entity, other).await?);
        }
    }
    if args.json {
        return view::say_json(&facts);
    }
    if entities.is_empty() {
        return view::say(&nothing(&args.name));
    }
    if let (Some(to), true) = (&args.to, others.is_empty()) {
        return view::say(&nothing(to));
    }
    tell(&facts, "The graph says nothing of that.")
}

pub(super) async fn filter(args: &KgFilter, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let mut entities = vec![];
    for name in &args.names {
        entities.extend(best(&engine, name, None).await?);
    }
    let kept = engine.filter_in_kg(&entities, &args.condition).await?;
    if args.json {
        return view::say_json(&serde_json::json!({ "decided": kept.is_some(), "facts": kept }));
    }
    match kept {
        Some(facts) => tell(&facts, "None of them."),
        None => view::say("That is no comparison which the graph can decide."),
    }
}

/// Those that fit a name best: several where the graph has several alike.
async fn best(
    engine: &Engine,
    name: &str,
    descriptor: Option<&str>,
) -> anyhow::Result<Vec<Entity>> {
    let mut found = engine.find_in_kg(name, descriptor, SAME_NAME).await?;
    let top = found.first().map_or(0.0, |entity| entity.score);
    found.retain(|entity| entity.score >= top);
    Ok(found)
}

fn tell(facts: &[Fact], nothing: &str) -> anyhow::Result<()> {
    if facts.is_empty() {
        return view::say(nothing);
    }
    let row = |fact: &Fact| {
        vec![
            style(&fact.head.label).bold().to_string(),
            style(&fact.relation).cyan().to_string(),
            fact.tail.shown(),
            style(&fact.evidence.document).dim().to_string(),
        ]
    };
    view::say(&table(&facts.iter().map(row).collect::<Vec<_>>()))
}

fn nothing(name: &str) -> String {
    format!("The graph has nothing that is called {name:?}.")
}
