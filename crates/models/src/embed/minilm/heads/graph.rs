//! The heads' graph: vectors of words in, one row of logits a token out.
use std::io::Write;

use super::HeadsError;
use super::file::HeadsFile;
use crate::embed::minilm::checkpoint::{Checkpoint, ExportError, numbers};
use crate::embed::minilm::config::BertConfig;
use crate::embed::minilm::export::{ATTENTION_MASK, Exporter, GraphSignature, WORD, int, tokens};
use crate::embed::minilm::onnx::{Attribute, Dim, Model, ValueInfo};

pub(super) const TYPES: &str = "token_type_ids";
pub(super) const LOGITS: &str = "logits";

/// Where each head's logits stand in a token's row: `span` first (start, end), then the kinds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Places {
    pub(super) kinds: usize,
    pub(super) relevance: Option<usize>,
    pub(super) keyword: Option<usize>,
    /// Logits in a row.
    pub(super) width: usize,
}

/// The heads' matrices, one below the other.
struct Rows {
    places: Places,
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// What the graph is made of: the embedder's embeddings and the heads' layers.
pub(super) struct GraphSource<'a> {
    pub(super) config: &'a BertConfig,
    /// Content of the embedder's `model.safetensors`.
    pub(super) base: &'a [u8],
    pub(super) heads: &'a HeadsFile,
    /// Name under which the graph refers to its tensors.
    pub(super) data_file: &'a str,
}

/// Writes the tensors into `data` and returns the graph that refers to them.
///
/// Inputs: `word`, `[batch, sequence, hidden]`, the rows of the embedder's word table;
/// `token_type_ids` and `attention_mask`, `[batch, sequence]`. Output: `logits`,
/// `[batch, sequence, Places::width]`.
pub(super) fn graph(
    source: &GraphSource<'_>,
    data: &mut dyn Write,
) -> Result<(Model, Places), HeadsError> {
    let name = &source.heads.name;
    let wrong = |source| HeadsError::Tensors { name: name.clone(), source };
    let rows = rows(source).map_err(wrong)?;
    let trained = source.heads.tensors()?;
    let weights = Checkpoint::open(source.base).map_err(wrong)?.with_trained(trained);
    let mut exporter = Exporter::new(source.config, weights, (data, source.data_file));
    write(&mut exporter, &rows).map_err(wrong)?;
    let hidden = int(source.config.hidden_size);
    let wide = |size| vec![Dim::named("batch"), Dim::named("sequence"), Dim::fixed(size)];
    let model = exporter.model(GraphSignature {
        name: "heads",
        inputs: vec![
            ValueInfo::floats(WORD, wide(hidden)),
            ValueInfo::ints(TYPES, tokens()),
            ValueInfo::ints(ATTENTION_MASK, tokens()),
        ],
        output: ValueInfo::floats(LOGITS, wide(int(rows.places.width))),
        metadata: vec![],
    });
    Ok((model, rows.places))
}

fn write(exporter: &mut Exporter<'_>, rows: &Rows) -> Result<(), ExportError> {
    let BertConfig { hidden_size, type_vocab_size, .. } = *exporter.config;
    let positions = exporter.config.max_position_embeddings;
    for (name, tensor, count) in
        [("positions", "position", positions), ("types", "token_type", type_vocab_size)]
    {
        let shape = [count, hidden_size];
        let of = format!("embeddings.{tensor}_embeddings.weight");
        let values = exporter.weights.values(&of, &shape)?;
        exporter.tensor(name, &shape, &values)?;
    }
    exporter.positions(WORD);
    exporter.node("Gather", &["types", TYPES], "type", vec![Attribute::int("axis", 0)]);
    exporter.node("Add", &[WORD, "position"], "placed", vec![]);
    exporter.node("Add", &["placed", "type"], "embedded", vec![]);
    exporter.normalise("embedded", "embeddings.LayerNorm", "embeddings")?;
    let states = exporter.layers()?;
    let width = rows.places.width;
    let mut weight = vec![0.0; rows.weight.len()];
    for (row, values) in rows.weight.chunks_exact(hidden_size).enumerate() {
        for (column, value) in values.iter().enumerate() {
            weight[column * width + row] = *value;
        }
    }
    exporter.tensor(&format!("{LOGITS}.weight"), &[hidden_size, width], &weight)?;
    exporter.tensor(&format!("{LOGITS}.bias"), &[width], &rows.bias)?;
    exporter.product(&states, LOGITS);
    Ok(())
}

fn rows(source: &GraphSource<'_>) -> Result<Rows, ExportError> {
    let (hidden, info) = (source.config.hidden_size, &source.heads.info);
    let tensors = source.heads.tensors().map_err(|_| ExportError::Missing("span.weight".into()))?;
    let (mut weight, mut bias) = (vec![], vec![]);
    let mut add = |head: &str, rows: usize| -> Result<usize, ExportError> {
        let place = bias.len();
        weight.extend(numbers(&tensors, &format!("{head}.weight"), &[rows, hidden])?);
        bias.extend(numbers(&tensors, &format!("{head}.bias"), &[rows])?);
        Ok(place)
    };
    add("span", 2)?;
    let kinds = add("kind", info.kind_count)?;
    let relevance = info.relevance.then(|| add("relevance", 1)).transpose()?;
    let keyword = info.keyword.then(|| add("keyword", 1)).transpose()?;
    let places = Places { kinds, relevance, keyword, width: bias.len() };
    Ok(Rows { places, weight, bias })
}
