//! Answers that strategies give although a model call failed.
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Llm, LlmError, Question, Strategy, UnlessFailed as _};
use halma_testkit::Script;

use super::{ASK, bench, data, runner};
use crate::fingerprint;
use crate::jobs::Progress;
use crate::report::Report;
use crate::runner::SystemUnderTest;

/// Answers `yes` where the model does not reply.
struct Lenient;

#[async_trait]
impl Strategy for Lenient {
    fn name(&self) -> &'static str {
        "lenient"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> halma_core::Result<Answer> {
        let reply = cx.ask(&ASK, minijinja::context! { question => &question.text }).await;
        let text = reply.unless_failed(cx, "answering yes")?.unwrap_or_else(|| "yes".into());
        Ok(Answer { text, ..Answer::default() })
    }
}

async fn run(out: &std::path::Path, script: &Arc<Script>) -> Report {
    let lenient = SystemUnderTest {
        strategy: Arc::new(Lenient),
        label: "lenient".into(),
        fingerprint: fingerprint(["lenient"]),
        point: BTreeMap::new(),
    };
    let bench = bench(Arc::clone(script) as Arc<dyn Llm>);
    let quiet: Progress = Arc::new(|_| {});
    let report = runner(Some(out)).run(&data(), &[lenient], &bench, &quiet).await.unwrap();
    assert_eq!(script.left(), 0, "the script was not used up");
    report
}

#[tokio::test]
async fn an_answer_given_while_a_server_was_gone_is_asked_for_again() {
    let out = tempfile::tempdir().unwrap();
    let gone = LlmError::transient("the server is gone");
    let replies = vec![("test/ask", Ok("x")), ("test/ask", Err(gone)), ("test/ask", Ok("x"))];
    let report = run(out.path(), &Script::with_failures(replies)).await;
    let failed = &report.runs[0];
    assert_eq!((failed.failed, failed.failed_by_kind["llm"]), (1, 1));
    assert!(failed.failures[0].reason.contains("the server is gone"));
    let report = run(out.path(), &Script::new([("test/ask", "x")])).await;
    assert_eq!((report.runs[0].taken_over, report.runs[0].failed), (2, 0));
}

#[tokio::test]
async fn an_answer_without_a_refused_reply_counts_and_is_named() {
    let out = tempfile::tempdir().unwrap();
    let refused = || Err(LlmError::refused("the key is wrong"));
    let replies = vec![("test/ask", refused()), ("test/ask", Ok("x")), ("test/ask", refused())];
    let report = run(out.path(), &Script::with_failures(replies)).await;
    assert_eq!(report.runs[0].failed, 0);
    let table = report.table(false);
    let note =
        "lenient: 2 questions were answered without the reply of a model or a source that failed";
    assert!(table.contains(note) && table.contains("the key is wrong"), "{table}");
    let report = run(out.path(), &Script::new([])).await;
    assert!(report.table(false).contains(note), "{}", report.table(false));
}
