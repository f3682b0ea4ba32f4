// What the viewer reads of an evaluation (report.json), and what it makes of it.
import type { Answer, TraceEvent, UsageTotal } from "../../api/types";
import { duration } from "../../lib/format";
import type { Point } from "../../lib/frontier";

export type AnswerOutcome = "right" | "wrong" | "abstained" | "failed" | "unasked";
export type ValueFormat = "percent" | "decimal" | "count" | "milliseconds" | "dollars";
export type Values = Record<string, number | undefined>;

/** A column of every table; the report says which there are. */
export interface Column {
  key: string;
  title: string;
  meaning: string;
  format: ValueFormat;
  better?: "higher" | "lower" | null;
  in_groups: boolean;
}

export interface QuestionResult {
  outcome: AnswerOutcome;
  values: Values;
  ruling?: string;
  error_cause?: string;
  partial?: boolean;
  tokens: number;
  latency_ms: number;
  usage: UsageTotal;
}

export interface Criterion {
  name: string;
  mean?: number | null;
  n: number;
  left_out: Record<string, number>;
  unreadable: number;
}

export interface Run {
  strategy: string;
  label: string;
  point: Record<string, string>;
  settings: unknown;
  fingerprint: string;
  profile: string;
  values: Values;
  judged?: unknown;
  assessed: { scheme: string; criteria: Criterion[] }[];
  unasked: number;
  usage: UsageTotal;
  by_kind: Record<string, { n: number; values: Values }>;
  by_hops: Record<string, { n: number; values: Values }>;
  error_analysis: Record<string, number>;
  components: { prompt: string; calls: number; malformed: number; prompt_tokens: number; completion_tokens: number; usd: number }[];
  models: Record<string, string[]>;
  prompts: Record<string, string[]>;
  results: QuestionResult[];
}

export interface Head {
  id: string;
  text: string;
  kind?: string;
  hops?: number;
}

export interface Report {
  halma: string;
  dataset: string;
  n: number;
  base: string;
  source?: { file: string; hash: string } | null;
  sample?: { seed: number; size: number; of: number } | null;
  atomizing?: { chunks: number; usage: UsageTotal } | null;
  spent?: string | null;
  questions: Head[];
  columns: Column[];
  runs: Run[];
  refused: { record: number; line: number; reason: string }[];
}

export interface Comparison {
  a: string;
  b: string;
  paired: number;
  differences: { metric: string; title: string; format: ValueFormat; difference: number; low: number; high: number }[];
  mcnemar: { gained: number; lost: number; p: number };
}

/** A report with what the viewer does not compute itself. */
export interface View {
  report: Report;
  comparisons: Comparison[];
  notes: string[][];
  error_causes: { key: string; title: string; meaning: string }[];
}

/** The answers of the runs to one question. */
export interface Detail {
  golds: string[];
  gold_titles: string[];
  runs: { answer?: Answer | null; failure?: { kind: string; reason: string } | null; trace?: TraceEvent[] | null }[];
}

/** A value with the digits of its format, as in the other tables of an evaluation. */
export function show(format: ValueFormat, value: number | null | undefined): string {
  if (value == null) return "–";
  if (format === "percent") return (value * 100).toFixed(1);
  if (format === "decimal") return value.toFixed(1);
  if (format === "dollars") return value.toFixed(4);
  if (format === "milliseconds") return duration(value);
  return value.toFixed(0);
}

/** Whether no run has a better value in the column, and some run a worse one. */
export function isBest(report: Report, column: Column, run: Run): boolean {
  const value = run.values[column.key];
  if (!column.better || value == null) return false;
  const sign = column.better === "higher" ? 1 : -1;
  const all = report.runs.flatMap((other) => other.values[column.key] ?? []);
  return all.every((other) => sign * other <= sign * value) && all.some((other) => other !== value);
}

/** A line of the list of evaluations. */
export interface Line {
  id: string;
  dataset: string;
  n: number;
  at?: string;
  runs: { label: string }[];
}

export const COSTS = [["tokens", "tokens"], ["calls", "calls"], ["usd", "dollars"], ["seconds", "seconds"]] as const;
export type Cost = (typeof COSTS)[number][0];

