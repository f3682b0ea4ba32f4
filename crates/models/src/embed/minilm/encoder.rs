//! Runs the graph: token ids in, unit vectors out.
use std::path::Path;
use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, ThreadPool, Value};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use halma_core::Vector;

use super::Precision;
use super::export::{ATTENTION_MASK, EXPORT_VERSION, INPUT_IDS, PRODUCER, WEIGHTS_SUM, WORD};
use super::weights::{GraphInMemory, WeightsError};
use crate::embed::Pooling;
use crate::onnx::{load_mapped, run};

/// A loaded sentence encoder: our own graph, or a third-party export.
pub(super) struct Encoder {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    /// Segment ids, which graphs of other exporters ask for; always zero.
    types: Option<NodeId>,
    /// Its vectors, or the states of its tokens.
    output: NodeId,
    /// The states of the tokens, where `output` is the mean and our own graph has them as well.
    states: Option<NodeId>,
}

impl Encoder {
    pub(super) fn open(path: &Path, precision: Precision) -> Result<Self, WeightsError> {
        let model = load_mapped(&options(precision), path);
        Self::new(model.map_err(|error| wrong(path, &error))?, path)
    }

    pub(super) fn from_memory(
        graph: GraphInMemory,
        path: &Path,
        precision: Precision,
    ) -> Result<Self, WeightsError> {
        let model = options(precision).external_data(graph.data_file, graph.data).load(graph.graph);
        Self::new(model.map_err(|error| wrong(path, &error))?, path)
    }

    fn new(model: Model, path: &Path) -> Result<Self, WeightsError> {
        let node = |name: &str| model.node_id(name).map_err(|error| wrong(path, &error));
        let (ids, mask) = (node(INPUT_IDS)?, node(ATTENTION_MASK)?);
        let types = model.find_node("token_type_ids").filter(|id| model.input_ids().contains(id));
        // Exporters that offer several outputs put the sentence's vector under this name.
        let named = model.find_node("sentence_embedding");
        let output = named.or_else(|| model.output_ids().first().copied()).ok_or_else(|| {
            WeightsError::Graph { path: path.to_owned(), reason: "it has no output".to_owned() }
        })?;
        let ours = model.metadata().producer_name() == Some(PRODUCER);
        let states = model.output_ids().get(1).copied().filter(|_| ours);
        Ok(Self { model, ids, mask, types, output, states })
    }

    /// Whether this is a graph of ours in an outdated shape.
    pub(super) fn is_outdated(&self) -> bool {
        let made_by = self.model.metadata();
        made_by.producer_name() == Some(PRODUCER)
            && made_by.producer_version() != Some(EXPORT_VERSION)
    }

    /// SHA-256 of the weights that our graph was made from.
    pub(super) fn weights_sum(&self) -> Option<&str> {
        self.model.metadata().get(WEIGHTS_SUM)
    }

    /// The own vectors of a text's words, `[tokens, hidden]`; only our own graph has them.
    pub(super) fn words(&self, ids: &[u32], pool: &Arc<ThreadPool>) -> Result<Vec<f32>, String> {
        let ids: Result<Vec<i32>, _> = ids.iter().map(|id| i32::try_from(*id)).collect();
        let ids = ids.map_err(|error| error.to_string())?;
        let ids = NdTensor::from_data([1, ids.len()], ids);
        let word = self.model.node_id(WORD).map_err(|error| error.to_string())?;
        let vectors = run(&self.model, vec![(self.ids, ids.into())], word, pool)?;
        let vectors: Result<NdTensor<f32, 3>, _> = vectors.try_into();
        Ok(vectors.map_err(|_| "the vectors of words have another form")?.into_data())
    }

    /// One vector of length one for each text of token ids, which are at most `length` each.
    pub(super) fn run(
        &self,
        texts: &[&[u32]],
        length: usize,
        pooling: Pooling,
        pool: &Arc<ThreadPool>,
    ) -> Result<Vec<Vector>, String> {
        let shape = [texts.len(), length];
        let mut ids = NdTensor::<i32, 2>::zeros(shape);
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        for (row, text) in texts.iter().enumerate() {
            for (column, id) in text.iter().enumerate() {
                ids[[row, column]] = i32::try_from(*id).map_err(|error| error.to_string())?;
                mask[[row, column]] = 1;
            }
        }
        let mut inputs = vec![(self.ids, ids.into()), (self.mask, mask.view().into())];
        if let Some(types) = self.types {
            inputs.push((types, NdTensor::<i32, 2>::zeros(shape).into()));
        }
        let output = match (pooling, self.states) {
            (Pooling::First | Pooling::Last, Some(states)) => states,
            _ => self.output,
        };
        vectors(&run(&self.model, inputs, output, pool)?, &mask.view(), pooling)
    }
}

/// Weights are packed for the processor once, at opening: 30 ms and 42 MB that make a query a
/// quarter faster. With weights of bytes, only the words' vectors of the graph are used.
fn options(precision: Precision) -> ModelOptions {
    ModelOptions::with_all_ops().prepack_weights(precision == Precision::F32).clone()
}

fn wrong(path: &Path, error: &dyn std::error::Error) -> WeightsError {
    WeightsError::Graph { path: path.to_owned(), reason: error.to_string() }
}

/// `[batch, hidden]` is taken as it is; `[batch, sequence, hidden]` is pooled over the mask.
fn vectors(
    output: &Value,
    mask: &NdTensorView<i32, 2>,
    pooling: Pooling,
) -> Result<Vec<Vector>, String> {
    if let Ok(rows) = NdTensorView::<f32, 2>::try_from(output) {
        return Ok(rows.axis_iter(0).map(|row| unit(row.iter().copied().collect())).collect());
    }
    let states = NdTensorView::<f32, 3>::try_from(output)
        .map_err(|error| format!("the graph's output is not a table of floats: {error}"))?;
    let texts = states.axis_iter(0).zip(mask.axis_iter(0));
    Ok(texts
        .map(|(tokens, mask)| {
            let held = mask.iter().filter(|kept| **kept != 0).count();
            pooled(&tokens.slice(..held).to_vec(), tokens.size(1), pooling)
        })
        .collect())
}

/// The vector of a text from the states of its tokens, `[tokens, hidden]`.
pub(super) fn pooled(states: &[f32], hidden: usize, pooling: Pooling) -> Vector {
    let count = states.len() / hidden;
    let pooled = match pooling {
        Pooling::Mean => 0..count,
        Pooling::First => 0..count.min(1),
        Pooling::Last => count.saturating_sub(1)..count,
    };
    let mut sum = vec![0.0; hidden];
    for token in states[pooled.start * hidden..pooled.end * hidden].chunks_exact(hidden) {
        sum.iter_mut().zip(token).for_each(|(sum, value)| *sum += value);
    }
    unit(sum)
}

fn unit(mut vector: Vector) -> Vector {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}
