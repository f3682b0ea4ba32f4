//! Attacks on a running server, each with what it costs everyone else: `make attack` runs them and
//! writes `docs/attacks.md`.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
#[path = "../../../parse/tests/all/amplified.rs"]
mod amplified;
mod attacks;
mod crowds;
mod feedback;
mod kills;
#[allow(dead_code, reason = "the readers' own tests use the others")]
#[path = "../../../parse/tests/all/old_files.rs"]
mod old_files;
mod replies;
mod requests;
mod server;
mod storm;
mod teams;
mod watch;

use std::fmt::Write as _;

use crate::attacks::{Attack, all};
use crate::server::Victim;
use crate::watch::{Costs, percentile, watched};

/// Milliseconds in which a server answers that it is there, under every attack.
const HEALTH: f64 = 50.0;

/// Bytes that workers may use in addition to the server: the limits of one of each kind, twice.
const WORKERS: u64 = 9 << 30;

/// An attack with its outcome.
struct Row {
    about: String,
    answers: String,
    costs: Costs,
}

#[test]
#[ignore = "takes minutes and a machine of its own; `make attack` runs it"]
#[expect(clippy::print_stderr, reason = "its progress")]
fn nothing_that_is_sent_stops_the_server() {
    let victim = Victim::start();
    let quiet = watched(&victim, || std::thread::sleep(std::time::Duration::from_secs(5))).1;
    let idle = quiet.server_bytes;
    let mut rows = vec![Row {
        about: "nothing: the quiet server".into(),
        answers: "–".into(),
        costs: quiet.clone(),
    }];
    let mut missed = vec![];
    for Attack { about, run } in all() {
        let (outcome, costs) = watched(&victim, || run(&victim));
        eprintln!("{about}: {outcome:?}, {costs}");
        let answers = outcome.unwrap_or_else(|wrong| {
            missed.push(format!("{about}: {wrong}"));
            wrong
        });
        if costs.failed > 0 {
            missed.push(format!("{about}: {} health checks failed", costs.failed));
        }
        if percentile(&costs.health, 99) > HEALTH.max(5.0 * percentile(&quiet.health, 99)) {
            missed.push(format!("{about}: health p99 {:.0} ms", percentile(&costs.health, 99)));
        }
        if costs.server_bytes > 2 * idle + (512 << 20) || costs.worker_bytes > WORKERS {
            missed.push(format!("{about}: memory: {costs}"));
        }
        rows.push(Row { about: about.to_owned(), answers, costs });
    }
    let page = page(&rows);
    eprintln!("{page}");
    if std::env::var_os("HALMA_WRITE_ATTACKS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/attacks.md"), page)
            .unwrap();
    }
    victim.stop();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The attacks that are over in seconds, in every run of the tests, without their costs.
#[test]
fn the_server_answers_after_the_shortest_attacks() {
    let victim = Victim::start();
    for Attack { about, run } in all().into_iter().filter(attacks::is_short) {
        let outcome = run(&victim);
        assert!(outcome.is_ok(), "{about}: {outcome:?}");
        assert_eq!(victim.health(), Some(200), "{about}");
    }
    victim.stop();
}

/// Those whose description has `HALMA_ATTACK` in it.
#[test]
#[ignore = "`make attack` runs all of them"]
#[expect(clippy::print_stderr, reason = "its outcome")]
fn one_attack() {
    let Ok(part) = std::env::var("HALMA_ATTACK") else { return };
    let victim = Victim::start();
    for Attack { about, run } in all().into_iter().filter(|attack| attack.about.contains(&part)) {
        let (outcome, costs) = watched(&victim, || run(&victim));
        eprintln!("{about}: {outcome:?}, {costs}");
        assert!(outcome.is_ok());
    }
    victim.stop();
}

/// The process that watches a server while this one attacks it.
#[test]
#[ignore = "`make attack` starts it for each attack"]
fn watcher() {
    watch::watch_until_told();
}

fn page(rows: &[Row]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    let measured = format!("{cores} cores and a load of {load} at the end");
    let mut page = include_str!("page.txt").replace("$MEASURED", &measured);
    for Row { about, answers, costs } in rows {
        let health = &costs.health;
        let _ = writeln!(
            page,
            "| {about} | {answers} | {:.0} / {:.0} | {:.0} | {} | {} |",
            percentile(health, 50),
            percentile(health, 99),
            percentile(&costs.other, 95),
            costs.server_bytes >> 20,
            costs.worker_bytes >> 20,
        );
    }
    page
}
