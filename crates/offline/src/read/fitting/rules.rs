//! The fit of the weights in `score.rs`, which users can repeat (docs/developers/measurements.md).
//!
//! Each training question is a choice among the spans of its passages. The weights make the spans
//! that are the answer as likely as possible: a softmax over all spans of the question, the
//! likelihood summed over the right ones, with a small penalty on large weights.
#![expect(clippy::print_stderr, reason = "the fit is read by who runs it")]

use std::io::Read as _;
use std::iter::once;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use halma_core::Question;
use halma_core::text::normalise_name;
use serde_json::Value;

use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::read::compare;
use crate::read::score::{Candidate, FEATURES, Query, WEIGHTS, candidates};
use crate::read::subject::subject;
use crate::read::target::{Sort, Target};
use crate::read::text::Text;
use crate::words::Sentence;

const STEPS: u16 = 400;
/// Of the mean negative log-likelihood, for each square of a weight.
const PENALTY: f32 = 0.001;

/// Questions of NQ-open: they make three fifths of all choices.
const SEARCHED: usize = 1_000;

/// A question whose answer is a span of its passages.
#[derive(Clone)]
pub(super) struct Example {
    /// The features of each span.
    pub(super) spans: Vec<Vec<f32>>,
    /// What the passage of each span gains apart from the features.
    pub(super) gains: Vec<f32>,
    pub(super) right: Vec<bool>,
}

/// A question with its passages and the answers that count.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) answers: Vec<String>,
    pub(super) passages: Vec<(Passage, bool)>,
}

pub(super) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// `HotpotQA` and `2Wiki` have `context`, `MuSiQue` has `paragraphs`; the flag marks gold passages.
fn record(value: &Value) -> Record {
    let passage = |title: String, text: String| Passage { title, text, ..Passage::default() };
    let gold: Vec<String> = list(value, "supporting_facts").map(|fact| string(&fact[0])).collect();
    let contexts = list(value, "context").map(|pair| {
        let sentences: Vec<String> = pair[1].as_array().into_iter().flatten().map(string).collect();
        let title = string(&pair[0]);
        let is_gold = gold.contains(&title);
        (passage(title, sentences.join(" ")), is_gold)
    });
    let paragraphs = list(value, "paragraphs").map(|part| {
        let is_gold = part["is_supporting"] == Value::Bool(true);
        (passage(string(&part["title"]), string(&part["paragraph_text"])), is_gold)
    });
    let id = if value["_id"].is_null() { &value["id"] } else { &value["_id"] };
    Record {
        id: string(id),
        question: string(&value["question"]),
        answers: [string(&value["answer"])]
            .into_iter()
            .chain(list(value, "answer_aliases").map(string))
            .collect(),
        passages: contexts.chain(paragraphs).collect(),
    }
}

/// The single steps of a question of `MuSiQue`, each with its passage among the others.
fn steps(value: &Value) -> Vec<Record> {
    let mut answers: Vec<String> = vec![];
    let mut steps = vec![];
    for step in list(value, "question_decomposition") {
        let question = string(&step["question"]);
        let filled =
            (1..).zip(&answers).fold(question, |text, (number, answer): (usize, &String)| {
                text.replace(&format!("#{number}"), answer)
            });
        answers.push(string(&step["answer"]));
        // Steps of the form `X >> relation` are not questions.
        if !filled.contains(">>") {
            let mut record_of_step = record(value);
            record_of_step.passages.iter_mut().for_each(|(_, is_gold)| *is_gold = false);
            let at = step["paragraph_support_idx"].as_u64().and_then(|at| usize::try_from(at).ok());
            if let Some((_, is_gold)) = at.and_then(|at| record_of_step.passages.get_mut(at)) {
                *is_gold = true;
            }
            steps.push(Record {
                question: filled,
                answers: answers.last().cloned().into_iter().collect(),
                ..record_of_step
            });
        }
    }
    steps
}

pub(super) fn read_file(file: &Path) -> Vec<Record> {
    read_values(file).iter().flat_map(|value| once(record(value)).chain(steps(value))).collect()
}

/// The questions alone, without their steps.
pub(super) fn read_questions(file: &Path) -> Vec<Record> {
    read_values(file).iter().map(record).collect()
}

