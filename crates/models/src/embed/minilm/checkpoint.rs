//! The tensors that a graph is made of, by their names in a checkpoint.
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

/// What comes with the embedder, even where the layers were trained further.
const SHARED: &str = "embeddings.";

/// Why a checkpoint cannot be turned into a graph.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the weights are not a valid safetensors file: {0}; fetch them again")]
    NotSafetensors(#[from] safetensors::SafeTensorError),
    #[error("the weights have no tensor `{0}`; a BERT encoder is needed")]
    Missing(String),
    #[error(
        "tensor `{name}` holds {actual:?} values, but {expected} is needed; convert the weights"
    )]
    Type { name: String, actual: Dtype, expected: &'static str },
    #[error(
        "tensor `{name}` has the shape {actual:?}, but {expected:?} is needed; take all files from \
         the same model"
    )]
    Shape { name: String, actual: Vec<usize>, expected: Vec<usize> },
    #[error("tensor `{0}` holds values that are not numbers; fetch or train the weights again")]
    NotFinite(String),
    #[error("cannot write the tensors: {0}")]
    Write(#[source] std::io::Error),
}

/// The checkpoint's tensors; some checkpoints put `bert.` before every name.
pub(super) struct Checkpoint<'a> {
    tensors: SafeTensors<'a>,
    prefix: &'static str,
    /// Layers that were trained further, which take the place of the checkpoint's own.
    trained: Option<SafeTensors<'a>>,
}

impl<'a> Checkpoint<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExportError> {
        let tensors = SafeTensors::deserialize(bytes)?;
        let bare = tensors.tensor("embeddings.word_embeddings.weight").is_ok();
        Ok(Self { tensors, prefix: if bare { "" } else { "bert." }, trained: None })
    }

    /// The same embeddings below other layers.
    pub(super) fn with_trained(self, trained: SafeTensors<'a>) -> Self {
        Self { trained: Some(trained), ..self }
    }

    /// The values of a tensor that must have this shape.
    pub(super) fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ExportError> {
        if let Some(trained) = self.trained.as_ref().filter(|_| !name.starts_with(SHARED)) {
            return numbers(trained, name, shape);
        }
        let name = format!("{}{name}", self.prefix);
        let tensor = find(&self.tensors, &name, shape)?;
        if tensor.dtype() != Dtype::F32 {
            return Err(ExportError::Type { name, actual: tensor.dtype(), expected: "F32" });
        }
        Ok(floats(&tensor))
    }
}

/// The values of a tensor of floats, or of bytes that are scaled row by row.
pub(super) fn numbers(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Vec<f32>, ExportError> {
    let tensor = find(tensors, name, shape)?;
    let values = match tensor.dtype() {
        Dtype::F32 => floats(&tensor),
        Dtype::F16 => {
            let (halves, _) = tensor.data().as_chunks::<2>();
            halves.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect()
        }
        Dtype::I8 => scaled(tensors, name, &tensor)?,
        actual => {
            let expected = "F32, F16 or I8";
            return Err(ExportError::Type { name: name.to_owned(), actual, expected });
        }
    };
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err(ExportError::NotFinite(name.to_owned()))
    }
}

fn find<'t>(
    tensors: &'t SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<TensorView<'t>, ExportError> {
    let tensor = tensors.tensor(name).map_err(|_| ExportError::Missing(name.to_owned()))?;
    if tensor.shape() == shape {
        return Ok(tensor);
    }
    let actual = tensor.shape().to_vec();
    Err(ExportError::Shape { name: name.to_owned(), actual, expected: shape.to_vec() })
}

fn floats(tensor: &TensorView<'_>) -> Vec<f32> {
    let (numbers, _) = tensor.data().as_chunks::<4>();
    numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Each row times its number in the tensor `NAME.scale`.
fn scaled(
    tensors: &SafeTensors<'_>,
    name: &str,
    tensor: &TensorView<'_>,
) -> Result<Vec<f32>, ExportError> {
    let [rows, columns] = *tensor.shape() else {
        let (actual, expected) = (tensor.shape().to_vec(), vec![0, 0]);
        return Err(ExportError::Shape { name: name.to_owned(), actual, expected });
    };
    let scales = numbers(tensors, &format!("{name}.scale"), &[rows])?;
    let rows = tensor.data().chunks_exact(columns.max(1)).zip(scales);
    let row = |(row, scale): (&[u8], f32)| {
        row.iter().map(|byte| f32::from(byte.cast_signed()) * scale).collect::<Vec<_>>()
    };
    Ok(rows.flat_map(row).collect())
}

/// A number of IEEE 754's 16-bit format.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f32::from(bits & 0x3ff);
    sign * match (bits >> 10) & 0x1f {
        0 => fraction * 2.0_f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        exponent => (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_read() {
        for (bits, expected) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8)]
        {
            assert!((half(bits) - expected).abs() < 1e-9, "{bits:x}: {}", half(bits));
        }
        assert!(half(0x7c00).is_infinite() && half(0x7c01).is_nan());
    }
}
