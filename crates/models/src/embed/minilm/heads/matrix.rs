//! The heads' matrices, one below the other: from a token's state to its logits.
use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::file::HeadsFile;
use crate::embed::minilm::checkpoint::{ExportError, numbers};

/// Where each head's logits stand in a token's row: `span` first (start, end), then the kinds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Places {
    pub(super) kinds: usize,
    pub(super) relevance: Option<usize>,
    pub(super) keyword: Option<usize>,
    /// Logits in a row.
    pub(super) width: usize,
}

pub(super) struct HeadsMatrix {
    pub(super) places: Places,
    /// `[width, hidden]`
    weight: Vec<f32>,
    bias: Vec<f32>,
    hidden: usize,
}

impl HeadsMatrix {
    pub(super) fn new(file: &HeadsFile, hidden: usize) -> Result<Self, ExportError> {
        let info = &file.info;
        let missing = |_| ExportError::Missing("span.weight".into());
        let tensors = file.tensors().map_err(missing)?;
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
        Ok(Self { places, weight, bias, hidden })
    }

    /// `[tokens, width]` from `[tokens, hidden]`.
    pub(super) fn logits(&self, states: &[f32]) -> Vec<f32> {
        let (hidden, width) = (self.hidden, self.places.width);
        let tokens = states.len() / hidden;
        let mut logits = vec![0.0; tokens * width];
        let states = NdTensorView::from_data([tokens, hidden], states);
        let weight = NdTensorView::from_data([width, hidden], self.weight.as_slice());
        let (a, b) = (GemmInputA::Unpacked(states), GemmInputB::Unpacked(weight.transposed()));
        let bias = Some(BiasVector::Row(&self.bias));
        let options = GemmOptions { bias, ..GemmOptions::default() };
        let product = GemmExecutor::<f32>::new().gemm(&mut logits, a, b, options);
        product.expect("the sizes of the matrices fit");
        logits
    }
}
