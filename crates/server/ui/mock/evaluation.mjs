// A made-up evaluation in the shape of what the server gives a viewer.
const KINDS = ["bridge", "comparison", "count"];
const STRATEGIES = [["naive", 0.41, 2600, 0.0004], ["ircot", 0.55, 6800, 0.0011], ["kar3", 0.66, 8400, 0.0014], ["dec", 0.52, 1900, 0.0004], ["unirag", 0.6, 10_900, 0.0021]];
const N = 24;
const questions = Array.from({ length: N }, (_, i) => ({ id: `q${i + 1}`, text: `Which lighthouse did keeper number ${i + 1} tend before the harbour was moved?`, kind: KINDS[i % 3], hops: 2 + (i % 2) }));
const column = (key, title, format, better, in_groups = false) => ({ key, title, meaning: `the column ${title}`, format, better, in_groups });
const columns = [
  column("right", "right", "percent", "higher", true), column("em", "EM", "percent", "higher", true), column("f1", "F1", "percent", "higher", true), column("support", "support", "percent", "higher", true),
  column("abstained", "abst.", "count", null), column("failed", "failed", "count", null), column("hops", "hops", "decimal", null), column("tokens", "tokens/q", "count", "lower"), column("p50", "p50", "milliseconds", "lower"), column("p95", "p95", "milliseconds", "lower"), column("usd", "USD", "dollars", null),
];
const used = (tokens, usd, n = 1) => ({ llm_calls: 3 * n, cached_calls: n, prompt_tokens: tokens * n, completion_tokens: 90 * n, usd: usd * n });
const causes = ["retrieval", "selection", "reading"];

const run = ([label, right, tokens, usd], r) => {
  const results = questions.map((_, i) => {
    const outcome = (i * 7 + r * 5) % N < right * N ? "right" : (i + r) % 5 === 0 ? "abstained" : "wrong";
    return { outcome, values: { right: Number(outcome === "right"), f1: outcome === "right" ? 1 : 0.2 }, tokens: tokens + i * 31, latency_ms: 500 + ((i * 37 + r * 11) % 19) * 90, usage: used(tokens, usd), ...(outcome === "right" ? {} : { error_cause: causes[(i + r) % 3] }) };
  });
  const share = (of) => of.filter((x) => x.outcome === "right").length / of.length;
  const values = (of) => ({ right: share(of), em: Math.max(0, share(of) - 0.04), f1: Math.min(1, share(of) + 0.05), support: 0.5 + r * 0.06 });
  const grouped = (key) => Object.fromEntries([...new Set(questions.map((q) => q[key]))].map((name) => {
    const of = results.filter((_, i) => questions[i][key] === name);
    return [name, { n: of.length, values: values(of) }];
  }));
  const abstained = results.filter((x) => x.outcome === "abstained").length;
  return {
    strategy: label, label, point: {}, settings: { n: 5 }, fingerprint: `f${r}`, profile: "squad", results, assessed: [], unasked: 0, retrieval: {}, sources: [],
    values: { ...values(results), abstained, failed: 0, hops: 2.1 + r / 4, tokens, calls: 3 + r, p50: 700 + r * 130, p95: 1600 + r * 200, usd: usd * N },
    usage: used(tokens, usd, N), tokens: { prompt: tokens * N, completion: 90 * N }, by_kind: grouped("kind"), by_hops: grouped("hops"),
    error_analysis: Object.fromEntries(causes.map((cause) => [cause, results.filter((x) => x.error_cause === cause).length])),
    components: [{ prompt: `${label}/propose`, role: "proposer", calls: 2 * N, cached: 0, malformed: r, prompt_tokens: tokens * N * 0.7, completion_tokens: 60 * N, usd: usd * N * 0.7 }, { prompt: `${label}/answer`, role: "reader", calls: N, cached: 0, malformed: 0, prompt_tokens: tokens * N * 0.3, completion_tokens: 30 * N, usd: usd * N * 0.3 }],
    models: { reader: ["reader-70b"] }, prompts: { [`${label}/answer`]: ["9c1e7a40"] },
  };
};
const report = {
  format_version: 3, halma: "0.1.0", dataset: "lighthouses", n: N, base: "b1", budget: {}, spent: null, refused: [], questions, columns, runs: STRATEGIES.map(run),
};
const flipped = (a, b) => questions.flatMap((q, i) => ((a.results[i].outcome === "right") !== (b.results[i].outcome === "right") ? [{ question: q.id, kind: q.kind, a: a.results[i].outcome, b: b.results[i].outcome }] : []));
const comparison = (a, b) => {
  const all = flipped(a, b);
  const gained = all.filter((flip) => flip.b === "right").length;
  const difference = b.values.right - a.values.right;
  return { a: a.label, b: b.label, paired: N, differences: [{ metric: "right", title: "right", format: "percent", difference, low: difference - 0.2, high: difference + 0.2 }], mcnemar: { gained, lost: all.length - gained, p: 0.3 } };
};
const [first, ...others] = report.runs;
export const view = {
  report, comparisons: others.map((other) => comparison(first, other)), notes: report.runs.map((one, i) => (i ? [] : [`2 answers of ${one.label} are partial (spent budget)`])),
  error_causes: [{ key: "retrieval", title: "retrieval miss", meaning: "no search returned all of the gold passages" }, { key: "selection", title: "selection miss", meaning: "all were found, not all were cited or given to the reader" }, { key: "reading", title: "reading miss", meaning: "the reader had all of them and still answered wrongly" }],
};
const hit = { id: "n1", title: "Keepers", text: "The keeper tended the lighthouse of Varn until 1871.", score: 0.71 };
export const question = (id) => ({
  id, golds: ["Varn"], gold_titles: ["Keepers"],
  runs: report.runs.map((one) => ({
    answer: { text: one.results[questions.findIndex((q) => q.id === id)]?.outcome === "right" ? "Varn" : "Oldbridge", reason: "Passage 1 names it.", citations: [{ node: "n1", document: "keepers.md", title: "Keepers", page: 3, start: 0, end: 4, quote: hit.text }], abstained: false, partial: false },
    failure: null,
    trace: [
      { event: "span_started", span: 1, parent: 0, name: "hop 1" },
      { event: "searched", span: 1, layer: "chunk", mode: "hybrid", query: "Who tended the lighthouse?", hits: [hit], elapsed_ms: 4.2 },
      { event: "model_called", span: 1, prompt: `${one.label}/answer`, hash: "9c1e7a40", role: "reader", model: "reader-70b", attempt: 1, messages: [{ role: "user", text: `Passages:\n1. ${hit.text}` }], reply: '{"answer": "Varn"}', status: "valid", usage: { prompt_tokens: 90, completion_tokens: 9 }, cached: false, usd: 0.0004, elapsed_ms: 612 },
    ],
  })),
});
export const line = { id: "ev1", dataset: "lighthouses", n: N, at: new Date(Date.now() - 86_400_000).toISOString(), runs: report.runs.map(({ label, values }) => ({ strategy: label, label, values })) };
export function compare(a, b) {
  const [left, right] = [a, b].map((label) => report.runs.find((x) => x.label === label));
  return { comparison: comparison(left, right), flips: flipped(left, right) };
}
export { report };
