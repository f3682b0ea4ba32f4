//! Against products and attention in floats, and against the plain forward pass of a tiny BERT.
use super::*;
use crate::embed::minilm::tiny::{HIDDEN, Tiny};

/// A number between -1 and 1 that looks random.
fn number(at: usize) -> f32 {
    let mixed = u32::try_from(at).unwrap().wrapping_mul(2_654_435_761) >> 16;
    f32::from(u16::try_from(mixed).unwrap()) / 32_768.0 - 1.0
}

#[expect(clippy::cast_precision_loss, reason = "small sizes")]
fn float(count: usize) -> f32 {
    count as f32
}

#[test]
fn products_of_bytes_are_those_of_floats_but_for_rounding() {
    for (products, close) in [(Products::new(), 0.01), (Products::of_seven_bits(), 0.015)] {
        for (rows, inputs, outputs) in [(1, 4, 3), (13, 40, 33), (70, 384, 1152), (16, 1536, 8)] {
            // Rows of different sizes, each far from zero on average.
            let size = |row: usize| [0.01, 1.0, 100.0][row % 3];
            let input: Vec<f32> = (0..rows * inputs)
                .map(|at| size(at / inputs) * (number(at) + float(at / inputs % 5)))
                .collect();
            let weight: Vec<f32> = (0..outputs * inputs).map(|at| number(at + 77)).collect();
            let bias: Vec<f32> = (0..outputs).map(number).collect();
            let dense = Dense::new(&products, &weight, bias.clone());
            let mut quantized = QuantizedRows::default();
            quantized.fill(&products, &input, inputs);
            let (mut sums, mut output) = (vec![], vec![]);
            dense.apply(&products, &quantized, &mut sums, &mut output);
            assert_eq!(output.len(), rows * outputs);
            for (at, actual) in output.iter().enumerate() {
                let (row, to) = (at / outputs, at % outputs);
                let terms = input[row * inputs..].iter().zip(&weight[to * inputs..][..inputs]);
                let expected = terms.map(|(a, b)| a * b).sum::<f32>() + bias[to];
                let largest = size(row) * float(row % 5 + 1);
                let error = (actual - expected).abs() / (largest * float(inputs).sqrt());
                assert!(error < close, "{rows}×{inputs}×{outputs} {row} {to}: {actual} {expected}");
            }
        }
    }
}

#[test]
fn attention_mixes_values_by_their_scores() {
    for (tokens, heads, hidden) in [(1, 2, 8), (40, 3, 96), (130, 2, 64)] {
        let size = hidden / heads;
        let projected: Vec<f32> = (0..tokens * 3 * hidden).map(|at| 3.0 * number(at)).collect();
        let mut context = vec![0.0; tokens * hidden];
        Attention::new(heads, hidden).apply(&projected, &mut context);
        let row = |token: usize, part: usize, head: usize| {
            &projected[token * 3 * hidden + part * hidden + head * size..][..size]
        };
        for (token, head) in (0..tokens).flat_map(|token| (0..heads).map(move |h| (token, h))) {
            let score = |other: usize| {
                let pairs = row(token, 0, head).iter().zip(row(other, 1, head));
                (pairs.map(|(a, b)| a * b).sum::<f32>() / float(size).sqrt()).exp()
            };
            let scores: Vec<f32> = (0..tokens).map(score).collect();
            let total: f32 = scores.iter().sum();
            for at in 0..size {
                let mixed = scores.iter().enumerate().map(|(o, score)| score * row(o, 2, head)[at]);
                let expected = mixed.sum::<f32>() / total;
                let actual = context[token * hidden + head * size + at];
                assert!((actual - expected).abs() < 1e-4, "{token} {head}: {actual} {expected}");
            }
        }
    }
}

#[test]
fn the_encoder_computes_what_the_model_means() {
    for layers in [1, 3] {
        let tiny = Tiny::new(layers);
        let config = BertConfig::parse(&tiny.config()).unwrap();
        let bytes = tiny.safetensors();
        let weights = Checkpoint::open(&bytes).unwrap();
        let encoder = QuantizedEncoder::new(&config, &weights).unwrap();
        let table = &tiny.tensors["embeddings.word_embeddings.weight"].1;
        let ids = [2, 4, 5, 3, 6, 7, 8, 4, 3];
        let words: Vec<f32> =
            ids.iter().flat_map(|id| &table[id * HIDDEN..][..HIDDEN]).copied().collect();
        let ids = ids.map(|id| u32::try_from(id).unwrap());
        for first in [ids.len(), 4] {
            let expected = tiny.states(&ids, first).concat();
            for (products, close) in [(Products::new(), 0.02), (Products::of_seven_bits(), 0.03)] {
                let actual = encoder.states_by(&products, words.clone(), first);
                let errors = actual.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                let mean = errors.sum::<f32>() / float(expected.len());
                assert_eq!(actual.len(), expected.len());
                assert!(mean < close, "{layers} {first}: {mean}");
            }
        }
    }
}
