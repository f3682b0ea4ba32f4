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
pub(crate) mod names;
mod senses;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub(crate) use self::across::BLOCK;
use self::clusters::Clusters;
use self::description_match::Described;
pub(crate) use self::description_match::EntityKind;
pub(crate) use self::name_similarity::{Name, NameSimilarity, block_id, declared_block, form_id};
use self::names::{form, is_abbreviation};
use super::extracted_chunk::ExtractedChunk;
use super::extraction::{EntityMention, print_of};
use crate::store::Id;

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

/// Why two clusters of mentions were joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// The text gives the short form in brackets.
    Bracket,
    /// A last name in a document that has one full name with it.
    LastName,
    /// The same name, described alike.
    LikeDescriptions,
    /// The same name of things that rarely share one, and nothing speaks against it.
    SameName,
    /// The model's verdict.
    Verdict,
    Spelling,
    Company,
    Honorific,
    MiddleName,
    Initials,
    /// `Jaws (film)` and `Jaws`.
    Qualifier,
    Abbreviation,
}

/// How two clusters became one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MergeRecord {
    pub(crate) rule: MergeRule,
    pub(crate) one: ClusterSnapshot,
    pub(crate) two: ClusterSnapshot,
    /// How much the descriptions agree, in `[0, 1]`.
    pub(crate) score: f32,
    /// The model's words, where it was asked.
    pub(crate) reason: String,
}

/// One of two clusters as it was when they were joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClusterSnapshot {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    /// Id of the document that says so.
    pub(crate) from: Id,
    /// Ids of documents, some of them.
    pub(crate) documents: Vec<Id>,
    /// Prints of what was joined, some of them.
    pub(crate) prints: Vec<Id>,
}

/// A verdict of the model, by the prints of what it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PairVerdict {
    pub(crate) one: Id,
    pub(crate) two: Id,
    pub(crate) same: bool,
    pub(crate) reason: String,
    /// Ids of the documents whose words it was shown.
    pub(crate) documents: Vec<Id>,
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
struct Statements<'a> {
    shown: BTreeMap<&'a str, u32>,
    kinds: BTreeMap<&'a str, u32>,
    descriptions: BTreeSet<&'a str>,
    forms: BTreeSet<String>,
}

impl Statements<'_> {
    fn profile(mut self, locals: Vec<usize>) -> Profile {
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
