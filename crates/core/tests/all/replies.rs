//! What [`Cx::ask`] makes of replies and failures that careless models and small servers give.

use std::sync::Arc;

use halma_core::{
    Budget, Cx, Error, Event, LONGEST_REPLY, LONGEST_THOUGHTS, LlmError, Message, PromptFile,
    PromptSet, Prompts, UnlessFailed as _,
};
use halma_testkit::{DRAFT, Mischief, Mischievous, Script};

use crate::common::{ASK, FITS, PROMPT, cx, question, with_prompts};

fn script(reply: &str) -> (Cx, Arc<Script>) {
    let script = Script::new([("demo/ask", reply)]);
    (cx(Arc::clone(&script) as _, Budget::default(), None).0, script)
}

fn thoughts(cx: &Cx) -> Vec<String> {
    let thoughts = |event: &Event| match event {
        Event::ModelCalled { thoughts, .. } => Some(thoughts.clone()),
        _ => None,
    };
    cx.trace().0.iter().filter_map(thoughts).collect()
}

#[tokio::test]
async fn a_draft_in_the_thoughts_is_kept_and_not_read() {
    for kind in [
        Mischief::ThinkTag,
        Mischief::ReasoningTag,
        Mischief::UnopenedThoughts,
        Mischief::ReasoningField,
        Mischief::TwoObjects,
    ] {
        let inner = Script::new([("demo/ask", r#"{"answer": "Yes, it is."}"#)]);
        let (cx, _) = cx(Mischievous::new(inner, kind, 1), Budget::default(), None);
        let answer = cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer;
        assert_eq!(answer, "Yes, it is.", "{kind:?}");
        let kept = thoughts(&cx).concat().contains(DRAFT);
        assert_eq!(kept, kind != Mischief::TwoObjects, "{kind:?}");
    }
}

#[tokio::test]
async fn thoughts_alone_are_asked_for_again() {
    let replies = [("demo/ask", "<think>{\"answer\": \"draft\"}"), ("demo/ask", FITS)];
    let (cx, _) = cx(Script::new(replies), Budget::default(), None);
    assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    assert_eq!(cx.trace().malformed(), 1);
}

#[tokio::test]
async fn a_reply_that_is_too_long_is_asked_for_again_and_not_sent_back() {
    let text = format!("{{\"answer\": \"{}\"}}", "é".repeat(LONGEST_REPLY / 2));
    let thinks = format!("<think>{}</think>{FITS}", "so ".repeat(LONGEST_THOUGHTS / 2));
    for long in [text.as_str(), thinks.as_str()] {
        let (cx, _) =
            cx(Script::new([("demo/ask", long), ("demo/ask", FITS)]), Budget::default(), None);
        assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
        assert_eq!(cx.trace().malformed(), 1);
        let trace = serde_json::to_string(&cx.trace()).unwrap();
        assert!(trace.contains("longer than 256 KiB") && trace.len() < 20_000, "{}", trace.len());
    }
    // As long as a reply may be it is read.
    let longest = format!("{{\"answer\": \"{}\"}}", "x".repeat(LONGEST_REPLY - 14));
    assert_eq!(longest.len(), LONGEST_REPLY);
    let (cx, _) = cx(Script::new([("demo/ask", longest.as_str())]), Budget::default(), None);
    assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer.len(), LONGEST_REPLY - 14);
}

#[tokio::test]
async fn a_part_that_fails_is_nothing_with_a_note_and_a_spent_budget_stays_an_error() {
    let bad = ("demo/ask", Ok("perhaps"));
    let failing = ("demo/ask", Err(LlmError::refused("no")));
    for steps in [vec![bad.clone(), bad.clone(), bad], vec![failing]] {
        let (cx, _) = cx(Script::with_failures(steps), Budget::default(), None);
        let reply = cx.ask(&PROMPT, question("Is it?")).await;
        assert!(reply.unless_failed(&cx, "no answer is taken").unwrap().is_none());
        assert!(halma_testkit::outline(&cx.trace()).contains("note: no answer is taken: "));
    }
    let spent = Budget { calls: Some(0), ..Budget::default() };
    let (cx, _) = cx(Script::new([]), spent, None);
    let reply = cx.ask(&PROMPT, question("Is it?")).await;
    assert!(matches!(reply.unless_failed(&cx, "nothing"), Err(Error::Spent(_))));
}

#[tokio::test]
async fn repairs_are_limited_in_all() {
    let bad = ("demo/ask", "perhaps");
    let script = Script::new([bad, bad, FITS_REPLY, bad]);
    let (cx, _) = cx(script, Budget { repairs: Some(2), ..Budget::default() }, None);
    assert!(cx.ask(&PROMPT, question("Is it?")).await.is_ok());
    let error = cx.ask(&PROMPT, question("Is it?")).await.map(|reply| reply.answer).unwrap_err();
    assert_eq!(error.kind(), "bad_reply");
    assert_eq!(cx.trace().malformed(), 3);
}

const FITS_REPLY: (&str, &str) = ("demo/ask", FITS);

#[tokio::test]
async fn a_prompt_that_is_too_long_is_shortened_until_it_fits() {
    const LISTING: &str = "---\ntask: read\nrole: reader\nvariables: [\"context\"]\n---\n## user\n\
        {% for passage in context %}{{ passage }} {% endfor %}\n";
    let files = PromptSet::Files(&[PromptFile { name: "demo/ask", text: LISTING }]);
    let prompts = Arc::new(Prompts::shipped(&[files]).unwrap());
    let long = || ("demo/ask", Err(LlmError::TooLong { reason: "4096".into() }));
    let steps = vec![long(), long(), ("demo/ask", Ok(FITS)), long()];
    let (cx, _) = with_prompts(prompts, Script::with_failures(steps), Budget::default(), None);
    let variables = minijinja::context! { context => ["a", "b", "c", "d"] };
    cx.ask(&PROMPT, variables).await.unwrap();
    let last = cx.trace().0.into_iter().rev().find_map(|event| match event {
        Event::ModelCalled { messages, .. } => Some(messages[0].text.clone()),
        _ => None,
    });
    assert_eq!(last.as_deref(), Some("a"));
    assert!(
        halma_testkit::outline(&cx.trace()).contains("only 2 of 4 items of `context` are shown")
    );
    // What cannot be shortened is the error it was.
    let one = minijinja::context! { context => ["a"] };
    let error = cx.ask(&PROMPT, one).await.map(|reply| reply.answer).unwrap_err();
    assert_eq!(error.kind(), "llm");
}

#[tokio::test]
async fn demonstrations_stand_before_the_question_unless_they_are_switched_off() {
    const EXAMPLES: &str = "## user\nIs {{ it }}?\n## assistant\n{\"answer\": \"no\"}\n";
    let with = |name, text| PromptFile { name, text };
    let files = |examples| {
        let leaked: &'static [PromptFile] =
            Box::leak(Box::new([with("demo/ask.demonstrations", examples), with("demo/ask", ASK)]));
        Prompts::shipped(&[PromptSet::Files(leaked)])
    };
    let model = Script::new([FITS_REPLY, FITS_REPLY]);
    let prompts = Arc::new(files(EXAMPLES).unwrap());
    let (cx, _) = with_prompts(prompts, model, Budget::default(), None);
    cx.without_demonstrations().ask(&PROMPT, question("Is it?")).await.unwrap();
    cx.ask(&PROMPT, question("Is it?")).await.unwrap();
    let asked: Vec<Vec<Message>> = cx.trace().0.into_iter().filter_map(messages).collect();
    assert_eq!(asked[0].len(), 2);
    let texts: Vec<&str> = asked[1].iter().map(|message| message.text.as_str()).collect();
    // Taken as they stand: no variable is substituted.
    assert_eq!(texts, ["Answer.", "Is {{ it }}?", "{\"answer\": \"no\"}", "Is it?"]);
    for bad in ["## user\nIs it?\n", "", "## assistant\nno\n## user\nIs it?\n"] {
        assert!(files(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_goes_without_examples_first() {
    const EXAMPLES: &str = "## user\nIs it?\n## assistant\n{\"answer\": \"no\"}\n";
    const OTHER: &str = "---\ntask: read\nrole: reader\nvariables: []\n---\n## user\nHm?\n";
    let asked = ASK.replacen("task:", "demonstrations: demo/other\ntask:", 1);
    let with = |name, text| PromptFile { name, text };
    let files = |asked: &str, other: &'static str| {
        let asked: &'static str = Box::leak(asked.to_owned().into_boxed_str());
        let files = [
            with("demo/ask", asked),
            with("demo/other", OTHER),
            with("demo/other.demonstrations", other),
        ];
        let files: &'static [PromptFile] = Box::leak(Box::new(files));
        Prompts::shipped(&[PromptSet::Files(files)])
    };
    let prompts = Arc::new(files(&asked, EXAMPLES).unwrap());
    let long = ("demo/ask", Err(LlmError::TooLong { reason: "2048".into() }));
    let steps = vec![long, ("demo/ask", Ok(FITS))];
    let (cx, _) = with_prompts(prompts, Script::with_failures(steps), Budget::default(), None);
    cx.ask(&PROMPT, question("Is it?")).await.unwrap();
    let last = cx.trace().0.into_iter().filter_map(messages).next_back();
    assert_eq!(last.map(|messages| messages.len()), Some(2));
    assert!(
        halma_testkit::outline(&cx.trace()).contains("without examples"),
        "{}",
        halma_testkit::outline(&cx.trace())
    );
    // Examples that are nowhere are an error with the name that was meant.
    let wrong = asked.replacen("demo/other", "other/other", 1);
    let error = files(&wrong, EXAMPLES).err().unwrap().to_string();
    assert!(error.contains("`other/other` has no demonstrations"), "{error}");
    let mut prompts = files(&asked, EXAMPLES).unwrap();
    let error = prompts.replace("demo/ask", "mine/ask.md", &wrong).unwrap_err().to_string();
    assert!(error.contains("mine/ask.md") && error.contains("demo/other"), "{error}");
}

fn messages(event: Event) -> Option<Vec<Message>> {
    match event {
        Event::ModelCalled { messages, .. } => Some(messages),
        _ => None,
    }
}

#[tokio::test]
async fn a_list_of_one_and_a_key_in_another_case_are_read() {
    let (cx, script) = script("Answer:\n```json\n{'Answer': ['yes'],}\n```");
    assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    assert_eq!(script.left(), 0);
}
