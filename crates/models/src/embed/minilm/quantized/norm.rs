//! Layer normalisation, row by row.
use rten_simd::SimdOp as _;
use rten_vecmath::{Normalize, NormalizeOptions, Sum, SumSquareSub};

use crate::embed::minilm::checkpoint::{Checkpoint, ExportError};
use crate::embed::minilm::config::BertConfig;

pub(super) struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn new(
        config: &BertConfig,
        weights: &Checkpoint<'_>,
        at: &str,
    ) -> Result<Self, ExportError> {
        let shape = [config.hidden_size];
        let scale = weights.values(&format!("{at}.weight"), &shape)?;
        let bias = weights.values(&format!("{at}.bias"), &shape)?;
        Ok(Self { scale, bias, epsilon: config.layer_norm_eps })
    }

    #[expect(clippy::cast_precision_loss, reason = "a row has few values")]
    pub(super) fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.scale.len()) {
            let count = row.len() as f32;
            let mean = Sum::new(row).dispatch() / count;
            let variance = SumSquareSub::new(row, mean).dispatch() / count;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: 1.0 / (variance + self.epsilon).sqrt(),
                element_scale: Some(&self.scale),
                element_bias: Some(&self.bias),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}
