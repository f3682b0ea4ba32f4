import { expect, it } from "vitest";
import { curves, groups, isBest, matching, points, show, type Column, type Report } from "./report";
import { expand, fromFile } from "./source";
import { comparisons, costs } from "./tables";

const run = (label: string, outcomes: string[], tokens: number) => ({
  strategy: label, label, point: { n: String(tokens / 100) }, values: { right: outcomes.filter((o) => o === "right").length / outcomes.length, tokens, p50: 1500 },
  usage: { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 4 },
  by_kind: { bridge: { n: 3, values: {} }, count: { n: 1, values: {} } }, by_hops: { 10: { n: 1, values: {} }, 2: { n: 3, values: {} } }, error_analysis: { reading: 1 },
  components: [{ prompt: "p", calls: 6, malformed: 0, prompt_tokens: 30, completion_tokens: 10, usd: 1 }],
  results: outcomes.map((outcome, i) => ({ outcome, values: {}, tokens: 1, latency_ms: 1, ...(i === 2 ? { error_cause: "reading" } : {}) })),
});
const report = {
  dataset: "d", n: 4, questions: [{ id: "1", text: "Who?", kind: "bridge" }, { id: "2", text: "Where?" }, { id: "3", text: "When?" }, { id: "4", text: "Why?" }],
  runs: [run("a", ["right", "right", "wrong", "unasked"], 100), run("b", ["right", "wrong", "right", "failed"], 200)],
} as unknown as Report;
const column = { key: "tokens", better: "lower", format: "count" } as Column;

it("filters questions by outcome, by pair, by cause and by words", () => {
  const filter = (show: string, search = "") => matching(report, { search, a: 0, b: 1, show, kind: "" }, (id) => (id === "4" ? ["Because"] : []));
  expect(["all", "differ", "gained", "lost", "both", "missed", "unasked", "cause:reading"].map((show) => filter(show))).toEqual([[0, 1, 2, 3], [1, 2], [2], [1], [0], [2], [3], [2]]);
  expect(filter("all", "WHE")).toEqual([1, 2]);
  expect(filter("all", "because")).toEqual([3]);
  expect(matching(report, { search: "", a: 0, b: null, show: "all", kind: "bridge" })).toEqual([0]);
});
it("takes the cost of a question from those that were asked", () => {
  expect(points(report, "usd").map((p) => p.cost)).toEqual([4 / 3, 1]);
  expect(points(report, "tokens").map((p) => p.cost)).toEqual([100, 200]);
  expect(points(report, "calls")).toEqual([]);
  expect(points(report, "seconds")[0]).toMatchObject({ cost: 1.5, right: 0.5, place: 0 });
});
it("lists kinds by frequency and hops by number", () => {
  expect(groups(report, "by_kind")).toEqual(["bridge", "count"]);
  expect(groups(report, "by_hops")).toEqual(["2", "10"]);
});
it("marks the best of a column, by its direction, and writes values by their format", () => {
  expect(report.runs.map((one) => isBest(report, column, one))).toEqual([true, false]);
  expect([show("percent", 0.123), show("dollars", 0.5), show("count", 12.4), show("decimal", null)]).toEqual(["12.3", "0.5000", "12", "–"]);
});
it("joins the runs of one strategy that differ in a setting", () => {
  expect(curves(report)).toEqual([]);
  const two = { ...report, runs: report.runs.map((one) => ({ ...one, strategy: "kar3" })) };
  expect(curves(two).map(([setting, all]) => [setting, all[0]?.points.map((p) => p.at)])).toEqual([["n", [1, 2]]]);
});
it("makes tables of comparisons and costs", () => {
  const right = { metric: "right", title: "right", format: "percent" as const, difference: -0.25, low: -0.5, high: 0.1 };
  const table = comparisons([{ a: "a", b: "b", paired: 3, differences: [right], mcnemar: { gained: 1, lost: 2, p: 0.00001 } }]);
  expect(table.rows).toEqual([["b", "-25.0", "-50.0 … +10.0", "1", "2", "< 0.0001", "3"]]);
  expect(costs(report).rows[0]).toEqual(["a", "p", "2.0", "10", "3", "0", "100%", "1.0000"]);
});
it("puts texts together that are stored line by line", async () => {
  expect(expand({ a: { $: [1, 0] }, b: ["x", 2, null] }, ["two", "one"])).toEqual({ a: "one\ntwo", b: ["x", 2, null] });
  const stored = { q: { golds: ["Varn"], gold_titles: [], runs: [{ answer: { text: { $: [0] } } }] } };
  const source = fromFile({ view: { report, comparisons: [], notes: [], error_causes: [] }, questions: stored, lines: ["Oldbridge"] });
  expect(source.texts("q")).toEqual(["Varn", "Oldbridge"]);
  expect((await source.question("q"))?.runs[0]?.answer?.text).toBe("Oldbridge");
  expect(await source.question("?")).toBeNull();
});
