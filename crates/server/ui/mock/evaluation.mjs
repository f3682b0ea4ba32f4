// A made-up evaluation in the shape of report.json.
const KINDS = ["bridge", "comparison", "count"];
const STRATEGIES = [["naive", 0.41, 2600, 0.0004], ["ircot", 0.55, 6800, 0.0011], ["kar3", 0.66, 8400, 0.0014], ["dec", 0.52, 1900, 0.0004], ["unirag", 0.6, 10_900, 0.0021]];
const N = 24;
const questions = Array.from({ length: N }, (_, i) => ({ id: `q${i + 1}`, kind: KINDS[i % 3], hops: 2 + (i % 2) }));

const run = ([label, right, tokens, usd], r) => {
  const results = questions.map((_, i) => ({
    fate: (i * 7 + r * 5) % N < right * N ? "right" : (i + r) % 5 === 0 ? "abstained" : "wrong",
    tokens: tokens + i * 31, hops: 1 + ((i + r) % 4), latency_ms: 500 + i * 20, partial: false,
    usage: { llm_calls: 3, cached_calls: 1, prompt_tokens: tokens - 90, completion_tokens: 90, usd },
  }));
  const share = (of) => of.filter((x) => x.fate === "right").length / of.length;
  return {
    strategy: label, label, results, settings: {}, failed: 0, abstained: results.filter((x) => x.fate === "abstained").length, partial: 0, malformed: r, unasked: 0,
    metrics: { em: share(results) - 0.04, f1: share(results) + 0.05, right: share(results), support_recall: 0.5 + r * 0.06 },
    hops: 2.1 + r / 4, tokens: { prompt: tokens * N, completion: 90 * N, per_question: tokens, per_right_answer: tokens / right },
    latency_ms: { p50: 700 + r * 130, p95: 1600 + r * 200 }, usage: { llm_calls: 3 * N, cached_calls: N, prompt_tokens: tokens * N, completion_tokens: 90 * N, usd: usd * N },
    by_kind: Object.fromEntries(KINDS.map((kind, k) => {
      const of = results.filter((_, i) => i % 3 === k);
      return [kind, { n: of.length, em: share(of), f1: share(of), right: share(of) }];
    })),
  };
};
export const report = {
  format_version: 2, halma: "0.1.0", dataset: "lighthouses", n: N, base: "b1", budget: {}, spent: null, refused: [], questions, runs: STRATEGIES.map(run),
};
export const line = { id: "ev1", dataset: "lighthouses", n: N, at: new Date(Date.now() - 86_400_000).toISOString(), runs: STRATEGIES.map(([label]) => ({ strategy: label, label, metrics: {}, usage: {}, tokens: {} })) };
export function compare(a, b) {
  const [left, right] = [a, b].map((label) => report.runs.find((x) => x.label === label));
  const flips = questions.flatMap((q, i) => {
    const [x, y] = [left?.results[i]?.fate, right?.results[i]?.fate];
    return (x === "right") === (y === "right") ? [] : [{ question: q.id, kind: q.kind, a: x, b: y, answers: [null, "the keeper"] }];
  });
  return { flips };
}
