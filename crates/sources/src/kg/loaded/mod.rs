//! Graphs that were loaded into a base: stored in files, read into memory by the first question.
mod files;
mod kqapro;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::text::thousands;
use halma_core::{BoxError, Facts};
use serde::{Deserialize, Serialize};

pub(crate) use self::files::Files;
pub use self::files::{KgError, KgFormat, KgLoad, KgLoaded};
use crate::kg::combined::Combined;
use crate::kg::endpoint::{Endpoint, InProcess};
use crate::kg::rdf;
use crate::kg::reloading::{Reloading, Versioned};
use crate::kg::sparql::{CitedSource, SparqlGraph};

/// Classes and relations that are named to those who choose among sources.
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
    async fn count(graph: &SparqlGraph) -> Result<Self, BoxError> {
        let store = graph.endpoint.in_process().ok_or("only loaded graphs are counted")?;
        let properties = graph.properties(&[]).await?;
        let mut labels: Vec<String> =
            properties.iter().map(|property| property.label().to_owned()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels.truncate(NAMED * 4);
        let describing =
            |id: &str| rdf::OF_CLASSES.contains(&id) || rdf::OF_PROPERTIES.contains(&id);
        let mut members: Vec<(&String, usize)> =
            store.members.iter().map(|(id, count)| (id, *count)).collect();
        members.retain(|(id, _)| !describing(id));
        members.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut classes = vec![];
        for (id, count) in members.into_iter().take(NAMED) {
            classes.push((graph.class_label(id).await?, count));
        }
        Ok(Self {
            facts: store.facts,
            entities: store.entities.len(),
            unlabelled: store.unlabelled,
            relations: properties.len(),
            classes,
            some_relations: labels,
        })
    }

    /// In one line.
    fn describe(&self) -> String {
        let classes: Vec<&str> = self.classes.iter().map(|(name, _)| name.as_str()).collect();
        let mut line = format!(
            "knowledge graph of {} facts about {} entities",
            thousands(self.facts as u64),
            thousands(self.entities as u64)
        );
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
        let files = self.files.list().into_iter();
        files.map(|file| KgGraph { name: file.graph, bytes: file.bytes }).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.files.list().is_empty()
    }

    /// Identifies what is loaded, so that answers from other graphs are not taken for answers from
    /// these.
    pub fn fingerprint(&self) -> Result<String, KgError> {
        let mut hasher = blake3::Hasher::new();
        for stored in self.files.list() {
            hasher.update(stored.graph.as_bytes());
            hasher.update(&[0]);
            let file = std::fs::File::open(&stored.path);
            file.and_then(|file| hasher.update_reader(file).map(|_| ()))
                .map_err(|source| KgError::Unreadable { path: stored.path.clone(), source })?;
        }
        Ok(hasher.finalize().to_hex()[..16].to_owned())
    }

    /// Loads a file. It is read whole first: a broken one changes nothing.
    pub fn load(&self, file: &Path, how: &KgLoad) -> Result<KgLoaded, KgError> {
        let loaded = self.files.load(file, how)?;
        if loaded.added > 0 || loaded.removed > 0 || self.stored_figures().is_none() {
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

    /// Counts again and stores the figures next to the graphs.
    pub fn figures(&self) -> Result<KgFigures, KgError> {
        let graph = read(&self.files, &self.language)?;
        // A store in this process answers at once, so that nothing is waited for.
        let counted = futures::executor::block_on(KgFigures::count(&graph));
        let figures = counted.map_err(|e| KgError::Store(e.to_string()))?;
        let path = self.figures_file();
        let text =
            serde_json::to_vec_pretty(&figures).map_err(|e| KgError::Store(e.to_string()))?;
        if self.files.0.is_dir() {
            std::fs::write(&path, text).map_err(|source| KgError::Unwritten { path, source })?;
        }
        Ok(figures)
    }

    /// The graphs to be asked, read into memory by the first question, and again when their files
    /// have changed.
    pub fn facts(&self) -> Arc<dyn Facts> {
        let figures = self.stored_figures();
        let about = figures.map_or_else(|| "knowledge graph".to_owned(), |one| one.describe());
        let (files, language) = (self.files.clone(), self.language.clone());
        let version = |files: &Files| format!("{:?}", files.list());
        let listed = files.clone();
        let read = move |_: Option<&str>| {
            let version = version(&files);
            Ok(Some(Versioned { version, graph: read(&files, &language)? }))
        };
        let now = Box::new(move || Some(version(&listed)));
        Arc::new(Combined::reloading(Reloading::new(now, Arc::new(read)), about))
    }

    fn figures_file(&self) -> PathBuf {
        self.files.0.join("figures.json")
    }

    fn stored_figures(&self) -> Option<KgFigures> {
        serde_json::from_slice(&std::fs::read(self.figures_file()).ok()?).ok()
    }
}

/// All graphs of a folder as one.
pub(crate) fn read(files: &Files, language: &str) -> Result<SparqlGraph, KgError> {
    let store = InProcess::read(files)?;
    let name = format!("kg:{}", store.graphs.first().map_or("graph", String::as_str));
    let source = CitedSource { name, knowledge: None };
    Ok(SparqlGraph::new(Endpoint::InProcess(store), language, source))
}
