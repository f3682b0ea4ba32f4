//! Turns the safetensors checkpoint of a BERT sentence encoder into an ONNX graph that ends in
//! mean pooling and L2 normalisation, and gives the states of the tokens as well. No Python, and
//! nothing that is specific to one checkpoint: sizes come from `config.json`.
//!
//! The graph uses the fused attention operator on one packed query-key-value product, because
//! that is the fastest shape for rten: no transposed copies, one product instead of three.
use std::io::Write;

use super::checkpoint::{Checkpoint, ExportError};
use super::config::BertConfig;
use super::onnx::{
    External, Graph, Message, entry, external_tensor, fixed_dim, float_attribute, float_value, int,
    int_attribute, int_tensor, int_value, named_dim, node,
};

/// Written into every exported file; a file of another version is exported again.
pub(super) const EXPORT_VERSION: &str = "2";
/// Names us as the file's maker.
pub(super) const PRODUCER: &str = "halma";
/// Metadata key for the SHA-256 of the weights that the file was made from.
pub(super) const WEIGHTS_SUM: &str = "weights_sha256";

pub(super) const INPUT_IDS: &str = "input_ids";
pub(super) const ATTENTION_MASK: &str = "attention_mask";
pub(super) const OUTPUT: &str = "sentence_embedding";

/// The value of the graph that holds the words' own vectors, `[batch, sequence, hidden]`.
pub(super) const WORD: &str = "word";

/// Masked positions get this score before the softmax: its exponential is exactly zero, so that
/// padding cannot change a vector.
const MASKED: f32 = -1e9;
/// Tensors start on a cache line, so that the file can be mapped and used in place.
const ALIGNMENT: usize = 64;

/// What to export from, and how to name it.
pub(super) struct WeightSource<'a> {
    pub(super) config: &'a BertConfig,
    /// Content of a safetensors file.
    pub(super) weights: &'a [u8],
    /// SHA-256 of `weights`, in hex.
    pub(super) weights_sum: &'a str,
    /// Name of the file that `data` will become.
    pub(super) data_file: &'a str,
}

/// Writes the tensors into `data` and returns the content of the model file that refers to them.
///
/// Inputs `input_ids` and `attention_mask`: `[batch, sequence]` integers. Outputs:
/// `sentence_embedding`, `[batch, hidden]`, rows of length one, and the states of the tokens,
/// `[batch, sequence, hidden]`, for other poolings. Mean pooling is done as a sum, because the
/// number of tokens cancels in the normalisation.
pub(super) fn export(
    source: &WeightSource<'_>,
    data: &mut dyn Write,
) -> Result<Vec<u8>, ExportError> {
    let WeightSource { config, data_file, .. } = *source;
    let weights = Checkpoint::open(source.weights)?;
    let graph = Graph::default();
    let mut exporter = Exporter { config, weights, data, data_file, offset: 0, graph };
    exporter.embeddings()?;
    let hidden = exporter.layers()?;
    exporter.pooling(&hidden);
    let mut graph = exporter.graph;
    let (batch, sequence) = (|| named_dim("batch"), || named_dim("sequence"));
    let size = || fixed_dim(config.hidden_size);
    graph.inputs = [INPUT_IDS, ATTENTION_MASK].map(|n| int_value(n, &[batch(), sequence()])).into();
    graph.outputs = vec![
        float_value(OUTPUT, &[batch(), size()]),
        float_value(&hidden, &[batch(), sequence(), size()]),
    ];
    let metadata = [entry(WEIGHTS_SUM, source.weights_sum)];
    Ok(graph.model("sentence encoder", [PRODUCER, EXPORT_VERSION], &metadata))
}

/// Collects the nodes of a graph and writes its tensors.
struct Exporter<'a> {
    config: &'a BertConfig,
    weights: Checkpoint<'a>,
    data: &'a mut dyn Write,
    /// The name that `data` will have.
    data_file: &'a str,
    /// Bytes written to `data`.
    offset: usize,
    graph: Graph,
}

