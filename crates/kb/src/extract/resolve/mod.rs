//! Which mentions speak of one thing. A pure function of what the chunks say, of the model's
//! verdicts and of what a user has undone, so that the order of documents does not matter and
//! an undone merge is exactly undone.
//!
//! 1. Within a document one name is one thing, and short forms belong to the full ones.
//! 2. Across documents one name is one thing as far as the descriptions agree.
//! 3. Different names are one thing where a rule or the model says so.
mod across;
mod clusters;
mod description_match;
mod name_similarity;
mod senses;

/// Tells one mention from another by what it says, wherever it stands.
fn print_of(named: &str, kind: u8, descriptions: &BTreeSet<String>) -> Id {
    let mut parts: Vec<&[u8]> = vec![named.as_bytes()];
    let kind = [kind];
    parts.push(&kind);
    parts.extend(descriptions.iter().map(String::as_bytes));
    hash(&parts)
}

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub(crate) use self::across::BLOCK;
use self::clusters::Clusters;
use self::description_match::Described;
pub(crate) use self::description_match::EntityKind;
pub(crate) use self::name_similarity::{Name, NameSimilarity, block_id, declared_block, form_id};
use super::extracted_chunk::ExtractedChunk;
use crate::store::{EntityMention, Id, MergeRecord, PairVerdict, Profile, Statements, hash};
use crate::terms::form;

/// What one document says of one name.
pub(crate) struct Local {
    pub(crate) name: Name,
    pub(crate) kind: EntityKind,
    described: Described,
    /// What it says, without where: locals with one print are one entity.
    pub(crate) print: Id,
    pub(crate) document: Id,
    /// The name as written, with how often.
    shown: BTreeMap<String, u32>,
    kinds: BTreeMap<String, u32>,
    pub(crate) descriptions: BTreeSet<String>,
    /// Forms that the text itself gives in brackets.
    aliases: BTreeSet<String>,
    /// Places in what was read: chunk, mention.
    pub(crate) mentions: Vec<(usize, u32)>,
}

impl Local {
    /// The name as it is written, in its spellings.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.shown.keys()
    }

    pub(crate) fn kind_word(&self) -> Option<String> {
        self.kinds.keys().next().cloned()
    }
}

/// A merge that a user has undone: nothing of one side is joined with anything of the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Undone {
    pub(crate) one: Vec<Id>,
    pub(crate) two: Vec<Id>,
}

/// What is known apart from the text.
#[derive(Default)]
pub(crate) struct ResolutionEvidence {
    pub(crate) verdicts: Vec<PairVerdict>,
    pub(crate) undone: Vec<Undone>,
    /// Cosines between descriptions, by prints, where there is an embedder.
    pub(crate) near: HashMap<(Id, Id), f32>,
    /// Blocks in which so many names meet that they say nothing.
    pub(crate) crowded: HashSet<Id>,
}

/// Two clusters of which the rules do not tell whether they are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// Prints that stand for the two.
    pub(crate) prints: (Id, Id),
    /// Some of their locals.
    pub(crate) one: Vec<usize>,
    pub(crate) two: Vec<usize>,
}

pub(crate) struct Resolved {
    pub(crate) locals: Vec<Local>,
    /// Places in `locals`, in the order of the entities' keys.
    pub(crate) entities: Vec<Profile>,
    pub(crate) merges: BTreeMap<Id, MergeRecord>,
    pub(crate) questions: Vec<Question>,
}

/// Resolves what was read.
#[cfg(test)]
pub(crate) fn resolve(reads: &[ExtractedChunk], evidence: &ResolutionEvidence) -> Resolved {
    resolve_locals(locals(reads), evidence)
}

/// Resolves what documents say of names. Names that nothing connects with these, by a block, a
/// document or a verdict, change nothing about them and may be missing.
pub(crate) fn resolve_locals(locals: Vec<Local>, evidence: &ResolutionEvidence) -> Resolved {
    let mut clusters = Clusters::new(&locals, evidence);
    senses::within_documents(&mut clusters);
    senses::across_documents(&mut clusters);
    across::join(&mut clusters);
    let (groups, merges, questions) = clusters.finish();
    let entities = profiles(&locals, groups);
    Resolved { locals, entities, merges, questions }
}

