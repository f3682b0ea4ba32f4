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
    Attribute, CONTRIB, Dim, External, Graph, IR_VERSION, KeyValue, Model, OPSET, OnnxNode,
    OperatorSet, Tensor, ValueInfo,
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

/// Writes the tensors into `data` and returns the graph that refers to them.
///
/// Inputs `input_ids` and `attention_mask`: `[batch, sequence]` integers. Outputs:
/// `sentence_embedding`, `[batch, hidden]`, rows of length one, and the states of the tokens,
/// `[batch, sequence, hidden]`, for other poolings. Mean pooling is done as a sum, because the
/// number of tokens cancels in the normalisation.
pub(super) fn export(
    source: &WeightSource<'_>,
    data: &mut dyn Write,
) -> Result<Model, ExportError> {
    let weights = Checkpoint::open(source.weights)?;
    let mut exporter = Exporter::new(source.config, weights, data, source.data_file);
    exporter.embeddings()?;
    let hidden = exporter.layers()?;
    exporter.pooling(&hidden);
    let size = || Dim::fixed(int(source.config.hidden_size));
    let vector = vec![Dim::named("batch"), size()];
    let states = vec![Dim::named("batch"), Dim::named("sequence"), size()];
    let weights_sum =
        KeyValue { key: WEIGHTS_SUM.to_owned(), value: source.weights_sum.to_owned() };
    Ok(exporter.model(GraphSignature {
        name: "sentence encoder",
        inputs: vec![
            ValueInfo::ints(INPUT_IDS, tokens()),
            ValueInfo::ints(ATTENTION_MASK, tokens()),
        ],
        outputs: vec![ValueInfo::floats(OUTPUT, vector), ValueInfo::floats(&hidden, states)],
        metadata: vec![weights_sum],
    }))
}

/// What a graph takes and gives.
struct GraphSignature {
    name: &'static str,
    inputs: Vec<ValueInfo>,
    outputs: Vec<ValueInfo>,
    metadata: Vec<KeyValue>,
}

/// The axes of token ids.
fn tokens() -> Vec<Dim> {
    vec![Dim::named("batch"), Dim::named("sequence")]
}

/// Collects the nodes of a graph and writes its tensors.
struct Exporter<'a> {
    config: &'a BertConfig,
    weights: Checkpoint<'a>,
    data: &'a mut dyn Write,
    data_file: &'a str,
    /// Bytes written to `data`.
    offset: usize,
    nodes: Vec<OnnxNode>,
    tensors: Vec<Tensor>,
}

impl<'a> Exporter<'a> {
    /// `data_file`: the name that `data` will have.
    fn new(
        config: &'a BertConfig,
        weights: Checkpoint<'a>,
        data: &'a mut dyn Write,
        data_file: &'a str,
    ) -> Self {
        Self { config, weights, data, data_file, offset: 0, nodes: vec![], tensors: vec![] }
    }

    /// Word + position + type, normalised. Every text is one segment, so the vector of type 0 is
    /// added to the positions once and for all.
    fn embeddings(&mut self) -> Result<(), ExportError> {
        let BertConfig { hidden_size, vocab_size, .. } = *self.config;
        let positions = self.config.max_position_embeddings;
        let at = "embeddings";
        let words = self
            .weights
            .values(&format!("{at}.word_embeddings.weight"), &[vocab_size, hidden_size])?;
        self.tensor("words", &[vocab_size, hidden_size], &words)?;
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

        self.node("Gather", &["words", INPUT_IDS], WORD, vec![Attribute::int("axis", 0)]);
        self.positions(INPUT_IDS);
        self.node("Add", &[WORD, "position"], "embedded", vec![]);
        self.normalise("embedded", "embeddings.LayerNorm", "embeddings")
    }

