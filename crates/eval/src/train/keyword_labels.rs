//! Labels for keywords (DEC, Section 3.2): which words of a sub-question bring the passage that
//! answers it, and few others.
//!
//! ```text
//! D*(K) = {d in the base: all K occur in d}
//! Eq. 9   I(K) = 1 where all K occur in a gold passage
//! Eq. 6   K* = argmax |D*(K) ∩ gold| / |D*(K)|
//! ```
//!
//! The paper labels what the model replied and relies on Eq. 9 alone, which `film` meets too. Here
//! Eq. 6 chooses among all parts of the reply, which costs no call, and labels that bring many
//! passages are dropped.
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use halma_core::text::{normalise_name, words};
use halma_core::{Prompts, Question};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::json;

use super::chat::{ChatFormat, Example, Recipe, files};
use super::error::TrainError;
use super::folder::write_again;
use super::keyword_runs::{Run, SearchedFor, read};
use super::leaks::{HeldOut, Leak, Share, worded};
use super::pairs::prompt_hash;
use crate::data::Passage;
use crate::metrics::GoldPassage;

const PROMPT: &str = "dec/keywords";

/// Keywords of one reply whose parts are tried: 63 sets.
const MAX_KEYWORDS: usize = 6;

/// How labels are made.
pub struct LabelRules<'a> {
    pub format: ChatFormat,
    /// The prompts in use when the model is served.
    pub prompts: &'a Prompts,
    /// All chunks of the base.
    pub passages: &'a [Passage],
    /// Labels that bring more passages than this are dropped.
    pub max_passages: usize,
    pub held_out: Option<&'a HeldOut>,
    pub share: Share,
    pub force: bool,
}

/// What was made of the runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct KeywordStatistics {
    pub sub_questions: usize,
    pub train: usize,
    pub held_out: usize,
    /// Labels by their number of keywords.
    pub keywords: BTreeMap<usize, usize>,
    /// Labels that are the whole reply; the others are a part of it.
    pub whole_replies: usize,
    /// The mean of Eq. 6 over the labels.
    pub precision: f64,
    /// Left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
    pub prompt_hash: String,
}

/// The words of every passage of the base, as recall compares them.
struct Terms {
    passages: Vec<(Vec<String>, Vec<String>)>,
}

/// A label with what decided on it.
struct Label {
    keywords: Vec<String>,
    precision: f64,
    whole: bool,
}

/// Makes the files of a training set from the runs that `folder` holds. The same runs over the
/// same base give the same bytes.
pub fn label_keywords(
    folder: &Path,
    rules: &LabelRules<'_>,
) -> Result<KeywordStatistics, TrainError> {
    let runs = read(folder)?;
    let base = Terms::new(rules.passages);
    let mut statistics =
        KeywordStatistics { prompt_hash: prompt_hash(rules.prompts, PROMPT), ..Default::default() };
    let mut labels: BTreeMap<String, (bool, Example)> = BTreeMap::new();
    let mut sum = 0.0;
    for (run, searched) in in_order(&runs) {
        statistics.sub_questions += 1;
        let key = worded(&searched.query);
        let label = if labels.contains_key(&key) {
            Err("sub-questions that come twice")
        } else if leaks(run, &searched.query, rules.held_out) {
            Err("sub-questions of held-out questions")
        } else {
            label(searched, &run.gold, &base, rules.max_passages)
        };
        match label {
            Ok(label) => {
                *statistics.keywords.entry(label.keywords.len()).or_default() += 1;
                statistics.whole_replies += usize::from(label.whole);
                sum += label.precision;
                let is_held_out = rules.share.holds_out(&run.question);
                labels.insert(key, (is_held_out, example(rules.prompts, &searched.query, &label)?));
            }
            Err(why) => *statistics.left_out.entry(why).or_default() += 1,
        }
    }
    let (held_out, train): (Vec<_>, Vec<_>) =
        labels.into_values().partition(|(is_held_out, _)| *is_held_out);
    let plain = |labels: Vec<(bool, Example)>| -> Vec<Example> {
        labels.into_iter().map(|(_, example)| example).collect()
    };
    let (train, held_out) = (plain(train), plain(held_out));
    (statistics.train, statistics.held_out) = (train.len(), held_out.len());
    if train.is_empty() {
        let reasons: Vec<String> =
            statistics.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
        return Err(TrainError::NoKeywords { reasons: reasons.join(", ") });
    }
    let all = crate::figures::number(train.len() + held_out.len());
    statistics.precision = (1e4 * sum / all).round() / 1e4;
    let files = files(rules.format, Recipe::Keywords, (&train, &held_out));
    write_again(folder, files, json!(statistics), rules.force)?;
    Ok(statistics)
}