/// A list, or one record a line.
fn read_values(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let lines = || text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    serde_json::from_str(&text).unwrap_or_else(|_| lines())
}

/// Questions that people asked a search engine (NQ-open), each with its passage and those of the next
/// two, which are about something else. A reader that has learned from questions of several steps
/// alone looks for the answer anywhere but in the passage that the question names.
pub(super) fn read_searched(file: &Path) -> Vec<Record> {
    let packed = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let lines = text.lines().take(SEARCHED);
    let values: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let passage = |value: &Value| {
        let (title, text) = (string(&value["ctxs"][0]["title"]), string(&value["ctxs"][0]["text"]));
        Passage { title, text, ..Passage::default() }
    };
    let record = |window: &[Value]| Record {
        id: string(&window[0]["question"]),
        question: format!("{}?", string(&window[0]["question"])),
        answers: list(&window[0], "answers").map(string).collect(),
        passages: window.iter().enumerate().map(|(at, one)| (passage(one), at == 0)).collect(),
    };
    values.windows(3).map(record).collect()
}

impl Record {
    /// Its gold passages with some of the others among them.
    pub(super) fn gold(&self, others: usize) -> Vec<Passage> {
        let mut left = others;
        let chosen = self.passages.iter().filter(|(_, is_gold)| {
            let takes = *is_gold || left > 0;
            left -= usize::from(takes && !is_gold);
            takes
        });
        chosen.map(|(passage, _)| passage.clone()).collect()
    }
}

/// Twice: with its gold passages alone, and with two of the others among them.
fn examples(record: &Record, lexicon: &Lexicon) -> Vec<Example> {
    [0, 2].into_iter().filter_map(|n| example(record, &record.gold(n), lexicon)).collect()
}

fn example(record: &Record, context: &[Passage], lexicon: &Lexicon) -> Option<Example> {
    let text = Text::new(context, lexicon);
    let question = Question::new(&record.question);
    let sentence = Sentence::new(&question.text, lexicon);
    let target = Target::new(&sentence, question.answer_kind, lexicon);
    let query = Query::new(&question.text, target, &text, lexicon);
    // These are decided by other rules than the weights.
    if query.target.sort == Sort::YesNo || compare::choose(&query, &text, lexicon).is_some() {
        return None;
    }
    let gains = subject(&query, &text, lexicon).gains;
    let candidates = candidates(&query, &text, lexicon, None);
    let answers: Vec<String> = record.answers.iter().map(|text| normalise_name(text)).collect();
    let is_right = |candidate: &Candidate| answers.contains(&normalise_name(&candidate.text));
    let right: Vec<bool> = candidates.iter().map(is_right).collect();
    let gains =
        candidates.iter().map(|candidate| gains[text.lines[candidate.line].passage]).collect();
    let spans = candidates.iter().map(|candidate| candidate.features.to_vec()).collect();
    right.contains(&true).then_some(Example { spans, gains, right })
}

impl Example {
    fn scores(&self, weights: &[f32]) -> Vec<f32> {
        let score = |(span, gain): (&Vec<f32>, &f32)| -> f32 {
            span.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>() + gain
        };
        self.spans.iter().zip(&self.gains).map(score).collect()
    }

    /// Adds the gradient of the log-likelihood; returns the log-likelihood.
    fn learn(&self, weights: &[f32], gradient: &mut [f32]) -> f32 {
        let scores = self.scores(weights);
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let shares: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
        let all: f32 = shares.iter().sum();
        let right: f32 = shares.iter().zip(&self.right).filter(|(_, r)| **r).map(|(s, _)| s).sum();
        for ((span, share), is_right) in self.spans.iter().zip(&shares).zip(&self.right) {
            let pull =
                if *is_right { share / right.max(f32::MIN_POSITIVE) } else { 0.0 } - share / all;
            for (slope, value) in gradient.iter_mut().zip(span) {
                *slope += pull * value;
            }
        }
        (right / all).max(f32::MIN_POSITIVE).ln()
    }

