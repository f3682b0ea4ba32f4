//! Entities and facts of a chunk by the model: what of a reply the text supports, and how it is kept.
use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use crate::store::{EntityMention, Extraction, StatedFact};
use crate::terms::{abbreviates, form, is_abbreviation, occurs, occurs_somehow};

/// The most that are kept of one chunk; a reply with more is cut, and that is reported.
pub(crate) const MAX_ENTITIES: usize = 60;
pub(crate) const MAX_FACTS: usize = 80;

/// Longer names and relations are not accepted.
const LONGEST_NAME: usize = 200;
/// Descriptions and sentences are cut here.
const LONGEST_TEXT: usize = 500;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FactsReply {
    entities: Vec<NamedEntity>,
    facts: Vec<Triple>,
}

#[derive(Debug, Clone, Deserialize)]
struct NamedEntity {
    name: String,
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Triple {
    head: String,
    relation: String,
    tail: String,
    #[serde(default)]
    sentence: Option<String>,
}

impl FactsReply {
    /// What the model should correct.
    pub(crate) fn complaint(&self, text: &str) -> Option<String> {
        let names: BTreeSet<String> = self.entities.iter().map(|e| form(&e.name)).collect();
        let mut unknown = BTreeSet::new();
        for end in self.facts.iter().flat_map(|fact| [&fact.head, &fact.tail]) {
            let end_form = form(end);
            // An end that stands in the text is an entity anyway: no second call for that.
            if !names.contains(&end_form) && !occurs_somehow(&end_form, text) {
                unknown.insert(end.trim());
            }
        }
        let invented = |e: &&NamedEntity| !occurs_somehow(&form(&e.name), text);
        let invented: Vec<&str> =
            self.entities.iter().filter(invented).map(|e| e.name.trim()).take(5).collect();
        let unknown: Vec<&str> = unknown.into_iter().take(5).collect();
        let mut complaint = vec![];
        if !unknown.is_empty() {
            let list = unknown.join("`, `");
            complaint.push(format!("facts have ends that are not in `entities`: `{list}`"));
        }
        if !invented.is_empty() {
            let list = invented.join("`, `");
            complaint.push(format!("names do not occur in the passage: `{list}`"));
        }
        (!complaint.is_empty()).then(|| complaint.join("; "))
    }

    /// What is kept. `whole` is the passage as the model saw it.
    pub(crate) fn accept(self, whole: &str) -> Extraction {
        let text = form(whole);
        let mut acceptance =
            Acceptance { text: &text, extract: Extraction::default(), by_form: HashMap::new() };
        for entity in self.entities {
            acceptance.add_entity(entity);
        }
        for fact in self.facts {
            acceptance.add_fact(fact);
        }
        let mut extract = acceptance.extract;
        for (short, long) in bracketed(whole) {
            let of_long = extract.mentions.iter_mut().find(|s| form(&s.name) == long);
            if let Some(mention) = of_long.filter(|s| !s.aliases.contains(&short)) {
                mention.aliases.push(short);
            }
        }
        extract
    }

    /// A reply made of parts, for replies that were recorded elsewhere.
    #[cfg(test)]
    pub(crate) fn recorded(names: Vec<String>, triples: Vec<[String; 3]>) -> Self {
        let entity = |name| NamedEntity { name, kind: None, description: None };
        let triple = |[head, relation, tail]: [String; 3]| {
            let sentence = None;
            Triple { head, relation, tail, sentence }
        };
        Self {
            entities: names.into_iter().map(entity).collect(),
            facts: triples.into_iter().map(triple).collect(),
        }
    }
}

struct Acceptance<'t> {
    text: &'t str,
    extract: Extraction,
    by_form: HashMap<String, u32>,
}

