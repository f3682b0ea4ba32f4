//! An entity as its mentions describe it.
use std::collections::{BTreeMap, BTreeSet};

use super::EntityMention;
use crate::terms::{form, is_abbreviation};

/// An entity to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) locals: Vec<usize>,
}

/// A description of an entity is made of those of its mentions, up to so many characters.
const DESCRIPTION: usize = 400;

/// What these mentions alone say of an entity.
pub(crate) fn profile_of(mentions: &[EntityMention]) -> Profile {
    let mut said = Statements::default();
    for mention in mentions {
        *said.shown.entry(&mention.name).or_default() += mention.times;
        if !mention.kind.is_empty() {
            *said.kinds.entry(&mention.kind).or_default() += 1;
        }
        if !mention.description.is_empty() {
            said.descriptions.insert(&mention.description);
        }
        said.forms.insert(form(&mention.name));
        said.forms.extend(mention.aliases.iter().map(|alias| form(alias)));
    }
    said.profile(vec![])
}

/// All that is said of one entity.
#[derive(Default)]
pub(crate) struct Statements<'a> {
    pub(crate) shown: BTreeMap<&'a str, u32>,
    pub(crate) kinds: BTreeMap<&'a str, u32>,
    pub(crate) descriptions: BTreeSet<&'a str>,
    pub(crate) forms: BTreeSet<String>,
}

impl Statements<'_> {
    pub(crate) fn profile(mut self, locals: Vec<usize>) -> Profile {
        let name = best_name(&self.shown).to_owned();
        let kinds = self.kinds.iter().map(|(kind, count)| (*count, std::cmp::Reverse(*kind)));
        let kind = kinds.max().map(|(_, std::cmp::Reverse(kind))| kind.to_owned());
        let key = form(&name);
        self.forms.remove(&key);
        Profile {
            kind: kind.unwrap_or_default(),
            description: described(&self.descriptions),
            aliases: self.forms.into_iter().collect(),
            locals,
            key,
            name,
        }
    }
}

/// The name to show: a full one rather than an abbreviation or a last name, then the most
/// frequent, then the longest.
fn best_name<'a>(shown: &BTreeMap<&'a str, u32>) -> &'a str {
    let full = |name: &str| !is_abbreviation(name) && name.contains(' ');
    let several = shown.keys().any(|name| full(name));
    let rank = |(name, count): &(&&'a str, &u32)| {
        let bare = !name.starts_with("The ");
        (several && full(name), **count, bare, name.len(), std::cmp::Reverse(**name))
    };
    shown.iter().max_by_key(rank).map_or("", |(name, _)| name)
}

/// The longest descriptions, as many as there is room for.
fn described(descriptions: &BTreeSet<&str>) -> String {
    let mut sorted: Vec<&str> = descriptions.iter().copied().collect();
    sorted.sort_by_key(|text| (std::cmp::Reverse(text.len()), *text));
    let mut whole = String::new();
    for text in sorted.into_iter().take(3) {
        if whole.is_empty() {
            text.clone_into(&mut whole);
        } else if whole.len() + text.len() < DESCRIPTION {
            whole.push(' ');
            whole.push_str(text);
        }
    }
    whole
}
