//! KAR³ against runs of the reference code that were recorded with GPT-4: given the same replies,
//! it reads the same passages and gives the same answers, for fewer tokens, because the selector
//! is shown each passage once. The recording itself is not in the repository; one of ours tests
//! the replay.
//!
//! `HALMA_DATA=… cargo test -p halma-strategies --test kar3_replay -- --ignored --nocapture` prints
//! the table of the recorded runs.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test")]
mod base;
mod model;
mod recording;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::{Answer, Cx, Meter, Models, Outcome, Prompts, Question, Setup};
use halma_strategies::{ALL, PROMPTS};

use crate::base::Base;
use crate::model::{Cost, Recorded};
use crate::recording::Run;

fn runs(path: &Path) -> Vec<Arc<Run>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| Arc::new(serde_json::from_str(line).unwrap())).collect()
}

fn made_up() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kar3_runs.jsonl")
}

fn recorded() -> PathBuf {
    let data = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder of data sets");
    PathBuf::from(data).join("recorded/kar3_runs_hotpotqa.jsonl")
}

/// Which setting the runs are replayed with.
#[derive(Clone, Copy)]
enum Looks {
    /// A second look wherever no atom is chosen, as in the reference code.
    AsRecorded,
    /// Halma's default of one look, but in runs where the second one chose a passage.
    AsNeeded,
}

/// What Halma answered, and what it and the recorded run cost.
async fn replay(run: &Arc<Run>, second_look: bool) -> (Answer, Cost, Cost) {
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let base = Arc::new(Base::of(run));
    let given = (Arc::clone(run), Arc::clone(&base), Arc::clone(&prompts));
    let model = Arc::new(Recorded::new(given.0, given.1, given.2, second_look));
    let setup = Setup::new(Models::new(Arc::clone(&model) as _), base, prompts);
    // The recorded prompts have no worked examples.
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::unlimited()), None).without_demonstrations();
    let entry = ALL.iter().find(|entry| entry.name == "kar3").unwrap();
    let settings = format!("second_look = {second_look}").parse().unwrap();
    let kar3 = (entry.build)(settings).unwrap();
    let outcome = Outcome::run(kar3.as_ref(), &Question::new(&run.question), &cx).await;
    let answer = outcome.answer.unwrap_or_else(|error| panic!("{}: {error}", run.question));
    let (now, then) = model.costs();
    assert_eq!(outcome.trace.usage().prompt_tokens, now.tokens);
    (answer, now, then)
}

/// Replays every run that can be followed and prints what it cost; how many could not.
async fn compare(path: &Path, looks: Looks) -> (Vec<(Cost, Cost)>, usize) {
    println!("\n{:<44} {:>10} {:>11} {:>15}", "", "calls", "candidates", "prompt tokens");
    let (mut costs, mut left_out) = (vec![], 0);
    for run in runs(path) {
        let name: String = run.question.chars().take(43).collect();
        let hops = match run.hops() {
            Ok(hops) => hops,
            Err(reason) => {
                println!("{name:<44} cannot be followed: {reason}");
                left_out += 1;
                continue;
            }
        };
        let twice = hops.iter().any(|hop| hop.chosen_at_second());
        let (answer, now, then) = replay(&run, matches!(looks, Looks::AsRecorded) || twice).await;
        let chosen = hops.iter().filter_map(|hop| hop.chosen());
        let passages: Vec<&str> = chosen.map(|chosen| chosen.passage.as_str()).collect();
        assert_eq!(answer.text, run.answer, "{name}");
        assert_eq!(answer.citations.len(), passages.len(), "{name}");
        for (citation, passage) in answer.citations.iter().zip(&passages) {
            // A citation is its passage, or a sentence of it.
            assert!(passage.contains(&citation.quote), "{name}: {}", citation.quote);
        }
        print(&name, now, then);
        costs.push((now, then));
    }
    let (now, then) = summed(&costs);
    print("all", now, then);
    println!("selecting: {} of {}", now.selecting, then.selecting);
    (costs, left_out)
}

fn print(name: &str, now: Cost, then: Cost) {
    println!(
        "{name:<44} {:>3} of {:>3} {:>4} of {:>3} {:>6} of {:>5}, {:.1} % less; selecting {:.1} %",
        now.calls,
        then.calls,
        now.shown,
        then.shown,
        now.tokens,
        then.tokens,
        less(now.tokens, then.tokens),
        less(now.selecting, then.selecting),
    );
}

fn summed(costs: &[(Cost, Cost)]) -> (Cost, Cost) {
    let sum = |all: Cost, one: Cost| Cost {
        calls: all.calls + one.calls,
        shown: all.shown + one.shown,
        tokens: all.tokens + one.tokens,
        selecting: all.selecting + one.selecting,
    };
    let zero = (Cost::default(), Cost::default());
    costs.iter().fold(zero, |all, one| (sum(all.0, one.0), sum(all.1, one.1)))
}

/// By how many per cent `now` is below `then`.
#[expect(clippy::cast_precision_loss, reason = "token counts are small")]
fn less(now: u64, then: u64) -> f64 {
    100.0 * (1.0 - now as f64 / then as f64)
}

#[tokio::test]
async fn a_made_up_recording_is_followed_and_a_broken_one_counted() {
    let (costs, left_out) = compare(&made_up(), Looks::AsNeeded).await;
    assert_eq!((costs.len(), left_out), (1, 1));
    let (now, then) = costs[0];
    assert_eq!((now.calls, then.calls), (9, 9));
    assert_eq!((now.shown, then.shown), (7, 14));
    assert!(now.tokens < then.tokens);
}

#[tokio::test]
#[ignore = "needs HALMA_DATA: recorded/kar3_runs_hotpotqa.jsonl"]
async fn the_recorded_runs_read_the_same_passages_for_a_quarter_fewer_tokens() {
    let path = recorded();
    let (costs, left_out) = compare(&path, Looks::AsNeeded).await;
    assert_eq!((costs.len(), left_out), (5, 0));
    let (now, then) = summed(&costs);
    assert!(less(now.tokens, then.tokens) >= 25.0, "{now:?} of {then:?}");
    // Look for look what is left is the shorter lists alone.
    let (now, then) = summed(&compare(&path, Looks::AsRecorded).await.0);
    assert_eq!(now.calls, then.calls);
    assert!(less(now.selecting, then.selecting) >= 25.0, "{now:?} of {then:?}");
    assert!(less(now.tokens, then.tokens) >= 20.0, "{now:?} of {then:?}");
}
