//! Tags (PIKE-RAG, Figure 7): finding classes of tags in a sample of the corpus, and tagging every
//! chunk with tags of those classes.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Layer, Prompt};
use minijinja::{Value, context};
use serde::Deserialize;

use crate::settings::{BasePart, MAX_CHUNKS_UNASKED};
use crate::stages::{
    AskStage, BuildContext, Corpus, Forecaster, LedgerUnit, Passage, SourceDocument, StageError,
    StageForecast, Tally,
};
use crate::store::{
    CLASSES_KEY, ChunkTag, Id, Row, StoreReader, TagClass, TagVocabulary, Tags, Task, hash,
};
use crate::terms::form;
use crate::{KbError, Phase};

/// Passages that the classes are found in, and how much is shown of each.
const SAMPLE: usize = 24;
const SAMPLE_CHARS: usize = 600;
const MAX_CLASSES: usize = 12;
const MAX_TAGS: usize = 16;
/// Other names kept of one tag.
const MAX_NAMES: usize = 4;
/// A longer tag is a sentence, in characters.
const LONGEST_TAG: usize = 80;

/// Expected of a corpus that has no classes yet.
const EXPECTED_CLASSES: usize = 8;

/// The classes are found again when the base has grown to this many times what they were found in:
/// often enough to fit, seldom enough that tagging everything again costs no more than once more.
/// In a larger base, where that costs much, only on request.
const GROWN: u64 = 2;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ClassesReply {
    classes: Vec<TagClass>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TagReply {
    tags: Vec<ClassedTag>,
}

#[derive(Debug, Clone, Deserialize)]
struct ClassedTag {
    class: String,
    tag: String,
    #[serde(default)]
    also_called: Vec<String>,
}

/// Finds the classes of tags of the corpus.
pub(crate) struct TagClasses {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl TagClasses {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        Self { context: Arc::clone(context), prompt }
    }

    /// The classes, unless there are none or a corpus of this many chunks has outgrown them.
    pub(crate) fn current(
        &self,
        reader: &StoreReader<'_>,
        chunks: u64,
    ) -> heed::Result<Option<TagVocabulary>> {
        let stored: Option<TagVocabulary> = reader.done(CLASSES_KEY, self.prompt)?;
        let asked_for = self.context.rebuild.contains(&BasePart::Tags);
        let fits = |stored: &TagVocabulary| {
            let may_grow = stored.chunks > MAX_CHUNKS_UNASKED && !asked_for;
            let fits = may_grow || chunks <= stored.chunks.saturating_mul(GROWN);
            fits && !stored.classes.is_empty()
        };
        Ok(stored.filter(fits))
    }

    /// The unit that finds them in the chunks that there are; `None` where there are none.
    pub(crate) fn unit(
        &self,
        reader: &StoreReader<'_>,
    ) -> heed::Result<Option<LedgerUnit<Vec<Passage>>>> {
        let sample = sample(reader)?;
        let unit = LedgerUnit { key: CLASSES_KEY, input: self.prompt, request: sample };
        Ok(Some(unit).filter(|unit| !unit.request.is_empty()))
    }
}

/// The chunks with the smallest ids: a sample that is the same however they came in.
fn sample(reader: &StoreReader<'_>) -> heed::Result<Vec<Passage>> {
    let mut sample = vec![];
    for id in reader.ids(Layer::Chunk)? {
        if sample.len() >= SAMPLE {
            break;
        }
        let Some(row) = reader.find(Layer::Chunk, id)? else { continue };
        if let Some(mut passage) = Passage::load(reader, row)? {
            passage.text = passage.text.chars().take(SAMPLE_CHARS).collect();
            sample.push(passage);
        }
    }
    sample.sort_by(|a, b| (&a.title, &a.text).cmp(&(&b.title, &b.text)));
    Ok(sample)
}

impl AskStage for TagClasses {
    type Request = Vec<Passage>;
    type Reply = ClassesReply;
    type Stored = TagVocabulary;

    const PHASE: Phase = Phase("tagging");
    const TASK: &'static str = "tag_classes";
    const PROMPT: Prompt<ClassesReply> = Prompt::json("kb/tag_classes");
    /// A name and a sentence for each class.
    const REPLY_TOKENS: u64 = 200;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    /// Expected once where the corpus has no classes or outgrows them.
    fn expectation(
        &self,
        reader: &StoreReader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<Vec<Passage>>)>> {
        if corpus.chunks == 0 || self.current(reader, corpus.chunks)?.is_some() {
            return Ok(None);
        }
        let characters = usize::try_from(corpus.characters / corpus.chunks).unwrap_or(usize::MAX);
        let passage = Passage {
            document: String::new(),
            title: "x".repeat(20),
            section: None,
            text: "x".repeat(characters.min(SAMPLE_CHARS)),
        };
        let count = usize::try_from(corpus.chunks).unwrap_or(SAMPLE).min(SAMPLE);
        let request = vec![passage; count];
        Ok(Some((1, LedgerUnit { key: CLASSES_KEY, input: self.prompt, request })))
    }

    fn variables(&self, sample: &Vec<Passage>) -> Value {
        let chunk = |p: &Passage| context! { title => &p.title, text => &p.text };
        let chunks: Vec<Value> = sample.iter().map(chunk).collect();
        context! { chunks, limit => MAX_CLASSES }
    }

    fn documents<'a>(&self, sample: &'a Vec<Passage>) -> Vec<&'a str> {
        sample.iter().map(|passage| passage.document.as_str()).collect()
    }

    fn complaint(&self, _: &Vec<Passage>, reply: &ClassesReply, _: bool) -> Option<String> {
        let unnamed = reply.classes.iter().all(|class| form(&class.name).is_empty());
        unnamed.then(|| "there is no class with a name".to_owned())
    }

    fn accept(&self, _: &Vec<Passage>, reply: ClassesReply) -> Result<TagVocabulary, StageError> {
        let (mut classes, mut names) = (reply.classes, BTreeSet::new());
        for class in &mut classes {
            class.name = class.name.trim().to_lowercase();
        }
        classes.retain(|class| !form(&class.name).is_empty() && names.insert(form(&class.name)));
        classes.truncate(MAX_CLASSES);
        let mut parts: Vec<&[u8]> = vec![];
        for class in &classes {
            parts.extend([class.name.as_bytes(), class.description.as_bytes()]);
        }
        let chunks = self.context.store().read(|reader| reader.count(Layer::Chunk));
        let chunks = chunks.map_err(StageError::Base)?;
        Ok(TagVocabulary { version: hash(&parts), classes, chunks })
    }
}

