//! Which sentences of some passages support an answer or a claim. Rules over words, names and
//! numbers; claim and passages must be in one language, names and numbers aside.
mod lines;
mod terms;

use std::collections::HashSet;
use std::ops::Range;

use self::lines::{PassageLine, Weights};
use self::terms::{TermKind, Terms, each_term, number, terms};
use crate::{sentences, words};

/// The most sentences that explain one answer.
const MAX_SENTENCES: usize = 5;

/// The share of the weight of question and reason that a further sentence must add.
const LEAST_GAIN: f32 = 0.1;

/// The share of a claim's names, and of its other words, that its source must contain. Numbers must
/// all be there.
const LEAST_NAMES: f32 = 0.75;
const LEAST_WORDS: f32 = 0.5;

/// A passage with the title of its document, which counts as part of every sentence.
#[derive(Debug, Clone, Copy)]
pub struct TitledText<'a> {
    pub title: &'a str,
    pub text: &'a str,
}

/// An answer that passages are to explain.
#[derive(Debug, Clone, Copy)]
pub struct Explained<'a> {
    pub question: &'a str,
    pub answer: &'a str,
    /// The reader's account of how the answer follows; may be empty.
    pub reason: &'a str,
}

/// A sentence of a passage; `range` is in bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Index into the passages.
    pub passage: usize,
    pub range: Range<usize>,
}

/// Whether the sources contain the numbers, the names and most of the other words of a claim.
pub fn is_supported(claim: &str, sources: &[TitledText<'_>]) -> bool {
    let mut source_terms = Terms::default();
    for source in sources {
        source_terms.extend(source.title);
        source_terms.extend(source.text);
    }
    let (mut names, mut others) = (vec![], vec![]);
    let (mut at, mut is_number_missing) = (0, false);
    each_term(claim, |stem, kind| {
        let is_supported = source_terms.contains(stem);
        match kind {
            TermKind::Number => is_number_missing |= !is_supported,
            // The first word has a capital wherever it comes from.
            TermKind::Name if at > 0 => names.push(is_supported),
            _ => others.push(is_supported),
        }
        at += 1;
    });
    if is_number_missing {
        return false;
    }
    let enough = |supported: &[bool], least| supported.is_empty() || share(supported) >= least;
    !sources.is_empty() && enough(&names, LEAST_NAMES) && enough(&others, LEAST_WORDS)
}

/// The sentence of `text` that shares most with a claim, in bytes.
pub fn nearest_sentence(claim: &str, text: &str) -> Option<Range<usize>> {
    let mut claimed = Terms::default();
    claimed.extend(claim);
    let shared = |range: Range<usize>| {
        let mut matched: HashSet<u64> = HashSet::new();
        each_term(&text[range.clone()], |stem, _| {
            matched.extend(claimed.0.get(&number(stem)).copied());
        });
        (matched.len(), range)
    };
    // The first of equals.
    let (shared, range) = prose(text).rev().map(shared).max_by_key(|(shared, _)| *shared)?;
    (shared > 0).then_some(range)
}

/// The sentences that lead from a question to its answer, in the order of the passages: the one
/// that holds the answer, those that hold what else the question and the reader's reason name, and
/// one that links them. Empty where no passage has anything to do with the question.
pub fn explain(explained: Explained<'_>, passages: &[TitledText<'_>]) -> Vec<Sentence> {
    let lines = PassageLine::read_all(passages);
    let weights = Weights::new(explained, &lines);
    let wanted = words_of(explained.answer);
    let judgement = wanted.is_empty() || wanted == ["yes"] || wanted == ["no"];
    let mut chosen: Vec<usize> = vec![];
    let mut missing = weights.of.clone();
    if !judgement {
        let stems: Vec<u64> = terms(explained.answer).into_iter().map(|(stem, _)| stem).collect();
        // Reading its words again is the dear part.
        let may_hold = |at: &usize| stems.iter().all(|stem| lines[*at].has(*stem));
        let holding =
            (0..lines.len()).filter(may_hold).filter(|&at| lines[at].holds(&wanted, passages));
        let best = holding
            .rev()
            .max_by(|&a, &b| lines[a].gain(&missing).total_cmp(&lines[b].gain(&missing)));
        chosen.extend(best);
    }
    loop {
        for &at in &chosen {
            missing.retain(|(stem, _)| !lines[at].has(*stem));
        }
        let free = (0..lines.len()).filter(|at| !chosen.contains(at)).rev();
        let gains = free.map(|at| (at, lines[at].gain(&missing)));
        let Some((at, gain)) = gains.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        let named =
            missing.iter().any(|(stem, _)| weights.named.contains(stem) && lines[at].has(*stem));
        let enough = gain >= LEAST_GAIN * weights.total && (named || chosen.is_empty());
        if chosen.len() >= MAX_SENTENCES || !enough {
            break;
        }
        chosen.push(at);
    }
    chosen.extend(link(&lines, &chosen));
    chosen.sort_unstable();
    chosen.into_iter().map(|at| lines[at].sentence.clone()).collect()
}

