//! Chunks into atoms: a model's questions, or the chunk's own sentences.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::text::thousands;
use halma_core::{Cx, Layer, Prompt};
use minijinja::{Value, context};
use parking_lot::Mutex;

use super::reply_check::is_refusal;
use super::surroundings::{Surroundings, table_summaries};
use super::{Backlog, BuildContext, EmbedQueue, Pace, SourceDocument, Stage, StageError};
use crate::cut::AtomSource;
use crate::store::{
    AtomDraft, ChunkRecord, Cost, Id, Row, StoreReader, StoreWriter, atoms_input, atoms_key, hash,
};
use crate::{Atoms, Phase};

/// The prompt that makes atoms.
pub(crate) const ATOMIZE: &str = QUESTIONS.name;

const QUESTIONS: Prompt<Vec<String>> = Prompt { name: "kb/atomize", parse: questions };

/// Tokens of a question.
const QUESTION_TOKENS: u64 = 13;

/// Sentences are made by one thread; the chunks of which they may wait to be written.
const SENTENCES_QUEUED: usize = 4096;

/// A chunk that has no atoms of the kind that is wanted.
pub(crate) struct Unatomized {
    /// Where it is stored; `None` in an estimate.
    row: Option<Row>,
    source: AtomSource,
    around: Surroundings,
    /// Names of its document.
    names: Vec<String>,
}

/// What was made of a chunk.
pub(crate) struct Atomized {
    atoms: Vec<AtomDraft>,
    /// Atoms that were left out: more than are kept of one chunk.
    left_out: usize,
}

pub(crate) struct Atomize {
    context: Arc<BuildContext>,
    /// What atoms are noted as made with.
    input: Id,
    /// Where new atoms go to be embedded.
    queue: Option<EmbedQueue>,
    /// Rows of atoms that are not committed yet.
    uncommitted: Mutex<Vec<Row>>,
    atoms: AtomicUsize,
    left_out: AtomicUsize,
}

/// What the atoms of a run are noted as made with: their kind, or the prompt that makes them, and how
/// many of a chunk are kept where that was changed.
pub(crate) fn atomized_with(context: &BuildContext) -> Id {
    let input = match context.settings.atoms {
        Atoms::Questions => context.prompt_input(ATOMIZE),
        Atoms::Sentences => atoms_input(Atoms::Sentences),
        Atoms::None => return atoms_input(Atoms::None),
    };
    match context.rebuilt_max_atoms {
        Some(limit) => hash(&[&input.to_be_bytes(), &limit.to_be_bytes()]),
        None => input,
    }
}

impl Atomize {
    pub(crate) fn new(context: &Arc<BuildContext>, queue: Option<EmbedQueue>) -> Self {
        Self {
            context: Arc::clone(context),
            input: atomized_with(context),
            queue,
            uncommitted: Mutex::default(),
            atoms: AtomicUsize::new(0),
            left_out: AtomicUsize::new(0),
        }
    }

    /// Atoms that were stored, and those that were left out.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            let limit = self.context.settings.max_atoms;
            let left_out = thousands(left_out as u64);
            tracing::warn!("{left_out} atoms were left out: at most {limit} are kept of one chunk");
        }
        (self.atoms.load(Ordering::Relaxed), left_out)
    }

    fn kind(&self) -> Atoms {
        self.context.settings.atoms
    }

    fn max_atoms(&self) -> usize {
        self.context.settings.max_atoms
    }

    /// Atoms that no model is asked for: what the tables are about that begin in the chunk, and its
    /// sentences.
    fn sentences(&self, unit: &Unatomized) -> Vec<AtomDraft> {
        match self.kind() {
            Atoms::Sentences => {
                let mut atoms = unit.around.table_atoms(&unit.source);
                let room = self.max_atoms().saturating_sub(atoms.len());
                atoms.extend(unit.source.sentence_atoms(room));
                atoms
            }
            Atoms::Questions | Atoms::None => vec![],
        }
    }
}

/// Question marks of the world's scripts: Latin, full-width, Arabic, Greek, Armenian, Ethiopic,
/// Vai, Coptic, and double ones.
const QUESTION_MARKS: [char; 13] =
    ['?', '？', '؟', ';', '\u{37e}', '՞', '፧', '꘏', '⳺', '⁇', '⁈', '⁉', '︖'];

