// The tables below the charts, as rows of cells.
import { percent } from "../../lib/format";
import { show, type Comparison, type Report } from "./report";

export interface Table {
  head: string[];
  rows: string[][];
  /** How many of the first columns hold text. */
  text: number;
}

const signed = (value: number) => (value < 0 ? "" : "+") + (value * 100).toFixed(1);

/** Every other run against the first, by the questions that are right. */
export function comparisons(all: Comparison[]): Table {
  const rows = all.flatMap(({ b, differences, mcnemar, paired }) => {
    const right = differences.find((difference) => difference.metric === "right");
    if (!right) return [];
    const p = mcnemar.p < 0.0001 ? "< 0.0001" : mcnemar.p.toFixed(4);
    return [[b, signed(right.difference), `${signed(right.low)} … ${signed(right.high)}`, `${mcnemar.gained}`, `${mcnemar.lost}`, p, `${paired}`]];
  });
  return { head: ["Strategy", "Change", "95 % interval", "Became right", "Became wrong", "p", "Questions"], rows, text: 1 };
}

/** Calls and tokens per question, by prompt. */
export function costs(report: Report): Table {
  const rows = report.runs.flatMap((run) => {
    const asked = Math.max(1, run.results.filter((r) => r.outcome !== "unasked").length);
    const all = run.components.reduce((sum, part) => sum + part.prompt_tokens + part.completion_tokens, 0);
    return run.components.map((part) => [
      run.label, part.prompt, (part.calls / asked).toFixed(1), (part.prompt_tokens / asked).toFixed(0), (part.completion_tokens / asked).toFixed(0),
      `${part.malformed}`, all ? percent((part.prompt_tokens + part.completion_tokens) / all) : "–", show("dollars", part.usd),
    ]);
  });
  return { head: ["Strategy", "Prompt", "Calls", "Prompt tokens", "Completion tokens", "Malformed", "Share of tokens", "USD"], rows, text: 2 };
}

/** What a model assessed, criterion by criterion. */
export function assessed(report: Report): Table {
  const rows = report.runs.flatMap((run) =>
    run.assessed.flatMap(({ scheme, criteria }) =>
      criteria.map((criterion) => {
        const points = scheme === "creative";
        const missing = [...Object.entries(criterion.left_out), ...(criterion.unreadable ? [["the reply of the judge is malformed", criterion.unreadable] as const] : [])];
        const mean = criterion.mean == null ? "–" : points ? criterion.mean.toFixed(2) : show("percent", criterion.mean);
        return [run.label, `${scheme}, ${points ? "1 to 5" : "%"}`, criterion.name.replaceAll("_", " "), missing.map(([reason, n]) => `${reason}: ${n}`).join("; ") || "–", mean, `${criterion.n}`];
      }),
    ),
  );
  return { head: ["Strategy", "Assessed by", "Criterion", "Omitted", "Mean", "Answers"], rows, text: 4 };
}

/** The cost of building the base, per chunk. */
export function atomizing(report: Report): string {
  const made = report.atomizing;
  const calls = made ? made.usage.llm_calls + made.usage.cached_calls : 0;
  if (!made || !made.chunks || !calls) return "";
  const each = (n: number, digits: number) => (n / made.chunks).toFixed(digits);
  return `Building the base took ${each(calls, 2)} calls, ${each(made.usage.prompt_tokens, 0)} prompt and ${each(made.usage.completion_tokens, 0)} completion tokens for each of ${made.chunks} chunks.`;
}
