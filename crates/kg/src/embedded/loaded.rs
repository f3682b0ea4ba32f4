//! What was loaded into a base: kept in files, brought into memory when it is first asked.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use halma_core::{BoxError, Facts};
use serde::{Deserialize, Serialize};

use super::files::{Files, Kept, KgError, KgLoad, KgLoaded};
use super::store::Stored;
use crate::changing::{Changing, Current};
use crate::operators::Operators;

/// Classes and relations that are named to whoever chooses among sources.
const NAMED: usize = 8;

/// What the loaded graphs hold, together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KgFigures {
    pub facts: usize,
    pub entities: usize,
    /// Entities without a label, which go by the end of their IRI.
    pub unlabelled: usize,
    pub relations: usize,
    /// The largest classes with their members.
    pub classes: Vec<(String, usize)>,
    /// Labels of relations, the first by name.
    pub some_relations: Vec<String>,
}

impl KgFigures {
    fn of(stored: &Stored) -> Self {
        let mut labels: Vec<String> =
            stored.properties.iter().map(|property| property.label().to_owned()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels.truncate(NAMED * 4);
        Self {
            facts: stored.facts,
            entities: stored.entities.len(),
            unlabelled: stored.unlabelled,
            relations: stored.properties.len(),
            classes: stored.commonest_classes(NAMED),
            some_relations: labels,
        }
    }

    /// In one line.
    fn told(&self) -> String {
        let classes: Vec<&str> = self.classes.iter().map(|(name, _)| name.as_str()).collect();
        let mut line =
            format!("knowledge graph of {} facts about {} entities", self.facts, self.entities);
        if !classes.is_empty() {
            let _ = write!(line, " ({})", classes.join(", "));
        }
        if !self.some_relations.is_empty() {
            let _ = write!(line, "; relations: {}", self.some_relations.join(", "));
        }
        line
    }
}

/// One loaded graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KgGraph {
    pub name: String,
    /// Of its file.
    pub bytes: u64,
}

/// The loaded graphs of a base.
pub struct KgGraphs {
    files: Files,
    language: String,
}

impl KgGraphs {
    /// Those in a folder, which need not be there. `language`: of the labels that are shown,
    /// `en` say.
    pub fn at(folder: PathBuf, language: &str) -> Self {
        Self { files: Files(folder), language: language.to_owned() }
    }

    pub fn list(&self) -> Vec<KgGraph> {
        let kept = self.files.list().into_iter();
        kept.map(|kept| KgGraph { name: kept.graph, bytes: kept.bytes }).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.files.list().is_empty()
    }

    /// Names what is loaded, so that answers from other graphs are not taken for answers from
    /// these.
    pub fn fingerprint(&self) -> Result<String, KgError> {
        let mut hasher = blake3::Hasher::new();
        for kept in self.files.list() {
            hasher.update(kept.graph.as_bytes());
            hasher.update(&[0]);
            let file = std::fs::File::open(&kept.path);
            file.and_then(|file| hasher.update_reader(file).map(|_| ()))
                .map_err(|source| KgError::Unreadable { path: kept.path.clone(), source })?;
        }
        Ok(hasher.finalize().to_hex()[..16].to_owned())
    }

    /// Loads a file. It is read whole first: a broken one changes nothing.
    pub fn load(&self, file: &Path, how: &KgLoad) -> Result<KgLoaded, KgError> {
        let loaded = self.files.load(file, how)?;
        if loaded.added > 0 || loaded.removed > 0 || self.kept_figures().is_none() {
            self.figures()?;
        }
        Ok(loaded)
    }

    /// Removes one graph or all, and says which went.
    pub fn unload(&self, graph: Option<&str>) -> Result<Vec<String>, KgError> {
        let gone = self.files.unload(graph)?;
        if self.is_empty() {
            let path = self.figures_file();
            if path.exists() {
                std::fs::remove_file(&path)
                    .map_err(|source| KgError::Unwritten { path, source })?;
            }
        } else {
            self.figures()?;
        }
        Ok(gone)
    }

    /// Counts anew and keeps the figures beside the graphs.
    pub fn figures(&self) -> Result<KgFigures, KgError> {
        let figures = KgFigures::of(&Stored::read(&self.files, &self.language)?);
        let path = self.figures_file();
        let text =
            serde_json::to_vec_pretty(&figures).map_err(|e| KgError::Store(e.to_string()))?;
        if self.files.0.is_dir() {
            std::fs::write(&path, text).map_err(|source| KgError::Unwritten { path, source })?;
        }
        Ok(figures)
    }

    /// The graphs to be asked, brought into memory by the first question.
    pub fn facts(&self) -> Arc<dyn Facts> {
        let figures = self.kept_figures();
        let about = figures.map_or_else(|| "knowledge graph".to_owned(), |figures| figures.told());
        let (files, language) = (self.files.clone(), self.language.clone());
        Arc::new(Changing(Loaded { files, language, about, held: Mutex::default() }))
    }

    fn figures_file(&self) -> PathBuf {
        self.files.0.join("figures.json")
    }

    fn kept_figures(&self) -> Option<KgFigures> {
        serde_json::from_slice(&std::fs::read(self.figures_file()).ok()?).ok()
    }
}

/// The graphs as they were when they were last read; read again when their files have changed.
struct Loaded {
    files: Files,
    language: String,
    about: String,
    held: Mutex<Option<(Vec<Kept>, Arc<Operators>)>>,
}

#[async_trait]
impl Current for Loaded {
    fn about(&self) -> &str {
        &self.about
    }

    async fn graph(&self) -> Result<Arc<Operators>, BoxError> {
        let now = self.files.list();
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, graph)) = held.filter(|(then, _)| *then == now) {
            return Ok(graph);
        }
        let (files, language) = (self.files.clone(), self.language.clone());
        let read = tokio::task::spawn_blocking(move || Stored::read(&files, &language));
        let graph = Arc::new(Operators::new(Arc::new(read.await??), self.about.clone()));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some((now, Arc::clone(&graph)));
        Ok(graph)
    }
}
