//! The answer as people read it: only the citations that it rests on, the steps that led to them,
//! and, in the full style, sentences whose claims are checked against their sources.
mod claims;
mod computed;
mod evidence;
mod numbering;
pub(crate) mod passages;
mod steps;
mod streaming;

use halma_core::text::support::{TitledText, compose, is_supported, sentences_with_sources};
use halma_core::text::{sentences as text_sentences, thousands, words};
use halma_core::{
    Answer, AnswerKind, AnswerStyle, AnswerText, Cx, Error, FullAnswer, Prompt, Question,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use self::claims::{Checker, split_marks};
use self::evidence::{EvidenceSource, collect, explained};
use self::streaming::Streaming;
use crate::config::CheckClaims;

/// An answer of more words is in sentences already.
const LONG_ANSWER: usize = 25;

/// Characters of an answer that are shown: twice what the prompts ask for. Each of its sentences is
/// compared with each passage.
const MAX_ANSWER_CHARS: usize = 20_000;

const FULL: Prompt<Written> = Prompt::json("answer/full");

#[derive(Deserialize)]
struct Written {
    answer: String,
}

/// How an answer is written out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing {
    pub(crate) style: AnswerStyle,
    pub(crate) check: CheckClaims,
}

impl Writing {
    /// Completes what a strategy has answered, and shows it to the watcher. An abstention has
    /// nothing to write.
    pub(crate) async fn write(self, question: &Question, answer: Answer, cx: &Cx) -> Answer {
        if answer.abstained || answer.text.trim().is_empty() {
            // It rests on nothing; the trace has what was read.
            return Answer { citations: vec![], ..answer };
        }
        let answer = shortened(answer, cx);
        let short = self.style == AnswerStyle::Short || !question.options.is_empty();
        if answer.full.is_some() || (answer.computation.is_some() && short) {
            // Its citations are in the order of its numbers, or all rows.
            let full = answer.full.clone().filter(|_| !short);
            cx.show(full.as_ref().map_or(&answer.text, |full| &full.text), false);
            return Answer { full, ..answer };
        }
        if let Some(account) = &answer.computation {
            return self.write_computed(question, account, &answer, cx).await;
        }
        let sources = collect(question, &answer, cx).await;
        if short {
            cx.show(&answer.text, false);
            let citations = sources.into_iter().map(EvidenceSource::into_citation).collect();
            return steps::with_steps(Answer { citations, ..answer }, cx).await;
        }
        let span = cx.span("write the answer").reserve();
        let mut streaming = Streaming::new(span.clone(), sources.len());
        let text = if sources.is_empty() {
            answer.text.clone()
        } else if question.answer_kind == AnswerKind::Long
            || words(&answer.text).len() > LONG_ANSWER
        {
            sentences_with_sources(&answer.text, &passages(&sources))
        } else {
            sentences(question, &answer, &sources, &streaming).await
        };
        let (text, order) = streaming.finish(&text);
        let used: Vec<EvidenceSource> =
            order.iter().filter_map(|&number| sources.get(number - 1)).cloned().collect();
        let checker = Checker { how: self.check, sources: &sources, computed: None, cx: &span };
        let (claims, used) = checker.check(&text, used).await;
        let citations = used.into_iter().map(EvidenceSource::into_citation).collect();
        let full = Some(FullAnswer { text, claims });
        steps::with_steps(Answer { citations, full, ..answer }, cx).await
    }
}

/// The answer with no more text than is shown, and a note where there was more.
fn shortened(mut answer: Answer, cx: &Cx) -> Answer {
    if let Some((end, _)) = answer.text.char_indices().nth(MAX_ANSWER_CHARS) {
        answer.text.truncate(end);
        answer.text.push('…');
        let limit = thousands(MAX_ANSWER_CHARS as u64);
        cx.note(format!("only the first {limit} characters of the answer are shown"));
    }
    answer
}

