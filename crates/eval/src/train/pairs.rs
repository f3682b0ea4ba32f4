//! Pairs of prompt and reply from trajectories (PIKE-RAG, Algorithm 3).
//!
//! ```text
//! for i = 1 … t
//!     x_i <- prompt(q, [(q^1, a^1) … (q^{i-1}, a^{i-1})])
//!     y_i <- "more is needed", and q^i                (the paper's line 8 has a^i; q^i is meant)
//! x_{t+1} <- prompt(q, [(q^1, a^1) … (q^t, a^t)])
//! y_{t+1} <- "no more is needed"
//! ```
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use halma_core::text::words;
use halma_core::{Message, NextQuestion, Prompts, Question};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::json;

use super::chat::{ChatFormat, Example, Recipe, files, pretty};
use super::error::TrainError;
use super::folder::{OutputFile, write_all};
use super::leaks::{HeldOut, Leak, OnEntities, Share, worded};
use super::preferences::preferences;
use super::round::{Round, read, without_outdated};

/// The prompt that a trained proposer is asked with, and so is trained on.
const PROMPT: &str = "kar3/decompose";

/// Examples that a report names.
const NAMED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// Replies to be learned, from trajectories that end in a right answer.
    Sft,
    /// Preferences between two replies to the same prompt: of a right trajectory and a wrong one.
    Dpo,
}

/// How pairs are made.
pub struct PairOptions<'a> {
    pub kind: PairKind,
    pub format: ChatFormat,
    /// The prompts in use when the model is served: what is trained must be what is asked.
    pub prompts: &'a Prompts,
    /// Questions that must not be given away.
    pub held_out: Option<&'a HeldOut>,
    pub entities: OnEntities,
    /// The share of the questions whose pairs are held out of the training.
    pub share: Share,
    /// Replace existing files.
    pub force: bool,
}

/// What was made of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PairStatistics {
    pub questions: usize,
    pub rounds: usize,
    /// Trajectories that were used.
    pub trajectories: usize,
    pub train: usize,
    pub held_out: usize,
    /// Replies by what they say: `ask` and `stop`.
    pub replies: BTreeMap<&'static str, usize>,
    /// Used trajectories by their number of sub-questions.
    pub hops: BTreeMap<usize, usize>,
    /// Left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
    /// Questions that were dropped since they are held-out ones.
    pub leaked_questions: BTreeSet<String>,
    /// Questions that share a name with a held-out one, with the name; at most 20.
    pub shared_names: BTreeMap<String, String>,
    pub shared_names_count: usize,
    /// Questions to train on that share a name with one of the part that is held out.
    pub shared_between_parts: usize,
    /// The hash of the prompt's words; the trace of an answer has it too.
    pub prompt_hash: String,
}

/// A trajectory as it is trained on: (q, [(q^1, a^1) … (q^t, a^t)]).
pub(super) struct Trajectory<'a> {
    pub(super) question: &'a Question,
    pub(super) steps: Vec<SubAnswer>,
    /// The loop was cut off: that it ends says nothing.
    pub(super) partial: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SubAnswer {
    pub(super) question: String,
    pub(super) answer: String,
}

impl<'a> Trajectory<'a> {
    /// Without repeats, and up to the last sub-question that was answered: what found nothing after
    /// it was not needed.
    fn new(round: &'a Round) -> Self {
        let mut steps: Vec<SubAnswer> = vec![];
        for chosen in round.hops.iter().filter_map(|hop| hop.chosen.as_ref()) {
            let (question, answer) = (chosen.sub_question.trim(), chosen.answer.trim());
            let earlier = steps.iter().position(|step| words(&step.question) == words(question));
            match earlier {
                Some(at) if steps[at].answer.is_empty() => drop(steps.remove(at)),
                Some(_) => continue,
                None => {}
            }
            if !question.is_empty() {
                steps.push(SubAnswer { question: question.into(), answer: answer.into() });
            }
        }
        let answered = steps.iter().rposition(|step| !step.answer.is_empty());
        steps.truncate(answered.map_or(0, |last| last + 1));
        Self { question: &round.question, steps, partial: round.partial }
    }

