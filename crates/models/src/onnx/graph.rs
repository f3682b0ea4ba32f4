//! One pass: rows of token ids in, logits out.
use std::path::Path;
use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, TensorView};

use super::{OnnxError, Row, load_mapped};

/// A loaded graph with the inputs that exporters of text models agree on.
pub(crate) struct Graph {
    model: Model,
    ids: NodeId,
    mask: Option<NodeId>,
    types: Option<NodeId>,
    output: NodeId,
    pad: i32,
}

/// What a graph says, row after row.
pub(crate) struct Logits {
    /// `[rows]`, `[rows, classes]` or `[rows, tokens, classes]`.
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Graph {
    /// Refuses a graph that wants more than `input_ids`, `attention_mask` and `token_type_ids`.
    pub(crate) fn open(path: &Path, pad: u32) -> Result<Self, OnnxError> {
        let wrong = |reason: &dyn ToString| OnnxError::graph(path, &reason.to_string());
        let options = ModelOptions::with_all_ops().prepack_weights(true).clone();
        let model = load_mapped(&options, path).map_err(|e| wrong(&e))?;
        let input = |name: &str| model.find_node(name).filter(|id| model.input_ids().contains(id));
        let (ids, mask, types) =
            (input("input_ids"), input("attention_mask"), input("token_type_ids"));
        let ids = ids.ok_or_else(|| wrong(&"it has no input `input_ids`"))?;
        for other in model.input_ids() {
            if ![Some(ids), mask, types].contains(&Some(*other)) {
                let info = model.node_info(*other);
                let name = info.as_ref().and_then(rten::NodeInfo::name).unwrap_or("without a name");
                let known = "`input_ids`, `attention_mask` and `token_type_ids` are given";
                return Err(wrong(&format!("it wants the input `{name}`; only {known}")));
            }
        }
        let named = model.find_node("logits").filter(|id| model.output_ids().contains(id));
        let output = named.or_else(|| model.output_ids().first().copied());
        let output = output.ok_or_else(|| wrong(&"it has no output"))?;
        let pad = i32::try_from(pad).map_err(|e| wrong(&e))?;
        Ok(Self { model, ids, mask, types, output, pad })
    }

    pub(crate) fn run(&self, rows: &[&Row], pool: &Arc<ThreadPool>) -> Result<Logits, String> {
        let length = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let shape = [rows.len(), length];
        let mut ids = NdTensor::<i32, 2>::full(shape, self.pad);
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        let mut types = NdTensor::<i32, 2>::zeros(shape);
        for (at, row) in rows.iter().enumerate() {
            for (column, (id, kind)) in row.ids.iter().zip(&row.types).enumerate() {
                ids[[at, column]] = i32::try_from(*id).map_err(|e| e.to_string())?;
                types[[at, column]] = i32::try_from(*kind).map_err(|e| e.to_string())?;
                mask[[at, column]] = 1;
            }
        }
        let mut inputs = vec![(self.ids, ids.into())];
        inputs.extend(self.mask.map(|input| (input, mask.into())));
        inputs.extend(self.types.map(|input| (input, types.into())));
        logits(&run(&self.model, inputs, self.output, pool)?, rows.len())
    }
}

/// One value of a graph.
pub(crate) fn run(
    model: &Model,
    inputs: Vec<(NodeId, ValueOrView<'_>)>,
    output: NodeId,
    pool: &Arc<ThreadPool>,
) -> Result<Value, String> {
    let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
    let outputs = model.run(inputs, &[output], Some(options));
    let output = outputs.map_err(|e| e.to_string())?.into_iter().next();
    output.ok_or_else(|| "the graph gave no output".to_owned())
}

fn logits(output: &Value, rows: usize) -> Result<Logits, String> {
    let table = TensorView::<f32>::try_from(output)
        .map_err(|e| format!("the graph's output is not a table of floats: {e}"))?;
    let shape = table.shape().to_vec();
    if shape.first() != Some(&rows) {
        return Err(format!("the graph's output has the shape {shape:?} for {rows} rows"));
    }
    Ok(Logits { shape, values: table.iter().copied().collect() })
}
