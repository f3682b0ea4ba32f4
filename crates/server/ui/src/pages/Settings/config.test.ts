import { expect, it } from "vitest";
import { displayValue, formatPrice } from "./config";

it("displays values of any kind", () => {
  expect([null, "", [], 60, false].map(displayValue)).toEqual(["none", "none", "none", "60", "false"]);
  expect(displayValue(["a", 1])).toBe("a, 1");
  expect(displayValue({ a: 1 })).toBe('{"a":1}');
});
it("formats a price, or says that none is known", () => {
  expect(formatPrice({ prompt: 0.15, completion: 0.6 })).toBe("$0.15 in, $0.6 out per million tokens");
  expect(formatPrice({ prompt: 0, completion: 0 })).toBe("free or unknown");
});
