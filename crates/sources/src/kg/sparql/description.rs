//! What a graph says of an entity, a class or a property, gathered value by value.
use std::collections::{BTreeSet, HashSet};

use halma_core::EntityId;
use oxigraph::model::{Literal, Term};

use super::vocabulary::Vocabulary;
use crate::kg::graph::{Class, Profile, Property};
use crate::kg::rdf;

/// What an article counts as fame; a statement counts a hundredth of it, since machines write them.
const FAME: [f32; 2] = [1.0, 0.01];

/// 0 for a language of ours, 1 for none and `mul`, 2 for another one.
pub(super) fn foreignness(text: &Literal, language: &str) -> u8 {
    match text.language() {
        Some(tag) if tag.split('-').next() == Some(language) => 0,
        None | Some("mul") => 1,
        Some(_) => 2,
    }
}

/// The texts of several properties, of which the first that has some counts.
#[derive(Debug, Clone, Default)]
struct Texts(BTreeSet<(usize, u8, String)>);

impl Texts {
    /// Those in our language first, then those in none; others only where there is nothing else.
    fn preferred(self) -> Vec<String> {
        let Some((first, foreign)) = self.0.first().map(|(rank, foreign, _)| (*rank, *foreign))
        else {
            return vec![];
        };
        let limit = if foreign < 2 { 1 } else { 2 };
        let kept =
            self.0.into_iter().filter(|(rank, foreign, _)| *rank == first && *foreign <= limit);
        let mut seen = HashSet::new();
        kept.map(|(_, _, text)| text).filter(|text| seen.insert(text.clone())).collect()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    labels: Texts,
    aliases: Texts,
    descriptions: Texts,
    /// By their IRIs.
    pub(super) classes: BTreeSet<String>,
    /// A text, or the IRI of a unit.
    pub(super) unit: Option<Term>,
    fame: f32,
}

impl Description {
    /// Takes one value of a property.
    pub(super) fn take(
        &mut self,
        property: &str,
        value: &Term,
        words: &Vocabulary,
        language: &str,
    ) {
        let place = |list: &[&str]| list.iter().position(|iri| *iri == property);
        if place(&words.units).is_some() {
            self.unit = Some(value.clone());
        }
        match value {
            Term::NamedNode(node) if place(&words.types).is_some() => {
                self.classes.insert(node.as_str().to_owned());
            }
            Term::Literal(text) => {
                let lists = [&words.labels, &words.aliases, &words.descriptions];
                let texts = [&mut self.labels, &mut self.aliases, &mut self.descriptions];
                for (list, texts) in lists.into_iter().zip(texts) {
                    if let Some(rank) = place(list) {
                        let foreign = foreignness(text, language);
                        texts.0.insert((rank, foreign, text.value().to_owned()));
                    }
                }
                if let Some(at) = place(rdf::FAME) {
                    self.fame += FAME[at] * text.value().parse::<f32>().unwrap_or_default();
                }
            }
            _ => {}
        }
    }

    pub(super) fn has_label(&self) -> bool {
        !self.labels.0.is_empty()
    }

    pub(super) fn has_name(&self) -> bool {
        self.has_label() || !self.aliases.0.is_empty()
    }

    /// Labels, then aliases, each once.
    fn names(labels: Texts, aliases: Texts) -> Vec<String> {
        let mut names = labels.preferred();
        names.extend(aliases.preferred());
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    pub(super) fn class(self, id: String) -> Class {
        let mut names = Self::names(self.labels, self.aliases);
        if names.is_empty() {
            names.push(rdf::local_name(&id));
        }
        Class { id, names }
    }

    pub(super) fn profile(self, id: &EntityId, classes: Vec<Class>) -> Profile {
        let description = self.descriptions.preferred().into_iter().next().unwrap_or_default();
        let mut aliases = Self::names(self.labels, self.aliases);
        if aliases.is_empty() {
            aliases.push(rdf::local_name(&id.0));
        }
        let label = aliases.remove(0);
        Profile { id: id.clone(), label, aliases, description, classes, fame: self.fame }
    }

    pub(super) fn property(self, id: String, unit: String) -> Property {
        let mut labels = Self::names(self.labels, self.aliases);
        if id == rdf::TYPE {
            labels.extend(rdf::TYPE_NAMES.iter().map(|&name| name.to_owned()));
        }
        let local = rdf::local_name(&id);
        if !labels.contains(&local) {
            labels.push(local);
        }
        Property::new(id, labels, unit)
    }
}
