//! Ctrl-C while models are asked.
#![cfg(unix)]
use std::process::Command;
use std::time::Duration;

use halma_testkit::double::{Behaviour, Double, atomizer};

use crate::program::{Program, write_library};

#[test]
fn an_index_that_is_interrupted_says_so_and_is_resumed_by_the_same_command() {
    let never = Behaviour::with(atomizer()).latency(Duration::from_hours(1));
    let double = Double::start(never);
    let program = Program::with_model(&double.url());
    write_library(&program);
    let child = program.start(&["index", "library"]);
    while double.in_flight() == 0 {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty(), "there is no result");
    let err = String::from_utf8(output.stderr).unwrap();
    let message = err.lines().last().unwrap();
    assert!(message.starts_with("Interrupted: "), "{err}");
    assert!(message.ends_with("; run the same command again to continue."), "{err}");

    program.run(&["kb", "verify"]).succeeds();
    double.set(Behaviour::with(atomizer()));
    program.run(&["index", "library"]).succeeds();
    let stats = program.stats();
    assert_eq!((&stats["documents"], &stats["failed_units"]), (&4.into(), &0.into()), "{stats}");
    assert_eq!(stats["pending_units"], 0, "{stats}");
    program.run(&["kb", "verify"]).succeeds();
}