/// The questions of a reply: lines that end with a question mark, of which words around the list
/// have none. Of a reply without any, the lines that do not introduce others by a colon: see
/// [`check`].
fn questions(reply: &str) -> Result<Vec<String>, String> {
    let mut lines = (Prompt::lines(ATOMIZE).parse)(reply)?;
    lines.retain(|line| !is_refusal(line));
    if lines.iter().any(|line| is_question(line)) {
        lines.retain(|line| is_question(line));
    } else {
        lines.retain(|line| !line.ends_with([':', '：']));
    }
    if lines.is_empty() { Err(NO_QUESTION.into()) } else { Ok(lines) }
}

const NO_QUESTION: &str = "no line is a question";

fn is_question(line: &str) -> bool {
    let end = line.trim_end_matches(|c: char| c.is_whitespace() || "\"'”’»*_)".contains(c));
    // The Armenian mark stands within the last word.
    end.ends_with(QUESTION_MARKS) || end.contains('՞')
}

/// Statements are atoms only where they are sentences of the chunk, as the offline model writes them;
/// whatever else a model says instead of questions is not about it.
fn check(lines: &[String], source: &AtomSource) -> Result<(), String> {
    let (text, title) = (bare(&source.text), bare(&source.title));
    let is_sentence = |line: &String| {
        let line = bare(line);
        // The title may stand in the place of a pronoun, which may be a possessive one.
        let rest = line.strip_prefix(&title).unwrap_or(&line).trim_start();
        text.contains(rest.strip_prefix("s ").unwrap_or(rest)) || text.contains(&line)
    };
    if lines.iter().all(|line| is_question(line) || is_sentence(line)) {
        Ok(())
    } else {
        Err(NO_QUESTION.into())
    }
}

