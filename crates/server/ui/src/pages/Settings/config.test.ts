import { expect, it } from "vitest";
import "../../lib/texts/en-pages";
import { displayValue, formatPrice, limitsOf } from "./config";

it("displays values of any kind", () => {
  expect([null, "", [], 60, false].map(displayValue)).toEqual(["none", "none", "none", "60", "false"]);
  expect(displayValue(["a", 1])).toBe("a, 1");
  expect(displayValue({ a: 1 })).toBe('{"a":1}');
});
it("formats a price, or says that none is known", () => {
  expect(formatPrice({ prompt: 0.15, completion: 0.6 })).toBe("$0.15 in, $0.60 out per million tokens");
  expect(formatPrice({ prompt: 0, completion: 0 })).toBe("free or unknown");
});
it("says what limits are about, with their units, and lists what was changed first", () => {
  const value = (key: string, value: unknown, origin = "default") => ({ key, value, origin });
  const limits = limitsOf([
    value("budget.ask.calls", null), value("serve.max_upload_bytes", 200_000_000), value("serve.addr", "127.0.0.1:80"), value("serve.keep_trace_days", 0), value("kb.graph.least", 0.1),
    value("serve.requests_per_minute", 60), value("ask.max_question_chars", 20_000), value("budget.index.seconds", 90), value("budget.eval.usd", 2.5, "halma.toml"),
  ]);
  expect(limits.map((one) => `${one.group}: ${one.meaning}: ${one.value}`)).toEqual([
    "Evaluation: US dollars: $2.50", "Question: Model calls: no limit", "Server: Size of an uploaded file: 200 MB", "Storage: Age of stored questions: no limit",
    "Server: Requests of a key in a minute: 60", "Question: Length: 20,000 characters", "Build: Time: 2 min",
  ]);
});
