import { expect, it } from "vitest";
import { answersOf, flips, kinds, lineOf, points, type Report } from "./report";

const run = (label: string, fates: string[], per_question: number) => ({
  strategy: label, label, metrics: { right: fates.filter((f) => f === "right").length / fates.length }, abstained: 0, failed: 0, partial: 0, malformed: 0,
  usage: { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 4 }, tokens: { per_question }, latency_ms: { p50: 1500 },
  by_kind: { bridge: { n: 3 }, count: { n: 1 } }, results: fates.map((fate) => ({ fate, tokens: 1, latency_ms: 1 })),
});
const report = {
  dataset: "d", n: 4, questions: [{ id: "1", kind: "bridge" }, { id: "2" }, { id: "3" }, { id: "4" }],
  runs: [run("a", ["right", "right", "wrong", "unasked"], 100), run("b", ["right", "wrong", "right", "failed"], 200)],
} as unknown as Report;

it("finds the questions that one run has right and the other has not", () => {
  expect(flips(report, 0, 1).map((f) => [f.id, f.a, f.b])).toEqual([["2", "right", "wrong"], ["3", "wrong", "right"]]);
});
it("takes the cost of a question from those that were asked", () => {
  expect(points(report, "usd").map((p) => p.cost)).toEqual([4 / 3, 1]);
  expect(points(report, "tokens").map((p) => p.cost)).toEqual([100, 200]);
  expect(points(report, "seconds")[0]).toMatchObject({ cost: 1.5, right: 0.5, place: 0 });
});
it("lists the kinds, the most frequent first", () => expect(kinds(report)).toEqual(["bridge", "count"]));
it("reads lists and comparisons that say less, or otherwise", () => {
  expect(lineOf({ name: "x", runs: [{ label: "kar3" }, "naive"] })).toEqual({ id: "x", dataset: "x", strategies: ["kar3", "naive"] });
  const compared = { flips: [{ question: "1", answers: ["Ann", null] }, null, { question: "2", answers: [null, null] }] };
  expect(answersOf(compared)).toEqual(new Map([["1", ["Ann", ""]]]));
  expect(answersOf(undefined).size).toBe(0);
});
