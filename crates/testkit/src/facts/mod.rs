//! A small knowledge graph, put together from rows in a test; exact and deterministic.
mod condition;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::{content_words, words};
use halma_core::{
    BoxError, Entity, EntityId, Fact, FactValue, Facts, Hit, Layer, NodeId, Span, Tail, ValueKind,
};

use crate::source::{Faults, share};

/// Entities by id with labels, aliases, descriptions and types, and triples between them.
///
/// ```text
/// ToyFacts::new(&[("oslo", "Oslo", "capital of Norway", "city"), ("no", "Norway", "", "country")])
///     .with_alias("oslo", "Kristiania")
///     .with_facts(&[("no", "capital", "oslo"), ("oslo", "elevation", "23 m")])
///     .shared()
/// ```
pub struct ToyFacts {
    name: String,
    entities: Vec<(Entity, Vec<String>)>,
    /// Where in `entities` one is.
    places: HashMap<EntityId, usize>,
    triples: Vec<(EntityId, String, Tail)>,
    /// Where in `triples` those are that begin or end in an entity.
    about: HashMap<EntityId, Vec<usize>>,
    faults: Faults,
}

impl ToyFacts {
    /// Rows of (id, label, description, type); an empty type is none.
    pub fn new(rows: &[(&str, &str, &str, &str)]) -> Self {
        let entity = |(id, label, description, kind): &(&str, &str, &str, &str)| Entity {
            id: (*id).into(),
            label: (*label).to_owned(),
            description: (*description).to_owned(),
            types: Some(*kind)
                .filter(|kind| !kind.is_empty())
                .map(str::to_owned)
                .into_iter()
                .collect(),
            score: 1.0,
        };
        let entities: Vec<(Entity, Vec<String>)> =
            rows.iter().map(|row| (entity(row), vec![])).collect();
        let numbered = entities.iter().enumerate();
        let places = numbered.map(|(place, (entity, _))| (entity.id.clone(), place)).collect();
        let (triples, about, faults) = (vec![], HashMap::new(), Faults::default());
        Self { name: "kg".into(), entities, places, triples, about, faults }
    }

    /// Another name of an entity.
    #[must_use]
    pub fn with_alias(mut self, id: &str, alias: &str) -> Self {
        let entry = self.entities.iter_mut().find(|(entity, _)| entity.id.0 == id);
        entry.unwrap_or_else(|| panic!("no entity `{id}`")).1.push(alias.to_owned());
        self
    }

    /// Triples of (head's id, relation, tail). The tail is the id of an entity, or else a value:
    /// `1911-05-17`, `1911-05` and `1911` are dates, `23 m` a number with its unit, `yes` and `no`
    /// truths, and the rest is text.
    #[must_use]
    pub fn with_facts(mut self, triples: &[(&str, &str, &str)]) -> Self {
        for (head, relation, tail) in triples {
            assert!(self.entity(&(*head).into()).is_some(), "no entity `{head}`");
            let entity = self.entity(&(*tail).into()).cloned();
            let tail = entity.map_or_else(|| Tail::Value(value(tail)), Tail::Entity);
            let mut ends = vec![EntityId::from(*head)];
            if let Tail::Entity(entity) = &tail {
                ends.push(entity.id.clone());
                ends.dedup();
            }
            for end in ends {
                self.about.entry(end).or_default().push(self.triples.len());
            }
            self.triples.push(((*head).into(), (*relation).to_owned(), tail));
        }
        self
    }

    /// The query with this number, from 1, fails.
    #[must_use]
    pub fn failing_at(mut self, query: usize, reason: &str) -> Self {
        self.faults.add_at(query, reason);
        self
    }

    /// The query with this number, from 1, fails, and so do all after it.
    #[must_use]
    pub fn failing_from(mut self, query: usize, reason: &str) -> Self {
        self.faults.set_from(query, reason);
        self
    }

    pub fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    fn entity(&self, id: &EntityId) -> Option<&Entity> {
        self.places.get(id).map(|place| &self.entities[*place].0)
    }

    /// The facts about an entity, either way round.
    fn about(&self, id: &EntityId) -> impl Iterator<Item = &(EntityId, String, Tail)> {
        let about = self.about.get(id).map_or(&[][..], Vec::as_slice);
        about.iter().map(|at| &self.triples[*at])
    }

    fn fact(&self, (head, relation, tail): &(EntityId, String, Tail), score: f32) -> Fact {
        let head = self.entity(head).expect("`with_facts` looks for it").clone();
        let end = match tail {
            Tail::Entity(entity) => entity.id.0.clone(),
            Tail::Value(_) => tail.shown(),
        };
        let text = format!("{} – {relation} – {}", head.label, tail.shown());
        let evidence = Hit {
            id: NodeId(format!("{}:{}/{relation}/{end}", self.name, head.id)),
            layer: Layer::Fact,
            parent: None,
            document: self.name.clone(),
            title: head.label.clone(),
            section: None,
            page: None,
            score,
            cosine: None,
            parts: vec![],
            span: Span { start: 0, end: text.chars().count() },
            text,
        };
        let (relation, tail, qualifiers) = (relation.clone(), tail.clone(), vec![]);
        Fact { head, relation, tail, qualifiers, score, evidence }
    }
}

