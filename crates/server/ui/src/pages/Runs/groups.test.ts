import { expect, it } from "vitest";
import type { TraceHead } from "../../api/types";
import { groupRuns } from "./groups";

it("puts runs of the same question and key together", () => {
  const run = (id: string, question: string, key: string | null = null) => ({ id, question, key }) as TraceHead;
  const groups = groupRuns([run("4", "Who built it?"), run("3", "When?"), run("2", "who  built it"), run("1", "Who built it?", "k")]);
  expect(groups.map((group) => group.map(({ id }) => id).join(""))).toEqual(["42", "3", "1"]);
});
