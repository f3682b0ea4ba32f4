//! A BERT encoder whose weights and activations are bytes: three times as fast as in floats, and a
//! little less exact. One text at a time and each token's row with a scale of its own, so that
//! nothing depends on the texts next to it, and no text is padded.
mod attention;
mod dense;
mod norm;
#[cfg(test)]
mod tests;

use rten_simd::SimdUnaryOp as _;
use rten_vecmath::Gelu;

use super::checkpoint::{Checkpoint, ExportError};
use super::config::BertConfig;
use attention::Attention;
use dense::{Dense, Products, QuantizedRows};
use norm::Norm;

/// Tokens that go together through what follows a layer's attention, so that the widest values
/// (0.4 MB) stay in a processor's own cache.
const BLOCK: usize = 64;

/// From the vectors of a text's words to the last states of its tokens.
pub(super) struct QuantizedEncoder {
    /// One row for each position.
    positions: Vec<f32>,
    /// One row for each segment.
    types: Vec<f32>,
    embeddings: Norm,
    layers: Vec<Layer>,
    heads: usize,
    hidden: usize,
}

/// The weights of one layer.
struct Layer {
    /// Queries, keys and values next to each other.
    projection: Dense,
    attended: Dense,
    attended_norm: Norm,
    wide: Dense,
    narrow: Dense,
    output_norm: Norm,
}

/// Values between the steps of a layer, allocated once for a text.
#[derive(Default)]
struct Buffers {
    rows: QuantizedRows,
    sums: Vec<i32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
}

impl QuantizedEncoder {
    pub(super) fn new(config: &BertConfig, weights: &Checkpoint<'_>) -> Result<Self, ExportError> {
        let products = Products::new();
        let hidden = config.hidden_size;
        let table = |name: &str, rows: usize| {
            weights.values(&format!("embeddings.{name}_embeddings.weight"), &[rows, hidden])
        };
        let layers = 0..config.num_hidden_layers;
        let layers: Result<_, _> =
            layers.map(|layer| Layer::new(config, weights, layer, &products)).collect();
        Ok(Self {
            positions: table("position", config.max_position_embeddings)?,
            types: table("token_type", config.type_vocab_size)?,
            embeddings: Norm::new(config, weights, "embeddings.LayerNorm")?,
            layers: layers?,
            heads: config.num_attention_heads,
            hidden,
        })
    }

    /// Numbers in the row of a token.
    pub(super) fn hidden(&self) -> usize {
        self.hidden
    }

    /// The last states of a text, `[tokens, hidden]`, from its words' own vectors of the same
    /// shape. Tokens from `first` on belong to the second segment.
    pub(super) fn states(&self, words: Vec<f32>, first: usize) -> Vec<f32> {
        self.states_by(&Products::new(), words, first)
    }

    fn states_by(&self, products: &Products, words: Vec<f32>, first: usize) -> Vec<f32> {
        let mut states = words;
        if states.is_empty() {
            return states;
        }
        let hidden = self.hidden;
        let rows = states.chunks_exact_mut(hidden).zip(self.positions.chunks_exact(hidden));
        for (at, (row, position)) in rows.enumerate() {
            let kind = if at < first { 0 } else { hidden };
            let kind = &self.types[kind..kind + hidden];
            for ((value, position), kind) in row.iter_mut().zip(position).zip(kind) {
                *value += position + kind;
            }
        }
        self.embeddings.apply(&mut states);
        let attention = Attention::new(self.heads, hidden);
        let mut buffers = Buffers::default();
        let mut projected = vec![];
        let mut context = vec![0.0; states.len()];
        for layer in &self.layers {
            buffers.rows.fill(products, &states, hidden);
            layer.projection.apply(products, &buffers.rows, &mut buffers.sums, &mut projected);
            attention.apply(&projected, &mut context);
            let block = BLOCK * hidden;
            for (states, context) in states.chunks_mut(block).zip(context.chunks(block)) {
                layer.finish(products, states, context, &mut buffers);
            }
        }
        states
    }
}

impl Layer {
    fn new(
        config: &BertConfig,
        weights: &Checkpoint<'_>,
        layer: usize,
        products: &Products,
    ) -> Result<Self, ExportError> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let tensors = |part: &str, shape: [usize; 2]| {
            let rows = weights.values(&name(&format!("{part}.weight")), &shape)?;
            let bias = weights.values(&name(&format!("{part}.bias")), &shape[..1])?;
            Ok::<_, ExportError>((rows, bias))
        };
        let dense = |part: &str, shape: [usize; 2]| {
            let (rows, bias) = tensors(part, shape)?;
            Ok::<_, ExportError>(Dense::new(products, &rows, bias))
        };
        let norm = |part: &str| Norm::new(config, weights, &name(part));
        let (mut rows, mut bias) = (vec![], vec![]);
        for part in ["query", "key", "value"] {
            let (part_rows, offsets) =
                tensors(&format!("attention.self.{part}"), [hidden, hidden])?;
            rows.extend(part_rows);
            bias.extend(offsets);
        }
        Ok(Self {
            projection: Dense::new(products, &rows, bias),
            attended: dense("attention.output.dense", [hidden, hidden])?,
            attended_norm: norm("attention.output.LayerNorm")?,
            wide: dense("intermediate.dense", [inner, hidden])?,
            narrow: dense("output.dense", [hidden, inner])?,
            output_norm: norm("output.LayerNorm")?,
        })
    }

    /// What follows the attention, for some of a text's rows.
    fn finish(
        &self,
        products: &Products,
        states: &mut [f32],
        context: &[f32],
        buffers: &mut Buffers,
    ) {
        let Buffers { rows, sums, wide, narrow } = buffers;
        let hidden = self.narrow.outputs();
        rows.fill(products, context, hidden);
        self.attended.apply(products, rows, sums, narrow);
        add(states, narrow);
        self.attended_norm.apply(states);

        rows.fill(products, states, hidden);
        self.wide.apply(products, rows, sums, wide);
        Gelu {}.map_mut(wide);
        rows.fill(products, wide, self.wide.outputs());
        self.narrow.apply(products, rows, sums, narrow);
        add(states, narrow);
        self.output_norm.apply(states);
    }
}

fn add(states: &mut [f32], change: &[f32]) {
    states.iter_mut().zip(change).for_each(|(state, change)| *state += change);
}