#[async_trait]
impl Facts for ToyFacts {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &'static str {
        "a few facts"
    }

    /// Exact names before those that hold the words, among equals those that fit the descriptor.
    async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, BoxError> {
        self.faults.next()?;
        let wanted = words(name);
        let mut matches: Vec<(f32, f32, Entity)> = vec![];
        for (entity, aliases) in &self.entities {
            let named = aliases.iter().chain([&entity.label]).map(|said| {
                let said = words(said);
                let shared = wanted.iter().filter(|word| said.contains(word)).count();
                if said == wanted {
                    1.0
                } else if shared == wanted.len() {
                    0.5
                } else {
                    0.0
                }
            });
            let named = named.fold(0.0_f32, f32::max);
            let fits = descriptor.map_or(1.0, |descriptor| {
                alike(descriptor, &format!("{} {}", entity.description, entity.types.join(" ")))
            });
            if named > 0.0 && !wanted.is_empty() {
                matches.push((named, fits, Entity { score: named * fits, ..entity.clone() }));
            }
        }
        matches.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        Ok(matches.into_iter().map(|(_, _, entity)| entity).take(limit).collect())
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        self.faults.next()?;
        let facts: Vec<Fact> = self
            .about(entity)
            .map(|triple| self.fact(triple, alike(relation, &triple.1)))
            .filter(|fact| fact.score >= 0.5)
            .collect();
        let best = facts.iter().map(|fact| fact.score).fold(0.0, f32::max);
        Ok(facts.into_iter().filter(|fact| fact.score >= best).collect())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        self.faults.next()?;
        let of = |triple: &&(EntityId, String, Tail)| {
            let ends = |id: &EntityId| matches!(&triple.2, Tail::Entity(end) if end.id == *id);
            (triple.0 == *head && ends(tail)) || (triple.0 == *tail && ends(head))
        };
        Ok(self.about(head).filter(of).map(|triple| self.fact(triple, 1.0)).collect())
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        self.faults.next()?;
        let Some(condition) = condition::Condition::of(condition) else { return Ok(None) };
        let shown = |id: &EntityId| {
            let mut facts = self.about(id).filter(|(head, ..)| head == id);
            let meets = |(_, relation, tail): &&(EntityId, String, Tail)| {
                condition.is_met_by(relation, tail)
            };
            facts.find(meets).map(|triple| self.fact(triple, 1.0))
        };
        let comparable = |(_, relation, tail): &(EntityId, String, Tail)| {
            condition.is_about(relation) && matches!(tail, Tail::Value(_))
        };
        if !self.triples.iter().any(comparable) {
            return Ok(None);
        }
        Ok(Some(entities.iter().filter_map(shown).collect()))
    }
}

/// The share of the content words that two texts have in common; 1 for the same words.
fn alike(wanted: &str, other: &str) -> f32 {
    let wanted: BTreeSet<String> = content_words(wanted).into_iter().collect();
    let other: BTreeSet<String> = content_words(other).into_iter().collect();
    share(wanted.intersection(&other).count(), wanted.len().max(1))
}

fn value(text: &str) -> FactValue {
    let digits = |part: &str, length: usize| {
        part.len() == length && part.chars().all(|c| c.is_ascii_digit())
    };
    let parts: Vec<&str> = text.split('-').collect();
    let dated =
        digits(parts[0], 4) && parts.len() <= 3 && parts[1..].iter().all(|part| digits(part, 2));
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let (kind, text, unit) = if dated {
        (ValueKind::Date, text, "")
    } else if number.parse::<f64>().is_ok() {
        (ValueKind::Number, number, unit)
    } else if ["yes", "no"].contains(&text) {
        (ValueKind::Truth, text, "")
    } else {
        (ValueKind::Text, text, "")
    };
    FactValue { text: text.to_owned(), kind, unit: unit.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn north() -> ToyFacts {
        ToyFacts::new(&[
            ("oslo", "Oslo", "capital of Norway", "city"),
            ("oslo-us", "Oslo", "place in Minnesota", "village"),
            ("bergen", "Bergen", "port in Norway", "city"),
            ("no", "Norway", "", "country"),
        ])
        .with_alias("oslo", "Kristiania")
        .with_facts(&[
            ("no", "capital", "oslo"),
            ("oslo", "founded", "1040"),
            ("bergen", "founded", "1070"),
            ("oslo", "elevation", "23 m"),
        ])
    }

    fn ids(entities: &[Entity]) -> Vec<&str> {
        entities.iter().map(|entity| entity.id.0.as_str()).collect()
    }

    #[tokio::test]
    async fn entities_are_found_by_label_alias_and_descriptor() {
        let north = north();
        let entities = north.find("oslo", Some("village"), 9).await.unwrap();
        assert_eq!(ids(&entities), ["oslo-us", "oslo"]);
        assert_eq!(ids(&north.find("Kristiania", None, 9).await.unwrap()), ["oslo"]);
        assert!(north.find("Bodø", None, 9).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn relations_are_read_from_both_ends() {
        let north = north();
        for id in ["oslo", "no"] {
            let facts = north.relate(&id.into(), "capital").await.unwrap();
            assert_eq!(facts[0].evidence.text, "Norway – capital – Oslo");
        }
        assert!(north.relate(&"no".into(), "currency").await.unwrap().is_empty());
        assert_eq!(north.between(&"oslo".into(), &"no".into()).await.unwrap().len(), 1);
        let height = north.relate(&"oslo".into(), "elevation").await.unwrap();
        assert_eq!(height[0].tail.shown(), "23 m");
    }

    #[tokio::test]
    async fn comparisons_are_decided_and_the_rest_is_left() {
        let north = north();
        let towns = ["oslo".into(), "bergen".into()];
        let kept = north.filter(&towns, "founded before 1050").await.unwrap().unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].head.id.0, "oslo");
        assert!(north.filter(&towns, "the prettiest").await.unwrap().is_none());
        assert!(north.filter(&towns, "twinned before 1990").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn it_fails_on_command() {
        let north = north().failing_at(2, "timed out");
        assert!(north.find("Oslo", None, 1).await.is_ok());
        assert_eq!(north.find("Oslo", None, 1).await.unwrap_err().to_string(), "timed out");
        assert!(north.find("Oslo", None, 1).await.is_ok());
    }
}
