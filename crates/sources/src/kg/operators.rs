//! Search and Relate of AtomR (Section 3.1) over any graph.
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, Entity, EntityId, Fact, Facts, Hit, Layer, NodeId, Span, Tail};

use super::fit::{closeness, fit};
use super::graph::{Near, Node, Profile, Property, Statement, order};
use super::matching::{Expected, PropertyMatch, meant};
use super::rdf::PAGES;
use super::sparql::SparqlGraph;
use super::synonyms::{SynonymSide, Synonyms};

/// Entities that are compared for one name, at most.
const COMPARED: usize = 200;
/// Candidates that fit a descriptor equally well whose neighbours are looked at, at most.
const WITH_NEIGHBOURS: usize = 12;
/// Neighbours of an entity whose labels are compared.
const NEIGHBOURS: usize = 64;
/// The weight of a fact that held once, relative to one that holds now.
const FORMER: f32 = 0.9;
/// Facts of one relation that are read, at most.
const MAX_FACTS: usize = 10_000;

/// The operators over one graph.
pub(crate) struct Operators {
    pub(crate) graph: SparqlGraph,
    pub(crate) synonyms: Arc<Synonyms>,
    pub(crate) about: String,
}

impl Operators {
    pub(crate) fn new(graph: SparqlGraph, about: String) -> Self {
        Self { graph, synonyms: Arc::new(Synonyms::new()), about }
    }

    /// The properties that some words mean when they describe these entities.
    pub(crate) async fn meant(
        &self,
        entities: &[EntityId],
        words: &str,
        wanted: Expected,
    ) -> Result<Vec<PropertyMatch>, BoxError> {
        let properties = self.graph.properties(entities).await?;
        Ok(meant(&self.synonyms, words, &properties, wanted))
    }

    /// Facts of one property about an entity, read in the direction that is meant; in the other one
    /// only where the entity cannot be at this end.
    async fn read(
        &self,
        entity: &EntityId,
        property: &Arc<Property>,
        side: SynonymSide,
    ) -> Result<Vec<Statement>, BoxError> {
        let one = std::slice::from_ref(entity);
        let heads = async || self.graph.facts_from(one, property).await;
        let tails = async || self.graph.facts_to(entity, property, MAX_FACTS).await;
        let first = match side {
            SynonymSide::Forward => heads().await?,
            SynonymSide::Backward => tails().await?,
            SynonymSide::Both => {
                let mut both = heads().await?;
                both.extend(tails().await?.into_iter().map(reversed));
                return Ok(both);
            }
        };
        if !first.is_empty() || self.could_stand(entity, property, side).await? {
            return Ok(first);
        }
        if side == SynonymSide::Forward { tails().await } else { heads().await }
    }

    /// Whether things of the entity's classes stand where `side` begins, so that it has no such
    /// fact and the other reading would be another question: the children of a person without
    /// any are not the person's parents.
    async fn could_stand(
        &self,
        entity: &EntityId,
        property: &Property,
        side: SynonymSide,
    ) -> Result<bool, BoxError> {
        let profiles = self.graph.profiles(std::slice::from_ref(entity)).await?;
        let classes: Vec<&str> =
            profiles.iter().flat_map(|one| &one.classes).map(|class| class.id.as_str()).collect();
        if classes.is_empty() {
            return Ok(false);
        }
        let ends = self.graph.ends(property).await?;
        let here = if side == SynonymSide::Forward { &ends.heads } else { &ends.tails };
        Ok(classes.iter().any(|class| here.contains(*class)))
    }

