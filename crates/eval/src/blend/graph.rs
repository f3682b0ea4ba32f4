//! The graph's half: facts whose relation and one end leave only one other end, as the graph
//! itself answers when it is asked again.
use std::collections::BTreeMap;

use halma_core::text::dates::spell_day;
use halma_core::text::normalise_name;
use halma_core::{Cx, Entity, Fact, FactsCx, Result, Tail, ValueKind};

use super::half::{Ask, Clue, Side};
use super::kind::Dropped;
use super::record::{Direction, Place, Triple};
use super::relation::{for_head, for_tail, head_of, tail_of};

/// At most this many facts of an entity are read, and clues and questions made of them.
const FACTS: usize = 200;
const EACH: usize = 4;

/// The clues to an entity and the questions about it, and how many facts were left out.
pub(super) async fn side(cx: &Cx, entity: &Entity) -> Result<(Side, BTreeMap<Dropped, u64>)> {
    let (mut side, mut dropped) = (Side::default(), BTreeMap::new());
    let Some(graph) = cx.facts() else { return Ok((side, dropped)) };
    let mut left_out = || *dropped.entry(Dropped::NotTheOnlyFact).or_default() += 1;
    for fact in graph.facts_of(entity, FACTS).await? {
        if side.asks.len() >= EACH && side.clues.len() >= EACH {
            break;
        }
        let heads = fact.head.id == entity.id;
        if heads && side.asks.len() < EACH {
            match question_of_fact(&graph, entity, &fact).await? {
                Some(ask) => side.asks.push(ask),
                None => left_out(),
            }
        }
        if side.clues.len() < EACH {
            let clue = match (&fact.tail, heads) {
                (Tail::Entity(tail), true) => by_tail(&graph, entity, &fact, tail).await?,
                (Tail::Entity(_), false) => by_head(&graph, entity, &fact).await?,
                (Tail::Value(_), _) => None,
            };
            match clue {
                Some(clue) => side.clues.push(clue),
                None => left_out(),
            }
        }
    }
    Ok((side, dropped))
}

/// The question for a fact's tail; only where the graph has no other one.
async fn question_of_fact(
    graph: &FactsCx<'_>,
    entity: &Entity,
    fact: &Fact,
) -> Result<Option<Ask>> {
    let facts = graph.relate(entity, &fact.relation).await?;
    let same = facts.iter().filter(|other| other.relation == fact.relation);
    let tails: Vec<String> =
        same.filter(|other| other.head.id == entity.id).map(|other| other.tail.shown()).collect();
    let shown = fact.tail.shown();
    if tails != [shown.clone()] {
        return Ok(None);
    }
    let date = matches!(&fact.tail, Tail::Value(value) if value.kind == ValueKind::Date);
    Ok(Some(Ask {
        question: for_tail(&fact.relation, &entity.label, date),
        answers: spellings(&fact.tail),
        place: place(&entity.label, &fact.relation, &shown, Direction::Forward),
    }))
}

/// The head told by its tail; only where no other fact of this relation ends in that tail.
async fn by_tail(
    graph: &FactsCx<'_>,
    entity: &Entity,
    fact: &Fact,
    tail: &Entity,
) -> Result<Option<Clue>> {
    let facts = graph.relate(tail, &fact.relation).await?;
    let same = facts.iter().filter(|other| other.relation == fact.relation);
    let ends_here = |other: &&Fact| matches!(&other.tail, Tail::Entity(end) if end.id == tail.id);
    let heads: Vec<&Fact> = same.filter(ends_here).collect();
    if heads.is_empty() || heads.iter().any(|other| other.head.id != entity.id) {
        return Ok(None);
    }
    let kind = kind(entity);
    Ok(Some(Clue {
        question: for_head(&fact.relation, &tail.label, kind),
        phrase: head_of(&fact.relation, &tail.label, kind),
        place: place(&tail.label, &fact.relation, &entity.label, Direction::Backward),
        others: vec![tail.label.clone()],
    }))
}

/// The tail told by its head; only where that head has no other tail.
async fn by_head(graph: &FactsCx<'_>, entity: &Entity, fact: &Fact) -> Result<Option<Clue>> {
    let head = &fact.head;
    let facts = graph.relate(head, &fact.relation).await?;
    let same = facts.iter().filter(|other| other.relation == fact.relation);
    let own: Vec<&Fact> = same.filter(|other| other.head.id == head.id).collect();
    let here = |other: &&Fact| matches!(&other.tail, Tail::Entity(end) if end.id == entity.id);
    if own.is_empty() || !own.iter().all(here) {
        return Ok(None);
    }
    Ok(Some(Clue {
        question: for_tail(&fact.relation, &head.label, false),
        phrase: tail_of(&fact.relation, &head.label, kind(entity)),
        place: place(&head.label, &fact.relation, &entity.label, Direction::Forward),
        others: vec![head.label.clone()],
    }))
}

fn kind(entity: &Entity) -> &str {
    entity.types.first().map_or("one", String::as_str)
}

fn place(head: &str, relation: &str, tail: &str, direction: Direction) -> Place {
    let triple = Triple(head.to_owned(), relation.to_owned(), tail.to_owned(), direction);
    Place::Kg { triples: vec![triple] }
}

/// A tail as a reader may write it: a number with and without its unit, a day in three ways.
fn spellings(tail: &Tail) -> Vec<String> {
    let mut all = vec![tail.shown()];
    if let Tail::Value(value) = tail {
        match value.kind {
            ValueKind::Date => all.extend(spell_day(&value.text).into_iter().flatten()),
            _ => all.push(value.text.clone()),
        }
    }
    all.dedup_by(|b, a| normalise_name(a) == normalise_name(b));
    all
}
