// How far a build is, as it is displayed. The server reports each stage with its results: a stage that
// has begun without any is not reported yet, and the total of one that gets its work from another
// stage grows with what is done.
import type { BuildStatus } from "../../api/types";
import { bytes, count, words } from "../../lib/format";
import { t, template, type Key } from "../../lib/texts/t.svelte";

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

/** What is done in a stage; a stage that this page does not know has the server's words. */
function stageName(stage: string): string {
  const key = `stage.${stage.replaceAll(" ", "_")}`;
  const text = template(key as Key);
  return text === key ? words(stage) : text;
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
    const note = t("build.paused");
    if (!last) return { stage: "", share: undefined, figures: "", note };
    return { stage: stageName(last.stage), ...measure(last), note };
  }
  const { stage, done, total } = status;
  if (total === 0) {
    const note = stage === "waiting" ? t("build.wait") : "";
    return { stage: stageName(stage), share: null, figures: "", note };
  }
  if (done < total) return { stage: stageName(stage), ...measure(status), note: "" };
  return {
    stage: "", share: null, figures: `${stageName(stage)}: ${t("build.progress.done", { done: amount(stage, done) })}`,
    note: t("build.progress.others"),
  };
}

function measure({ stage, done, total }: StageProgress): Pick<ProgressView, "share" | "figures"> {
  if (done >= total) return { share: undefined, figures: t("build.progress.done", { done: amount(stage, done) }) };
  return { share: done / total, figures: t("build.progress.of", { done: amount(stage, done), total: amount(stage, total) }) };
}

/** How many of a stage are done per second; empty where that is not known. */
export function viewRate({ stage, rate_per_s }: BuildStatus): string {
  if (!rate_per_s) return "";
  const rate = stage === "reading" ? bytes(Math.round(rate_per_s)) : rate_per_s.toFixed(rate_per_s < 10 ? 1 : 0);
  return t("build.rate", { rate });
}