/// Sub-questions in the order of their questions' ids: several were run at once.
fn in_order(runs: &[Run]) -> Vec<(&Run, &SearchedFor)> {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by(|a, b| a.question.cmp(&b.question));
    runs.into_iter().flat_map(|run| run.searched.iter().map(move |s| (run, s))).collect()
}

fn leaks(run: &Run, query: &str, held_out: Option<&HeldOut>) -> bool {
    let Some(held_out) = held_out else { return false };
    let is_held_out = |text: &str| held_out.leak(text, &[]) == Some(Leak::Question);
    is_held_out(query) || is_held_out(&run.text)
}

fn example(prompts: &Prompts, query: &str, label: &Label) -> Result<Example, TrainError> {
    let question = Question::new(query);
    let rendered = prompts.render(PROMPT, &context! { question => Serde(&question) })?;
    let reply = json!({ "keywords": label.keywords }).to_string();
    Ok(Example { prompt: rendered.messages, reply, rejected: None })
}

/// The part of the reply that Eq. 6 prefers among those that meet Eq. 9, or why there is none.
fn label(
    searched: &SearchedFor,
    gold: &[GoldPassage],
    base: &Terms,
    max_passages: usize,
) -> Result<Label, &'static str> {
    let keywords = in_question(searched);
    if keywords.is_empty() {
        return Err("sub-questions without keywords");
    }
    let gold_terms: Vec<(Vec<String>, Vec<String>)> =
        gold.iter().map(|passage| (terms(&passage.title), terms(&passage.text))).collect();
    let holding: Vec<HashSet<usize>> = keywords.iter().map(|(_, k)| base.holding(k)).collect();
    let gold_in_base: HashSet<usize> =
        gold.iter().flat_map(|passage| base.places(passage)).collect();
    let (mut best, mut meets, mut fits): (Option<(f64, usize, u32)>, bool, bool) =
        (None, false, false);
    for set in 1_u32..(1 << keywords.len()) {
        let members: Vec<usize> = (0..keywords.len()).filter(|i| set & (1 << i) != 0).collect();
        let occur = |(title, text): &(Vec<String>, Vec<String>)| {
            members.iter().all(|&i| occurs(&keywords[i].1, title) || occurs(&keywords[i].1, text))
        };
        if !gold_terms.iter().any(occur) {
            continue;
        }
        meets = true;
        let passages = members.iter().map(|&i| holding[i].clone());
        let passages =
            passages.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default();
        if passages.is_empty() || passages.len() > max_passages {
            continue;
        }
        fits = true;
        let right = passages.intersection(&gold_in_base).count();
        let precision = crate::figures::ratio(right as u64, passages.len() as u64);
        let length: usize = members.iter().map(|&i| keywords[i].1.len()).sum();
        // The most precise, then the fewest words, then those that come first.
        let better = best.is_none_or(|(p, l, _)| precision > p || (precision >= p && length < l));
        if precision > 0.0 && better {
            best = Some((precision, length, set));
        }
    }
    let Some((precision, _, set)) = best else {
        return Err(match (meets, fits) {
            (false, _) => "labels that no gold passage holds (Eq. 9)",
            (true, false) => "labels that bring too many passages, or none (Eq. 6)",
            (true, true) => "labels that bring no gold passage (Eq. 6)",
        });
    };
    let whole = set.count_ones() as usize == keywords.len();
    let kept = keywords.into_iter().enumerate().filter(|(i, _)| set & (1 << i) != 0);
    Ok(Label { keywords: kept.map(|(_, (text, _))| text).collect(), precision, whole })
}

/// The keywords that stand in the sub-question, in the order in which they do, each once.
fn in_question(searched: &SearchedFor) -> Vec<(String, Vec<String>)> {
    let question = terms(&searched.query);
    let mut keywords: Vec<(usize, String, Vec<String>)> = vec![];
    for keyword in &searched.keywords {
        let worded = terms(keyword);
        let place = question.windows(worded.len().max(1)).position(|window| window == worded);
        if let Some(place) =
            place.filter(|_| !keywords.iter().any(|(.., earlier)| *earlier == worded))
        {
            keywords.push((place, keyword.trim().to_owned(), worded));
        }
    }
    keywords.sort_by_key(|(place, ..)| *place);
    keywords.truncate(MAX_KEYWORDS);
    keywords.into_iter().map(|(_, text, worded)| (text, worded)).collect()
}

