//! Multi-head attention of one text, in floats: few operations, whose scores bytes would blur.
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp as _;
use rten_tensor::NdTensorView;
use rten_vecmath::Softmax;

pub(super) struct Attention {
    gemm: GemmExecutor,
    heads: usize,
    hidden: usize,
    /// What scores are multiplied with.
    scale: f32,
}

impl Attention {
    #[expect(clippy::cast_precision_loss, reason = "a head has few values")]
    pub(super) fn new(heads: usize, hidden: usize) -> Self {
        let scale = 1.0 / ((hidden / heads) as f32).sqrt();
        Self { gemm: GemmExecutor::new(), heads, hidden, scale }
    }

    /// The context of each token, `[tokens, hidden]`, from the queries, keys and values,
    /// `[tokens, 3 · hidden]`.
    pub(super) fn apply(&self, projected: &[f32], context: &mut [f32]) {
        let (hidden, size) = (self.hidden, self.hidden / self.heads);
        let tokens = projected.len() / (3 * hidden);
        let all = NdTensorView::from_data([tokens, 3 * hidden], projected);
        let mut scores = vec![0.0; tokens * tokens];
        let mut mixed = vec![0.0; tokens * size];
        let fits = "the sizes of the matrices fit";
        for head in 0..self.heads {
            let [query, key, value] = [0, 1, 2].map(|part| {
                let start = part * hidden + head * size;
                all.slice((.., start..start + size))
            });
            let (a, b) = (GemmInputA::Unpacked(query), GemmInputB::Unpacked(key.transposed()));
            let options = GemmOptions { alpha: self.scale, ..GemmOptions::default() };
            self.gemm.gemm(&mut scores, a, b, options).expect(fits);
            for row in scores.chunks_exact_mut(tokens) {
                Softmax::new_mut(row).dispatch();
            }
            let shares = NdTensorView::from_data([tokens, tokens], scores.as_slice());
            let (a, b) = (GemmInputA::Unpacked(shares), GemmInputB::Unpacked(value));
            self.gemm.gemm(&mut mixed, a, b, GemmOptions::default()).expect(fits);
            for (row, context) in mixed.chunks_exact(size).zip(context.chunks_exact_mut(hidden)) {
                context[head * size..(head + 1) * size].copy_from_slice(row);
            }
        }
    }
}
