import { expect, it } from "vitest";
import { flat, priceOf } from "./config";

it("reads values with where they come from, nested or listed", () => {
  expect(flat({ budget: { calls: { value: 60, from: "default" } }, kb: { path: "x" } })).toEqual([
    { name: "budget.calls", value: "60", from: "default" }, { name: "kb.path", value: "x" },
  ]);
  expect(flat({ values: [{ key: "kb.path", value: null, origin: "file" }] })).toEqual([{ name: "kb.path", value: "none", from: "file" }]);
  expect(flat("nonsense")).toEqual([]);
});
it("says a price, or that none is known", () => {
  expect(priceOf({ input: 0.15, output: 0.6 })).toBe("$0.15 in, $0.6 out a million tokens");
  expect(priceOf(null)).toBe("free, or not known");
});