impl Local {
    fn new(name: &str, kind: EntityKind, document: Id) -> Self {
        Self {
            name: Name::new(name),
            kind,
            described: Described::default(),
            print: 0,
            document,
            shown: BTreeMap::new(),
            kinds: BTreeMap::new(),
            descriptions: BTreeSet::new(),
            aliases: BTreeSet::new(),
            mentions: vec![],
        }
    }

    /// Adds what a chunk says of it.
    fn add(&mut self, mention: &EntityMention, kind: EntityKind) {
        if self.kind == EntityKind::Unknown {
            self.kind = kind;
        }
        *self.shown.entry(mention.name.clone()).or_default() += mention.times;
        if !mention.kind.is_empty() {
            *self.kinds.entry(mention.kind.clone()).or_default() += 1;
        }
        if !mention.description.is_empty() {
            self.descriptions.insert(mention.description.clone());
        }
        self.aliases.extend(mention.aliases.iter().map(|alias| form(alias)));
    }
}

/// One local for each name of a document; two where the types tell them apart.
pub(crate) fn locals(reads: &[ExtractedChunk]) -> Vec<Local> {
    let mut grouped: BTreeMap<(Id, String), Vec<Local>> = BTreeMap::new();
    for (at, read) in reads.iter().enumerate() {
        for (number, mention) in (0_u32..).zip(&read.extract.mentions) {
            if !read.resolves(number) {
                continue;
            }
            let kind = EntityKind::parse(&mention.kind);
            let same_name = grouped.entry((read.document_id, form(&mention.name))).or_default();
            let fitting = same_name.iter().position(|local| local.kind.fits(kind));
            let place = fitting.unwrap_or_else(|| {
                same_name.push(Local::new(&mention.name, kind, read.document_id));
                same_name.len() - 1
            });
            let local = &mut same_name[place];
            local.add(mention, kind);
            local.mentions.push((at, number));
        }
    }
    let mut locals: Vec<Local> = grouped.into_values().flatten().collect();
    for local in &mut locals {
        let said: Vec<&str> = local.descriptions.iter().map(String::as_str).collect();
        local.described = Described::new(&local.name.form, &said.join(" "));
        local.print = print_of(&local.name.form, local.kind as u8, &local.descriptions);
    }
    locals.sort_by(|a, b| {
        (&a.name.form, a.print, a.document).cmp(&(&b.name.form, b.print, b.document))
    });
    locals
}

/// Entities with keys that tell namesakes apart.
fn profiles(locals: &[Local], groups: Vec<Vec<usize>>) -> Vec<Profile> {
    let mut profiles: Vec<Profile> =
        groups.into_iter().map(|group| profile(locals, group)).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for profile in &profiles {
        *counts.entry(profile.key.clone()).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for profile in &mut profiles {
        if counts[&profile.key] > 1 {
            profile.aliases.push(profile.key.clone());
            let plain = format!("{} ({})", profile.key, telling(locals, profile));
            // Nothing that is said tells them apart: their prints do.
            let print = profile.locals.iter().map(|at| locals[*at].print).min().unwrap_or(0);
            profile.key =
                if taken.contains(&plain) { format!("{plain} {print:016x}") } else { plain };
        }
        taken.insert(profile.key.clone());
    }
    profiles.sort_by(|a, b| a.key.cmp(&b.key));
    profiles
}

fn profile(locals: &[Local], mut group: Vec<usize>) -> Profile {
    group.sort_unstable();
    let mut said = Statements::default();
    for at in &group {
        let local = &locals[*at];
        for (name, count) in &local.shown {
            *said.shown.entry(name).or_default() += count;
        }
        for (kind, count) in &local.kinds {
            *said.kinds.entry(kind).or_default() += count;
        }
        said.descriptions.extend(local.descriptions.iter().map(String::as_str));
        said.forms.insert(local.name.form.clone());
        said.forms.extend(local.aliases.iter().cloned());
    }
    said.profile(group)
}

/// A few words that say which of several namesakes it is.
fn telling(locals: &[Local], profile: &Profile) -> String {
    let name_words = halma_core::text::content_words(&profile.name);
    let first = profile.locals.iter().min_by_key(|at| locals[**at].print);
    let said = first.and_then(|at| locals[*at].descriptions.first());
    let mut words = vec![profile.kind.clone()];
    words.retain(|kind| !kind.is_empty());
    if let Some(said) = said {
        let telling = halma_core::text::content_words(said);
        words.extend(telling.into_iter().filter(|word| !name_words.contains(word)).take(3));
    }
    if words.is_empty() { "unknown".to_owned() } else { words.join(" ") }
}
