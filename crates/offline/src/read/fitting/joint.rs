//! The fit of the weights that join rules and a trained reader, and how well gold passages are read
//! with and without it. Users can repeat both (docs/developers/measurements.md).
#![expect(clippy::print_stderr, reason = "the fit is read by who runs it")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use halma_core::text::normalise_name;
use halma_core::{PassageReader, Question};
use halma_models::embed::minilm::heads::{Heads, HeadsFile};
use halma_models::embed::minilm::{MiniLm, locate};
use sha2::{Digest, Sha256};

use super::rules::{Example, Record, fit, read_file, read_questions, share_answered};
use super::singles::read_singles;
use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::read::score::{FEATURES, JOINT, Query, candidates};
use crate::read::subject::subject;
use crate::read::target::{Sort, Target};
use crate::read::text::Text;
use crate::read::trained::TRAINED;
use crate::read::{ReadInput, Reader, compare};
use crate::words::Sentence;

/// Half of what the rules alone weigh, and round numbers for what the reader says: few questions were
/// kept from the heads, so the fit stays near this.
const PRIOR: [f32; FEATURES + TRAINED + 1] = [
    2.1, 1.1, 0.5, 0.7, 1.3, -1.1, 0.8, -0.4, 1.4, 0.3, 0.45, -0.3, -0.7, 0.7, 0.3, 0.4, 0.3, 2.0,
    2.0, 0.5, 0.5, 0.0, 1.0, 0.5, 0.8,
];

/// Of the mean negative log-likelihood, for each square of a distance from [`PRIOR`].
const PENALTIES: [f32; 4] = [0.001, 0.005, 0.02, 0.1];

const SETS: [&str; 3] = ["hotpotqa_train.json", "2wiki_train.json", "musique_train100.json"];

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// The heads of `HALMA_HEADS_DIR`, or of the repository, on the weights that are there.
fn heads() -> Heads {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/heads"));
    let file = variable("HALMA_HEADS_DIR").unwrap_or(folder).join("heads.safetensors");
    let base = MiniLm::open(&locate(variable("HALMA_MINILM_DIR").as_deref()).unwrap(), None);
    Heads::new(HeadsFile::read(&file).unwrap(), &base.unwrap()).unwrap()
}

/// Of training questions those that `train/heads/data.py` holds out: a fifth, by a hash of the id.
fn unseen(set: &str, records: Vec<Record>) -> Vec<Record> {
    let is_held = |record: &Record| {
        let hash = Sha256::digest(record.id.as_bytes());
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) < u32::MAX / 5
    };
    let trained = SETS.contains(&set);
    records.into_iter().filter(|record| !trained || is_held(record)).collect()
}

fn example(record: &Record, context: &[Passage], reader: &Reader<'_>) -> Option<Example> {
    let lexicon = reader.lexicon;
    let text = Text::new(context, lexicon);
    let question = Question::new(&record.question);
    let sentence = Sentence::new(&question.text, lexicon);
    let target = Target::new(&sentence, question.answer_kind, lexicon);
    let query = Query::new(&question.text, target, &text, lexicon);
    if query.target.sort == Sort::YesNo || compare::choose(&query, &text, lexicon).is_some() {
        return None;
    }
    let gains = subject(&query, &text, lexicon).gains;
    let readings = reader.readings(&query, &text, &gains)?;
    let candidates = candidates(&query, &text, lexicon, Some(&readings));
    let answers: Vec<String> = record.answers.iter().map(|text| normalise_name(text)).collect();
    let right: Vec<bool> = candidates
        .iter()
        .map(|candidate| answers.contains(&normalise_name(&candidate.text)))
        .collect();
    let row = |candidate: &crate::read::score::Candidate| {
        let gain = gains[text.lines[candidate.line].passage];
        let trained = candidate.trained.into_iter().flatten();
        candidate.features.into_iter().chain(trained).chain([gain]).collect::<Vec<f32>>()
    };
    let spans: Vec<Vec<f32>> = candidates.iter().map(row).collect();
    let gains = vec![0.0; spans.len()];
    right.contains(&true).then_some(Example { spans, gains, right })
}

