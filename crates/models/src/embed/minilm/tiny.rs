//! A BERT small enough to be written down in a test: random weights, its files in a folder, and
//! a plain forward pass to compare the exported graph with.
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView, serialize};

pub(super) const HIDDEN: usize = 8;
pub(super) const HEADS: usize = 2;
const INNER: usize = 12;
/// Special tokens first, as `WORDS` has them.
const WORDS: [&str; 9] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "salt", "river", "bridge", "##s", "."];
/// Fewer than the encoder's usual limit of 256 tokens.
pub(super) const POSITIONS: usize = 32;
const EPSILON: f32 = 1e-5;

type Table = Vec<Vec<f32>>;

/// The tensors of a tiny BERT by their names in a checkpoint.
pub(super) struct Tiny {
    layers: usize,
    pub(super) tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
    seed: u64,
}

impl Tiny {
    pub(super) fn new(layers: usize) -> Self {
        Self::seeded(layers, 42)
    }

    /// Other weights of the same form.
    pub(super) fn seeded(layers: usize, seed: u64) -> Self {
        let mut tiny = Self { layers, tensors: HashMap::new(), seed };
        for (name, rows) in [("word", WORDS.len()), ("position", POSITIONS), ("token_type", 2)] {
            tiny.add(&format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN], 0.0);
        }
        tiny.add_normal("embeddings.LayerNorm");
        for layer in 0..layers {
            let at = |part: &str| format!("encoder.layer.{layer}.{part}");
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                tiny.add_dense(&at(&format!("attention.{part}")), HIDDEN, HIDDEN);
            }
            tiny.add_normal(&at("attention.output.LayerNorm"));
            tiny.add_dense(&at("intermediate.dense"), HIDDEN, INNER);
            tiny.add_dense(&at("output.dense"), INNER, HIDDEN);
            tiny.add_normal(&at("output.LayerNorm"));
        }
        tiny
    }

    pub(super) fn add(&mut self, name: &str, shape: &[usize], around: f32) {
        let count = shape.iter().product();
        let values = (0..count).map(|_| around + self.random()).collect();
        self.tensors.insert(name.to_owned(), (shape.to_vec(), values));
    }

    fn add_dense(&mut self, at: &str, from: usize, to: usize) {
        self.add(&format!("{at}.weight"), &[to, from], 0.0);
        self.add(&format!("{at}.bias"), &[to], 0.0);
    }

    fn add_normal(&mut self, at: &str) {
        self.add(&format!("{at}.weight"), &[HIDDEN], 1.0);
        self.add(&format!("{at}.bias"), &[HIDDEN], 0.0);
    }

    /// Between -1 and 1 (Knuth's linear congruential generator).
    #[expect(clippy::cast_precision_loss, reason = "24 bits fit a float")]
    fn random(&mut self) -> f32 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// Leaves a tensor out, to see what the exporter says.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.tensors.remove(name).expect("the test names a tensor that is there");
        self
    }

    /// Puts `bert.` before every name, as some checkpoints do.
    pub(super) fn prefixed(mut self) -> Self {
        self.tensors = self
            .tensors
            .into_iter()
            .map(|(name, tensor)| (format!("bert.{name}"), tensor))
            .collect();
        self
    }

    pub(super) fn safetensors(&self) -> Vec<u8> {
        let bytes: Vec<(&String, &Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, (shape, values))| {
                (name, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
            })
            .collect();
        let views = bytes.iter().map(|(name, shape, bytes)| {
            (name.as_str(), TensorView::new(Dtype::F32, (*shape).clone(), bytes).unwrap())
        });
        serialize(views, None).unwrap()
    }

    pub(super) fn config(&self) -> String {
        serde_json::json!({
            "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN,
            "num_hidden_layers": self.layers, "num_attention_heads": HEADS,
            "intermediate_size": INNER, "vocab_size": WORDS.len(),
            "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": EPSILON,
        })
        .to_string()
    }

    /// Writes the three files of a model.
    pub(super) fn write(&self, folder: &Path) {
        let vocab: HashMap<&str, usize> =
            WORDS.iter().enumerate().map(|(id, &word)| (word, id)).collect();
        let special =
            |word: &str| serde_json::json!({ "SpecialToken": { "id": word, "type_id": 0 } });
        let ids =
            |word: &str| serde_json::json!({ "id": word, "ids": [vocab[word]], "tokens": [word] });
        let text = serde_json::json!({ "Sequence": { "id": "A", "type_id": 0 } });
        let tokenizer = serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": { "type": "Lowercase" },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "post_processor": {
                "type": "TemplateProcessing", "pair": [text],
                "single": [special("[CLS]"), text, special("[SEP]")],
                "special_tokens": { "[CLS]": ids("[CLS]"), "[SEP]": ids("[SEP]") },
            },
            "decoder": null,
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab,
            },
        });
        fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
        fs::write(folder.join("config.json"), self.config()).unwrap();
        fs::write(folder.join("model.safetensors"), self.safetensors()).unwrap();
    }

    /// The sentence's vector, computed the long way.
    #[expect(clippy::cast_precision_loss, reason = "a sentence has few tokens")]
    pub(super) fn embed(&self, ids: &[u32]) -> Vec<f32> {
        let states = self.states(ids, ids.len());
        let zero = vec![0.0; HIDDEN];
        let sum = states.iter().fold(zero, |sum, state| add(&sum, state));
        let mean: Vec<f32> = sum.iter().map(|value| value / ids.len() as f32).collect();
        let length = dot(&mean, &mean).sqrt();
        mean.iter().map(|value| value / length).collect()
    }

    /// The states of all tokens, of which the first `first` are the first of two texts.
    pub(super) fn states(&self, ids: &[u32], first: usize) -> Vec<Vec<f32>> {
        let row = |name: &str, at: usize| {
            let (_, values) = &self.tensors[&format!("embeddings.{name}_embeddings.weight")];
            values[at * HIDDEN..(at + 1) * HIDDEN].to_vec()
        };
        let embedded = ids.iter().enumerate().map(|(position, &id)| {
            let word = add(&row("word", id as usize), &row("position", position));
            let kind = usize::from(position >= first);
            self.normal(&add(&word, &row("token_type", kind)), "embeddings.LayerNorm")
        });
        let mut states: Table = embedded.collect();
        for layer in 0..self.layers {
            states = self.layer(&states, &format!("encoder.layer.{layer}"));
        }
        states
    }

    fn layer(&self, states: &Table, at: &str) -> Table {
        let context = self.attention(states, at);
        let pairs = states.iter().zip(&context);
        let attended = pairs.map(|(state, context)| {
            let change = self.dense(context, &format!("{at}.attention.output.dense"));
            self.normal(&add(state, &change), &format!("{at}.attention.output.LayerNorm"))
        });
        let whole = attended.map(|state| {
            let wide = self.dense(&state, &format!("{at}.intermediate.dense"));
            let wide: Vec<f32> = wide.into_iter().map(gelu).collect();
            let change = self.dense(&wide, &format!("{at}.output.dense"));
            self.normal(&add(&state, &change), &format!("{at}.output.LayerNorm"))
        });
        whole.collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "a head has few dimensions")]
    fn attention(&self, states: &Table, at: &str) -> Table {
        let project = |part: &str| -> Table {
            states
                .iter()
                .map(|row| self.dense(row, &format!("{at}.attention.self.{part}")))
                .collect()
        };
        let (queries, keys, values) = (project("query"), project("key"), project("value"));
        let head = HIDDEN / HEADS;
        let attend = |query: &Vec<f32>, part: usize| {
            let score = |key: &Vec<f32>| {
                dot(&query[part..part + head], &key[part..part + head]) / (head as f32).sqrt()
            };
            let weights: Vec<f32> = keys.iter().map(|key| score(key).exp()).collect();
            let total: f32 = weights.iter().sum();
            let mut mixed = vec![0.0; head];
            for (weight, value) in weights.iter().zip(&values) {
                mixed.iter_mut().zip(&value[part..]).for_each(|(m, v)| *m += weight / total * v);
            }
            mixed
        };
        queries
            .iter()
            .map(|query| (0..HEADS).flat_map(|index| attend(query, index * head)).collect())
            .collect()
    }

    pub(super) fn dense(&self, input: &[f32], at: &str) -> Vec<f32> {
        let (_, weight) = &self.tensors[&format!("{at}.weight")];
        let (_, bias) = &self.tensors[&format!("{at}.bias")];
        let rows = weight.chunks_exact(input.len()).zip(bias);
        rows.map(|(row, bias)| dot(row, input) + bias).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "eight dimensions")]
    fn normal(&self, input: &[f32], at: &str) -> Vec<f32> {
        let (_, scale) = &self.tensors[&format!("{at}.weight")];
        let (_, bias) = &self.tensors[&format!("{at}.bias")];
        let mean = input.iter().sum::<f32>() / input.len() as f32;
        let centred: Vec<f32> = input.iter().map(|value| value - mean).collect();
        let deviation = (dot(&centred, &centred) / input.len() as f32 + EPSILON).sqrt();
        let pairs = centred.iter().zip(scale).zip(bias);
        pairs.map(|((value, scale), bias)| value / deviation * scale + bias).collect()
    }
}

fn add(left: &[f32], right: &[f32]) -> Vec<f32> {
    left.iter().zip(right).map(|(left, right)| left + right).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// With the error function as its Taylor series, which is exact enough for the small numbers here.
fn gelu(value: f32) -> f32 {
    let x = f64::from(value) / std::f64::consts::SQRT_2;
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    let erf = sum * 2.0 / std::f64::consts::PI.sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "the graph computes in f32")]
    let result = (f64::from(value) * 0.5 * (1.0 + erf)) as f32;
    result
}