    fn is_answered(&self, weights: &[f32]) -> bool {
        let scores = self.scores(weights);
        let best =
            (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
        best.is_some_and(|best| self.right[best])
    }
}

/// Ascends by Adam (Kingma and Ba, 2015) with the usual constants; the penalty is for the distance
/// from `prior`.
#[expect(clippy::cast_precision_loss, reason = "a number of questions")]
pub(super) fn fit(examples: &[Example], prior: &[f32], penalty: f32) -> Vec<f32> {
    let mut weights = prior.to_vec();
    let (mut mean, mut square) = (vec![0.0_f32; prior.len()], vec![0.0_f32; prior.len()]);
    for step in 1..=STEPS {
        let mut gradient = vec![0.0; prior.len()];
        let likelihood: f32 = examples.iter().map(|one| one.learn(&weights, &mut gradient)).sum();
        if step % 100 == 0 {
            eprintln!("step {step}: {:.4}", likelihood / examples.len() as f32);
        }
        let first = 1.0 - 0.9_f32.powi(step.into());
        let second = 1.0 - 0.999_f32.powi(step.into());
        let moments = mean.iter_mut().zip(&mut square);
        let pulled = weights.iter_mut().zip(prior).zip(gradient);
        for (((weight, prior), slope), (mean, square)) in pulled.zip(moments) {
            let slope = slope / examples.len() as f32 - 2.0 * penalty * (*weight - prior);
            *mean = 0.9 * *mean + 0.1 * slope;
            *square = 0.999 * *square + 0.001 * slope * slope;
            *weight += 0.05 * (*mean / first) / ((*square / second).sqrt() + 1e-8);
        }
    }
    weights
}

#[expect(clippy::cast_precision_loss, reason = "a number of questions")]
pub(super) fn share_answered(examples: &[Example], weights: &[f32]) -> f32 {
    let answered = examples.iter().filter(|one| one.is_answered(weights)).count();
    100.0 * answered as f32 / examples.len().max(1) as f32
}

#[test]
#[ignore = "needs HALMA_DATA: the training files of three question sets"]
fn weights_are_fitted_to_training_questions() {
    let data = PathBuf::from(std::env::var_os("HALMA_DATA").expect("HALMA_DATA names a folder"));
    let lexicon = Lexicon::new();
    let mut sets: Vec<(&str, Vec<Example>)> = vec![];
    let sets_of_steps = ["hotpotqa_train.json", "2wiki_train.json", "musique_train100.json"];
    let mut read: Vec<(&str, Vec<Record>)> =
        sets_of_steps.map(|name| (name, read_file(&data.join(name)))).into();
    let searched = "training/nq-open-oracle.jsonl.gz";
    read.push((searched, read_searched(&data.join(searched))));
    for (name, records) in read {
        let examples: Vec<Example> =
            records.iter().flat_map(|record| examples(record, &lexicon)).collect();
        eprintln!(
            "{name}: {} choices, {:.1} % right",
            examples.len(),
            share_answered(&examples, &WEIGHTS)
        );
        sets.push((name, examples));
    }
    // Every fourth question is held out for a first fit that says how well it carries over.
    let all = || sets.iter().flat_map(|(_, examples)| examples);
    let part = |is_tested: bool| -> Vec<Example> {
        let chosen = all().enumerate().filter(|(at, _)| (at / 2 % 4 == 3) == is_tested);
        chosen.map(|(_, one)| one.clone()).collect()
    };
    let (fitted_on, tested) = (part(false), part(true));
    let trial = fit(&fitted_on, &[0.0; FEATURES], PENALTY);
    let shares = [&WEIGHTS[..], &trial].map(|weights| share_answered(&tested, weights));
    eprintln!(
        "held out: {:.1} % right with the weights in use, {:.1} % with a fit to the rest",
        shares[0], shares[1]
    );
    let all: Vec<Example> = all().cloned().collect();
    let fitted = fit(&all, &[0.0; FEATURES], PENALTY);
    eprintln!(
        "all: {:.1} % with the weights in use, {:.1} % with these:",
        share_answered(&all, &WEIGHTS),
        share_answered(&all, &fitted)
    );
    for (fitted, used) in fitted.iter().zip(WEIGHTS) {
        eprintln!("{fitted:6.2}, // in use: {used:.2}");
    }
    let (used, fitted) = (share_answered(&all, &WEIGHTS), share_answered(&all, &fitted));
    assert!(used + 1.0 > fitted, "{fitted} % with new weights, {used} % with those in use");
}
