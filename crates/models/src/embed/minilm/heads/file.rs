//! The file of trained heads: what it says about itself, and its tensors.
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use safetensors::SafeTensors;

use super::HeadsError;

/// What `train/heads` made for the published weights.
const BUILT_IN: &[u8] = include_bytes!("../../../../heads/heads.safetensors");

/// The version of the file's layout.
const FORMAT: &str = "1";

/// Larger files are refused, in bytes.
const LARGEST: u64 = 64 << 20;

/// Tokens of a pair, the special ones included, unless the file says otherwise.
const MAX_LENGTH: usize = 256;
/// Tokens of a question that are read with a passage.
const MAX_QUESTION: usize = 64;

/// Heads as they are in a file: layers that take the place of the embedder's, and one matrix for
/// each head.
pub struct HeadsFile {
    /// For messages: the file's path, or what it came with.
    pub(super) name: String,
    /// The beginning of the BLAKE3 hash of its bytes.
    pub(super) sum: String,
    bytes: Cow<'static, [u8]>,
    pub(super) info: Info,
}

/// What the file's metadata says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Info {
    /// SHA-256 of the weights whose embeddings the layers were trained on.
    pub(super) base_hash: String,
    /// The places of `span`, `yes`, `no` and `none` among the kinds.
    pub(super) kinds: [usize; 4],
    /// How many kinds there are.
    pub(super) kind_count: usize,
    pub(super) max_length: usize,
    pub(super) max_question: usize,
    /// Whether it has the head.
    pub(super) relevance: bool,
    pub(super) keyword: bool,
    /// From which probability a token of the question is a keyword.
    pub(super) keyword_threshold: f32,
}

impl HeadsFile {
    /// Reads a file and checks what can be checked without the embedder's weights.
    pub fn read(path: &Path) -> Result<Self, HeadsError> {
        let name = path.display().to_string();
        let wrong = |source| HeadsError::Io { name: name.clone(), source };
        let mut bytes = vec![];
        let file = File::open(path).map_err(wrong)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(wrong)?;
        if bytes.len() as u64 > LARGEST {
            let reason = format!("it is larger than {} MiB", LARGEST >> 20);
            return Err(HeadsError::File { name, reason });
        }
        Self::parse(name, bytes.into())
    }

    /// The heads that come with the program.
    pub fn built_in() -> Result<Self, HeadsError> {
        Self::parse("built-in heads".to_owned(), BUILT_IN.into())
    }

    pub(super) fn parse(name: String, bytes: Cow<'static, [u8]>) -> Result<Self, HeadsError> {
        let wrong = |reason: String| HeadsError::File { name: name.clone(), reason };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| wrong(e.to_string()))?;
        let texts = header.metadata().clone().unwrap_or_default();
        let tensors = header.tensors();
        let has = |head: &str| tensors.contains_key(&format!("{head}.weight"));
        let info = info(&texts, &has).map_err(wrong)?;
        let sum = blake3::hash(&bytes).to_hex()[..8].to_owned();
        Ok(Self { name, sum, bytes, info })
    }

    pub(super) fn tensors(&self) -> Result<SafeTensors<'_>, HeadsError> {
        SafeTensors::deserialize(&self.bytes)
            .map_err(|e| HeadsError::File { name: self.name.clone(), reason: e.to_string() })
    }
}

fn info(texts: &HashMap<String, String>, has: &dyn Fn(&str) -> bool) -> Result<Info, String> {
    let text = |key: &str| {
        texts.get(key).ok_or_else(|| format!("its metadata has no `{key}`")).map(String::as_str)
    };
    let format = text("format")?;
    if format != FORMAT {
        return Err(format!("its format is `{format}`, and this program reads `{FORMAT}`"));
    }
    for head in ["span", "kind"] {
        if !has(head) {
            return Err(format!("it has no tensor `{head}.weight`"));
        }
    }
    let names: Vec<&str> = text("kinds")?.split(',').map(str::trim).collect();
    let kind = |name: &str| {
        let place = names.iter().position(|kind| *kind == name);
        place.ok_or_else(|| format!("`{name}` is missing in its `kinds`"))
    };
    let number = |key: &str, default: usize, range: std::ops::RangeInclusive<usize>| {
        let Some(text) = texts.get(key) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("its `{key}` is `{text}`, not a number in {range:?}"))
    };
    let max_length = number("max_length", MAX_LENGTH, 32..=512)?;
    let thresholds = texts.get("thresholds").map_or("{}", String::as_str);
    let thresholds: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(thresholds).map_err(|e| format!("its `thresholds`: {e}"))?;
    #[expect(clippy::cast_possible_truncation, reason = "a threshold needs no more digits")]
    let keyword = thresholds.get("keyword").and_then(serde_json::Value::as_f64).map(|t| t as f32);
    if names.len() > 16 {
        return Err(format!("its `kinds` names {} kinds", names.len()));
    }
    Ok(Info {
        base_hash: text("base_hash")?.to_owned(),
        kind_count: names.len(),
        kinds: [kind("span")?, kind("yes")?, kind("no")?, kind("none")?],
        max_length,
        max_question: number("max_question", MAX_QUESTION, 1..=max_length / 2)?,
        relevance: has("relevance"),
        keyword: has("keyword"),
        keyword_threshold: keyword.unwrap_or(0.5),
    })
}
