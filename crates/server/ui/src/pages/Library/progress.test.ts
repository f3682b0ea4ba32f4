import { expect, it } from "vitest";
import type { BuildStatus } from "../../api/types";
import "../../lib/texts/en-pages";
import { lastReported, viewProgress, viewRate } from "./progress";

const status = (more: Partial<BuildStatus>): BuildStatus => ({ id: "b", state: "running", stage: "atomizing", done: 34, total: 120, created: "", ...more });

it("displays the share of the stage that is running", () => {
  expect(viewProgress(status({}), null)).toEqual({ stage: "Finding what each chunk answers", share: 34 / 120, figures: "34 of 120", note: "" });
  expect(viewProgress(status({ stage: "reading", done: 1_500_000, total: 3_000_000 }), null).figures).toBe("1.5 MB of 3.0 MB");
  expect(viewProgress(status({ stage: "describing figures" }), null).stage).toBe("Describing figures");
  expect(viewProgress(status({ stage: "new_stage" }), null).stage).toBe("new stage");
});
it("does not call a build complete because one of its stages is", () => {
  const view = viewProgress(status({ stage: "reading", done: 9000, total: 9000 }), null);
  expect([view.stage, view.share, view.figures]).toEqual(["", null, "Reading the files: 9.0 kB done"]);
  expect(view.note).toContain("Other steps");
});
it("displays no figures while no total is known", () => {
  expect(viewProgress(status({ stage: "starting", done: 0, total: 0 }), null)).toEqual({ stage: "Starting", share: null, figures: "", note: "" });
  expect(viewProgress(status({ stage: "waiting", done: 0, total: 0 }), null).note).toContain("earlier build");
});
it("keeps the last figures of a paused build", () => {
  const paused = status({ state: "paused", stage: "paused", done: 0, total: 0 });
  const last = lastReported(null, status({}));
  expect(lastReported(last, paused)).toEqual({ stage: "atomizing", done: 34, total: 120 });
  expect(viewProgress(paused, last)).toMatchObject({ stage: "Finding what each chunk answers", share: 34 / 120, figures: "34 of 120" });
  expect(viewProgress(paused, null)).toMatchObject({ stage: "", share: undefined, figures: "" });
  const complete = lastReported(last, status({ done: 120 }));
  expect(viewProgress(paused, complete)).toMatchObject({ share: undefined, figures: "120 done" });
});
it("writes the rate in the unit of the stage", () => {
  expect(viewRate(status({ rate_per_s: 2.34 }))).toBe("2.3 per second");
  expect(viewRate(status({ stage: "reading", rate_per_s: 6_216_421.1 }))).toBe("6.2 MB per second");
  expect(viewRate(status({}))).toBe("");
});
