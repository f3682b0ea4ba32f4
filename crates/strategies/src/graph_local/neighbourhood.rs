//! The walk: entities near the question, then what stands around them.
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use futures::future::try_join_all;
use halma_core::text::{count_name, names, normalise_name};
use halma_core::{Cx, Edge, Error, Hit, Layer, MinScore, NodeId, Query, Question, Result};

use super::GraphLocal;
use crate::shared::overlap::QueryWords;
use crate::shared::steps::{chunks_of, unseen};

/// What stands around the entities, best first.
pub(super) struct Around {
    pub(super) chunks: Vec<Hit>,
    pub(super) facts: Vec<String>,
    /// Of the communities that the entities are in.
    pub(super) reports: Vec<Hit>,
}

/// What edges lead to from the entities.
struct Neighbours {
    chunks: Vec<Hit>,
    related: Vec<Hit>,
    communities: Vec<Hit>,
}

impl GraphLocal {
    /// The entities that the question names, then those near it, each once.
    pub(super) async fn entities(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let mut named: Vec<String> = match cx.entities(&question.text).await {
            Ok(mentions) => mentions.into_iter().map(|mention| mention.text).collect(),
            Err(Error::MissingRequirement(_)) => names(&question.text)
                .into_iter()
                .map(|name| question.text[name.range].to_owned())
                .collect(),
            Err(error) => return Err(error),
        };
        let mut seen = HashSet::new();
        named.retain(|name| seen.insert(normalise_name(name)));
        let texts = named.into_iter().chain([question.text.clone()]);
        let query = Query {
            min_score: MinScore::from_setting(self.min_score),
            ..Query::new(texts.collect(), Layer::Entity, self.mode, self.entities)
        };
        let lists = cx.search(&query).await?;
        // Scores of different texts cannot be compared; being called what the question says can.
        let is_named = |hit: &Hit| seen.contains(&normalise_name(&hit.title));
        let mut entities: Vec<Hit> = vec![];
        let (exact, near): (Vec<Hit>, Vec<Hit>) = lists.into_iter().flatten().partition(is_named);
        for hit in exact.into_iter().chain(near) {
            if entities.iter().all(|other| other.id != hit.id) {
                entities.push(hit);
            }
        }
        entities.truncate(self.entities);
        Ok(entities)
    }

    /// The chunks, the facts and the reports around the entities, best first.
    pub(super) async fn around(
        &self,
        question: &Question,
        entities: &[Hit],
        has_facts: bool,
        cx: &Cx,
    ) -> Result<Around> {
        let Neighbours { mut chunks, related, communities: reports } =
            self.neighbours(question, entities, cx).await?;
        let rank = Rank::new(question, entities, &related);
        let facts = if has_facts { self.near(question, cx).await? } else { vec![] };
        chunks.extend(chunks_of(&facts, cx).await?);
        let mut seen: HashSet<NodeId> = HashSet::new();
        chunks.retain(|chunk| seen.insert(chunk.id.clone()));
        let mut chunks = rank.sorted(chunks);
        chunks.truncate(self.chunks);
        if !has_facts {
            return Ok(Around { chunks, facts: vec![], reports });
        }
        let of_chunks =
            chunks.iter().map(|chunk| cx.neighbours(&chunk.id, Some(Edge::DerivedFrom)));
        let of_chunks = try_join_all(of_chunks).await?.into_iter().flatten().map(|(_, hit)| hit);
        let of_chunks = of_chunks.filter(|hit| hit.layer == Layer::Fact);
        // What is read is what can be cited: a fact whose chunk was cut is left out with it.
        let ids: HashSet<&NodeId> = chunks.iter().map(|chunk| &chunk.id).collect();
        let citable = |fact: &Hit| fact.parent.as_ref().is_some_and(|chunk| ids.contains(chunk));
        let facts = rank.sorted(facts.into_iter().chain(of_chunks).filter(citable).collect());
        let mut lines: Vec<String> = vec![];
        for fact in facts {
            if lines.len() < self.facts && !lines.contains(&fact.text) {
                lines.push(fact.text);
            }
        }
        Ok(Around { chunks, facts: lines, reports })
    }