impl Acceptance<'_> {
    fn add_entity(&mut self, entity: NamedEntity) {
        let named = form(&entity.name);
        let left_out = &mut self.extract.left_out;
        if named.is_empty() || named.len() > LONGEST_NAME || !occurs_somehow(&named, self.text) {
            left_out.invented += 1;
            return;
        }
        let (kind, description) = (entity.kind.unwrap_or_default(), entity.description);
        let description = cut(description.unwrap_or_default().trim());
        if let Some(at) = self.by_form.get(&named) {
            // The same name twice: what the second adds is kept.
            let mention = &mut self.extract.mentions[*at as usize];
            if mention.description.is_empty() {
                mention.description = description;
            }
            return;
        }
        if self.extract.mentions.len() >= MAX_ENTITIES {
            left_out.beyond_limit += 1;
            return;
        }
        let mention = EntityMention {
            name: entity.name.split_whitespace().collect::<Vec<_>>().join(" "),
            kind: kind.trim().to_lowercase(),
            description,
            aliases: vec![],
            times: count(&named, self.text),
        };
        self.put(named, mention);
    }

    fn put(&mut self, named: String, mention: EntityMention) -> u32 {
        let at = u32::try_from(self.extract.mentions.len()).unwrap_or(u32::MAX);
        self.extract.mentions.push(mention);
        self.by_form.insert(named, at);
        at
    }

    fn add_fact(&mut self, fact: Triple) {
        if self.extract.facts.len() >= MAX_FACTS {
            self.extract.left_out.beyond_limit += 1;
            return;
        }
        let relation = fact.relation.split_whitespace().collect::<Vec<_>>().join(" ");
        let ends = (self.end(&fact.head), self.end(&fact.tail));
        let (Some(head), Some(tail)) = ends else {
            self.extract.left_out.unknown_ends += 1;
            return;
        };
        if head == tail || relation.is_empty() || relation.len() > LONGEST_NAME {
            self.extract.left_out.unknown_ends += 1;
            return;
        }
        let name = |at: u32| self.extract.mentions[at as usize].name.clone();
        let said = cut(fact.sentence.unwrap_or_default().trim());
        let text = if said.is_empty() {
            format!("{} {relation} {}.", name(head), name(tail))
        } else {
            said
        };
        let again = |other: &StatedFact| {
            (other.head, other.tail) == (head, tail) && other.relation == relation
        };
        if !self.extract.facts.iter().any(again) {
            self.extract.facts.push(StatedFact { head, relation, tail, text });
        }
    }

    /// The mention of a fact's end. One that the model did not list is a plain entity if the text
    /// has it.
    fn end(&mut self, name: &str) -> Option<u32> {
        let named = form(name);
        if let Some(at) = self.by_form.get(&named) {
            return Some(*at);
        }
        let plain = !named.is_empty()
            && named.len() <= LONGEST_NAME
            && self.extract.mentions.len() < MAX_ENTITIES
            && occurs(&named, self.text);
        plain.then(|| {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let (kind, description, aliases) = (String::new(), String::new(), vec![]);
            let times = count(&named, self.text);
            self.put(named, EntityMention { name, kind, description, aliases, times })
        })
    }
}

/// `World Health Organization (WHO)` and `WHO (World Health Organization)` in a text, as pairs of
/// the short form as written and the long one's form.
fn bracketed(text: &str) -> Vec<(String, String)> {
    let mut pairs = vec![];
    for (at, _) in text.match_indices('(') {
        let Some(end) = text[at..].find(')') else { break };
        let (inner, before) = (text[at + 1..at + end].trim(), text[..at].trim_end());
        let words: Vec<&str> = before.split_whitespace().rev().take(8).collect();
        if is_abbreviation(inner) {
            let short = form(inner);
            // The longest run of words before the bracket that it abbreviates.
            let long = (2..=words.len()).rev().find_map(|count| {
                let run: Vec<&str> = words[..count].iter().rev().copied().collect();
                let long = form(&run.join(" "));
                abbreviates(&short, &long).then_some(long)
            });
            pairs.extend(long.map(|long| (inner.to_owned(), long)));
        } else if let Some(short) = words.first().filter(|word| is_abbreviation(word)) {
            let long = form(inner);
            if abbreviates(&form(short), &long) {
                pairs.push(((*short).to_owned(), long));
            }
        }
    }
    pairs
}

/// How often a name stands in a text, once at least: it may stand there in another form.
fn count(named: &str, text: &str) -> u32 {
    let text = format!(" {text} ");
    let occurrences = text.matches(&format!(" {named} ")).count();
    u32::try_from(occurrences.max(1)).unwrap_or(u32::MAX)
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}