    /// Whether the reply after the first `i` steps is to be learned. A sub-question that found no
    /// answer is not, nor is one that repeats the question before others; later prompts show them,
    /// as they do when the trained model is asked.
    pub(super) fn teaches(&self, i: usize) -> bool {
        let repeats = |step: &SubAnswer| words(&step.question) == words(&self.question.text);
        self.steps
            .get(i)
            .is_none_or(|step| !step.answer.is_empty() && (self.steps.len() == 1 || !repeats(step)))
    }

    /// y_{i+1}: what is asked after the first `i` steps.
    pub(super) fn reply(&self, i: usize) -> NextQuestion {
        self.steps.get(i).map_or(NextQuestion::Stop, |s| NextQuestion::Ask(s.question.clone()))
    }
}

/// Renders the prompts of the examples.
pub(super) struct Render<'a>(pub(super) &'a Prompts);

impl Render<'_> {
    /// x_{i+1}: the question after the first steps.
    pub(super) fn prompt(
        &self,
        question: &Question,
        steps: &[SubAnswer],
    ) -> Result<Vec<Message>, TrainError> {
        let variables = context! { question => Serde(question), history => Serde(steps) };
        Ok(self.0.render(PROMPT, &variables)?.messages)
    }
}

/// Makes the files of a training set from a collection. The same collection gives the same bytes.
pub fn make_pairs(
    file: &Path,
    out: &Path,
    options: &PairOptions<'_>,
) -> Result<PairStatistics, TrainError> {
    let rounds = read(file)?;
    let mut statistics = PairStatistics {
        rounds: rounds.len(),
        prompt_hash: prompt_hash(options.prompts, PROMPT),
        ..PairStatistics::default()
    };
    let rounds = without_outdated(rounds);
    let outdated = statistics.rounds - rounds.len();
    if outdated > 0 {
        statistics.left_out.insert("rounds scored by answers that were corrected since", outdated);
    }
    let (mut train, mut held_out) = (vec![], vec![]);
    let mut seen: HashSet<(Vec<String>, String, Option<String>)> = HashSet::new();
    let grouped = by_question(&rounds);
    let holds_out = |round: &Round| options.share.holds_out(&round.question.text);
    let held_out_part = grouped.iter().map(|rounds| rounds[0]).filter(|round| holds_out(round));
    let held_out_part =
        HeldOut::of(held_out_part.map(|round| (round.question.text.as_str(), &round.answers[..])));
    for rounds in grouped {
        statistics.questions += 1;
        let first = rounds[0];
        if leaks(first, options, &mut statistics) {
            continue;
        }
        let to = if holds_out(first) {
            &mut held_out
        } else {
            let shares = held_out_part.leak(&first.question.text, &first.answers).is_some();
            statistics.shared_between_parts += usize::from(shares);
            &mut train
        };
        for (kind, example) in examples(&rounds, options, &mut statistics)? {
            let texts = example.prompt.iter().map(|message| message.text.clone()).collect();
            if seen.insert((texts, example.reply.clone(), example.rejected.clone())) {
                *statistics.replies.entry(kind).or_default() += 1;
                to.push(example);
            } else {
                *statistics.left_out.entry("pairs that came twice").or_default() += 1;
            }
        }
    }
    if train.is_empty() && held_out.is_empty() {
        let file = file.into();
        let dropped = statistics.leaked_questions.len()
            + match options.entities {
                OnEntities::Drop => statistics.shared_names_count,
                OnEntities::Report => 0,
            };
        if dropped > 0 {
            let questions = statistics.questions;
            return Err(TrainError::HeldOutOnly { file, dropped, questions });
        }
        return Err(match options.kind {
            PairKind::Sft => TrainError::NothingRight { file },
            PairKind::Dpo => TrainError::NoPreferences { file },
        });
    }
    (statistics.train, statistics.held_out) = (train.len(), held_out.len());
    let mut files = files(options.format, Recipe::Proposer, (&train, &held_out));
    files.push(OutputFile { name: "statistics.json", bytes: pretty(&json!(statistics)) });
    write_all(out, &files, options.force)?;
    Ok(statistics)
}

