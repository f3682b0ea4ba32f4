//! Builds that are killed: this test program is started again as a child, which builds a base and
//! tells each step it takes, and is killed in the middle.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Models, Prompts, Setup};
use halma_testkit::Toy;
use parking_lot::Mutex;

use super::super::report::IndexReport;
use super::common::{Asker, Bench, Words};
use super::dump;
use crate::{Base, BaseOptions, BasePart, BuildContext, IndexOptions, KbSettings, PROMPTS, Phase};

/// The folder that a child builds in; without it the test `child` does nothing.
const FOLDER: &str = "HALMA_TEST_FOLDER";
/// The name of the embedder that a child uses.
const EMBEDDER: &str = "HALMA_TEST_EMBEDDER";
/// Set for a child whose model replies only when something comes in on standard input.
const PAUSED: &str = "HALMA_TEST_HELD";

const CONCURRENCY: usize = 4;

/// A unit is in flight from the call until it is written: it is asked about, waits to be written,
/// or is being written.
const IN_FLIGHT: usize = 3 * CONCURRENCY;

fn say(line: &str) {
    if std::env::var(FOLDER).is_err() {
        return;
    }
    // Not `println!`, which a test keeps to itself.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
}

/// [`Asker`], telling what it is asked about.
struct Telling {
    asker: Asker,
    is_paused: Mutex<bool>,
}

#[async_trait]
impl Llm for Telling {
    fn model(&self) -> &'static str {
        "telling"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let chunk = request.variables.get_attr("chunk").unwrap();
        say(&format!("ask {}", chunk.get_attr("text").unwrap().to_string().replace('\n', " ")));
        if std::mem::take(&mut *self.is_paused.lock()) {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).unwrap();
        }
        self.asker.chat(request).await
    }
}

async fn build(folder: &Path, embedder: &str, is_paused: bool) -> (Arc<Base>, IndexReport) {
    let words = Words::named(if embedder == "other" { "other" } else { "toy-words" });
    let options = BaseOptions { embedder: Some(words), ..BaseOptions::default() };
    let base = Base::create_or_open(&folder.join("base"), options).unwrap();
    let settings = KbSettings { concurrency: CONCURRENCY, ..KbSettings::default() };
    let model = Telling { asker: Asker::default(), is_paused: Mutex::new(is_paused) };
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(model)),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let options =
        IndexOptions { prune: true, rebuild: vec![BasePart::Embedder], ..IndexOptions::default() };
    let progress = Arc::new(|step: crate::PhaseProgress| say(&format!("step {step:?}")));
    let context = BuildContext { progress, ..BuildContext::new(&base, &settings, &setup) };
    let report = crate::index(context, &[folder.join("in")], &options).await.unwrap();
    (base, report)
}

/// What a child does; a test like any other when nobody asks for a build.
#[tokio::test]
async fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let embedder = std::env::var(EMBEDDER).unwrap();
    build(Path::new(&folder), &embedder, std::env::var(PAUSED).is_ok()).await;
    say("built");
}

