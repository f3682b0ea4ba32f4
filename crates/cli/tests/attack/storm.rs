//! A thousand people who ask at once, over a model server that fails as such servers do: every
//! question is answered or refused with a reason, nothing is lost from the accounts, and the memory
//! does not grow.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use halma_testkit::double::{Behaviour, Double, Failure, fixed};
use serde_json::json;

use crate::server::{Victim, own_memory_of};

/// People who ask one question after the other.
const PEOPLE: usize = 1_000;

/// Failures that wait for requests of the double.
const QUEUED: usize = 4_000;

/// How long they ask: `HALMA_STORM` seconds, or some.
fn length() -> Duration {
    let seconds = std::env::var("HALMA_STORM").map_or(20, |seconds| seconds.parse().unwrap());
    Duration::from_secs(seconds)
}

/// What happens to the `n`th request of the double: of 20, two are throttled, one fails, one reply
/// is cut off, the others take 20 ms.
fn weather(n: usize) -> Failure {
    match n % 20 {
        3 | 11 => Failure::throttled(0),
        7 => Failure::ServerError,
        17 => Failure::CutReply,
        _ => Failure::Slow(Duration::from_millis(20)),
    }
}

/// How questions ended.
#[derive(Debug, Default)]
struct Ends {
    answered: AtomicUsize,
    /// By a 502 or 503 with a reason.
    refused: AtomicUsize,
    /// In no way at all, or any other.
    lost: AtomicUsize,
}

#[test]
#[ignore = "takes a machine of its own; `make attack` runs it"]
#[expect(clippy::print_stderr, reason = "its result")]
fn a_thousand_people_at_once_are_answered_and_accounted_for() {
    let double = Double::start(Behaviour::with(fixed(r#"{"answer": "In 1801."}"#)).unrecorded());
    let config = format!(
        "[models.m]\nurl = \"{}\"\nmodel = \"m\"\n[serve]\nrequests_per_minute = 0\n",
        double.url()
    );
    let victim = Victim::configured(&config);
    let (ends, over) = (Ends::default(), AtomicBool::new(false));
    let (begun, idle) = (Instant::now(), own_memory_of(victim.id()));
    let samples = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sent = 0;
            while !over.load(Ordering::Acquire) {
                let missing = QUEUED.saturating_sub(double.failures_left());
                double.fail((sent..sent + missing).map(weather));
                sent += missing;
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        for person in 0..PEOPLE {
            let (victim, ends) = (&victim, &ends);
            scope.spawn(move || ask_until(victim, ends, person, begun + length()));
        }
        let mut samples = vec![];
        while begun.elapsed() < length() {
            std::thread::sleep(length() / 20);
            samples.push(own_memory_of(victim.id()));
        }
        over.store(true, Ordering::Release);
        samples
    });
    // The accounts are written when a question has ended, which its client may see before.
    std::thread::sleep(Duration::from_secs(2));
    let usage = victim.get("/api/v1/usage?by=strategy").json();
    let counted = usize::try_from(usage[0]["questions"].as_u64().unwrap_or(0)).unwrap();
    let count = |ends: &AtomicUsize| ends.load(Ordering::Relaxed);
    let (answered, refused, lost) =
        (count(&ends.answered), count(&ends.refused), count(&ends.lost));
    let memory: Vec<u64> = samples.iter().map(|bytes| bytes >> 20).collect();
    eprintln!(
        "{answered} answered, {refused} refused, {lost} lost in {:?}; {} calls; {} MB idle, then \
         {memory:?} MB; {counted} questions in the accounts",
        begun.elapsed(),
        double.chat_calls(),
        idle >> 20,
    );
    assert_eq!(lost, 0);
    assert!(answered > 0 && (answered..=answered + refused).contains(&counted), "{usage}");
    // Flat: what is used at the end was used after a quarter of the time.
    let (early, late) = (samples[samples.len() / 4], samples[samples.len() - 1]);
    assert!(late < early + early / 4 + (16 << 20), "{early} bytes became {late}");
    victim.stop();
}

#[expect(clippy::print_stderr, reason = "its result")]
fn ask_until(victim: &Victim, ends: &Ends, person: usize, until: Instant) {
    for n in 0.. {
        if Instant::now() > until {
            return;
        }
        let question = format!("When was Light {} lit, asks {person} for the {n}th time?", n % 200);
        let answer =
            victim.post("/api/v1/ask", &json!({"question": question, "strategy": "naive"}));
        let end = match answer.status {
            200 => &ends.answered,
            502 | 503 if answer.text.contains("\"detail\"") => {
                std::thread::sleep(Duration::from_millis(200));
                &ends.refused
            }
            status => {
                eprintln!("{status}: {}", answer.text.lines().last().unwrap_or_default());
                &ends.lost
            }
        };
        end.fetch_add(1, Ordering::Relaxed);
    }
}