#[test]
#[ignore = "needs HALMA_DATA: training files; the weights and the heads"]
fn joint_weights_are_fitted() {
    let data = variable("HALMA_DATA").expect("HALMA_DATA names a folder");
    let (lexicon, heads) = (Lexicon::new(), heads());
    let reader = Reader { lexicon: &lexicon, trained: Some(&heads) };
    let of_steps = SETS.map(|set| (set, unseen(set, read_file(&data.join(set)))));
    let mut sets: Vec<(&str, Vec<Example>)> = vec![];
    for (set, records) in of_steps.into_iter().chain([("one passage", read_singles(&data))]) {
        let examples: Vec<Example> = records
            .iter()
            .flat_map(|one| [0, 2, 8].map(|others| example(one, &one.gold(others), &reader)))
            .flatten()
            .collect();
        eprintln!("{set}: {} questions, {} choices", records.len(), examples.len());
        sets.push((set, examples));
    }
    let shares = |weights: &[f32]| -> Vec<f32> {
        sets.iter().map(|(_, examples)| share_answered(examples, weights)).collect()
    };
    eprintln!(
        "{:.1?} % with the weights in use, {:.1?} % with the prior",
        shares(&JOINT),
        shares(&PRIOR)
    );
    for penalty in PENALTIES {
        // Each set is as good as what a fit to three quarters of every set makes of its other quarter.
        let mut tried = vec![0.0; sets.len()];
        for part in 0..4 {
            let rest: Vec<Example> =
                sets.iter().flat_map(|(_, examples)| quarter(examples, part, false)).collect();
            let fitted = fit(&rest, &PRIOR, penalty);
            for (sum, (_, examples)) in tried.iter_mut().zip(&sets) {
                let examples = quarter(examples, part, true);
                *sum += share_answered(&examples, &fitted) / 4.0;
            }
        }
        let all: Vec<Example> = sets.iter().flat_map(|(_, examples)| examples.clone()).collect();
        let fitted = fit(&all, &PRIOR, penalty);
        eprintln!("penalty {penalty}: {tried:.1?} % right of other questions; {fitted:.2?}");
    }
}

/// The choices of one quarter, or all others. Those of one question stand next to each other, so that
/// another quarter has other questions.
fn quarter(choices: &[Example], part: usize, wanted: bool) -> Vec<Example> {
    let size = choices.len().div_ceil(4).max(1);
    let chosen = choices.iter().enumerate().filter(|(at, _)| (at / size == part) == wanted);
    chosen.map(|(_, one)| one.clone()).collect()
}

/// The share of words that two texts have in common (F1), after the usual normalisation.
#[expect(clippy::cast_precision_loss, reason = "a number of words")]
fn overlap(answer: &str, gold: &str) -> f32 {
    let words = |text: &str| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for word in normalise_name(text).split_whitespace() {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        counts
    };
    let (answer, gold) = (words(answer), words(gold));
    let common: usize = answer
        .iter()
        .map(|(word, count)| gold.get(word).map_or(0, |other| *count.min(other)))
        .sum();
    let all: usize = answer.values().chain(gold.values()).sum();
    if all == 0 { 0.0 } else { 2.0 * common as f32 / all as f32 }
}

/// Exact matches and F1 in percent.
#[expect(clippy::cast_precision_loss, reason = "a number of questions")]
fn score(records: &[Record], reader: &Reader<'_>, others: usize) -> [f32; 2] {
    let mut sums = [0.0_f32; 2];
    for record in records {
        let input = ReadInput::new(Question::new(&record.question), record.gold(others));
        let answer = reader.read(&input).text;
        let same = |gold: &&String| normalise_name(gold) == normalise_name(&answer);
        sums[0] += if record.answers.iter().any(|gold| same(&gold)) { 1.0 } else { 0.0 };
        let overlaps = record.answers.iter().map(|gold| overlap(&answer, gold));
        sums[1] += overlaps.fold(0.0, f32::max);
    }
    sums.map(|sum| 100.0 * sum / records.len().max(1) as f32)
}

#[test]
#[ignore = "needs HALMA_DATA: question files, named by HALMA_SETS; the weights and the heads"]
fn gold_passages_are_read() {
    let data = variable("HALMA_DATA").expect("HALMA_DATA names a folder");
    let sets = std::env::var("HALMA_SETS").unwrap_or_else(|_| SETS.join(","));
    let (lexicon, heads) = (Lexicon::new(), heads());
    heads.load().unwrap();
    let readers: [(&str, Option<&dyn PassageReader>); 2] =
        [("rules", None), ("rules and heads", Some(&heads))];
    for set in sets.split(',') {
        let records = unseen(set, read_questions(&data.join(set)));
        let limit = std::env::var("HALMA_LIMIT").ok().and_then(|limit| limit.parse().ok());
        let records = &records[..records.len().min(limit.unwrap_or(usize::MAX))];
        for (name, trained) in readers {
            let reader = Reader { lexicon: &lexicon, trained };
            let begun = std::time::Instant::now();
            let [exact, f1] = score(records, &reader, 0);
            let took = begun.elapsed().as_millis() / (records.len().max(1) as u128);
            eprintln!(
                "{set}, {} questions, {name}: EM {exact:.1} F1 {f1:.1}, {took} ms a question",
                records.len()
            );
        }
    }
}
