// The outcome of a run, as shown in lists.
import type { Answer, TraceHead } from "../../api/types";
import type { Key } from "../texts/t.svelte";

/** The answer's text; empty where there is none. */
export const answerOf = (run: TraceHead): string => run.answer ?? "";

/** The key of its label, and its tone. */
export function outcome(run: TraceHead): [label: Key, tone: string] {
  if (run.error?.startsWith("cancelled")) return ["outcome.cancelled", "warn"];
  if (run.error) return ["outcome.failed", "bad"];
  if (run.answer == null) return ["outcome.none", "warn"];
  return run.abstained ? ["outcome.abstained", "warn"] : ["outcome.answered", "good"];
}

/** Whether there is an answer, and not the nearest passages or nothing. */
export const answers = (answer: Answer): boolean =>
  !answer.abstained && answer.kind !== "passages" && answer.kind !== "none" && Boolean(answer.text.trim());

/** Runs of the same question asked with the same key, newest first as they are. */
export function groupRuns(runs: readonly TraceHead[]): [TraceHead, ...TraceHead[]][] {
  const groups = new Map<string, [TraceHead, ...TraceHead[]]>();
  for (const run of runs) {
    const same = `${run.question.toLowerCase().replace(/[\s?？.!]+/gu, " ").trim()}\n${run.key ?? ""}`;
    const group = groups.get(same);
    if (group) group.push(run);
    else groups.set(same, [run]);
  }
  return [...groups.values()];
}