pub(super) fn prompt_hash(prompts: &Prompts, name: &str) -> String {
    let all = prompts.list().into_iter();
    all.filter(|info| info.name == name).map(|info| info.hash).collect()
}

/// The rounds of each question, both in the order of their keys: several were collected at once,
/// so that the order of the file means nothing.
fn by_question(rounds: &[Round]) -> Vec<Vec<&Round>> {
    let mut grouped: BTreeMap<String, Vec<&Round>> = BTreeMap::new();
    for round in rounds {
        grouped.entry(worded(&round.question.text)).or_default().push(round);
    }
    let mut grouped: Vec<Vec<&Round>> = grouped.into_values().collect();
    for rounds in &mut grouped {
        rounds.sort_by(|a, b| (a.number, &a.question.id).cmp(&(b.number, &b.question.id)));
    }
    grouped
}

/// Whether the question must not be trained on.
fn leaks(round: &Round, options: &PairOptions<'_>, statistics: &mut PairStatistics) -> bool {
    let Some(held_out) = options.held_out else { return false };
    match held_out.leak(&round.question.text, &round.answers) {
        None => false,
        Some(Leak::Question) => {
            statistics.leaked_questions.insert(round.question.text.clone());
            true
        }
        Some(Leak::Entity(name)) => {
            statistics.shared_names_count += 1;
            if statistics.shared_names.len() < NAMED {
                statistics.shared_names.insert(round.question.text.clone(), name);
            }
            options.entities == OnEntities::Drop
        }
    }
}

/// The examples of one question, each with what its reply says.
fn examples(
    rounds: &[&Round],
    options: &PairOptions<'_>,
    statistics: &mut PairStatistics,
) -> Result<Vec<(&'static str, Example)>, TrainError> {
    let render = Render(options.prompts);
    let (right, wrong): (Vec<&Round>, Vec<&Round>) = rounds.iter().partition(|r| r.right);
    let right: Vec<Trajectory<'_>> =
        right.into_iter().map(Trajectory::new).filter(|t| !t.steps.is_empty()).collect();
    if right.is_empty() {
        let answered = rounds.iter().any(|round| round.right);
        let why = if answered {
            "questions without an answered sub-question"
        } else {
            "questions without a right answer"
        };
        *statistics.left_out.entry(why).or_default() += 1;
        return Ok(vec![]);
    }
    let replies = match options.kind {
        PairKind::Sft => {
            statistics.trajectories += right.len();
            for trajectory in &right {
                *statistics.hops.entry(trajectory.steps.len()).or_default() += 1;
            }
            learned(&right, &render)?
        }
        PairKind::Dpo => {
            let wrong: Vec<Trajectory<'_>> = wrong.into_iter().map(Trajectory::new).collect();
            let made = preferences(&right, &wrong, &render)?;
            if made.is_empty() {
                let why = "questions without a wrong trajectory that differs";
                *statistics.left_out.entry(why).or_default() += 1;
            } else {
                statistics.trajectories += right.len() + wrong.len();
            }
            made
        }
    };
    let kind = |next: &NextQuestion| match next {
        NextQuestion::Ask(_) => "ask",
        NextQuestion::Stop => "stop",
    };
    Ok(replies.into_iter().map(|(next, example)| (kind(&next), example)).collect())
}

/// Algorithm 3: t + 1 pairs of each trajectory whose t sub-questions were all answered.
fn learned(
    right: &[Trajectory<'_>],
    render: &Render<'_>,
) -> Result<Vec<(NextQuestion, Example)>, TrainError> {
    let mut made = vec![];
    for trajectory in right {
        for i in (0..=trajectory.steps.len()).filter(|i| trajectory.teaches(*i)) {
            let next = trajectory.reply(i);
            let prompt = render.prompt(trajectory.question, &trajectory.steps[..i])?;
            let reply = next.to_string();
            made.push((next, Example { prompt, reply, rejected: None }));
        }
    }
    Ok(made)
}
