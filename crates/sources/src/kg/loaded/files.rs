//! The files of the graphs that were loaded into a base: sorted N-Triples in its folder `kg`, one
//! file for each graph.
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use oxigraph::io::{RdfFormat, RdfParseError, RdfParser};
use oxigraph::model::{BlankNode, NamedOrBlankNode, Quad, Term};
use serde::Serialize;

use super::kqapro;
use crate::kg::rdf::{escaped, unescaped};

/// What can go wrong with files of graphs.
#[derive(Debug, thiserror::Error)]
pub enum KgError {
    #[error("`{path}` cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("`{path}` cannot be written: {source}")]
    Unwritten { path: PathBuf, source: std::io::Error },
    #[error(
        "`{path}`: its name does not say the format; give it with `--format turtle`, `ntriples`, \
         `nquads`, `trig`, `rdfxml` or `kqapro`"
    )]
    UnknownFormat { path: PathBuf },
    /// Lines and columns count from 1.
    #[error(
        "`{path}`, line {line}, column {column}: {reason}; nothing of it was loaded. Correct the \
         line, or name another format with `--format`"
    )]
    Broken { path: PathBuf, line: u64, column: u64, reason: String },
    #[error("`{path}` holds no facts, so nothing of it was loaded")]
    Empty { path: PathBuf },
    #[error("there is no graph `{name}`; {loaded}")]
    Unknown { name: String, loaded: String },
    #[error(
        "the loaded graphs cannot be read: {0}; load them again with `halma kg load --replace`"
    )]
    Store(String),
}

impl KgError {
    /// Whether another call can succeed.
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::Unreadable { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::UnknownFormat { .. }
            | Self::Broken { .. }
            | Self::Empty { .. }
            | Self::Unknown { .. } => true,
            Self::Unwritten { .. } | Self::Store(_) => false,
        }
    }
}

/// The notations that graphs are loaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KgFormat {
    Turtle,
    NTriples,
    NQuads,
    TriG,
    RdfXml,
    /// `kb.json` of KQA Pro.
    KqaPro,
}

impl KgFormat {
    fn from_extension(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_lowercase();
        Some(match end.as_str() {
            "ttl" | "turtle" | "n3" => Self::Turtle,
            "nt" => Self::NTriples,
            "nq" => Self::NQuads,
            "trig" => Self::TriG,
            "rdf" | "xml" | "owl" => Self::RdfXml,
            "json" => Self::KqaPro,
            _ => return None,
        })
    }

    /// `None` for what is not RDF.
    fn parser(self) -> Option<RdfParser> {
        Some(RdfParser::from_format(match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::NTriples => RdfFormat::NTriples,
            Self::NQuads => RdfFormat::NQuads,
            Self::TriG => RdfFormat::TriG,
            Self::RdfXml => RdfFormat::RdfXml,
            Self::KqaPro => return None,
        }))
    }
}

/// How a file is to be loaded.
#[derive(Debug, Clone, Default)]
pub struct KgLoad {
    /// From the file's name when `None`.
    pub format: Option<KgFormat>,
    /// What the graph is called; the file's name when `None`.
    pub graph: Option<String>,
    /// Whether what the graph held before goes.
    pub replace: bool,
}

/// What loading a file did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KgLoaded {
    pub graph: String,
    /// Facts in the file, each counted once.
    pub read: usize,
    pub added: usize,
    pub removed: usize,
    /// Facts that the graph holds now.
    pub facts: usize,
}

/// The folder of a base's graphs, which need not exist.
#[derive(Debug, Clone)]
pub(crate) struct Files(pub(crate) PathBuf);

/// One graph on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StoredGraph {
    pub(crate) graph: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// When it was written, in nanoseconds.
    written: u128,
}

