//! Feedback on answers of a server that is killed: what was answered with success holds after the next
//! start.
use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::requests::Answer;
use crate::server::Victim;

/// A document that nobody deletes, so that what is accepted of it stays.
pub(crate) const STEADY: (&str, &str) =
    ("steady.md", "# Orrin\n\nThe light of Orrin was lit in 1869. Its keeper was Ada Quill.\n");

/// What became of feedback by the last request that was answered with success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeedbackState {
    Given,
    Accepted,
    Undone,
    Deleted,
}

/// Feedback by its id. What was sent and not answered is not among it: it may have been done or not.
#[derive(Default)]
pub(crate) struct KnownFeedback {
    states: HashMap<String, FeedbackState>,
}

impl KnownFeedback {
    /// Asks, corrects the answer, and accepts the correction, takes it back or deletes it, until the
    /// server is gone.
    pub(crate) fn give(&mut self, victim: &Victim) {
        for n in self.states.len() % 4.. {
            if self.give_one(victim, n).is_none() {
                return;
            }
        }
    }

    /// `None` when the server is gone.
    fn give_one(&mut self, victim: &Victim, n: usize) -> Option<()> {
        // The trace of a question that quotes a document which is deleted meanwhile is not kept.
        let question = json!({"question": "When was the light of Orrin lit?", "strategy": "naive",
            "filter": {"documents": [STEADY.0]}});
        let run = done(&victim.post("/api/v1/ask", &question))?["id"].clone();
        let correction = json!({"run": run, "verdict": "wrong", "correction": "1871"});
        let mut given = victim.post("/api/v1/feedback", &correction);
        // The trace of a question is written after its answer.
        while given.status == 404 {
            std::thread::sleep(Duration::from_millis(5));
            given = victim.post("/api/v1/feedback", &correction);
        }
        let given = done(&given)?;
        let id = given["id"].as_str().unwrap().to_owned();
        self.states.insert(id.clone(), FeedbackState::Given);
        let step = n % 4;
        if step == 0 {
            return Some(());
        }
        self.decide(victim, (&id, "accept"), FeedbackState::Accepted)?;
        match step {
            1 => Some(()),
            2 => self.decide(victim, (&id, "undo"), FeedbackState::Undone),
            _ => self.delete(victim, &id),
        }
    }

    fn decide(
        &mut self,
        victim: &Victim,
        (id, what): (&str, &str),
        state: FeedbackState,
    ) -> Option<()> {
        self.states.remove(id);
        done(&victim.post(&format!("/api/v1/feedback/{id}/{what}"), &json!({"despite": true})))?;
        self.states.insert(id.to_owned(), state);
        Some(())
    }

    fn delete(&mut self, victim: &Victim, id: &str) -> Option<()> {
        self.states.remove(id);
        done(&victim.delete(&format!("/api/v1/feedback/{id}")))?;
        self.states.insert(id.to_owned(), FeedbackState::Deleted);
        Some(())
    }

    /// How many there are, all of which are as they were left.
    pub(crate) fn check(&self, victim: &Victim) -> usize {
        for (id, state) in &self.states {
            let answer = victim.get(&format!("/api/v1/feedback/{id}"));
            let expected = match state {
                FeedbackState::Given => "pending",
                FeedbackState::Accepted => "accepted",
                FeedbackState::Undone => "undone",
                FeedbackState::Deleted => {
                    assert_eq!(answer.status, 404, "{id} is back: {}", answer.text);
                    continue;
                }
            };
            let feedback = answer.json();
            assert_eq!(feedback["candidates"][0]["state"], expected, "{id}: {}", answer.text);
        }
        self.states.len()
    }

    /// Deletes all feedback, also what was given and not answered.
    pub(crate) fn delete_all(victim: &Victim) {
        loop {
            let list = victim.get("/api/v1/feedback?limit=500").json();
            let ids: Vec<&Value> =
                list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
            if ids.is_empty() {
                return;
            }
            for id in ids.into_iter().filter_map(Value::as_str) {
                assert_eq!(victim.delete(&format!("/api/v1/feedback/{id}")).status, 204);
            }
        }
    }
}

/// What was answered with success; `None` when the server is gone.
fn done(answer: &Answer) -> Option<Value> {
    if answer.status == 0 {
        return None;
    }
    assert!((200..300).contains(&answer.status), "{}", answer.text);
    Some(answer.json())
}