impl Exporter<'_> {
    /// Word + position + type, normalised. Every text is one segment, so the vector of type 0 is
    /// added to the positions once and for all.
    fn embeddings(&mut self) -> Result<(), ExportError> {
        let BertConfig { hidden_size, vocab_size, .. } = *self.config;
        let positions = self.config.max_position_embeddings;
        let at = "embeddings";
        self.copy(&format!("{at}.word_embeddings.weight"), &[vocab_size, hidden_size], "words")?;
        let mut table = self
            .weights
            .values(&format!("{at}.position_embeddings.weight"), &[positions, hidden_size])?;
        let types = self.weights.values(
            &format!("{at}.token_type_embeddings.weight"),
            &[self.config.type_vocab_size, hidden_size],
        )?;
        for row in table.chunks_exact_mut(hidden_size) {
            row.iter_mut().zip(&types).for_each(|(value, kind)| *value += kind);
        }
        self.tensor("positions", &[positions, hidden_size], &table)?;

        self.node("Gather", &["words", INPUT_IDS], WORD, &[int_attribute("axis", 0)]);
        self.positions(INPUT_IDS);
        self.node("Add", &[WORD, "position"], "embedded", &[]);
        self.normalise("embedded", "embeddings.LayerNorm", "embeddings")
    }

    /// `position`: the first rows of `positions`, as many as `input` has tokens.
    fn positions(&mut self, input: &str) {
        self.graph.tensors.push(int_tensor("zero", &[0]));
        let sequence = [int_attribute("start", 1), int_attribute("end", 2)];
        self.node("Shape", &[input], "sequence", &sequence);
        self.node("Slice", &["positions", "zero", "sequence", "zero"], "position", &[]);
    }

    /// All layers over the embeddings; returns the name of the last one's output.
    fn layers(&mut self) -> Result<String, ExportError> {
        let mut hidden = "embeddings".to_owned();
        for layer in 0..self.config.num_hidden_layers {
            hidden = self.layer(layer, &hidden)?;
        }
        Ok(hidden)
    }

    /// One transformer layer over `input` (`[batch, sequence, hidden]`); returns its output's name.
    fn layer(&mut self, layer: usize, input: &str) -> Result<String, ExportError> {
        let hidden = self.config.hidden_size;
        let inner = self.config.intermediate_size;
        let at = format!("encoder.layer.{layer}");
        let name = |part: &str| format!("layer{layer}.{part}");

        let context = self.attention(layer, input)?;
        let attended = name("attended");
        self.dense(&context, &format!("{at}.attention.output.dense"), [hidden, hidden], &attended)?;
        let first = self.residual(&attended, input, &format!("{at}.attention.output.LayerNorm"))?;

        self.dense(&first, &format!("{at}.intermediate.dense"), [hidden, inner], &name("wide"))?;
        self.node("Gelu", &[&name("wide")], &name("gelu"), &[]);
        self.dense(&name("gelu"), &format!("{at}.output.dense"), [inner, hidden], &name("narrow"))?;
        self.residual(&name("narrow"), &first, &format!("{at}.output.LayerNorm"))
    }

    /// Multi-head attention without its output projection; returns the context's name.
    ///
    /// The fused operator takes queries, keys and values of one head next to each other:
    /// `[batch, sequence, heads, 3, head]`.
    fn attention(&mut self, layer: usize, input: &str) -> Result<String, ExportError> {
        let heads = self.config.num_attention_heads;
        let name = |part: &str| format!("layer{layer}.{part}");
        self.packed_projection(layer, input)?;
        if layer == 0 {
            let shape = [0, 0, int(heads), 3, int(self.config.hidden_size / heads)];
            self.graph.tensors.push(int_tensor("heads", &shape));
        }
        self.node("Reshape", &[&name("qkv"), "heads"], &name("packed"), &[]);
        let settings =
            [int_attribute("num_heads", int(heads)), float_attribute("mask_filter_value", MASKED)];
        let inputs = [&name("packed"), "", "", "", ATTENTION_MASK];
        self.node("MultiHeadAttention", &inputs, &name("context"), &settings);
        Ok(name("context"))
    }

    /// `qkv = input · W + b`, the three projections interleaved by head.
    fn packed_projection(&mut self, layer: usize, input: &str) -> Result<(), ExportError> {
        let hidden = self.config.hidden_size;
        let head = hidden / self.config.num_attention_heads;
        let mut weight = vec![0.0; hidden * 3 * hidden];
        let mut bias = vec![0.0; 3 * hidden];
        for (part, projection) in ["query", "key", "value"].into_iter().enumerate() {
            let at = format!("encoder.layer.{layer}.attention.self.{projection}");
            let rows = self.weights.values(&format!("{at}.weight"), &[hidden, hidden])?;
            let offsets = self.weights.values(&format!("{at}.bias"), &[hidden])?;
            for (from, (row, offset)) in rows.chunks_exact(hidden).zip(offsets).enumerate() {
                let to = (from / head * 3 + part) * head + from % head;
                bias[to] = offset;
                for (column, value) in row.iter().enumerate() {
                    weight[column * 3 * hidden + to] = *value;
                }
            }
        }
        let name = |part: &str| format!("layer{layer}.{part}");
        self.tensor(&name("qkv.weight"), &[hidden, 3 * hidden], &weight)?;
        self.tensor(&name("qkv.bias"), &[3 * hidden], &bias)?;
        self.product(input, &name("qkv"));
        Ok(())
    }

    /// `output = input · Wᵀ + b`. Checkpoints store `[out, in]`; the product wants `[in, out]`.
    fn dense(
        &mut self,
        input: &str,
        at: &str,
        [from, to]: [usize; 2],
        output: &str,
    ) -> Result<(), ExportError> {
        let rows = self.weights.values(&format!("{at}.weight"), &[to, from])?;
        let mut weight = vec![0.0; from * to];
        for (row, values) in rows.chunks_exact(from).enumerate() {
            for (column, value) in values.iter().enumerate() {
                weight[column * to + row] = *value;
            }
        }
        self.tensor(&format!("{output}.weight"), &[from, to], &weight)?;
        self.copy(&format!("{at}.bias"), &[to], &format!("{output}.bias"))?;
        self.product(input, output);
        Ok(())
    }

    /// `output = input · output.weight + output.bias`; rten fuses the two nodes.
    fn product(&mut self, input: &str, output: &str) {
        let product = format!("{output}.product");
        self.node("MatMul", &[input, &format!("{output}.weight")], &product, &[]);
        self.node("Add", &[&product, &format!("{output}.bias")], output, &[]);
    }

    /// `LayerNorm(change + input)`; returns its name.
    fn residual(&mut self, change: &str, input: &str, at: &str) -> Result<String, ExportError> {
        let (sum, output) = (format!("{change}.sum"), format!("{change}.normal"));
        self.node("Add", &[change, input], &sum, &[]);
        self.normalise(&sum, at, &output)?;
        Ok(output)
    }

    fn normalise(&mut self, input: &str, at: &str, output: &str) -> Result<(), ExportError> {
        let hidden = self.config.hidden_size;
        let (scale, bias) = (format!("{output}.scale"), format!("{output}.bias"));
        self.copy(&format!("{at}.weight"), &[hidden], &scale)?;
        self.copy(&format!("{at}.bias"), &[hidden], &bias)?;
        let epsilon = float_attribute("epsilon", self.config.layer_norm_eps);
        let settings = [int_attribute("axis", -1), epsilon];
        self.node("LayerNormalization", &[input, &scale, &bias], output, &settings);
        Ok(())
    }

    /// The sum over the real tokens, made one long.
    fn pooling(&mut self, hidden: &str) {
        self.graph.tensors.extend([int_tensor("last", &[2]), int_tensor("tokens", &[1])]);
        self.node("Cast", &[ATTENTION_MASK], "mask", &[int_attribute("to", 1)]);
        self.node("Unsqueeze", &["mask", "last"], "column", &[]);
        self.node("Mul", &[hidden, "column"], "kept", &[]);
        self.node("ReduceSum", &["kept", "tokens"], "pooled", &[int_attribute("keepdims", 0)]);
        let settings = [int_attribute("axis", -1), int_attribute("p", 2)];
        self.node("LpNormalization", &["pooled"], OUTPUT, &settings);
    }

    fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[Message]) {
        self.graph.nodes.push(node(op, inputs, output, attributes));
    }

    /// A tensor of the checkpoint under another name.
    fn copy(&mut self, from: &str, shape: &[usize], name: &str) -> Result<(), ExportError> {
        let values = self.weights.values(from, shape)?;
        self.tensor(name, shape, &values)
    }

    /// Writes a tensor to the data file and declares it.
    fn tensor(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<(), ExportError> {
        let start = self.offset.next_multiple_of(ALIGNMENT);
        let mut bytes = vec![0; start - self.offset];
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.data.write_all(&bytes).map_err(ExportError::Write)?;
        self.offset += bytes.len();
        let place = External { file: self.data_file, offset: start, length: self.offset - start };
        let dims: Vec<i64> = shape.iter().map(|&size| int(size)).collect();
        self.graph.tensors.push(external_tensor(name, &dims, &place));
        Ok(())
    }
}
