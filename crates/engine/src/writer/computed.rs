//! The sentences of an answer that was computed. No model writes them: no passage states the value, so
//! that a model that keeps to passages could not.
use std::fmt::Write as _;

use halma_core::text::support::TitledText;
use halma_core::{Answer, Cx, FullAnswer, Question};

use super::Writing;
use super::claims::{Checker, MAX_ROWS};
use super::evidence::{EvidenceSource, cited};
use super::streaming::Streaming;

impl Writing {
    /// The value with the first of its rows, and what the reader says. All rows are cited.
    pub(super) async fn write_computed(
        self,
        question: &Question,
        account: &str,
        answer: &Answer,
        cx: &Cx,
    ) -> Answer {
        let sources = cited(answer, cx).await;
        let span = cx.span("write the answer").reserve();
        let value = answer.text.trim().trim_end_matches('.');
        let mut text = value.to_owned();
        for number in 1..=sources.len().min(MAX_ROWS) {
            let _ = write!(text, "{}[{number}]", if number == 1 { " " } else { "" });
        }
        let _ = write!(text, ". {}", answer.reason.trim());
        let (text, order) = Streaming::new(span.clone(), sources.len()).finish(&text);
        let rest = (1..=sources.len()).filter(|number| !order.contains(number));
        let numbers = order.iter().copied().chain(rest);
        let used: Vec<EvidenceSource> =
            numbers.filter_map(|number| sources.get(number - 1)).cloned().collect();
        let computed = format!("{value}. {account}");
        let computed = Some(TitledText { title: &question.text, text: &computed });
        let checker = Checker { how: self.check, sources: &sources, computed, cx: &span };
        let (claims, used) = checker.check(&text, used).await;
        let citations = used.into_iter().map(EvidenceSource::into_citation).collect();
        Answer { citations, full: Some(FullAnswer { text, claims }), ..answer.clone() }
    }
}