fn start(folder: &Path, embedder: &str, is_paused: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "build::tests::crash::child", "--nocapture"]);
    command.env(FOLDER, folder).env(EMBEDDER, embedder);
    if is_paused {
        command.env(PAUSED, "yes");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a child and kills it after so many of its steps. Returns all it said.
fn run_and_kill(folder: &Path, embedder: &str, after: usize) -> Vec<String> {
    let mut child = start(folder, embedder, false);
    let mut said = vec![];
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        said.push(line.unwrap());
        if said.len() == after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    said
}

/// A folder of documents; the second state changes, removes and adds some.
fn fill(bench: &Bench, second: bool) {
    for i in 0..24 {
        let name = format!("d{i:02}.md");
        if second && i % 8 == 5 {
            bench.remove(&name);
            continue;
        }
        let place = if second && i % 4 == 0 { "in the hills" } else { "by the sea" };
        let text = format!(
            "# Animal {i}\n\nAnimal{i} lives {place}. It sleeps.\n\n## Food\n\nAnimal{i} eats \
             grass{i}. It drinks water{i}.\n\n## Young\n\nAnimal{i} has young{i}.\n"
        );
        bench.write(&name, text);
    }
    if second {
        bench.write("new.txt", "A new animal has come. Nobody knows it.");
    }
}

async fn undisturbed(second: bool) -> String {
    let bench = Bench::asking();
    fill(&bench, false);
    if second {
        fill(&bench, true);
    }
    let embedder = if second { "other" } else { "toy-words" };
    dump(&build(bench.dir.path(), embedder, false).await.0)
}

/// Counts how often each chunk was asked about.
fn count_questions(said: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in said.iter().filter_map(|line| line.strip_prefix("ask ")) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// Kills builds at `moments` moments spread over their course, twice each, and lets them finish.
async fn killed_at(moments: usize, second: bool) {
    let expected = undisturbed(second).await;
    let steps = {
        let bench = Bench::asking();
        prepare(&bench, second).await;
        let said = run_and_kill(bench.dir.path(), embedder(second), usize::MAX);
        assert!(said.iter().any(|line| line == "built"), "{said:?}");
        said.len()
    };
    let mut died = 0;
    for moment in 0..moments {
        let bench = Bench::asking();
        prepare(&bench, second).await;
        let folder = bench.dir.path();
        // Not evenly: neighbouring moments of several runs meet all kinds of steps.
        let after = 1 + moment * steps / moments + (moment * 7) % (steps / moments).max(1);
        let mut said = run_and_kill(folder, embedder(second), after);
        said.extend(run_and_kill(folder, embedder(second), 1 + after / 2));
        died += usize::from(!said.iter().any(|line| line == "built"));
        let (base, report) = build(folder, embedder(second), false).await;
        assert_eq!((report.failed_units, report.pending_units), (0, 0));
        assert_eq!(dump(&base), expected, "killed after {after} of {steps} steps");
        let twice: usize = count_questions(&said).values().map(|count| count - 1).sum();
        assert!(twice <= 2 * IN_FLIGHT, "{twice} chunks were paid for twice");
    }
    assert!(died * 2 > moments, "most children were killed in time: {died} of {moments}");
}

fn embedder(second: bool) -> &'static str {
    if second { "other" } else { "toy-words" }
}

/// The input, and for the second state a base of the first.
async fn prepare(bench: &Bench, second: bool) {
    fill(bench, false);
    if second {
        build(bench.dir.path(), "toy-words", false).await;
        fill(bench, true);
    }
}

#[tokio::test]
async fn a_build_that_is_killed_goes_on() {
    killed_at(5, false).await;
}

#[tokio::test]
async fn an_update_with_another_embedder_that_is_killed_goes_on() {
    killed_at(5, true).await;
}

#[tokio::test]
#[ignore = "a minute; `make soak` runs it"]
async fn builds_and_updates_killed_at_fifty_moments_go_on() {
    killed_at(50, false).await;
    killed_at(50, true).await;
}

#[tokio::test]
async fn a_build_waits_for_one_in_another_process() {
    let bench = Bench::asking();
    fill(&bench, false);
    let mut child = start(bench.dir.path(), "toy-words", true);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // It holds the base now, and goes on when this process says that it waits.
    assert!(said.any(|line| line.starts_with("ask ")));
    let release = Mutex::new(child.stdin.take());
    let waits = Arc::new(Mutex::new(false));
    let base = bench.open(Some(Words::new()));
    let progress = {
        let waits = Arc::clone(&waits);
        Arc::new(move |step: crate::PhaseProgress| {
            if step.phase == Phase::WAIT {
                *waits.lock() = true;
                let _ = release.lock().take().unwrap().write_all(b"go on\n");
            }
        })
    };
    let settings = KbSettings { concurrency: CONCURRENCY, ..KbSettings::default() };
    let context = BuildContext { progress, ..BuildContext::new(&base, &settings, &bench.setup()) };
    let report = crate::index(context, &[bench.input()], &IndexOptions::default()).await.unwrap();
    assert!(*waits.lock());
    assert!(report.nothing_new(), "the other one has done it all: {report:?}");
    assert!(said.any(|line| line == "built"));
    child.wait().unwrap();
    assert_eq!(dump(&base), undisturbed(false).await);
}
