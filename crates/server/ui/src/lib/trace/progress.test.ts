import { expect, it } from "vitest";
import type { TraceEvent } from "../../api/types";
import { asObject, findings, phase } from "./progress";

const searched = (span: number, query: string, titles: string[]): TraceEvent =>
  ({ event: "searched", span, layer: "atom", mode: "graph", query, elapsed_ms: 1, hits: titles.map((title) => ({ id: title, title, text: "", score: 1 })) });
const note = (span: number, text: string): TraceEvent => ({ event: "note", span, note: text });

it("writes a question so that it follows “Looking for”", () => {
  expect(asObject("Who developed Inflectra?")).toBe("who developed Inflectra");
  expect(asObject("Celltrion founder")).toBe("Celltrion founder");
  expect(asObject("Wer gründete Biocon?")).toBe("wer gründete Biocon");
});

it("has a line for each hop, with what is read", () => {
  const events = [
    searched(1, "Who developed Inflectra?", ["Inflectra"]), note(1, "reads “Inflectra” for: It was developed by Celltrion."),
    searched(2, "Inflectra seat", ["Inflectra"]), searched(2, "Where is Celltrion based?", ["Celltrion", "Pfizer"]), note(2, "reads “Celltrion” for: Its seat."),
    note(3, "enough is known"), searched(4, "Who developed Inflectra?", ["Remicade"]), searched(5, "nothing", []),
  ];
  expect(findings(events)).toEqual([
    { query: "who developed Inflectra", results: ["Inflectra", "Remicade"] },
    { query: "where is Celltrion based", results: ["Celltrion"] },
    { query: "nothing", results: [] },
  ]);
});

it("names what is done now", () => {
  expect(phase([], "")).toBe("reading");
  expect(phase([], "selector")).toBe("choosing");
  expect(phase([searched(1, "x", [])], "")).toBe("choosing");
  expect(phase([{ event: "answer_started", span: 1, elapsed_ms: 1 }], "proposer")).toBe("writing");
});
