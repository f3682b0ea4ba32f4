//! What a base was made with. The first run that stores a document records it; later runs use what
//! is recorded, whatever their configuration says, until they are asked to rebuild a part.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{Embedder, Layer};
use serde::{Deserialize, Serialize};

use crate::settings::{BasePart, KeptPart, MAX_CHUNKS_UNASKED, TableTarget, VectorLayers};
use crate::stages::{BuildContext, prompt_hash};
use crate::store::{Id, StoreReader, StoreWriter, Task, hash};
use crate::{Atoms, Chunks, Entities, KbError, KbSettings};

/// Where the profile is stored.
const KEY: &str = "profile";

/// How `tables_of` is described where it names none.
const NO_TABLES: &str = "none";

/// What parts are described as for which no model is asked.
const UNASKED: [&str; 4] = ["false", "names", "sentences", NO_TABLES];

/// What a run does: its settings, its embedder, and what it leaves as it is.
pub(crate) struct RunPlan {
    pub(crate) settings: KbSettings,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// What units are asked with whose results are kept, by prompt.
    pub(crate) prompts: BTreeMap<String, Id>,
    pub(crate) kept: Vec<KeptPart>,
    /// Whether it is asked to take out what a model has extracted, which cannot be done.
    loses_entities: bool,
    profile: BuildProfile,
}

/// The settings that decide what stored text is made into, as they are recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BuildProfile {
    atoms: Atoms,
    chunks: Chunks,
    chunk_chars: usize,
    chunk_tokens: usize,
    chunk_overlap: usize,
    sentences: usize,
    sentence_overlap: usize,
    entities: Entities,
    tags: bool,
    summaries: bool,
    communities: bool,
    /// `None` in a record of an earlier version.
    #[serde(default)]
    max_atoms: Option<usize>,
    /// `None` in a record of an earlier version.
    #[serde(default)]
    tables_of: Option<Vec<TableTarget>>,
    vectors: VectorLayers,
    /// Hash of the wording of each prompt.
    prompts: BTreeMap<String, Id>,
    /// The model that each prompt went to when the base was made, by the name of the
    /// prompt.
    made_by: BTreeMap<String, String>,
    /// The model that the prompts of rebuilt parts went to, where it was another one.
    rebuilt_by: BTreeMap<String, String>,
    /// The most atoms of a chunk that atoms were rebuilt with, where it was another number.
    rebuilt_max_atoms: Option<usize>,
}

impl Default for BuildProfile {
    fn default() -> Self {
        Self::new(&KbSettings::default(), BTreeMap::new())
    }
}

impl BuildProfile {
    fn new(settings: &KbSettings, prompts: BTreeMap<String, Id>) -> Self {
        Self {
            atoms: settings.atoms,
            chunks: settings.chunks,
            chunk_chars: settings.chunk_chars,
            chunk_tokens: settings.chunk_tokens,
            chunk_overlap: settings.chunk_overlap,
            sentences: settings.sentences,
            sentence_overlap: settings.sentence_overlap,
            entities: settings.entities,
            tags: settings.tags,
            summaries: settings.summaries,
            communities: settings.communities,
            max_atoms: Some(settings.max_atoms),
            tables_of: Some(settings.tables_of.clone()),
            vectors: settings.vectors,
            prompts,
            made_by: BTreeMap::new(),
            rebuilt_by: BTreeMap::new(),
            rebuilt_max_atoms: None,
        }
    }

    /// As a run with this configuration makes a base.
    fn configured(context: &BuildContext) -> Self {
        let names = || BasePart::ALL.into_iter().flat_map(BasePart::prompts).copied();
        let hash = |name: &str| (name.to_owned(), prompt_hash(&context.setup, name));
        let model = |name: &str| (name.to_owned(), context.model_of(name).model().to_owned());
        let mut profile = Self::new(&context.settings, names().map(hash).collect());
        profile.made_by = names().map(model).collect();
        profile
    }

    /// Of a base without a record, as far as what it holds tells.
    fn of_contents(reader: &StoreReader<'_>, configured: &Self) -> heed::Result<Self> {
        let mut profile = configured.clone();
        let kinds = [Atoms::Questions, Atoms::Sentences, Atoms::None];
        let wanted = reader.wanted_atoms()?;
        if let Some(kind) = kinds.into_iter().find(|kind| Some(*kind as Id) == wanted) {
            profile.atoms = kind;
        }
        let has = |task: Task| Ok::<_, heed::Error>(reader.entries(task)?.next().is_some());
        if has(Task::Facts)? {
            profile.entities = Entities::Model;
        } else if profile.entities == Entities::Model {
            profile.entities = Entities::Names;
        }
        profile.tags = has(Task::Tag)?;
        profile.summaries = has(Task::Summarise)?;
        profile.communities = has(Task::Community)?;
        profile.vectors = reader.vector_layers()?;
        Ok(profile)
    }