    /// Facts with their ends described, in the given order, each once.
    pub(crate) async fn describe(
        &self,
        stated: Vec<(Statement, f32)>,
    ) -> Result<Vec<Fact>, BoxError> {
        let mut ids: BTreeSet<EntityId> = BTreeSet::new();
        for (fact, _) in &stated {
            ids.insert(fact.head.clone());
            if let Node::Entity(tail) = &fact.tail {
                ids.insert(tail.clone());
            }
        }
        let ids: Vec<EntityId> = ids.into_iter().collect();
        let profiles = self.graph.profiles(&ids).await?;
        let by_id: HashMap<&EntityId, &Profile> = ids.iter().zip(&profiles).collect();
        let mut facts = vec![];
        let mut seen = HashSet::new();
        for (stated, score) in &stated {
            let tail = match &stated.tail {
                Node::Entity(id) => Tail::Entity(entity(by_id[id], 1.0)),
                Node::Value(value) => Tail::Value(value.clone()),
            };
            let head = entity(by_id[&stated.head], 1.0);
            let relation = stated.property.label().to_owned();
            let qualifiers = stated.qualifiers.clone();
            let end = match &tail {
                Tail::Entity(entity) => entity.id.0.clone(),
                Tail::Value(_) => tail.shown(),
            };
            if !seen.insert((head.id.clone(), relation.clone(), end)) {
                continue;
            }
            let score = if stated.former { score * FORMER } else { *score };
            let evidence = cite(stated, &head.label);
            let mut fact = Fact { head, relation, tail, qualifiers, score, evidence };
            fact.evidence.text = fact.line();
            if let Some(passage) = self.graph.cited(stated).await? {
                fact.evidence = passage;
            }
            facts.push(fact);
        }
        Ok(facts)
    }

    /// Candidates for a name, near ones where none has the name itself, or where a descriptor may
    /// select one of them.
    async fn candidates(&self, name: &str, described: bool) -> Result<Vec<EntityId>, BoxError> {
        let mut ids = self.graph.named(name, Near::Same, COMPARED).await?;
        if ids.is_empty() || (described && self.graph.has_name_index()) {
            let mut seen: HashSet<EntityId> = ids.iter().cloned().collect();
            let near = self.graph.named(name, Near::AllWords, COMPARED).await?;
            ids.extend(near.into_iter().filter(|id| seen.insert(id.clone())));
        }
        if ids.is_empty() {
            ids = self.graph.named(name, Near::MostWords, COMPARED).await?;
        }
        Ok(ids)
    }
}

#[async_trait]
impl Facts for Operators {
    fn name(&self) -> &'static str {
        "kg"
    }

    fn about(&self) -> &str {
        &self.about
    }

    async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, BoxError> {
        let descriptor = descriptor.filter(|text| text.chars().any(char::is_alphanumeric));
        let ids = self.candidates(name, descriptor.is_some()).await?;
        let mut profiles = self.graph.profiles(&ids).await?;
        let is_page = |one: &Profile| one.classes.iter().any(|c| PAGES.contains(&c.id.as_str()));
        if profiles.iter().any(|one| !is_page(one)) {
            profiles.retain(|one| !is_page(one));
        }
        let max_fame = profiles.iter().map(|one| one.fame).fold(0.0, f32::max);
        let mut candidates: Vec<Candidate<'_>> = profiles
            .iter()
            .map(|profile| {
                let near = closeness(name, profile) - obscurity(profile.fame, max_fame);
                let fits = descriptor.map(|text| fit(text, profile, &[]));
                Candidate { near, fits, profile }
            })
            .collect();
        candidates.sort_by(Candidate::compare);
        if let Some(text) = descriptor {
            let open: Vec<usize> = (0..candidates.len())
                .filter(|at| candidates[*at].fits.is_some_and(|fits| fits < 1.0))
                .take(WITH_NEIGHBOURS)
                .collect();
            let ids: Vec<EntityId> =
                open.iter().map(|at| candidates[*at].profile.id.clone()).collect();
            let around = self.graph.neighbours(&ids, NEIGHBOURS).await?;
            for (at, around) in open.into_iter().zip(around) {
                candidates[at].fits = Some(fit(text, candidates[at].profile, &around));
            }
            candidates.sort_by(Candidate::compare);
        }
        candidates.truncate(limit);
        Ok(candidates.iter().map(|one| entity(one.profile, one.score())).collect())
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        let one = std::slice::from_ref(entity);
        let mut alike: BTreeMap<std::cmp::Reverse<u32>, Vec<PropertyMatch>> = BTreeMap::new();
        for meant in self.meant(one, relation, Expected::Any).await? {
            // Scores are above 0, so that their bits are in their order.
            alike.entry(std::cmp::Reverse(meant.score.to_bits())).or_default().push(meant);
        }
        for group in alike.into_values() {
            let mut stated = vec![];
            for PropertyMatch { property, score, side } in group {
                let read = self.read(entity, &property, side).await?;
                stated.extend(read.into_iter().map(|fact| (fact, score)));
            }
            if !stated.is_empty() {
                let mut facts = self.describe(stated).await?;
                facts.sort_by_cached_key(|fact| {
                    let other = if fact.head.id == *entity {
                        fact.tail.shown()
                    } else {
                        fact.head.label.clone()
                    };
                    // What has qualifiers is in the graph's own order, what holds now first.
                    let other = if fact.qualifiers.is_empty() { other } else { String::new() };
                    let score = std::cmp::Reverse(fact.score.to_bits());
                    (fact.head.id != *entity, fact.relation.clone(), score, other)
                });
                return Ok(facts);
            }
        }
        Ok(vec![])
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        let mut stated = self.graph.between(head, tail).await?;
        if head != tail {
            stated.extend(self.graph.between(tail, head).await?);
        }
        self.describe(stated.into_iter().map(|fact| (fact, 1.0)).collect()).await
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        self.filtered(entities, condition).await
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        let one = std::slice::from_ref(entity);
        let mut stated = vec![];
        for property in self.graph.own_properties(one).await? {
            stated.extend(self.graph.facts_from(one, &property).await?);
            let left = limit.saturating_sub(stated.len());
            stated.extend(self.graph.facts_to(entity, &property, left).await?);
            if stated.len() >= limit {
                break;
            }
        }
        stated.truncate(limit);
        self.describe(stated.into_iter().map(|fact| (fact, 1.0)).collect()).await
    }
}