impl Files {
    /// The graphs by name.
    pub(crate) fn list(&self) -> Vec<StoredGraph> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let graphs = entries.filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".nt")?;
            let about = entry.metadata().ok()?;
            let written = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            let (graph, bytes) = (unescaped(name), about.len());
            Some(StoredGraph { graph, path, bytes, written: written.as_nanos() })
        });
        let mut graphs: Vec<StoredGraph> = graphs.collect();
        graphs.sort_unstable();
        graphs
    }

    fn path(&self, graph: &str) -> PathBuf {
        self.0.join(format!("{}.nt", escaped(graph)))
    }

    /// Reads a file whole before anything is changed.
    pub(crate) fn load(&self, file: &Path, how: &KgLoad) -> Result<KgLoaded, KgError> {
        let format = how.format.or_else(|| KgFormat::from_extension(file));
        let format = format.ok_or_else(|| KgError::UnknownFormat { path: file.to_owned() })?;
        let named = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let graph = how.graph.clone().or(named).unwrap_or_else(|| "graph".to_owned());
        let bytes = std::fs::read(file)
            .map_err(|source| KgError::Unreadable { path: file.to_owned(), source })?;
        let mut lines = read(&bytes, format, file)?;
        if lines.is_empty() {
            return Err(KgError::Empty { path: file.to_owned() });
        }
        lines.sort_unstable();
        lines.dedup();
        let read = lines.len();
        let path = self.path(&graph);
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(KgError::Unreadable { path, source }),
        };
        let existing: BTreeSet<&str> = before.lines().collect();
        let added = lines.iter().filter(|line| !existing.contains(line.as_str())).count();
        let mut removed = 0;
        if how.replace {
            removed = existing.len() - (read - added);
        } else if added > 0 {
            lines.extend(existing.iter().map(|&line| line.to_owned()));
            lines.sort_unstable();
            lines.dedup();
        }
        let facts = existing.len() + added - removed;
        if added > 0 || removed > 0 {
            self.write(&path, &lines)?;
        }
        Ok(KgLoaded { graph, read, added, removed, facts })
    }

    /// Written under another name first, so that a crash leaves the old file or the new one.
    fn write(&self, path: &Path, lines: &[String]) -> Result<(), KgError> {
        let unwritten = |source| KgError::Unwritten { path: path.to_owned(), source };
        std::fs::create_dir_all(&self.0).map_err(unwritten)?;
        let partial = path.with_extension("part");
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        let mut file = std::fs::File::create(&partial).map_err(unwritten)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(unwritten)?;
        file.sync_all().map_err(unwritten)?;
        std::fs::rename(&partial, path).map_err(unwritten)
    }

    /// Removes one graph, or all, and returns the names of those that were removed.
    pub(crate) fn unload(&self, graph: Option<&str>) -> Result<Vec<String>, KgError> {
        let mut graphs = self.list();
        if let Some(name) = graph {
            let all: Vec<String> = graphs.iter().map(|one| format!("`{}`", one.graph)).collect();
            graphs.retain(|one| one.graph == name);
            if graphs.is_empty() {
                let loaded = match all.len() {
                    0 => "none is loaded".to_owned(),
                    _ => format!("loaded are {}", all.join(", ")),
                };
                return Err(KgError::Unknown { name: name.to_owned(), loaded });
            }
        }
        for one in &graphs {
            std::fs::remove_file(&one.path)
                .map_err(|source| KgError::Unwritten { path: one.path.clone(), source })?;
        }
        Ok(graphs.into_iter().map(|one| one.graph).collect())
    }
}

/// Every fact of a file as a line of N-Triples. The graphs within a file become one; blank nodes
/// get names of the file's content, so that the same file gives the same lines.
fn read(bytes: &[u8], format: KgFormat, path: &Path) -> Result<Vec<String>, KgError> {
    let Some(parser) = format.parser() else {
        return match serde_json::from_slice(bytes) {
            Ok(kb) => Ok(kqapro::lines(&kb)),
            Err(e) => Err(KgError::Broken {
                path: path.to_owned(),
                line: e.line() as u64,
                column: e.column() as u64,
                reason: e.to_string(),
            }),
        };
    };
    let content = blake3::hash(bytes).to_hex();
    let mut blanks: HashMap<BlankNode, BlankNode> = HashMap::new();
    let mut lines = vec![];
    let based = parser.with_base_iri("file:///graph");
    let parser = based.map_err(|e| KgError::Store(e.to_string()))?;
    for quad in parser.for_slice(bytes) {
        let Quad { subject, predicate, object, .. } = quad.map_err(|e| broken(path, e))?;
        let mut named = |blank: BlankNode| {
            let next = blanks.len();
            let named = || BlankNode::new_unchecked(format!("b{}x{next}", &content[..12]));
            blanks.entry(blank).or_insert_with(named).clone()
        };
        let subject = match subject {
            NamedOrBlankNode::BlankNode(blank) => named(blank).into(),
            subject @ NamedOrBlankNode::NamedNode(_) => subject,
        };
        let object = match object {
            Term::BlankNode(blank) => named(blank).into(),
            object => object,
        };
        lines.push(format!("{subject} {predicate} {object} ."));
    }
    Ok(lines)
}

fn broken(path: &Path, error: impl Into<RdfParseError>) -> KgError {
    let path = path.to_owned();
    match error.into() {
        RdfParseError::Io(source) => KgError::Unreadable { path, source },
        RdfParseError::Syntax(error) => {
            let at = error.location().map(|range| range.start);
            let (line, column) = at.map_or((1, 1), |at| (at.line + 1, at.column + 1));
            KgError::Broken { path, line, column, reason: without_place(&error.to_string()) }
        }
    }
}

/// The reason without the place, which has fields of its own.
fn without_place(reason: &str) -> String {
    let rest = reason.split_once(": ").filter(|(place, _)| place.contains("line "));
    rest.map_or(reason, |(_, rest)| rest).trim_end_matches('.').to_owned()
}