/// Tags chunks with tags of the classes.
pub(crate) struct Tag {
    context: Arc<BuildContext>,
    classes: Vec<TagClass>,
    /// Hash of what tags are asked with next to the text.
    asked_with: Id,
}

impl Tag {
    pub(crate) fn new(context: &Arc<BuildContext>, vocabulary: TagVocabulary) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        let asked_with = hash(&[&prompt.to_be_bytes(), &vocabulary.version.to_be_bytes()]);
        Self { context: Arc::clone(context), classes: vocabulary.classes, asked_with }
    }

    /// For classes that are not found yet: as many as a corpus usually has. Every chunk is tagged
    /// with them.
    fn expected(context: &Arc<BuildContext>) -> Self {
        let class = TagClass { name: "x".repeat(12), description: "x".repeat(40) };
        let classes = vec![class; EXPECTED_CLASSES];
        Self::new(context, TagVocabulary { version: 0, classes, chunks: 0 })
    }

    /// The classes by the forms of their names.
    fn named(&self) -> HashMap<String, &str> {
        self.classes.iter().map(|class| (form(&class.name), class.name.as_str())).collect()
    }
}

impl AskStage for Tag {
    type Request = Passage;
    type Reply = TagReply;
    type Stored = Tags;

    const PHASE: Phase = Phase("tagging");
    const TASK: &'static str = "tag";
    const PROMPT: Prompt<TagReply> = Prompt::json("kb/tag");
    /// Eight tags.
    const REPLY_TOKENS: u64 = 110;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn open(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Passage>>> {
        document.open_passages(reader, Task::Tag, self.asked_with)
    }

    fn asked_with(&self) -> Option<(Task, Id)> {
        Some((Task::Tag, self.asked_with))
    }

    fn variables(&self, passage: &Passage) -> Value {
        let class = |class: &TagClass| {
            context! { name => &class.name, description => &class.description }
        };
        let classes: Vec<Value> = self.classes.iter().map(class).collect();
        context! { text => &passage.text, title => &passage.title, classes, limit => MAX_TAGS }
    }

    fn documents<'a>(&self, passage: &'a Passage) -> Vec<&'a str> {
        vec![&passage.document]
    }

    /// A class that does not exist is asked for again once, then left out.
    fn complaint(&self, _: &Passage, reply: &TagReply, first: bool) -> Option<String> {
        let classes = self.named();
        let unknown = reply.tags.iter().find(|tag| !classes.contains_key(&form(&tag.class)));
        unknown.filter(|_| first).map(|tag| format!("there is no class `{}`", tag.class))
    }

    fn accept(&self, _: &Passage, reply: TagReply) -> Result<Tags, StageError> {
        let (classes, mut tags) = (self.named(), Tags::new());
        for ClassedTag { class, tag, also_called } in reply.tags {
            let Some(class) = classes.get(&form(&class)) else { continue };
            let Some(name) = sound(&tag) else { continue };
            let is_repeated = |other: &ChunkTag| other.class == *class && other.name == name;
            if tags.len() >= MAX_TAGS || tags.iter().any(is_repeated) {
                continue;
            }
            let mut also: Vec<String> = vec![];
            for other in also_called.iter().filter_map(|other| sound(other)) {
                if other != name && !also.contains(&other) && also.len() < MAX_NAMES {
                    also.push(other);
                }
            }
            tags.push(ChunkTag { class: (*class).to_owned(), name, also });
        }
        Ok(tags)
    }
}