/// A symmetric fact, stated from its other end.
pub(crate) fn reversed(fact: Statement) -> Statement {
    match fact.tail {
        Node::Entity(head) => Statement { head, tail: Node::Entity(fact.head), ..fact },
        Node::Value(_) => fact,
    }
}

/// An entity that a name may mean.
struct Candidate<'a> {
    /// How near its name is, less for what is hardly known.
    near: f32,
    /// How well it fits the descriptor, where there is one.
    fits: Option<f32>,
    profile: &'a Profile,
}

impl Candidate<'_> {
    /// A name counts for more than its description.
    fn score(&self) -> f32 {
        let score = self.fits.map_or(self.near, |fits| 0.6 * self.near + 0.4 * fits);
        score.max(0.0)
    }

    /// The best first; of equals the better known, then by name and number.
    fn compare(&self, other: &Self) -> Ordering {
        let by_score = other.score().total_cmp(&self.score());
        let (one, two) = (self.profile, other.profile);
        by_score
            .then_with(|| two.fame.total_cmp(&one.fame))
            .then_with(|| one.label.cmp(&two.label))
            .then_with(|| order(&one.id).cmp(&order(&two.id)))
    }
}

/// What a namesake counts less than the best known one: nothing up to half of its fame, then a
/// hundredth for each halving.
fn obscurity(fame: f32, max_fame: f32) -> f32 {
    0.01 * ((max_fame + 1.0) / (fame + 1.0)).log2().floor().clamp(0.0, 12.0)
}

pub(crate) fn entity(profile: &Profile, score: f32) -> Entity {
    let types = profile.classes.iter().filter_map(|class| class.names.first().cloned());
    Entity {
        id: profile.id.clone(),
        label: profile.label.clone(),
        description: profile.description.clone(),
        types: types.collect(),
        score,
    }
}

/// A fact as evidence of its own.
fn cite(stated: &Statement, head: &str) -> Hit {
    let tail = match &stated.tail {
        Node::Entity(id) => id.0.as_str(),
        Node::Value(value) => value.text.as_str(),
    };
    let whole = [stated.head.0.as_str(), stated.property.id.as_str(), tail].join("\u{1f}");
    let id = blake3::hash(whole.as_bytes()).to_hex();
    Hit {
        id: NodeId(format!("kg:{}", &id[..16])),
        layer: Layer::Fact,
        parent: None,
        document: stated.source.clone(),
        title: head.to_owned(),
        section: None,
        page: None,
        text: String::new(),
        score: 1.0,
        cosine: None,
        parts: vec![],
        span: Span::default(),
    }
}
