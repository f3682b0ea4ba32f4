//! The offline model with a trained reader: a double that marks given words.
use std::ops::Range;

use halma_core::{KindScores, Reading, ReadingWindow, TokenScore};

use super::*;

/// Prefers these words wherever they stand, and says yes to every question.
struct Marker(&'static str);

impl Marker {
    fn tokens(&self, text: &str) -> Vec<TokenScore> {
        let marked = text.find(self.0).map(|at| at..at + self.0.len());
        let token = |word: &str| -> TokenScore {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            let word = word.trim_end_matches(['.', ',', '?']);
            let range: Range<usize> = start..start + word.len();
            let score = |yes: bool| if yes { 20.0 } else { -20.0 };
            let first = marked.as_ref().is_some_and(|marked| marked.start == range.start);
            let last = marked.as_ref().is_some_and(|marked| marked.end == range.end);
            TokenScore { range, start: score(first), end: score(last) }
        };
        text.split_whitespace().map(token).collect()
    }
}

impl PassageReader for Marker {
    fn name(&self) -> &'static str {
        "marker"
    }

    fn read(&self, _: &str, texts: &[&str]) -> Result<Vec<Reading>, LlmError> {
        if self.0.is_empty() {
            return Err(LlmError::refused("it is broken"));
        }
        let kinds = KindScores { yes: 3.0, ..KindScores::default() };
        let window = |text: &&str| ReadingWindow {
            tokens: self.tokens(text),
            kinds,
            ..ReadingWindow::default()
        };
        let reading = |text: &&str| Reading { windows: vec![window(text)] };
        Ok(texts.iter().map(reading).collect())
    }

    fn keywords(&self, question: &str) -> Result<Option<Vec<Range<usize>>>, LlmError> {
        Ok(Some(question.find(self.0).map(|at| at..at + self.0.len()).into_iter().collect()))
    }
}

async fn read(marked: &'static str, text: &str) -> String {
    let hit = |title: &str, text: &str| json!({ "title": title, "text": text, "score": 0.8 });
    let context = json!([
        hit("Low Tide", "Low Tide was painted by Mara Quill in two years. It smells of cold tar."),
        hit("High Noon", "High Noon is a picture of a mill in Lower Saxby."),
        hit("Saxby", "In Saxby the painter of Low Tide met the mother of the painter of Low Tide."),
    ]);
    let variables = json!({ "question": question(text), "context": context });
    let model = Extractive::new().with(Arc::new(Marker(marked)));
    let reply = model.chat(&request("read", &variables)).await.unwrap();
    let reply: Value = serde_json::from_str(&reply.text).unwrap();
    reply["answer"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_it_marks_outweighs_what_the_rules_prefer() {
    let question = "Who painted Low Tide?";
    assert_eq!(read("Mara Quill", question).await, "Mara Quill");
    assert_eq!(read("Lower Saxby", question).await, "Lower Saxby");
    // A span that no rule proposes.
    assert_eq!(read("smells of cold", question).await, "smells of cold");
}

#[tokio::test]
async fn without_its_scores_the_rules_read() {
    assert_eq!(read("", "Who painted Low Tide?").await, "Mara Quill");
}

#[tokio::test]
async fn yes_or_no_and_which_of_two_are_left_to_the_rules() {
    // Trained heads are no better than chance there.
    let which = "Which is nicer, Low Tide or High Noon?";
    assert_eq!(read("High Noon", which).await, read("", which).await);
    let yes = "Is Low Tide a picture of a mill?";
    assert_eq!(read("Mara", yes).await, read("", yes).await);
    assert!(["yes", "no"].contains(&read("Mara", yes).await.as_str()));
}

#[tokio::test]
async fn a_question_of_several_steps_is_read_step_by_step_and_ends() {
    let question = "Where was the painter of Low Tide born?";
    assert_eq!(read("Lower Saxby", question).await, "Lower Saxby");
    // An answer that asks what the question asks leads to the same step again.
    for circular in ["the painter of Low Tide", "the mother of the painter of Low Tide"] {
        read(circular, question).await;
        read(circular, "Where was the mother of the painter of Low Tide born?").await;
    }
}

#[tokio::test]
async fn keywords_are_its_words_or_those_of_the_rules() {
    let variables = json!({ "question": question("Who painted Low Tide with a brush?") });
    let keywords = async |marked: &'static str| {
        let model = Extractive::new().with(Arc::new(Marker(marked)));
        let reply = model.chat(&request("keywords", &variables)).await.unwrap();
        serde_json::from_str::<Value>(&reply.text).unwrap()["keywords"].clone()
    };
    assert_eq!(keywords("a brush").await, json!(["a brush"]));
    assert_eq!(keywords("no such words").await[0], json!("Low Tide"));
}
