//! A dense layer whose weights and inputs are bytes: a product of integers, brought back to floats
//! by one scale for each row and one for each column.
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp as _;
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};
use rten_vecmath::MinMax;

/// Added to a float from -127 to 255, it moves the nearest integer into the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

/// The greatest absolute value of a weight's byte.
const GREATEST_WEIGHT: f32 = 127.0;

/// Products of unsigned bytes (inputs) with signed ones (weights).
pub(super) struct Products {
    gemm: GemmExecutor<u8, i8, i32>,
    /// The greatest value of an input's byte.
    greatest: f32,
}

impl Products {
    /// For this processor. One without instructions for such products (VNNI, or those of ARM) adds
    /// two of them in 16 bits, where a byte of eight bits would overflow; there inputs have seven.
    pub(super) fn new() -> Self {
        let gemm = GemmExecutor::new();
        let greatest = if gemm.may_saturate() { 127.0 } else { 255.0 };
        Self { gemm, greatest }
    }

    /// With inputs of seven bits on every processor.
    #[cfg(test)]
    pub(super) fn of_seven_bits() -> Self {
        Self { greatest: 127.0, ..Self::new() }
    }
}

/// Rows of floats as bytes: `value = byte · scale - shift`. Each row has a scale and a shift of
/// its own, so that no row depends on another.
#[derive(Default)]
pub(super) struct QuantizedRows {
    bytes: Vec<u8>,
    scales: Vec<f32>,
    shifts: Vec<f32>,
}

impl QuantizedRows {
    /// Takes rows of `width` floats in place of what it holds.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is needed")]
    pub(super) fn fill(&mut self, products: &Products, values: &[f32], width: usize) {
        self.bytes.resize(values.len(), 0);
        self.scales.clear();
        self.shifts.clear();
        for (row, bytes) in values.chunks_exact(width).zip(self.bytes.chunks_exact_mut(width)) {
            let (least, largest) = MinMax::new(row).dispatch();
            // Zero stays exact, and a row of equal values has a scale, too.
            let least = least.min(0.0);
            let scale = ((largest.max(0.0) - least) / products.greatest).max(f32::MIN_POSITIVE);
            let inverse = scale.recip();
            let zero = (-least * inverse).round();
            let (from, to) = (ROUNDING, ROUNDING + products.greatest);
            for (byte, value) in bytes.iter_mut().zip(row) {
                *byte = (value * inverse + (ROUNDING + zero)).clamp(from, to).to_bits() as u8;
            }
            self.scales.push(scale);
            self.shifts.push(zero * scale);
        }
    }
}

/// `output = input · Wᵀ + b`.
pub(super) struct Dense {
    weight: PackedBMatrix<i8>,
    /// For each output, what a weight's byte stands for.
    scales: Vec<f32>,
    /// For each output, the sum of its weights: what a shift of a row adds.
    sums: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    /// From rows as checkpoints store them, one for each output. Rows that were stored as bytes
    /// become the same bytes again.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is needed")]
    #[expect(clippy::cast_precision_loss, reason = "a sum of a few thousand bytes")]
    pub(super) fn new(products: &Products, rows: &[f32], bias: Vec<f32>) -> Self {
        let outputs = bias.len();
        let inputs = rows.len() / outputs.max(1);
        let mut weight = NdTensor::<i8, 2>::zeros([outputs, inputs]);
        let bytes = weight.data_mut().expect("a new tensor is contiguous");
        let (mut scales, mut sums) = (vec![], vec![]);
        for (row, bytes) in rows.chunks_exact(inputs).zip(bytes.chunks_exact_mut(inputs)) {
            let (least, largest) = MinMax::new(row).dispatch();
            let scale = (largest.max(-least) / GREATEST_WEIGHT).max(f32::MIN_POSITIVE);
            let inverse = scale.recip();
            for (byte, value) in bytes.iter_mut().zip(row) {
                *byte = (value * inverse + ROUNDING).to_bits() as i8;
            }
            scales.push(scale);
            let sum: i32 = bytes.iter().map(|byte| i32::from(*byte)).sum();
            sums.push(sum as f32 * scale);
        }
        let weight = products.gemm.prepack_b(weight.transposed());
        Self { weight, scales, sums, bias }
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// The outputs of each row; `sums` is space for the products.
    #[expect(clippy::cast_precision_loss, reason = "less than what rounding to bytes lost")]
    pub(super) fn apply(
        &self,
        products: &Products,
        input: &QuantizedRows,
        sums: &mut Vec<i32>,
        output: &mut Vec<f32>,
    ) {
        let (rows, outputs) = (input.scales.len(), self.outputs());
        if sums.len() < rows * outputs {
            sums.resize(rows * outputs, 0);
        }
        let sums = &mut sums[..rows * outputs];
        output.resize(rows * outputs, 0.0);
        let bytes = NdTensorView::from_data([rows, self.weight.rows()], input.bytes.as_slice());
        let (a, b) = (GemmInputA::Unpacked(bytes), GemmInputB::Packed(&self.weight));
        // Not with the rows' zeros as parameters: rten-gemm 0.27 takes those of the first rows of
        // a block for all of its rows.
        let product = products.gemm.gemm(sums, a, b, GemmOptions::default());
        product.expect("the sizes of the matrices fit");
        let rows = sums.chunks_exact(outputs).zip(output.chunks_exact_mut(outputs));
        for ((sums, output), (scale, shift)) in rows.zip(input.scales.iter().zip(&input.shifts)) {
            let columns = self.scales.iter().zip(&self.sums).zip(&self.bias);
            let cells = output.iter_mut().zip(sums).zip(columns);
            for ((output, sum), ((column, weights), bias)) in cells {
                *output = *sum as f32 * (scale * column) + (bias - shift * weights);
            }
        }
    }
}
