//! Made-up passages of about a hundred words, the same ones every time, and a model that answers
//! questions over them.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_testkit::double::ChatCall;

const WORDS: &[&str] = &[
    "river", "treaty", "engine", "harbour", "school", "bridge", "museum", "village", "council",
    "railway", "garden", "island", "castle", "market", "theatre", "library", "factory", "station",
    "temple", "valley", "forest", "mountain", "border", "colony", "empire", "painter", "writer",
    "singer", "captain", "bishop", "doctor", "lawyer", "farmer", "sailor", "founder", "opened",
    "closed", "moved", "built", "sold", "bought", "named", "joined", "left", "won", "lost", "held",
];

/// Writes `count` records to a JSONL file of `dir`.
pub(crate) fn write_passages(dir: &Path, count: usize) -> PathBuf {
    let path = dir.join("passages.jsonl");
    let mut out = String::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        // Xorshift: the passages need to differ, not to be random.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    for i in 0..count {
        let mut text = String::new();
        for _ in 0..5 {
            let _ = write!(text, "Thing {i} of Place{} ", next(500));
            for _ in 0..14 {
                // The product of two draws favours the first words, as real text does.
                let word = WORDS[next(WORDS.len()) * next(WORDS.len()) / WORDS.len()];
                let _ = write!(text, "{word} ");
            }
            let _ = write!(text, "in {}. ", 1700 + next(320));
        }
        let record = serde_json::json!({"id": i.to_string(), "title": format!("Thing {i}"), "text": text.trim()});
        let _ = writeln!(out, "{record}");
    }
    std::fs::write(&path, out).unwrap();
    path
}

/// Replies of a model that needs two hops: propose, select, propose, select, propose nothing,
/// answer; or a plan of two sub-questions; or eight sub-queries at once.
pub(crate) fn two_hops() -> impl Fn(&ChatCall) -> String + Send + Sync + 'static {
    let count = AtomicUsize::new(0);
    move |call| {
        let reply = match call.prompt.as_str() {
            // Two passages are enough.
            "kar3/propose" if call.last().contains("\n[2] ") => {
                r#"{"thinking": "t", "sub_questions": []}"#
            }
            "kar3/propose" => {
                r#"{"thinking": "t", "sub_questions": ["Where is it?", "Who made it?"]}"#
            }
            "kar3/select" => r#"{"thinking": "t", "candidate": 1}"#,
            "dec/decompose" | "dec/rewrite" | "unirag/sub_queries" => return planned(call, &count),
            "dec/keywords" => r#"{"keywords": ["thing"]}"#,
            "unirag/gate" => {
                r#"{"reason": "r", "statements": 1, "supported": 1, "asked": 1, "given": 1, "useful": [1]}"#
            }
            _ => r#"{"answer": "yes", "rationale": "r"}"#,
        };
        reply.to_owned()
    }
}

/// Sub-questions, a rewriting or sub-queries, with another text each time, so that no reply to what
/// comes of them is from the cache.
fn planned(call: &ChatCall, count: &AtomicUsize) -> String {
    let number = count.fetch_add(1, Ordering::Relaxed);
    match call.prompt.as_str() {
        "dec/decompose" => format!(
            r#"{{"sub_questions": ["Who made thing number {number}?", "Where was #1 born?"]}}"#
        ),
        "dec/rewrite" => {
            format!(
                r#"{{"dependency": null, "question": "Where was the maker of thing {number} born?"}}"#
            )
        }
        _ => {
            let query = |i| format!(r#""Which thing {number} was in place {i}?""#);
            let queries: Vec<String> = (0..8).map(query).collect();
            format!(r#"{{"sub_queries": [{}]}}"#, queries.join(", "))
        }
    }
}