    /// A part in words.
    fn describe(&self, part: BasePart) -> String {
        let json = |value: serde_json::Value| value.as_str().unwrap_or("").to_owned();
        match part {
            BasePart::Atoms => {
                let kind = json(serde_json::json!(self.atoms));
                match self.max_atoms {
                    Some(max) if max != KbSettings::default().max_atoms => {
                        format!("{kind}, at most {max} of a chunk")
                    }
                    _ => kind,
                }
            }
            BasePart::Entities => json(serde_json::json!(self.entities)),
            BasePart::Tags => self.tags.to_string(),
            BasePart::Summaries => self.summaries.to_string(),
            BasePart::Communities => self.communities.to_string(),
            BasePart::Tables => {
                let tables = self.tables_of.as_deref().unwrap_or_default();
                let names: Vec<String> = tables.iter().map(ToString::to_string).collect();
                if names.is_empty() { NO_TABLES.to_owned() } else { names.join("; ") }
            }
            BasePart::Vectors => {
                let names: Vec<&str> = self.vectors.layers().map(Layer::name).collect();
                names.join(", ")
            }
            BasePart::Embedder => String::new(),
            BasePart::Chunks => {
                let kind = json(serde_json::json!(self.chunks));
                match self.chunks {
                    Chunks::Fixed => {
                        format!(
                            "{kind}, {} tokens, overlap {}",
                            self.chunk_tokens, self.chunk_overlap
                        )
                    }
                    Chunks::Sentences => {
                        format!("{kind}, {}, overlap {}", self.sentences, self.sentence_overlap)
                    }
                    _ => format!("{kind}, {} characters", self.chunk_chars),
                }
            }
        }
    }

    /// Takes one part, its prompts included, from another profile.
    fn take(&mut self, part: BasePart, from: &Self) {
        match part {
            BasePart::Atoms => {
                self.atoms = from.atoms;
                self.max_atoms = from.max_atoms;
            }
            BasePart::Entities => self.entities = from.entities,
            BasePart::Tags => self.tags = from.tags,
            BasePart::Summaries => self.summaries = from.summaries,
            BasePart::Communities => self.communities = from.communities,
            BasePart::Tables => self.tables_of.clone_from(&from.tables_of),
            BasePart::Vectors => self.vectors = from.vectors,
            BasePart::Embedder => {}
            BasePart::Chunks => {
                self.chunks = from.chunks;
                self.chunk_chars = from.chunk_chars;
                self.chunk_tokens = from.chunk_tokens;
                self.chunk_overlap = from.chunk_overlap;
                self.sentences = from.sentences;
                self.sentence_overlap = from.sentence_overlap;
            }
        }
        for prompt in part.prompts() {
            if let Some(hash) = from.prompts.get(*prompt) {
                self.prompts.insert((*prompt).to_owned(), *hash);
            }
        }
    }

    /// A part is made as the configuration says from now on: again, if its settings, the wording of
    /// its prompts or their model has changed.
    fn rebuild(&mut self, part: BasePart, configured: &Self) {
        if part == BasePart::Atoms && self.max_atoms != configured.max_atoms {
            self.rebuilt_max_atoms = configured.max_atoms;
        }
        self.take(part, configured);
        for prompt in part.prompts() {
            let last = self.rebuilt_by.get(*prompt).or_else(|| self.made_by.get(*prompt));
            if let Some(model) =
                configured.made_by.get(*prompt).filter(|model| last != Some(*model))
            {
                self.rebuilt_by.insert((*prompt).to_owned(), model.clone());
            }
        }
    }

    /// What the units of each prompt are noted as asked with.
    fn inputs(&self) -> BTreeMap<String, Id> {
        let input = |(prompt, wording): (&String, &Id)| {
            let input = match self.rebuilt_by.get(prompt) {
                Some(model) => hash(&[&wording.to_be_bytes(), model.as_bytes()]),
                None => *wording,
            };
            (prompt.clone(), input)
        };
        self.prompts.iter().map(input).collect()
    }

    /// The configured settings with what is recorded in their place.
    fn apply(&self, configured: &KbSettings) -> KbSettings {
        KbSettings {
            atoms: self.atoms,
            chunks: self.chunks,
            chunk_chars: self.chunk_chars,
            chunk_tokens: self.chunk_tokens,
            chunk_overlap: self.chunk_overlap,
            sentences: self.sentences,
            sentence_overlap: self.sentence_overlap,
            entities: self.entities,
            tags: self.tags,
            summaries: self.summaries,
            communities: self.communities,
            max_atoms: self.max_atoms.unwrap_or(configured.max_atoms),
            tables_of: self.tables_of.clone().unwrap_or_else(|| configured.tables_of.clone()),
            vectors: self.vectors,
            ..configured.clone()
        }
    }

