//! What holds for every way of cutting, and what models make of it.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Budget, ChatReply, ChatRequest, Cx, EmbedRole, Embedder, Error, Llm, LlmError, Meter, Models,
    Prompts, Setup, Vector,
};
use halma_parse::Parsed;
use halma_testkit::{Script, Toy};
use proptest::prelude::*;

use super::testing::{delimited, markdown, owns, plain, settings};
use super::{Cut, CutModels, CutSettings, cut, cut_now, expected_cut};
use crate::{Chunks, KbError, PROMPTS};

/// A vector that says only which of two subjects a text has more of.
struct Subjects;

#[async_trait]
impl Embedder for Subjects {
    fn model(&self) -> &'static str {
        "subjects"
    }

    #[expect(clippy::cast_precision_loss, reason = "a handful of letters")]
    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let vector = |text: &&str| {
            let count = |letter| text.matches(letter).count() as f32 + 0.1;
            let (sea, sky) = (count("sea"), count("sky"));
            let length = sea.hypot(sky);
            vec![sea / length, sky / length]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Ends every passage at a random piece, sometimes at none that is there.
struct Wild(std::sync::atomic::AtomicUsize);

#[async_trait]
impl Llm for Wild {
    fn model(&self) -> &'static str {
        "wild"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let call = self.0.fetch_add(7, std::sync::atomic::Ordering::Relaxed);
        let text =
            format!("{{\"end\": {}, \"summary\": \"s\", \"forward\": \"f\"}}", call % 11 % 5);
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

async fn cut_with(
    parsed: &Parsed,
    settings: &CutSettings,
    model: Arc<dyn Llm>,
) -> Result<Cut, KbError> {
    let setup = Arc::new(Setup::new(
        Models::new(model),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let embedder: Arc<dyn Embedder> = Arc::new(Subjects);
    let meter = Arc::new(Meter::new(Budget::default()));
    let cx = Cx::new(setup, meter, None);
    let with = CutModels { cx: &cx, embedder: Some(&embedder) };
    cut(parsed, "Title", settings, &with).await
}

fn cut_anyhow(parsed: &Parsed, settings: &CutSettings) -> Cut {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let model = Arc::new(Wild(std::sync::atomic::AtomicUsize::new(parsed.text.len())));
    runtime.block_on(cut_with(parsed, settings, model)).unwrap()
}

fn shown<'a>(parsed: &'a Parsed, cut: &'a Cut) -> Vec<&'a str> {
    let chunks = cut.outline.sections.iter().flat_map(|section| &section.chunks);
    chunks
        .map(|chunk| match &chunk.text {
            Some(text) => text.as_str(),
            None => &parsed.text[chunk.place.bytes.0..chunk.place.bytes.1],
        })
        .collect()
}

const KINDS: [Chunks; 5] =
    [Chunks::Structure, Chunks::Fixed, Chunks::Sentences, Chunks::Semantic, Chunks::Model];

proptest! {
    #[test]
    fn chunks_join_back_to_the_text_and_keep_the_limit(
        text in "([a-zé他 .!?#|`*-]|\n|\n\n|# |## |- |sea sky\\. |```\n|\\| a \\|\n|\\|-\\|\n|\\| b \\|\n){0,60}",
        limit in 1usize..40,
        sizes in (1usize..9, 0usize..9),
    ) {
        let kinds = [plain(&text), markdown(&text), delimited(&text, b'|')];
        for (parsed, chunks) in kinds.iter().flat_map(|parsed| KINDS.map(|kind| (parsed, kind))) {
            let settings = CutSettings {
                chunk_tokens: sizes.0,
                chunk_overlap: sizes.1,
                sentences: sizes.0,
                sentence_overlap: sizes.1,
                ..settings(chunks, limit)
            };
            let cut = cut_anyhow(parsed, &settings);
            let joined = owns(parsed, &cut.outline).concat();
            let shown = shown(parsed, &cut);
            if !shown.is_empty() {
                prop_assert_eq!(&joined, &parsed.text[parsed.body..], "{:?}", chunks);
            } else if parsed.tables.is_empty() {
                prop_assert!(parsed.text[parsed.body..].trim().is_empty());
            }
            for chunk in shown.iter().filter(|_| !matches!(chunks, Chunks::Fixed | Chunks::Sentences)) {
                prop_assert!(chunk.trim().chars().count() <= limit, "{:?} {}: {}", chunks, limit, chunk);
            }
            for table in &cut.outline.tables {
                prop_assert!(table.rows.iter().all(|row| row.chunk < shown.len()));
                prop_assert!(table.section < cut.outline.sections.len());
            }
        }
    }

    #[test]
    fn structure_cuts_no_item_that_fits(items in prop::collection::vec("[a-z]{1,5}\\. [A-Z][a-z]{1,9}", 1..9)) {
        let list = items.iter().map(|item| format!("- {item}\n")).collect::<Vec<_>>().concat();
        let table = items.iter().map(|item| format!("| {item} |\n")).collect::<Vec<_>>().concat();
        let text = format!("{list}\n| a |\n|---|\n{table}\nWords. And more.\n");
        let parsed = markdown(&text);
        let limit = table.len() + 12;
        let cut = cut_now(&parsed, "", &settings(Chunks::Structure, limit)).unwrap();
        let shown = shown(&parsed, &cut);
        prop_assert!(shown.iter().any(|chunk| chunk.contains(&table)));
        for item in items {
            let item = format!("- {item}");
            prop_assert!(shown.iter().any(|chunk| chunk.contains(&item)));
        }
    }
}

#[test]
fn windows_of_sentences_share_their_beginnings() {
    let text = "One is. Two is. Three is. Four is. Five is.";
    let settings =
        CutSettings { sentences: 3, sentence_overlap: 1, ..settings(Chunks::Sentences, 100) };
    let parsed = plain(text);
    let cut = cut_now(&parsed, "", &settings).unwrap();
    assert_eq!(shown(&parsed, &cut), ["One is. Two is. Three is. ", "Three is. Four is. Five is."]);
    assert_eq!(owns(&parsed, &cut.outline), ["One is. Two is. Three is. ", "Four is. Five is."]);
}

#[test]
fn a_window_over_headings_belongs_to_the_section_it_begins_in() {
    let parsed =
        markdown("## A\n\none two\n\n## B\n\nthree four\n\n## C\n\nfive six seven eight\n");
    let settings =
        CutSettings { chunk_tokens: 10, chunk_overlap: 0, ..settings(Chunks::Fixed, 100) };
    let cut = cut_now(&parsed, "", &settings).unwrap();
    let chunks: Vec<(Option<&str>, usize)> = cut
        .outline
        .sections
        .iter()
        .map(|section| (section.name.as_deref(), section.chunks.len()))
        .collect();
    assert_eq!(chunks, [(Some("A"), 1), (Some("B"), 0), (Some("C"), 1)], "{:?}", cut.outline);
}

#[test]
fn a_subject_is_not_torn_apart() {
    let sea = (0..6).map(|i| format!("The sea has {i} fish in it. ")).collect::<Vec<_>>().concat();
    let sky = (0..6).map(|i| format!("The sky has {i} birds in it. ")).collect::<Vec<_>>().concat();
    let parsed = plain(&format!("{sea}{sky}{sea}"));
    let cut = cut_anyhow(&parsed, &settings(Chunks::Semantic, 300));
    assert_eq!(shown(&parsed, &cut), [sea.as_str(), &sky, &sea]);
}

const RULES: &str = "The rule opens here and says much.\n\nIt has an exception for Sundays.\n\n\
                     Another rule opens here at last.\n";

fn reply(end: i32) -> String {
    format!("{{\"end\": {end}, \"summary\": \"about {end}\", \"forward\": \"so far {end}\"}}")
}

#[tokio::test]
async fn the_model_says_where_a_chunk_ends_and_what_it_is_about() {
    let parsed = markdown(RULES);
    let (first, second) = (reply(2), reply(1));
    let script = Script::new([("kb/cut", first.as_str()), ("kb/cut", second.as_str())]);
    let settings = settings(Chunks::Model, 200);
    // The script asserts that it is asked twice and no more.
    let cut = cut_with(&parsed, &settings, script).await.unwrap();
    let texts = shown(&parsed, &cut);
    assert_eq!(texts.len(), 2);
    assert!(texts[0].ends_with("Sundays.\n\n"));
    let summaries: Vec<_> =
        cut.outline.sections[0].chunks.iter().map(|chunk| chunk.summary.as_deref()).collect();
    assert_eq!(summaries, [Some("about 2"), Some("about 1")]);
    assert_eq!(cut.fell_back, 0);
}

#[tokio::test]
async fn an_end_that_is_not_there_falls_back_to_the_structure() {
    let parsed = markdown(RULES);
    let (wrong, none, right) = (reply(9), reply(0), reply(1));
    let script = Script::new([
        ("kb/cut", wrong.as_str()),
        ("kb/cut", none.as_str()),
        ("kb/cut", "I would cut it in the middle."),
        ("kb/cut", right.as_str()),
    ]);
    let settings = settings(Chunks::Model, 75);
    let cut = cut_with(&parsed, &settings, script).await.unwrap();
    assert_eq!(cut.fell_back, 1);
    let texts = shown(&parsed, &cut);
    assert!(texts[0].ends_with("Sundays.\n\n"), "as many pieces as fit: {texts:?}");
    assert_eq!(texts.len(), 2);
    let chunks = &cut.outline.sections[0].chunks;
    assert_eq!(
        (chunks[0].summary.as_deref(), chunks[1].summary.as_deref()),
        (None, Some("about 1"))
    );
}

#[tokio::test]
async fn a_model_that_fails_leaves_the_document_uncut() {
    struct Down;
    #[async_trait]
    impl Llm for Down {
        fn model(&self) -> &'static str {
            "down"
        }
        async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
            Err(LlmError::refused("down"))
        }
    }
    let settings = settings(Chunks::Model, 75);
    let failed = cut_with(&markdown(RULES), &settings, Arc::new(Down)).await;
    assert!(matches!(failed, Err(KbError::Cut { source: Error::Llm { .. }, .. })));
}

#[test]
fn what_the_model_will_be_asked_is_known_before() {
    let parsed = markdown(RULES);
    let expected = expected_cut(&parsed, "", &settings(Chunks::Model, 75));
    assert_eq!(expected.requests.len(), 2);
    assert_eq!(expected.outline.sections.iter().map(|s| s.chunks.len()).sum::<usize>(), 2);
    let without = expected_cut(&parsed, "", &settings(Chunks::Structure, 75));
    assert_eq!(without.requests.len(), 0);
    let prompts = Prompts::shipped(&[PROMPTS]).unwrap();
    for variables in expected.requests {
        let rendered = prompts.render("kb/cut", &variables).unwrap();
        assert!(rendered.messages[1].text.contains("[1]\n"), "{:?}", rendered.messages);
    }
}

#[test]
fn only_what_decides_the_cuts_is_in_the_fingerprint() {
    let of = |chunks| settings(chunks, 1500);
    let structure = of(Chunks::Structure);
    let other = CutSettings { sentences: 3, chunk_tokens: 9, ..structure };
    assert_eq!(structure.fingerprint(), other.fingerprint());
    let prints: std::collections::BTreeSet<u64> =
        KINDS.map(|chunks| of(chunks).fingerprint()).into_iter().collect();
    assert_eq!(prints.len(), KINDS.len());
    let longer = CutSettings { chunk_chars: 1501, ..structure };
    assert_ne!(structure.fingerprint(), longer.fingerprint());
}
