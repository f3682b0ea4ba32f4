//! `halma train collect --from-feedback`: the questions that people asked and whose answers they judged,
//! as a question file.
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use halma_core::ConfigError;
use halma_core::text::normalise_name;
use halma_engine::{Engine, Feedback, Verdict};
use serde_json::json;

use crate::args::Common;
use crate::args::place::{USUAL, configured, shown};
use crate::commands::setup::{load_config, open};
use crate::view;

/// Writes the questions of a base's feedback next to `out` and returns their file.
pub(super) fn write_questions(
    kb: Option<&Path>,
    out: &Path,
    common: &Common,
) -> anyhow::Result<PathBuf> {
    let config = load_config(common, vec![])?.config;
    let kb = kb.map(Path::to_owned).or_else(|| configured(&config));
    let kb = kb.unwrap_or_else(|| USUAL.into());
    let questions = JudgedQuestions::read(&open(config, &kb)?)?;
    let left_out: Vec<String> = questions
        .left_out
        .iter()
        .map(|(why, count)| format!("{} {why}", view::thousands(*count as u64)))
        .collect();
    let left_out = left_out.join(", ");
    if questions.lines.is_empty() {
        let why = if left_out.is_empty() { "there is none".to_owned() } else { left_out };
        return Err(ConfigError {
            file: shown(&kb)?,
            key: "--from-feedback".into(),
            reason: format!("the feedback gives no question with a right answer: {why}"),
            hint: "mark answers with `halma feedback add`, with a correction where they are wrong"
                .into(),
        }
        .into());
    }
    let mut file = out.as_os_str().to_owned();
    file.push(".questions.jsonl");
    let file = PathBuf::from(file);
    let text = questions.lines.join("\n") + "\n";
    std::fs::write(&file, text)
        .with_context(|| format!("{}: the file cannot be written", file.display()))?;
    let left_out = if left_out.is_empty() { left_out } else { format!("; left out: {left_out}") };
    view::note(&format!(
        "{} from feedback, in {}{left_out}",
        view::plural(questions.lines.len() as u64, "question", "questions"),
        file.display()
    ));
    Ok(file)
}

/// Lines of a question file, and how much feedback was not used for which reason.
#[derive(Default)]
struct JudgedQuestions {
    lines: Vec<String>,
    left_out: BTreeMap<&'static str, usize>,
}

impl JudgedQuestions {
    /// The oldest first, so that new feedback comes after what was collected before.
    fn read(engine: &Engine) -> anyhow::Result<Self> {
        let all: Vec<Feedback> = engine.feedback().collect::<Result<_, _>>()?;
        let (mut questions, mut forms) = (Self::default(), HashSet::new());
        for feedback in all.iter().rev() {
            match right_answer(feedback) {
                Ok(answer) if forms.insert(normalise_name(&feedback.question)) => {
                    let line = json!({
                        "id": feedback.id, "question": feedback.question, "answers": [answer],
                    });
                    questions.lines.push(line.to_string());
                }
                Ok(_) => questions.leave_out("on a question that came before"),
                Err(why) => questions.leave_out(why),
            }
        }
        Ok(questions)
    }

    fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }
}

/// The answer that a person confirmed or gave, or why there is none.
fn right_answer(feedback: &Feedback) -> Result<&str, &'static str> {
    if feedback.dismissed {
        return Err("that was rejected");
    }
    if !feedback.contradicts.is_empty() {
        return Err("that other feedback contradicts");
    }
    let right = match (feedback.verdict, feedback.correction.trim()) {
        (Verdict::Right, "") => feedback.answer.trim(),
        (_, "") => return Err("without a correction of the answer"),
        (_, correction) => correction,
    };
    if right.is_empty() { Err("on an answer without words") } else { Ok(right) }
}
