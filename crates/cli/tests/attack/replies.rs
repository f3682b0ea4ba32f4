//! A model server that sends what should stop the server that asks it: replies of nothing but
//! brackets, and streams without an end.
use std::sync::atomic::{AtomicBool, Ordering};

use halma_testkit::double::{Behaviour, Double, Failure, fixed};
use serde_json::{Value, json};

use crate::server::Victim;

/// Asks some questions at once, in the short form and as streamed chats, while the health of the
/// server is asked for; every question ends in an answer or with a reason.
fn ask(victim: &Victim) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let healthy = scope.spawn(|| {
            let mut healthy = 0;
            while !over.load(Ordering::Acquire) {
                assert_eq!(victim.health(), Some(200));
                healthy += 1;
            }
            healthy
        });
        let asking: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    let question = format!("When was Light {n} first lit?");
                    if n % 2 == 0 {
                        return victim.post("/api/v1/ask", &json!({"question": question}));
                    }
                    let messages = json!([{"role": "user", "content": question}]);
                    let chat =
                        json!({"model": "halma-naive", "messages": messages, "stream": true});
                    victim.post("/v1/chat/completions", &chat)
                })
            })
            .collect();
        let answers: Vec<_> = asking.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Release);
        assert!(healthy.join().unwrap() > 0);
        for answer in answers {
            let answer = answer.unwrap();
            let status = answer.status;
            assert!([200, 502].contains(&status), "{status}: {:.500}", answer.text);
        }
    });
}

#[test]
fn replies_without_an_end_stop_no_one() {
    let brackets = |piece: &str, bytes: usize| fixed(&piece.repeat(bytes / piece.len()));
    let double = Double::start(Behaviour::with(brackets("{", 200_000)).unrecorded());
    let model = format!("[models.m]\nurl = \"{}\"\nmodel = \"m\"\nretries = 0\n", double.url());
    let victim = Victim::configured(&format!("{model}[ask]\nstrategy = \"naive\"\n"));
    ask(&victim);
    for (piece, bytes) in [("{\"answer\": \"[1", 200_000), ("<[", 200_000), ("{[", 3_000_000)] {
        double.set(Behaviour::with(brackets(piece, bytes)).unrecorded());
        ask(&victim);
    }
    let event =
        |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    for endless in [
        event(json!({"content": "{\"answer\": \"[".repeat(100)})),
        event(json!({"reasoning_content": "so ".repeat(1_000)})),
        "data: x".repeat(1_000),
    ] {
        double.fail(std::iter::repeat_n(Failure::Endless(endless), 40));
        ask(&victim);
    }
    victim.stop();
}