/// The sentences of the model, or quotations where it gives none that can be used.
async fn sentences(
    question: &Question,
    answer: &Answer,
    sources: &[EvidenceSource],
    streaming: &Streaming,
) -> String {
    let cx = streaming.cx();
    let variables = context! {
        question => Serde(question),
        answer => &answer.text,
        reason => &answer.reason,
        passages => Serde(sources),
    };
    let fits = |written: &Written| fits(&written.answer);
    let reply = cx.streaming(streaming.receiver()).ask_checked(&FULL, variables, fits).await;
    let passages = passages(sources);
    match reply.map(|written| Some(written.answer)).unless_spent() {
        Ok(Some(text)) if !text.trim().is_empty() && !states(&text, &answer.text, &passages) => {
            cx.note("the answer is written from quotations: the model's sentences do not state it");
        }
        Ok(Some(text)) if text.contains('[') => return text,
        // The model has left out the numbers of its sources.
        Ok(Some(text)) if !text.trim().is_empty() => {
            return sentences_with_sources(text.trim(), &passages);
        }
        Ok(_) => cx.note("the answer is written from quotations: the model wrote none"),
        Err(error) => cx.note(format!("the answer is written from quotations: {}", brief(&error))),
    }
    compose(explained(question, answer), &passages)
}

/// Whether sentences hold the answer that was found, its numbers and at least half of its words, and
/// the passages support one of them. A yes or no may be said in other words.
fn states(text: &str, answer: &str, passages: &[TitledText<'_>]) -> bool {
    let (written, expected) = (words(&text.to_lowercase()), words(&answer.to_lowercase()));
    let is_missing = |word: &&String| !written.contains(word);
    let number = |word: &String| word.chars().any(|c| c.is_ascii_digit());
    let missing: Vec<&String> = expected.iter().filter(is_missing).collect();
    let is_verdict = matches!(expected.as_slice(), [word] if word == "yes" || word == "no");
    let is_whole = missing.is_empty() && !is_verdict;
    let holds = missing.len() * 2 <= expected.len() && !missing.into_iter().any(number);
    let is_supported = |range| {
        let (sentence, _) = split_marks(&text[range]);
        // The answer alone is a sentence; other text of two words states nothing.
        (is_whole || words(&sentence).len() > 2) && is_supported(&sentence, passages)
    };
    (is_verdict || holds) && text_sentences(text).into_iter().any(is_supported)
}

/// Whether a text can be shown as the answer, which was found before it is written in full.
fn fits(text: &str) -> Result<(), String> {
    if text.chars().nth(MAX_ANSWER_CHARS).is_some() {
        return Err(format!("the answer is longer than {MAX_ANSWER_CHARS} characters"));
    }
    if text.trim_start().starts_with('{') || text.trim_start().starts_with("```") {
        return Err("the answer must be sentences, without JSON and code fences".to_owned());
    }
    if !text.trim().is_empty() && AnswerText::from(text).0.is_empty() {
        return Err("the answer was found; write it, do not say that there is none".to_owned());
    }
    Ok(())
}

fn brief(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().chars().take(200).collect()
}

fn passages(sources: &[EvidenceSource]) -> Vec<TitledText<'_>> {
    sources.iter().map(EvidenceSource::passage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_answers_state_the_answer_with_a_supported_sentence() {
        let text = "Celltrion was founded by Seo Jung-jin in 2002. It has 18 plants.";
        let passages = [TitledText { title: "Celltrion", text }];
        let states = |text: &str, answer: &str| states(text, answer, &passages);
        assert!(states("Seo Jung-jin founded Celltrion [1].", "Seo Jung-jin"));
        assert!(states("Seo Jung-jin [1].", "Seo Jung-jin"));
        assert!(states("Celltrion has 18 plants [1].", "18"));
        assert!(states("Celltrion was founded in 2002 [1].", "yes"));
        for (text, answer) in [
            ("the sentences [?]", "Seo Jung-jin"),
            ("the sentences [1]", "yes"),
            ("Mara Quill founded Celltrion [1].", "Seo Jung-jin"),
            ("Celltrion was founded in 2003 [1].", "2002"),
            ("Seo Jung-jin likes tea with milk [1].", "Seo Jung-jin"),
        ] {
            assert!(!states(text, answer), "{text}");
        }
    }
}
