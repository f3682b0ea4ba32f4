//! The bridge: what two sources speak of.
use std::collections::HashSet;

use halma_core::text::normalise_name;
use halma_core::{Cx, Entity, Hit, Result};

use super::checks::holds;
use super::kind::Dropped;

/// An entity that a passage names.
#[derive(Debug, Clone)]
pub(super) struct Bridge {
    /// As the passage writes it.
    pub(super) name: String,
    /// What the tagger calls it, where that says something.
    tagged: Option<String>,
    pub(super) entity: Option<Entity>,
}

/// Kinds of mentions that stand for no entity, and one that says nothing.
const NO_ENTITIES: &[&str] = &["date", "number", "time", "quantity"];
const NO_KINDS: &[&str] = &["name", "other", "misc"];

impl Bridge {
    /// What it is, in a word: the graph's type before the tagger's.
    pub(super) fn kind(&self) -> Option<&str> {
        let of_graph = self.entity.as_ref().and_then(|entity| entity.types.first());
        of_graph.or(self.tagged.as_ref()).map(String::as_str)
    }

    pub(super) fn is_named_in(&self, hit: &Hit) -> bool {
        holds(&format!("{}\n{}", hit.title, hit.text), &self.name)
    }
}

/// What a passage names, its title first, each name once.
pub(super) async fn candidates(cx: &Cx, passage: &Hit) -> Result<Vec<Bridge>> {
    let mut seen = HashSet::new();
    let mut found = vec![];
    let mut mentions = cx.entities(&passage.title).await?;
    mentions.extend(cx.entities(&passage.text).await?);
    for mention in mentions {
        let kind = mention.kind.to_lowercase();
        let folded = normalise_name(&mention.text);
        if folded.len() > 1 && !NO_ENTITIES.contains(&kind.as_str()) && seen.insert(folded) {
            let tagged = Some(kind).filter(|kind| !NO_KINDS.contains(&kind.as_str()));
            found.push(Bridge { name: mention.text, tagged, entity: None });
        }
    }
    Ok(found)
}

/// At most this many entities of one name are considered.
const NAMESAKES: usize = 8;

/// An entity that fits a name as well as this goes by it, as an alias perhaps.
const GOES_BY: f32 = 0.8;

/// The one entity of the graph with this label; no other may go by the name, for a passage that
/// names it may mean the other.
pub(super) async fn in_graph(cx: &Cx, name: &str) -> Result<std::result::Result<Entity, Dropped>> {
    let Some(facts) = cx.facts() else { return Ok(Err(Dropped::NoEntity)) };
    let folded = normalise_name(name);
    let found = facts.find(name, None, NAMESAKES).await?;
    let labelled = |entity: &Entity| normalise_name(&entity.label) == folded;
    let mut going = found.into_iter().filter(|one| labelled(one) || one.score >= GOES_BY);
    Ok(match (going.next(), going.next()) {
        (Some(only), None) if labelled(&only) => Ok(only),
        (Some(_), Some(_)) => Err(Dropped::SeveralEntities),
        _ => Err(Dropped::NoEntity),
    })
}
