// What the page reads of an evaluation's report (report.json), and what it makes of it.
import type { UsageTotal } from "../../api/types";
import type { Point } from "../../lib/frontier";

export type Fate = "right" | "wrong" | "abstained" | "failed" | "unasked";

export interface EvalRun {
  strategy: string;
  label: string;
  metrics: { em?: number | null; f1?: number | null; right?: number | null; value?: number | null; support_recall?: number | null };
  abstained: number;
  failed: number;
  partial: number;
  malformed: number;
  hops?: number | null;
  usage: UsageTotal;
  tokens: { per_question?: number | null; per_right_answer?: number | null };
  latency_ms: { p50?: number | null; p95?: number | null };
  by_kind: Record<string, { n: number; right?: number | null; f1?: number | null; em?: number | null }>;
  results: { fate: Fate; tokens: number; latency_ms: number }[];
}

export interface Report {
  dataset: string;
  n: number;
  questions: { id: string; kind?: string; hops?: number }[];
  runs: EvalRun[];
}

/** A line of the list; servers name the report's facts in more than one way. */
export interface Line {
  id: string;
  dataset: string;
  n?: number;
  at?: string;
  strategies: string[];
}

export function lineOf(given: Record<string, unknown>): Line {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const id = text(given["id"]) || text(given["name"]);
  const runs = given["strategies"] ?? given["runs"] ?? given["labels"];
  const label = (run: unknown) =>
    typeof run === "string" ? run : text((run as Record<string, unknown> | null)?.["label"]) || text((run as Record<string, unknown> | null)?.["strategy"]);
  const at = text(given["at"]) || text(given["finished"]) || text(given["created"]) || text(given["updated"]);
  const n = given["n"] ?? given["questions"];
  return {
    id,
    dataset: text(given["dataset"]) || text(given["name"]) || id,
    ...(typeof n === "number" ? { n } : {}),
    ...(at ? { at } : {}),
    strategies: Array.isArray(runs) ? runs.map(label).filter(Boolean) : [],
  };
}

export type Cost = "tokens" | "usd" | "seconds";

export interface RunPoint extends Point {
  place: number;
}

/** Each run as a point: the share that is right over what a question costs. */
export function points(report: Report, by: Cost): RunPoint[] {
  return report.runs.flatMap((run, place) => {
    const asked = run.results.filter((r) => r.fate !== "unasked").length || report.n || 1;
    const cost = { tokens: run.tokens.per_question, usd: run.usage.usd / asked, seconds: run.latency_ms.p50 == null ? null : run.latency_ms.p50 / 1000 }[by];
    const right = run.metrics.right;
    return cost == null || right == null ? [] : [{ label: run.label, cost, right, place }];
  });
}

/** All kinds of questions in the report, the most frequent first. */
export function kinds(report: Report): string[] {
  const n = new Map<string, number>();
  for (const run of report.runs) for (const [kind, of] of Object.entries(run.by_kind)) n.set(kind, Math.max(n.get(kind) ?? 0, of.n));
  return [...n].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([kind]) => kind);
}

export interface Flip {
  id: string;
  kind?: string;
  a: Fate;
  b: Fate;
}

/** Questions that one run has right and the other has not. */
export function flips(report: Report, a: number, b: number): Flip[] {
  return report.questions.flatMap((question, i) => {
    const x = report.runs[a]?.results[i]?.fate ?? "unasked";
    const y = report.runs[b]?.results[i]?.fate ?? "unasked";
    if ((x === "right") === (y === "right")) return [];
    return [{ id: question.id, ...(question.kind ? { kind: question.kind } : {}), a: x, b: y }];
  });
}

/** What two runs answered, by the question's id, as far as the server's comparison holds it. */
export function answersOf(compared: unknown): Map<string, [string, string]> {
  const made = new Map<string, [string, string]>();
  const all = (compared as { flips?: unknown } | null)?.flips;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  for (const one of Array.isArray(all) ? all : []) {
    if (typeof one !== "object" || one === null) continue;
    const { question, answers } = one as Record<string, unknown>;
    const [a, b] = Array.isArray(answers) ? answers.map(text) : [];
    if (typeof question === "string" && (a || b)) made.set(question, [a ?? "", b ?? ""]);
  }
  return made;
}
