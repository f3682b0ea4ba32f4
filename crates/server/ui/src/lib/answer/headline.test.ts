import { expect, it } from "vitest";
import type { Answer, Citation } from "../../api/types";
import { display } from "./headline";

const citation = { node: "n", document: "a.md", title: "A", start: 0, end: 1, quote: "q" } as Citation;
const answer = (text: string, full: string, more: Partial<Answer> = {}): Answer => {
  const claims = [...full.matchAll(/[^.]+\.(?:\s|$)/g)].map((m) => ({ start: m.index, end: m.index + m[0].trimEnd().length, citations: [1], supported: m[0].includes("[") }));
  return { text, reason: "", abstained: false, partial: false, citations: [citation, citation], full: { text: full, claims }, ...more };
};

it("leaves out the sentence that repeats the headline, whose sources move to it", () => {
  expect(display(answer("Velby", "Ann was born in Velby [1]."), "Where was Ann born?")).toEqual({ headline: "Velby", sources: [1], text: "" });
  expect(display(answer("Velby", "The answer is Velby [1]. It is in Norway [1]. She left."), "Where was Ann born?")).toEqual({
    headline: "Velby", sources: [1], text: "It is in Norway [1]. She left. [?]",
  });
});
it("keeps a sentence that says more", () => {
  const full = "Celltrion was founded in 2002 by Seo Jung-jin [1].";
  expect(display(answer("Seo Jung-jin", full), "Who founded Celltrion?")).toEqual({ headline: "Seo Jung-jin", sources: [], text: full });
});
it("has one headline for a text that only adds its sources", () => {
  expect(display(answer("Ann left Velby.", "Ann left Velby [1]."), "What did Ann do?")).toEqual({ headline: "Ann left Velby.", sources: [1], text: "" });
});
it("leaves out “The answer is” before the first sentence", () => {
  const shown = display(answer("Seo", "The answer is Seo: Inflectra was developed by Celltrion [1]. Seo founded it [1]."), "Who founded the maker?");
  expect(shown).toMatchObject({ headline: "Seo", sources: [1], text: "Inflectra was developed by Celltrion [1]." });
});
it("has a headline for a number that was computed", () => {
  expect(display(answer("7", "7 [1]. It is computed [1].", { computation: "SELECT" }), "How many?")).toEqual({ headline: "7", sources: [1], text: "It is computed [1]." });
});
it("has no headline where the answer is a text, or computed", () => {
  const long = `${"Many words. ".repeat(20)}`;
  expect(display(answer(long, long), "Why?").headline).toBe("");
  expect(display(answer("7", "The table has 7 rows [1].", { computation: "Computed." }), "How many?")).toMatchObject({ headline: "", text: "The table has 7 rows [1]." });
  const { full: _, ...bare } = answer("Perhaps", "");
  expect(display(bare, "Who?")).toEqual({ headline: "Perhaps", sources: [1, 2], text: "" });
});