    /// `position`: the first rows of `positions`, as many as `input` has tokens.
    fn positions(&mut self, input: &str) {
        self.tensors.push(Tensor::ints("zero", &[0]));
        let sequence = vec![Attribute::int("start", 1), Attribute::int("end", 2)];
        self.node("Shape", &[input], "sequence", sequence);
        self.node("Slice", &["positions", "zero", "sequence", "zero"], "position", vec![]);
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
        self.node("Gelu", &[&name("wide")], &name("gelu"), vec![]);
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
            self.tensors.push(Tensor::ints("heads", &shape));
        }
        self.node("Reshape", &[&name("qkv"), "heads"], &name("packed"), vec![]);
        let settings = vec![
            Attribute::int("num_heads", int(heads)),
            Attribute::float("mask_filter_value", MASKED),
        ];
        let inputs = [&name("packed"), "", "", "", ATTENTION_MASK];
        self.node("MultiHeadAttention", &inputs, &name("context"), settings);
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
        let bias = self.weights.values(&format!("{at}.bias"), &[to])?;
        self.tensor(&format!("{output}.bias"), &[to], &bias)?;
        self.product(input, output);
        Ok(())
    }

    /// `output = input · output.weight + output.bias`; rten fuses the two nodes.
    fn product(&mut self, input: &str, output: &str) {
        let product = format!("{output}.product");
        self.node("MatMul", &[input, &format!("{output}.weight")], &product, vec![]);
        self.node("Add", &[&product, &format!("{output}.bias")], output, vec![]);
    }

    /// `LayerNorm(change + input)`; returns its name.
    fn residual(&mut self, change: &str, input: &str, at: &str) -> Result<String, ExportError> {
        let (sum, output) = (format!("{change}.sum"), format!("{change}.normal"));
        self.node("Add", &[change, input], &sum, vec![]);
        self.normalise(&sum, at, &output)?;
        Ok(output)
    }

    fn normalise(&mut self, input: &str, at: &str, output: &str) -> Result<(), ExportError> {
        let hidden = self.config.hidden_size;
        let (scale, bias) = (format!("{output}.scale"), format!("{output}.bias"));
        let values = self.weights.values(&format!("{at}.weight"), &[hidden])?;
        self.tensor(&scale, &[hidden], &values)?;
        let values = self.weights.values(&format!("{at}.bias"), &[hidden])?;
        self.tensor(&bias, &[hidden], &values)?;
        let settings = vec![
            Attribute::int("axis", -1),
            Attribute::float("epsilon", self.config.layer_norm_eps),
        ];
        self.node("LayerNormalization", &[input, &scale, &bias], output, settings);
        Ok(())
    }

    /// The sum over the real tokens, made one long.
    fn pooling(&mut self, hidden: &str) {
        self.tensors.push(Tensor::ints("last", &[2]));
        self.tensors.push(Tensor::ints("tokens", &[1]));
        self.node("Cast", &[ATTENTION_MASK], "mask", vec![Attribute::int("to", 1)]);
        self.node("Unsqueeze", &["mask", "last"], "column", vec![]);
        self.node("Mul", &[hidden, "column"], "kept", vec![]);
        let settings = vec![Attribute::int("keepdims", 0)];
        self.node("ReduceSum", &["kept", "tokens"], "pooled", settings);
        let settings = vec![Attribute::int("axis", -1), Attribute::int("p", 2)];
        self.node("LpNormalization", &["pooled"], OUTPUT, settings);
    }

    fn node(&mut self, op: &str, inputs: &[&str], output: &str, attribute: Vec<Attribute>) {
        let domain = if op == "MultiHeadAttention" { CONTRIB } else { "" };
        self.nodes.push(OnnxNode {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            name: format!("{op}:{output}"),
            op_type: op.to_owned(),
            attribute,
            domain: domain.to_owned(),
        });
    }

    /// Writes a tensor to the data file and declares it.
    fn tensor(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<(), ExportError> {
        let start = self.offset.next_multiple_of(ALIGNMENT);
        let mut bytes = vec![0; start - self.offset];
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.data.write_all(&bytes).map_err(ExportError::Write)?;
        self.offset += bytes.len();
        let place = External {
            file: self.data_file,
            offset: start as u64,
            length: (self.offset - start) as u64,
        };
        let dims = shape.iter().map(|&size| int(size)).collect();
        self.tensors.push(Tensor::external(name, dims, &place));
        Ok(())
    }

    fn model(self, signature: GraphSignature) -> Model {
        let set = |domain: &str, version| OperatorSet { domain: domain.to_owned(), version };
        Model {
            ir_version: IR_VERSION,
            producer_name: PRODUCER.to_owned(),
            producer_version: EXPORT_VERSION.to_owned(),
            graph: Some(Graph {
                node: self.nodes,
                name: signature.name.to_owned(),
                initializer: self.tensors,
                input: signature.inputs,
                output: signature.outputs,
            }),
            opset_import: vec![set("", OPSET), set(CONTRIB, 1)],
            metadata: signature.metadata,
        }
    }
}

/// ONNX counts in 64-bit signed integers.
fn int(size: usize) -> i64 {
    i64::try_from(size).expect("sizes of a model in memory fit 63 bits")
}
