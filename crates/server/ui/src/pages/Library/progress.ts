// How far a build is, as it is displayed. The server reports each stage with its results: a stage that
// has begun without any is not reported yet, and the total of one that gets its work from another
// stage grows with what is done.
import type { BuildStatus } from "../../api/types";
import { bytes, count, words } from "../../lib/format";

export interface StageProgress {
  stage: string;
  done: number;
  total: number;
}

export interface ProgressView {
  /** The stage that is running, or in which the build was paused; empty if that is not known. */
  stage: string;
  /** From 0 to 1; `null` while the total is not known, `undefined` if there is nothing to display. */
  share: number | null | undefined;
  figures: string;
  note: string;
}

/** Files are counted in bytes, everything else in pieces. */
const amount = (stage: string, n: number): string => (stage === "reading" ? bytes(n) : count(n));

/** The last stage that was reported with a total: a paused or queued build is reported without. */
export function lastReported(before: StageProgress | null, status: BuildStatus): StageProgress | null {
  const { state, stage, done, total } = status;
  return state === "running" && total > 0 ? { stage, done, total } : before;
}

export function viewProgress(status: BuildStatus, last: StageProgress | null): ProgressView {
  if (status.state === "paused") {
    const note = "Finished work is kept. Resume the build to continue.";
    if (!last) return { stage: "", share: undefined, figures: "", note };
    return { stage: words(last.stage), ...measure(last), note };
  }
  const { stage, done, total } = status;
  if (total === 0) {
    const note = stage === "waiting" ? "It starts when an earlier build has ended." : "";
    return { stage: words(stage), share: null, figures: "", note };
  }
  if (done < total) return { stage: words(stage), ...measure(status), note: "" };
  return {
    stage: "", share: null, figures: `${words(stage)}: ${amount(stage, done)} done`,
    note: "Other stages may be running; each one appears with its first result.",
  };
}

function measure({ stage, done, total }: StageProgress): Pick<ProgressView, "share" | "figures"> {
  if (done >= total) return { share: undefined, figures: `${amount(stage, done)} done` };
  return { share: done / total, figures: `${amount(stage, done)} of ${amount(stage, total)}` };
}

/** How many of a stage are done per second; empty where that is not known. */
export function viewRate({ stage, rate_per_s }: BuildStatus): string {
  if (!rate_per_s) return "";
  const rate = stage === "reading" ? bytes(Math.round(rate_per_s)) : rate_per_s.toFixed(rate_per_s < 10 ? 1 : 0);
  return `${rate} per second`;
}