/// The words of a text in lower case, without marks.
fn bare(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

fn variables(unit: &Unatomized) -> Value {
    context! { chunk => unit.around.variables(&unit.source) }
}

impl Stage for Atomize {
    type Unit = Unatomized;
    type Output = Atomized;

    const PHASE: Phase = Phase("atomizing");

    fn name(&self) -> &'static str {
        "questions"
    }

    fn prompt(&self) -> Option<&'static str> {
        (self.kind() == Atoms::Questions).then_some(ATOMIZE)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn pace(&self) -> Pace {
        let asking = Pace { may_be_unable: false, ..Pace::of_models(&self.context.settings) };
        match self.kind() {
            Atoms::Questions => asking,
            // In order, so that the same input hands out the same rows.
            Atoms::Sentences | Atoms::None => {
                Pace { in_flight: 1, queued: SENTENCES_QUEUED, ..asking }
            }
        }
    }

    fn units(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<Unatomized>> {
        let mut units = vec![];
        let tables = table_summaries(reader, document)?;
        for (section, chunk) in document.chunks() {
            let done = match chunk.row {
                Some(row) => reader.is_done(atoms_key(row), self.input)?,
                None => false,
            };
            if !done {
                let source = chunk.atom_source(&document.title);
                let around = Surroundings::load(reader, section, chunk, &tables)?;
                let names = document.names.clone();
                units.push(Unatomized { row: chunk.row, source, around, names });
            }
        }
        Ok(units)
    }

    fn backlog(&self, reader: &StoreReader<'_>) -> heed::Result<Backlog> {
        let rows = reader.unatomized(self.input)?;
        let mut backlog = Backlog { documents: vec![], units: rows.len() };
        for row in rows {
            let chunk: ChunkRecord = reader.linked(row)?;
            backlog.documents.push(chunk.document);
        }
        backlog.documents.sort_unstable();
        backlog.documents.dedup();
        Ok(backlog)
    }

    /// As many tokens as the chunk has: 1.02 for each of the chunk's in KAR³'s Table 12 (129, 122
    /// and 123 of them for paragraphs of 139, 102 and 124 tokens, title included).
    fn forecast(&self, unit: &Unatomized) -> Cost {
        let Unatomized { source, .. } = unit;
        if self.kind() != Atoms::Questions {
            let atoms = self.sentences(unit);
            let length = |atom: &AtomDraft| (atom.text.len() + source.title.len()) as u64;
            let characters = atoms.iter().map(length).sum();
            return Cost { texts: atoms.len() as u64, characters, ..Cost::default() };
        }
        let reply = (source.text.len() as u64 / 4).max(8);
        let call = Cost::of_call(&self.context.setup, ATOMIZE, &variables(unit), reply);
        let texts = call.completion_tokens / QUESTION_TOKENS;
        let texts = texts.clamp(1, self.max_atoms().max(1) as u64);
        Cost { texts, characters: call.completion_tokens * 4, ..call }
    }

    async fn run(&self, cx: &Cx, unit: &Unatomized) -> Result<Option<Atomized>, StageError> {
        let Unatomized { source, names, .. } = unit;
        if self.kind() != Atoms::Questions {
            return Ok(Some(Atomized { atoms: self.sentences(unit), left_out: 0 }));
        }
        for name in names {
            cx.quote(name);
        }
        let check = |lines: &Vec<String>| check(lines, source);
        let questions = cx.ask_checked(&QUESTIONS, variables(unit), check).await?;
        let left_out = questions.len().saturating_sub(self.max_atoms());
        Ok(Some(Atomized { atoms: source.question_atoms(questions, self.max_atoms()), left_out }))
    }

    fn store(
        &self,
        writer: &mut StoreWriter<'_>,
        unit: &Unatomized,
        result: Result<Atomized, String>,
    ) -> heed::Result<()> {
        let Some(row) = unit.row else { return Ok(()) };
        match result {
            Ok(Atomized { atoms, left_out }) => {
                let rows = writer.put_atoms(row, self.input, &atoms)?;
                self.left_out.fetch_add(left_out, Ordering::Relaxed);
                self.atoms.fetch_add(rows.len(), Ordering::Relaxed);
                self.uncommitted.lock().extend(rows);
                Ok(())
            }
            // The atoms of another kind stay until there are others.
            Err(_) if !writer.atoms_of(row)?.is_empty() => Ok(()),
            Err(reason) => writer.put_failed(atoms_key(row), self.input, &reason),
        }
    }

    fn committed(&self) {
        let mut rows = self.uncommitted.lock();
        for row in rows.drain(..) {
            if let Some(queue) = self.queue.as_ref().filter(|_| self.context.settings.vectors.atom)
            {
                queue.add((Layer::Atom, row));
            }
        }
    }

    fn texts(&self, output: &Atomized) -> u64 {
        output.atoms.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TextPlace;

    fn source() -> AtomSource {
        let text =
            "# Life\n\nMara Quill paints.\nHer first\nshow was in Oslo. This painter is shy.";
        let chars = (0, text.chars().count());
        let place = TextPlace { bytes: (0, text.len()), chars };
        AtomSource { title: "Mara Quill".into(), text: text.into(), place, verbatim: true }
    }

    fn atoms(reply: &str) -> Result<Vec<String>, String> {
        let lines = questions(reply)?;
        check(&lines, &source()).map(|()| lines)
    }

    #[test]
    fn a_reply_without_a_question_is_malformed_unless_it_quotes_the_chunk() {
        for wrong in [
            "I'm sorry, but I can't assist with that.",
            "The passage is about a painter.",
            "Mara Quill paints.\nThe content is not allowed.",
            "I’m sorry. What else may I do for you?",
            "Questions:",
        ] {
            assert_eq!(atoms(wrong), Err(NO_QUESTION.to_owned()), "{wrong}");
        }
        // As the offline model replies.
        let sentences = "Mara Quill paints.\nMara Quill's first show was in Oslo.\n\
                         Mara Quill: this painter is shy.";
        assert_eq!(atoms(sentences).unwrap().len(), 3);
        for question in ["Who paints?", "谁画画？", "من يرسم؟", "Ποιος ζωγραφίζει\u{37e}"]
        {
            let reply = format!("Sure, here they are.\n{question}");
            assert_eq!(atoms(&reply).unwrap(), [question]);
        }
    }
}