    /// The chunks that mention the entities or what is related to them, and the latter: what has
    /// most words of the question first, then what is related to most. The communities with most of
    /// the entities likewise.
    async fn neighbours(
        &self,
        question: &Question,
        entities: &[Hit],
        cx: &Cx,
    ) -> Result<Neighbours> {
        let around = entities.iter().map(|entity| cx.neighbours(&entity.id, None));
        let around = try_join_all(around).await?.into_iter().flatten();
        let (mut chunks, mut related): (Vec<Hit>, Vec<(usize, Hit)>) = (vec![], vec![]);
        let mut communities: Vec<(usize, Hit)> = vec![];
        for (edge, hit) in around {
            if hit.layer == Layer::Community {
                match communities.iter_mut().find(|(_, other)| other.id == hit.id) {
                    Some((members, _)) => *members += 1,
                    None => communities.push((1, hit)),
                }
                continue;
            }
            match related.iter_mut().find(|(_, other)| other.id == hit.id) {
                Some((times, _)) => *times += 1,
                None if hit.layer == Layer::Chunk => chunks.push(hit),
                None if edge == Edge::Relates && entities.iter().all(|one| one.id != hit.id) => {
                    related.push((1, hit));
                }
                None => {}
            }
        }
        let query_words = QueryWords::new(&question.text);
        related.sort_by_cached_key(|(times, hit)| Reverse((query_words.in_hit(hit), *times)));
        related.truncate(self.related);
        let related: Vec<Hit> = related.into_iter().map(|(_, hit)| hit).collect();
        let mentioning = related.iter().map(|hit| cx.neighbours(&hit.id, Some(Edge::Mentions)));
        let mentioning = try_join_all(mentioning).await?.into_iter().flatten();
        chunks.extend(mentioning.map(|(_, hit)| hit).filter(|hit| hit.layer == Layer::Chunk));
        communities
            .sort_by_cached_key(|(members, hit)| Reverse((*members, query_words.in_hit(hit))));
        communities.truncate(self.reports);
        let communities = communities.into_iter().map(|(_, hit)| hit).collect();
        Ok(Neighbours { chunks, related, communities })
    }

    async fn near(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let query = Query {
            min_score: MinScore::from_setting(self.min_score),
            ..Query::new(vec![question.text.clone()], Layer::Fact, self.mode, self.facts)
        };
        // One fact of each chunk: the others come with the chunk.
        Ok(unseen(cx.search(&query).await?, &[]))
    }
}

/// What makes a passage or fact count: the entities in it, the words of the question in it.
struct Rank {
    query_words: QueryWords,
    /// Names with what they count for.
    names: HashMap<String, usize>,
}

/// What the name of an entity counts for compared to a word of the question, and of a related one.
const NAMED: usize = 4;
const RELATED: usize = 1;

impl Rank {
    fn new(question: &Question, entities: &[Hit], related: &[Hit]) -> Self {
        let direct = entities.iter().map(|entity| (normalise_name(&entity.title), NAMED));
        let related = related.iter().map(|entity| (normalise_name(&entity.title), RELATED));
        let mut names: HashMap<String, usize> = related.chain(direct).collect();
        names.remove("");
        Self { query_words: QueryWords::new(&question.text), names }
    }

    fn of(&self, hit: &Hit) -> usize {
        let text = format!("{} {}", normalise_name(&hit.title), normalise_name(&hit.text));
        let names = self.names.iter().filter(|(name, _)| count_name(name, &text) > 0);
        self.query_words.in_hit(hit) + names.map(|(_, counts)| counts).sum::<usize>()
    }

    /// Best first, equals in their order.
    fn sorted(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        hits.sort_by_cached_key(|hit| Reverse(self.of(hit)));
        hits
    }
}