/// A name of a tag with single spaces; `None` for one that says nothing or is a sentence.
fn sound(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let sound = !form(&name).is_empty() && name.chars().count() <= LONGEST_TAG;
    sound.then_some(name)
}

/// The forecast of tagging: with the classes that there are, or with new ones should the corpus
/// outgrow these.
pub(crate) struct TagForecast {
    current: Tally<Tag>,
    renewed: Tally<Tag>,
    is_outgrown: bool,
}

impl TagForecast {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Result<Self, KbError> {
        let store = context.store();
        let tags = store.read(|reader| TagClasses::new(context).current(reader, 0))?;
        let tags = tags.map_or_else(|| Tag::expected(context), |tags| Tag::new(context, tags));
        let (current, renewed) = (Tally::new(tags), Tally::new(Tag::expected(context)));
        Ok(Self { current, renewed, is_outgrown: false })
    }
}

impl Forecaster for TagForecast {
    fn add_document(
        &mut self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<()> {
        self.current.add_document(reader, document)?;
        self.renewed.add_document(reader, document)
    }

    fn add_backlog(
        &mut self,
        reader: &StoreReader<'_>,
        is_skipped: &dyn Fn(Row) -> bool,
    ) -> heed::Result<()> {
        self.current.add_backlog(reader, is_skipped)?;
        self.renewed.add_backlog(reader, is_skipped)
    }

    fn add_expected(&mut self, reader: &StoreReader<'_>, corpus: &Corpus) -> heed::Result<()> {
        let classes = TagClasses::new(self.current.stage().build());
        self.is_outgrown = classes.current(reader, corpus.chunks)?.is_none();
        Ok(())
    }

    fn forecast(&self) -> StageForecast {
        if self.is_outgrown { self.renewed.forecast() } else { self.current.forecast() }
    }
}
