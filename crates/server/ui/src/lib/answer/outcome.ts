// The outcome of a run, as shown in lists.
import type { Answer, TraceHead } from "../../api/types";

/** The answer's text; empty where there is none. */
export const answerOf = (run: TraceHead): string => run.answer ?? "";

/** A label and its tone. */
export function outcome(run: TraceHead): [label: string, tone: string] {
  if (run.error?.startsWith("cancelled")) return ["cancelled", "warn"];
  if (run.error) return ["failed", "bad"];
  if (run.answer == null) return ["no answer", "warn"];
  return run.abstained ? ["abstained", "warn"] : ["answered", "good"];
}

/** Whether there is an answer, and not the nearest passages or nothing. */
export const answers = (answer: Answer): boolean =>
  !answer.abstained && answer.kind !== "passages" && answer.kind !== "none" && Boolean(answer.text.trim());
