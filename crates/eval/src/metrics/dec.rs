//! How far DEC's own steps keep to the question's words (DEC, Appendix D.2). Both are read from the
//! replies in the trace, as they came: the strategy drops what it cannot use.
use halma_core::text::content_words;
use halma_core::text::similarity::edit_distance;
use halma_core::{Event, ReplyStatus, Trace, parse_json};
use serde::Deserialize;

use super::share;

/// Words more similar than this are the same word in another form (Appendix D.2.2).
const SIMILAR: f64 = 0.8;

/// Of the keywords that were extracted from sub-questions, the share that stand in them (Table 7);
/// `None` without any.
pub fn keyword_match(trace: &Trace) -> Option<f64> {
    #[derive(Deserialize)]
    struct Keywords {
        keywords: Vec<String>,
    }
    let (mut all, mut matched) = (0, 0);
    for (message, Keywords { keywords }) in replies::<Keywords>(trace, "dec/keywords") {
        all += keywords.len();
        let message = message.to_lowercase();
        let stands = |keyword: &&String| message.contains(&keyword.trim().to_lowercase());
        matched += keywords.iter().filter(stands).count();
    }
    (all > 0).then(|| share(matched, all))
}

/// Of the content words of the planned sub-questions, the share that stand in the question, in
/// this or a similar form (Table 8); `None` without a plan.
pub fn plan_fidelity(question: &str, trace: &Trace) -> Option<f64> {
    #[derive(Deserialize)]
    struct Plan {
        sub_questions: Vec<String>,
    }
    let given = content_words(question);
    let (_, plan) = replies::<Plan>(trace, "dec/decompose").next()?;
    let words = plan.sub_questions.iter().flat_map(|text| content_words(&without_references(text)));
    let words: Vec<String> = words.collect();
    let stands = |word: &&String| given.iter().any(|other| similar(word, other));
    (!words.is_empty()).then(|| share(words.iter().filter(stands).count(), words.len()))
}

/// The usable replies to a prompt, each with the words of the user's message.
fn replies<'a, R: serde::de::DeserializeOwned>(
    trace: &'a Trace,
    name: &'a str,
) -> impl Iterator<Item = (String, R)> + 'a {
    trace.0.iter().filter_map(move |event| match event {
        Event::ModelCalled { prompt, status: ReplyStatus::Valid, messages, reply, .. }
            if **prompt == *name =>
        {
            let user = messages.iter().filter(|message| message.role == "user");
            let message = user.map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n");
            Some((message, parse_json(reply).ok()?))
        }
        _ => None,
    })
}

/// Without `#1`, which stands for an answer.
fn without_references(text: &str) -> String {
    let reference = |word: &&str| word.trim_start_matches(['(', '"', '\'']).starts_with('#');
    text.split_whitespace().filter(|word| !reference(word)).collect::<Vec<_>>().join(" ")
}

fn similar(one: &str, other: &str) -> bool {
    let longest = one.chars().count().max(other.chars().count());
    one == other || 1.0 - share(edit_distance(one, other), longest) > SIMILAR
}

#[cfg(test)]
mod tests {
    use halma_core::Message;

    use super::*;

    fn replied(prompt: &str, message: &str, reply: &str) -> Event {
        let mut event = crate::components::tests::model_called(prompt, "proposer", message, false);
        if let Event::ModelCalled { reply: text, messages, .. } = &mut event {
            reply.clone_into(text);
            let system = Message { role: "system".into(), text: "Copy: zither".into() };
            messages.insert(0, system);
        }
        event
    }

    #[test]
    fn keywords_must_stand_in_their_sub_question() {
        let one = r#"{"keywords": ["Varn lighthouse", "1890"]}"#;
        let two = r#"```json {"keywords": ["ilse THORN", "zither"]} ```"#;
        let trace = Trace(vec![
            replied("dec/keywords", "Question: Who built the Varn lighthouse?", one),
            replied("dec/keywords", "Question: Where was Ilse Thorn born?", two),
            replied("dec/other", "Question: x", one),
        ]);
        assert_eq!(keyword_match(&trace), Some(0.5));
        assert_eq!(keyword_match(&Trace(vec![])), None);
    }

    #[test]
    fn a_plan_is_compared_by_its_content_words() {
        let question = "Where was the builder of the Varn lighthouse born?";
        let fidelity = |plan: &str| {
            let plan = format!(r#"{{"sub_questions": [{plan}]}}"#);
            plan_fidelity(question, &Trace(vec![replied("dec/decompose", question, &plan)]))
        };
        let faithful = r#""Who was the builder of the Varn lighthouse?", "Where was #1 born?""#;
        assert_eq!(fidelity(faithful), Some(1.0));
        // `lighthouses` is the same word in another form, `zither` is made up.
        assert_eq!(fidelity(r#""Varn lighthouses", "zither #1?""#), Some(2.0 / 3.0));
        assert_eq!(fidelity(""), None);
    }
}