/// A sentence that shares a name with the first chosen sentence and one with another, where these
/// share none themselves.
fn link(lines: &[PassageLine], chosen: &[usize]) -> Option<usize> {
    let (&first, others) = chosen.split_first().filter(|(_, others)| !others.is_empty())?;
    let named = |line: usize, stem: &u64| lines[line].names.binary_search(stem).is_ok();
    let near = |a: usize, b: usize| lines[a].names.iter().filter(|stem| named(b, stem)).count();
    if others.iter().any(|&other| near(first, other) > 0) {
        return None;
    }
    let score =
        |at: usize| near(at, first).min(others.iter().map(|&o| near(at, o)).max().unwrap_or(0));
    let free = (0..lines.len()).filter(|at| !chosen.contains(at)).rev();
    free.max_by_key(|&at| score(at)).filter(|&at| score(at) > 0)
}

/// The answer in sentences of the passages, each with the number of its passage: `… in 1931 [2].`
/// A pronoun at the head of a sentence becomes the title of its passage.
pub fn compose(explained: Explained<'_>, passages: &[TitledText<'_>]) -> String {
    let answer = explained.answer.trim();
    let wanted = words_of(answer);
    let mut out: Vec<String> = vec![];
    for Sentence { passage, range } in explain(explained, passages) {
        let TitledText { title, text } = passages[passage];
        let text = without_markdown(&text[range]).replace('\n', " ");
        let text = with_subject(&text, title);
        let lead = out.is_empty()
            && !words_of(&text).windows(wanted.len().max(1)).any(|run| run == wanted);
        let lead = match answer.to_lowercase().as_str() {
            "yes" => "Yes: ".to_owned(),
            "no" => "No: ".to_owned(),
            _ if lead => format!("The answer is {answer}: "),
            _ => String::new(),
        };
        let lead = if out.is_empty() { lead } else { String::new() };
        out.push(lead + &with_mark(&text, passage + 1));
    }
    if out.is_empty() { answer.to_owned() } else { out.join(" ") }
}

/// A text with, after each sentence, the number of the first passage that supports it.
pub fn sentences_with_sources(text: &str, passages: &[TitledText<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in sentences(text) {
        out.push_str(&text[at..range.start]);
        let sentence = &text[range.clone()];
        match passages.iter().position(|passage| is_supported(sentence, &[*passage])) {
            Some(passage) if !sentence.contains('[') => {
                out.push_str(&with_mark(sentence, passage + 1));
            }
            _ => out.push_str(sentence),
        }
        at = range.end;
    }
    out + &text[at..]
}

/// The number of a passage before the full stop of a sentence.
fn with_mark(sentence: &str, number: usize) -> String {
    let body = sentence.trim_end_matches(['.', '!', '?', '。', ' ', ':', ';', ',']);
    let stop = sentence[body.len()..].trim_matches([' ', ':', ';', ',']);
    format!("{body} [{number}]{}", if stop.is_empty() { "." } else { stop })
}

/// The sentence with the title in place of a pronoun at its head.
fn with_subject(sentence: &str, title: &str) -> String {
    let (first, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    match first {
        _ if title.is_empty() => sentence.to_owned(),
        "He" | "She" | "It" | "They" => format!("{title} {rest}"),
        "His" | "Her" | "Its" | "Their" => format!("{title}'s {rest}"),
        _ => sentence.to_owned(),
    }
}

/// The text without Markdown's marks for headings, lists, emphasis, links and tables.
pub fn without_markdown(text: &str) -> String {
    let mut lines: Vec<String> = vec![];
    for line in text.lines() {
        let line = line.trim();
        let rule = !line.is_empty() && line.chars().all(|c| "|-:=* ".contains(c));
        let line = line.trim_start_matches(['#', '>']).trim_start();
        let line = ["- ", "* ", "+ "].iter().find_map(|m| line.strip_prefix(m)).unwrap_or(line);
        let cells: Vec<&str> = line.split('|').map(str::trim).filter(|c| !c.is_empty()).collect();
        let line = if line.starts_with('|') { cells.join(", ") } else { line.to_owned() };
        if !rule {
            lines.push(without_links(&line).replace("**", "").replace("__", "").replace('`', ""));
        }
    }
    lines.join("\n").trim().to_owned()
}

/// `[label](address)` as `label`.
fn without_links(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(middle) = rest.find("](") {
        let (Some(open), Some(close)) = (rest[..middle].rfind('['), rest[middle..].find(')'))
        else {
            break;
        };
        out.push_str(rest[..open].trim_end_matches('!'));
        out.push_str(&rest[open + 1..middle]);
        rest = &rest[middle + close + 1..];
    }
    out + rest
}

#[expect(clippy::cast_precision_loss, reason = "a claim has few words")]
fn share(supported: &[bool]) -> f32 {
    supported.iter().filter(|is_supported| **is_supported).count() as f32 / supported.len() as f32
}

fn words_of(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| !matches!(word.as_str(), "a" | "an" | "the")).collect()
}

/// The sentences of a text, without headings and the rules of tables.
fn prose(text: &str) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let heading = |range: &Range<usize>| text[range.clone()].starts_with('#');
    sentences(text).into_iter().filter(move |range| !heading(range))
}

#[cfg(test)]
mod tests;