impl Terms {
    fn new(passages: &[Passage]) -> Self {
        let of = |passage: &Passage| (terms(&passage.title), terms(&passage.text));
        Self { passages: passages.iter().map(of).collect() }
    }

    /// The passages in whose title or text a keyword occurs.
    fn holding(&self, keyword: &[String]) -> HashSet<usize> {
        let holds = |(title, text): &(Vec<String>, Vec<String>)| {
            occurs(keyword, title) || occurs(keyword, text)
        };
        let all = self.passages.iter().enumerate();
        all.filter(|(_, passage)| holds(passage)).map(|(at, _)| at).collect()
    }

    /// The chunks that are a part of a gold passage, or hold a sentence that is given as one.
    fn places(&self, gold: &GoldPassage) -> Vec<usize> {
        let (title, text) = (terms(&gold.title), terms(&gold.text));
        if title.is_empty() && text.is_empty() {
            return vec![];
        }
        let inside = |(passage_title, passage_text): &(Vec<String>, Vec<String>)| {
            (title.is_empty() || *passage_title == title)
                && (text.is_empty() || occurs(passage_text, &text) || occurs(&text, passage_text))
        };
        let all = self.passages.iter().enumerate();
        all.filter(|(_, passage)| inside(passage)).map(|(at, _)| at).collect()
    }
}

/// Terms(d), as DEC's recall compares them.
fn terms(text: &str) -> Vec<String> {
    words(&normalise_name(text))
}

fn occurs(keyword: &[String], text: &[String]) -> bool {
    !keyword.is_empty() && text.windows(keyword.len()).any(|window| window == keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages() -> Vec<Passage> {
        let passage = |(title, text): (&str, &str)| Passage {
            title: title.into(),
            text: text.into(),
            html: false,
        };
        [
            ("Low Tide", "Low Tide is a film of 1974 by Mara Quill."),
            ("High Noon", "High Noon is a film of 1952."),
            ("Mara Quill", "Mara Quill made the film Low Tide."),
            ("Reefs", "A reef is a ridge."),
        ]
        .map(passage)
        .to_vec()
    }

    fn labelled(
        query: &str,
        keywords: &[&str],
        max_passages: usize,
    ) -> Result<(String, f64), &'static str> {
        let keywords = keywords.iter().map(|k| (*k).to_owned()).collect();
        let searched = SearchedFor { query: query.into(), keywords };
        let gold = GoldPassage {
            title: "Low Tide".into(),
            text: "Low Tide is a film of 1974 by Mara Quill.".into(),
        };
        let base = Terms::new(&passages());
        label(&searched, &[gold], &base, max_passages).map(|l| (l.keywords.join("|"), l.precision))
    }

    #[test]
    fn the_most_precise_part_of_the_reply_is_the_label() {
        let query = "Who made the film Low Tide of 1974?";
        // `film` is in three passages, `Low Tide` in two, `1974` in one: the gold one.
        assert_eq!(labelled(query, &["1974", "Low Tide", "film"], 5), Ok(("1974".into(), 1.0)));
        assert_eq!(labelled(query, &["low tide", "film"], 5), Ok(("low tide".into(), 0.5)));
        // A keyword that is in no gold passage is left out of the label.
        let made = labelled("Who made Low Tide in Rome?", &["Low Tide", "Rome"], 5);
        assert_eq!(made, Ok(("Low Tide".into(), 0.5)));
    }

    #[test]
    fn a_sentence_of_a_chunk_is_evidence_of_it() {
        let base = Terms::new(&passages());
        let gold = |title: &str, text: &str| GoldPassage { title: title.into(), text: text.into() };
        assert_eq!(base.places(&gold("", "is a film of 1974")), [0]);
        assert_eq!(base.places(&gold("High Noon", "")), [1]);
        assert_eq!(base.places(&gold("Reefs", "A reef is a ridge. It is long.")), [3]);
        assert!(base.places(&gold("", " ")).is_empty());
    }

    #[test]
    fn what_brings_nothing_or_too_much_has_no_label() {
        let reason = |query, keywords: &[&str], max_passages| {
            labelled(query, keywords, max_passages).unwrap_err()
        };
        let query = "Which film of 1974 is it?";
        assert_eq!(
            reason(query, &["film"], 2),
            "labels that bring too many passages, or none (Eq. 6)"
        );
        assert_eq!(
            reason("What is a reef?", &["reef"], 5),
            "labels that no gold passage holds (Eq. 9)"
        );
        assert_eq!(reason(query, &["Rome", " "], 5), "sub-questions without keywords");
    }
}
