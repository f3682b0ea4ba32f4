// What came of a run, as a list tells it.
import type { TraceLine } from "../api/types";

/** The answer's text; empty where there is none. */
export const answerOf = (run: TraceLine): string =>
  typeof run.answer === "string" ? run.answer : (run.answer?.text ?? "");

/** A word for it, and its tone. */
export function outcome(run: TraceLine): [word: string, tone: string] {
  if (run.error) return ["failed", "bad"];
  if (run.answer == null) return ["no answer", "warn"];
  const whole = typeof run.answer === "string" ? undefined : run.answer;
  if (run.abstained ?? whole?.abstained ?? answerOf(run) === "") return ["abstained", "warn"];
  return whole?.partial ? ["partial", "warn"] : ["answered", "good"];
}