    /// What differs between what was recorded and the configuration, but for what is rebuilt.
    fn kept(&self, configured: &Self, rebuild: &[BasePart]) -> Vec<KeptPart> {
        let mut kept = vec![];
        for part in BasePart::ALL.into_iter().filter(|part| !rebuild.contains(part)) {
            let (made_with, now) = (self.describe(part), configured.describe(part));
            if made_with != now {
                kept.push(KeptPart { part, made_with, configured: now });
            } else if let Some(prompt) = part.prompts().iter().find(|prompt| {
                let (then, now) = (self.prompts.get(**prompt), configured.prompts.get(**prompt));
                let kind = made_with.split(", ").next().unwrap_or_default();
                let is_asked = !UNASKED.contains(&kind);
                is_asked && then.is_some() && then != now
            }) {
                let made_with = format!("an earlier wording of the prompt `{prompt}`");
                kept.push(KeptPart { part, made_with, configured: "another wording".into() });
            }
        }
        kept
    }
}

impl RunPlan {
    /// What a run with this configuration does, asked to rebuild these parts.
    pub(crate) fn new(context: &BuildContext, rebuild: &[BasePart]) -> Result<Self, KbError> {
        let configured = BuildProfile::configured(context);
        context.store().read(|reader| {
            let chunks = reader.count(Layer::Chunk)?;
            let recorded = match reader.meta::<String>(KEY)? {
                _ if chunks == 0 => None,
                Some(json) => {
                    let decoded = serde_json::from_str::<BuildProfile>(&json);
                    Some(decoded.map_err(|e| heed::Error::Decoding(e.into()))?)
                }
                None => Some(BuildProfile::of_contents(reader, &configured)?),
            };
            let mut profile = recorded.unwrap_or_else(|| configured.clone());
            if profile.tables_of.is_none() {
                profile.tables_of.clone_from(&configured.tables_of);
            }
            profile.max_atoms = profile.max_atoms.or(configured.max_atoms);
            let loses_entities = rebuild.contains(&BasePart::Entities)
                && profile.entities == Entities::Model
                && configured.entities != Entities::Model;
            for part in rebuild {
                profile.rebuild(*part, &configured);
            }
            if chunks <= MAX_CHUNKS_UNASKED {
                profile.prompts.clone_from(&configured.prompts);
                profile.vectors = configured.vectors;
                // Tables that are paid for are not removed without being asked.
                if !context.settings.tables_of.is_empty() {
                    profile.take(BasePart::Tables, &configured);
                }
            }
            for (prompt, hash) in &configured.prompts {
                profile.prompts.entry(prompt.clone()).or_insert(*hash);
            }
            let mut kept = profile.kept(&configured, rebuild);
            let embedder = embedder(reader, context, rebuild, &mut kept)?;
            let settings = profile.apply(&context.settings);
            let prompts = profile.inputs();
            Ok(Self { settings, embedder, prompts, kept, loses_entities, profile })
        })
    }

    /// Whether what it is asked to rebuild can be.
    pub(crate) fn check(&self) -> Result<(), KbError> {
        if self.loses_entities { Err(KbError::EntitiesStay) } else { Ok(()) }
    }

    /// The context goes by it from here on.
    pub(crate) fn apply_to(&self, context: &mut BuildContext) {
        context.settings.clone_from(&self.settings);
        // The one in the context may hand the texts on to other machines.
        let model = |embedder: &Option<Arc<dyn Embedder>>| {
            embedder.as_ref().map(|embedder| embedder.model().to_owned())
        };
        if model(&context.embedder) != model(&self.embedder) {
            context.embedder.clone_from(&self.embedder);
        }
        context.prompts.clone_from(&self.prompts);
        context.rebuilt_max_atoms = self.profile.rebuilt_max_atoms;
    }

    /// Records what the base is made with from now on.
    pub(crate) fn record(&self, writer: &mut StoreWriter<'_>) -> heed::Result<()> {
        let json = serde_json::to_string(&self.profile);
        let json = json.map_err(|e| heed::Error::Encoding(e.into()))?;
        if writer.meta::<String>(KEY)?.as_ref() == Some(&json) {
            return Ok(());
        }
        writer.set_meta(KEY, &json)
    }
}

/// The embedder that new texts get vectors of: the one whose vectors are searched, unless another
/// one is on its way or asked for. `None` where that is not open.
fn embedder(
    reader: &StoreReader<'_>,
    context: &BuildContext,
    rebuild: &[BasePart],
    kept: &mut Vec<KeptPart>,
) -> heed::Result<Option<Arc<dyn Embedder>>> {
    let configured = context.base.options.embedder.clone();
    let Some(model) = configured.as_ref().map(|embedder| embedder.model().to_owned()) else {
        return Ok(None);
    };
    let active = reader.active_embedder()?.map(|(_, record)| record.model);
    let Some(active) = active.filter(|active| *active != model) else { return Ok(configured) };
    let on_its_way = reader.target_model()?.as_deref() == Some(model.as_str());
    if on_its_way || rebuild.contains(&BasePart::Embedder) {
        return Ok(configured);
    }
    let opened = context.base.opened(&active).map(|(embedder, _)| Arc::clone(embedder));
    let part = BasePart::Embedder;
    kept.push(KeptPart { part, made_with: active, configured: model });
    Ok(opened)
}
