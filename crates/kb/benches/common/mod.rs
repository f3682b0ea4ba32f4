//! What the benches share: texts by chance, vectors of words, a base built of them.
#![allow(dead_code, clippy::unwrap_used, reason = "every bench uses a part of this, and may stop")]
pub(crate) mod table;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Models, Prompts, Setup, Vector,
};
use halma_kb::{
    Atoms, Base, BaseOptions, BuildContext, IndexOptions, IndexReport, KbSettings, PROMPTS,
};
use halma_testkit::Toy;
use tokio::runtime::Runtime;

pub(crate) const DIMENSIONS: usize = 384;

/// A small generator, so that every run has the same text and vectors.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    /// A word by Zipf's law, as texts have them.
    pub(crate) fn word(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "31 bits of chance")]
        let uniform = self.next() as f64 / f64::from(1_u32 << 31);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (60_000_f64.powf(uniform)) as u64;
        let letters = b"etaoinshrdlucmfwygpb";
        let (mut word, mut rest) = (String::new(), rank * 7919 + 13);
        while rest > 0 {
            word.push(char::from(letters[usize::try_from(rest % 20).unwrap()]));
            rest /= 20;
        }
        word
    }

    pub(crate) fn passage(&mut self, words: usize) -> String {
        let mut text = String::new();
        for i in 0..words {
            text.push_str(&self.word());
            text.push_str(if i % 20 == 19 { ". " } else { " " });
        }
        text
    }
}

/// Vectors made of the words of a text: a base measures whether cosines lead to its passages, and
/// compares no vectors where they do not.
pub(crate) struct WordVectors;

pub(crate) fn vector(text: &str) -> Vector {
    halma_testkit::double::vector(text, DIMENSIONS)
}

#[async_trait]
impl Embedder for WordVectors {
    fn model(&self) -> &'static str {
        "words"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

/// Answers at once with four questions.
pub(crate) struct Quick;

#[async_trait]
impl Llm for Quick {
    fn model(&self) -> &'static str {
        "quick"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = "Who is it?\nWhat is it?\nWhere is it?\nWhen was it?\n".to_owned();
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

pub(crate) fn passages(file: &Path, count: usize) {
    let mut random = Random(42);
    let mut lines = String::new();
    for i in 0..count {
        let text = random.passage(100);
        let _ = writeln!(lines, "{{\"id\":\"p{i}\",\"title\":\"t{i}\",\"text\":\"{text}\"}}");
    }
    std::fs::write(file, lines).unwrap();
}

pub(crate) struct Built {
    pub(crate) base: Arc<Base>,
    pub(crate) report: IndexReport,
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) fn build(runtime: &Runtime, count: usize, embedder: bool, atoms: Atoms) -> Built {
    build_of(runtime, (count, passages), embedder, atoms)
}

pub(crate) fn build_of(
    runtime: &Runtime,
    (count, passages): (usize, fn(&Path, usize)),
    embedder: bool,
    atoms: Atoms,
) -> Built {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("passages.jsonl");
    passages(&file, count);
    let embedder: Option<Arc<dyn Embedder>> =
        if embedder { Some(Arc::new(WordVectors)) } else { None };
    let options = BaseOptions { embedder, ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    let settings = KbSettings { atoms, ..KbSettings::default() };
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(Quick)),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let context = BuildContext::new(&base, &settings, &setup);
    let report = runtime.block_on(halma_kb::index(context, &[file], &IndexOptions::default()));
    let report = report.unwrap();
    Built { base, report, dir }
}

impl Random {
    /// Two words with capitals, one of some 20,000 names by Zipf's law.
    pub(crate) fn name(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "31 bits of chance")]
        let uniform = self.next() as f64 / f64::from(1_u32 << 31);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (20_000_f64.powf(uniform)) as u64;
        named(rank)
    }
}

fn named(number: u64) -> String {
    let syllables = ["bar", "del", "fin", "gor", "hal", "kin", "lom", "mer", "nov", "sal"];
    let digit = |place: u32| syllables[usize::try_from(number / 10_u64.pow(place) % 10).unwrap()];
    let capital = |word: String| word[..1].to_uppercase() + &word[1..];
    let given = capital(format!("{}{}", digit(0), digit(1)));
    given + " " + &capital(format!("{}{}{}", digit(2), digit(3), digit(4)))
}

/// Passages as an encyclopaedia has them: a name as the title, some eight names in five sentences.
/// Writes a file, or a folder of files where they are more than one may hold.
pub(crate) fn named_passages(path: &Path, count: usize) {
    const IN_A_FILE: usize = 100_000;
    let mut random = Random(42);
    if count > IN_A_FILE {
        std::fs::create_dir(path).unwrap();
    }
    for start in (0..count).step_by(IN_A_FILE) {
        let mut lines = String::new();
        for i in start..count.min(start + IN_A_FILE) {
            let title = named(u64::try_from(i).unwrap());
            let mut text = String::new();
            for _ in 0..5 {
                let (words, names) = (random.passage(12), [random.name(), random.name()]);
                let _ = write!(text, "{} of {} by {title} {}. ", names[0], names[1], words.trim());
            }
            let _ =
                writeln!(lines, "{{\"id\":\"p{i}\",\"title\":\"{title}\",\"text\":\"{text}\"}}");
        }
        let part = path.join(format!("{start}.jsonl"));
        std::fs::write(if count > IN_A_FILE { &part } else { path }, lines).unwrap();
    }
}