export interface RunPoint extends Point {
  place: number;
  strategy: string;
}

/** Each run as a point: the share that is right over what a question costs. */
export function points(report: Report, by: Cost): RunPoint[] {
  return report.runs.flatMap((run, place) => {
    const asked = run.results.filter((r) => r.outcome !== "unasked").length || report.n || 1;
    const { tokens, calls, p50, right } = run.values;
    const cost = { tokens, calls, usd: run.usage.usd / asked, seconds: p50 == null ? null : p50 / 1000 }[by];
    return cost == null || right == null ? [] : [{ label: run.label, strategy: run.strategy, cost, right, place }];
  });
}

/** The groups of the questions, the most frequent first; hops by their number. */
export function groups(report: Report, by: "by_kind" | "by_hops"): string[] {
  const n = new Map<string, number>();
  for (const run of report.runs) for (const [name, of] of Object.entries(run[by])) n.set(name, Math.max(n.get(name) ?? 0, of.n));
  const order = ([a, i]: [string, number], [b, j]: [string, number]) => (by === "by_hops" ? Number(a) - Number(b) : j - i || a.localeCompare(b));
  return [...n].sort(order).map(([name]) => name);
}

export interface Curve {
  name: string;
  points: { at: number; run: Run }[];
}

/** The runs that differ in one numeric setting of a grid only, setting by setting. */
export function curves(report: Report): [string, Curve[]][] {
  const settings = [...new Set(report.runs.flatMap((run) => Object.keys(run.point)))].sort();
  return settings.flatMap((setting): [string, Curve[]][] => {
    const all = new Map<string, Curve>();
    for (const run of report.runs) {
      const at = Number(run.point[setting]);
      if (run.point[setting] === undefined || Number.isNaN(at)) continue;
      const others = Object.entries(run.point).filter(([key]) => key !== setting).map(([key, value]) => `${key}=${value}`);
      const name = [run.strategy, ...others].join(" ");
      const curve = all.get(name) ?? { name, points: [] };
      curve.points.push({ at, run });
      all.set(name, curve);
    }
    const drawn = [...all.values()].filter((curve) => curve.points.length > 1);
    for (const curve of drawn) curve.points.sort((a, b) => a.at - b.at);
    return drawn.length ? [[setting, drawn]] : [];
  });
}

/** Which questions are listed. */
export interface Filter {
  search: string;
  a: number;
  /** The second run; none where it is `null`. */
  b: number | null;
  show: string;
  kind: string;
}

export const OUTCOMES: [string, string][] = [
  ["all", "all"], ["missed", "not right"], ["right", "right"], ["wrong", "wrong"], ["abstained", "abstained"], ["failed", "failed"], ["unasked", "not asked"],
];
export const PAIRS: [string, string][] = [
  ["differ", "the two differ"], ["gained", "only the second is right"], ["lost", "only the first is right"], ["neither", "neither is right"], ["both", "both are right"],
];

/** Places of the questions that pass the filter. `more` are further texts of a question to search. */
export function matching(report: Report, filter: Filter, more: (id: string) => string[] = () => []): number[] {
  const outcome = (run: number | null, at: number) => (run === null ? "unasked" : (report.runs[run]?.results[at]?.outcome ?? "unasked"));
  const wanted = filter.search.trim().toLowerCase();
  return report.questions.flatMap((question, at) => {
    const first = outcome(filter.a, at);
    const [x, y] = [first === "right", outcome(filter.b, at) === "right"];
    const cause = report.runs[filter.a]?.results[at]?.error_cause;
    const tests: Record<string, boolean> = { all: true, missed: !x && first !== "unasked", differ: x !== y, gained: !x && y, lost: x && !y, neither: !x && !y, both: x && y };
    const passes = filter.show.startsWith("cause:") ? cause === filter.show.slice(6) : (tests[filter.show] ?? first === filter.show);
    if (!passes || (filter.kind && question.kind !== filter.kind)) return [];
    return !wanted || [question.id, question.text, ...more(question.id)].some((text) => text.toLowerCase().includes(wanted)) ? [at] : [];
  });
}
