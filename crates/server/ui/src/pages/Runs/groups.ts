// Runs of the same question, asked with the same key.
import type { TraceHead } from "../../api/types";

/** Each group newest first, the groups by their newest run. */
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
