//! Made-up passages of about a hundred words, the same ones every time.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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
