//! The question that a comparison asks of each side.
use halma_core::text::capitalize;

use crate::lexicon::Lexicon;
use crate::lists::{Leads, is_listed, leads, lines};
use crate::verbs::Form;

/// What is question by cue words: `sort: words: name: question`.
const ATTRIBUTES: &str = include_str!("../../data/attributes.txt");

/// What is compared.
pub(crate) struct Attribute {
    /// Its name: `date of birth`.
    pub(crate) name: String,
    /// The question for one side.
    pub(crate) question: String,
}

pub(super) fn attribute(rest: &str, thing: &str, lexicon: &Lexicon) -> Attribute {
    let lower = rest.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    same(&words, thing)
        .or_else(|| dated(&words, thing))
        .or_else(|| counted(&words, thing))
        .or_else(|| degree(&words, thing))
        .unwrap_or_else(|| statement(rest, thing, lexicon))
}

fn named(name: &str, question: String) -> Attribute {
    Attribute { name: name.to_owned(), question }
}

/// The attribute of the first rule of a sort that has one of the words.
fn by_rule(sort: &str, words: &[&str], thing: &str) -> Option<Attribute> {
    lines(ATTRIBUTES).filter(|(name, _)| *name == sort).find_map(|(_, rule)| {
        let (cues, rule) = rule.split_once(": ")?;
        let (name, question) = rule.split_once(": ").filter(|_| signals(cues, words))?;
        Some(named(name, question.replace("{}", thing)))
    })
}

fn signals(cues: &str, words: &[&str]) -> bool {
    cues.split(' ').any(|cue| words.contains(&cue))
}

/// `the same nationality`
fn same(words: &[&str], thing: &str) -> Option<Attribute> {
    let at = words.iter().position(|word| ["same", "share"].contains(word))?;
    let ruled = by_rule("same", words, thing);
    if ruled.is_some() {
        return ruled;
    }
    let mut nouns = words[at + 1..].iter().filter(|word| !["the", "same"].contains(word));
    let noun = nouns.next().copied().unwrap_or("kind");
    let is_country = signals("country nation", words);
    let is_inside = signals("located situated in", words) && !words.contains(&"from");
    Some(match noun {
        _ if is_country && is_inside => named("country", format!("In which country is {thing}?")),
        _ if is_country => named("country", format!("Which country is {thing} from?")),
        place if is_listed("place", place) => named(noun, format!("In which {noun} is {thing}?")),
        _ => named(noun, format!("What is the {noun} of {thing}?")),
    })
}

/// `older`, `died first`, `released earlier`; not for a statement about both.
fn dated(words: &[&str], thing: &str) -> Option<Attribute> {
    if words.contains(&"both") {
        return None;
    }
    let begun = || {
        let begun = words.iter().find(|word| is_listed("beginning", word))?;
        Some(named(&format!("date {begun}"), format!("When was {thing} {begun}?")))
    };
    by_rule("dated", words, thing).or_else(begun).or_else(|| by_rule("newer", words, thing))
}

/// `more inhabitants`
fn counted(words: &[&str], thing: &str) -> Option<Attribute> {
    let at = words.iter().position(|word| ["more", "most", "fewer", "fewest"].contains(word))?;
    let noun = words.get(at + 1).filter(|noun| noun.ends_with('s') || **noun == "people")?;
    Some(named(noun, format!("How many {noun} does {thing} have?")))
}

/// `deeper`
fn degree(words: &[&str], thing: &str) -> Option<Attribute> {
    let compares = |word: &&&str| word.ends_with("er") || word.ends_with("est");
    let measure = |word: &str| {
        let mut degrees = lines(ATTRIBUTES).filter(|(sort, _)| *sort == "degree");
        degrees.find_map(|(_, rule)| {
            let (stems, measure) = rule.split_once(": ")?;
            stems.split(' ').any(|stem| word.starts_with(stem)).then_some(measure)
        })
    };
    let measured = words.iter().filter(compares).find_map(|word| measure(word))?;
    Some(named(measured, format!("How {measured} is {thing}?")))
}

/// The rest of the question as a question about one side: `Is A a silent film?`
fn statement(rest: &str, thing: &str, lexicon: &Lexicon) -> Attribute {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let opens = words.first().map(|word| word.to_lowercase()).unwrap_or_default();
    let one = match opens.as_str() {
        "who" | "which" | "what" | "whose" | "whom" => return selection(&words, thing),
        "are" => "Is",
        "were" => "Was",
        "do" => "Does",
        "have" => "Has",
        "did" => "Did",
        other => return named(rest, format!("{} {thing}?", capitalize(other))),
    };
    let said: Vec<&str> = words[1..].iter().copied().filter(|word| *word != "both").collect();
    let phrase = said.join(" ");
    let form = said.first().and_then(|word| lexicon.verbs.form(word));
    let verbal = form.is_some_and(|form| form != Form::Base);
    let noun = ["Is", "Was"].contains(&one) && said.len() < 4 && !verbal;
    let single = if noun { singular(&phrase) } else { None };
    let question = format!("{one} {thing} {}", single.as_deref().unwrap_or(&phrase));
    named(&phrase, question.trim_end().to_owned() + "?")
}

/// `Which singer is a Dane` of one singer: `Is A a Dane?`
fn selection(words: &[&str], thing: &str) -> Attribute {
    const VERBS: &[&str] = &["is", "was", "are", "were", "has", "had", "did", "does"];
    let (verb, said) = match words.iter().position(|word| VERBS.contains(word)) {
        Some(at) => (capitalize(words[at]), words[at + 1..].join(" ")),
        None => ("What of".to_owned(), words[1..].join(" ")),
    };
    let question = format!("{verb} {thing} {said}").trim_end().to_owned() + "?";
    named(if said.is_empty() { "what is question" } else { &said }, question)
}

/// `a silent film` for `silent films`
fn singular(phrase: &str) -> Option<String> {
    let one = match phrase.strip_suffix("ies") {
        Some(rest) => format!("{rest}y"),
        None => phrase.strip_suffix('s').filter(|one| one.len() > 2)?.to_owned(),
    };
    let vowel = one.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u']);
    Some(format!("{} {one}", if vowel { "an" } else { "a" }))
}

/// The role that is compared instead of the thing itself: `which film has the older director`.
pub(super) fn role(rest: &str) -> Option<String> {
    let lower = rest.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|word| leads(word) == Some(Leads::Person))?;
    // `which director is older` compares directors.
    let led = words[..at].iter().any(|word| ["has", "have", "had", "whose", "with"].contains(word));
    let one = words[at].strip_suffix('s').filter(|one| leads(one).is_some()).unwrap_or(words[at]);
    led.then(|| one.to_owned())
}
