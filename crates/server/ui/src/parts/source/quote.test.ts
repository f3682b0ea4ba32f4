import { expect, it } from "vitest";
import { findQuote } from "./quote";

const marked = (items: string[], quote: string) =>
  findQuote(items, quote).map((r) => items[r.item]!.slice(r.start, r.end));

it("finds a quote that spans items", () => {
  expect(marked(["The lamp of the", "tower is green", "and old."], "of the tower is")).toEqual(["of the", "tower is"]);
});
it("ignores hyphens at line ends, ligatures and case", () => {
  expect(marked(["The ﬁrst light-", "house burned."], "first lighthouse")).toEqual(["ﬁrst light", "house"]);
});
it("highlights the part of a quote that is on the page", () => {
  expect(marked(["Begin. The keeper wrote down every ship"], "The keeper wrote down every ship that passed the reef")).toEqual([
    "The keeper wrote down every ship",
  ]);
  expect(marked(["that passed the reef at night. Then"], "every ship that passed the reef at night.")).toEqual([
    "that passed the reef at night",
  ]);
});
it("highlights nothing without a match", () => {
  expect(marked(["Other words stand here."], "The keeper wrote down every ship")).toEqual([]);
  expect(marked(["text"], "…")).toEqual([]);
});
it("counts code units of surrogate pairs", () => {
  expect(marked(["𝛼𝛽 words of a page"], "𝛽 words of a page")).toEqual(["𝛽 words of a page"]);
});
