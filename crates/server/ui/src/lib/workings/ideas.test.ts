import { describe, expect, it } from "vitest";
import type { IdeaStep, TraceEvent } from "../../api/types";
import { evidenceOf, ideas, scored } from "./ideas";
import { letters } from "../answer/way";

const step = (of: IdeaStep): TraceEvent => ({ event: "ideas_developed", span: 1, ideas: of });
const fact = (about: string) => ({ about, text: "", nodes: ["n"] });
const idea = (id: string, rests_on: number[] = []) => ({ id, idea: `Idea ${id}`, mechanism: "", rests_on, risks: "", unknowns: "" });
const review = (of: string, feasibility: number, objection = "") => ({ idea: of, feasibility, evidence: 3, novelty: 3, objection });
const STEPS = [
  step({ step: "board", evidence: [fact("When?")], open: ["Why?"] }),
  step({ step: "perspectives", agents: [{ name: "Pilots", concern: "light" }, { name: "Engineers", concern: "" }] }),
  step({ step: "proposed", agent: 1, evidence: [fact("Reef")], ideas: [idea("1.1", [1, 2])] }),
  step({ step: "proposed", agent: 2, evidence: [], ideas: [idea("2.1"), idea("2.2")] }),
  step({ step: "reviewed", agent: 2, round: 1, reviews: [review("1.1", 5, "Costly."), review("9.9", 1)] }),
  step({ step: "reviewed", agent: 1, round: 2, reviews: [review("1.1", 1)] }),
  step({ step: "synthesised", groups: [{ title: "Light", ideas: [["1.1", "2.1"], ["7.7"]] }] }),
];

describe("the ideas of a run", () => {
  it("grow with the steps", () => {
    expect(ideas([])).toBeUndefined();
    const early = ideas(STEPS.slice(0, 3))!;
    expect(early.open).toEqual(["Why?"]);
    expect(early.agents.map((agent) => agent.done)).toEqual([true, false]);
    expect(early.groups).toEqual([]);
  });
  it("have the scores and objections of the other agents", () => {
    const first = ideas(STEPS)!.agents[0]!.ideas[0]!;
    expect(first.reviews.map((r) => [r.by, r.round])).toEqual([["Engineers", 1], ["Pilots", 2]]);
    expect(scored(first, "feasibility")).toBe(3);
    expect(first.score).toBe(3);
    expect(ideas(STEPS)!.agents[1]!.ideas[0]!.score).toBeUndefined();
  });
  it("are grouped, near-equal ones as one, and unknown ones left out", () => {
    const [group] = ideas(STEPS)!.groups;
    expect(group!.ideas.map((one) => [one.idea.id, one.by])).toEqual([["1.1", ["Pilots", "Engineers"]]]);
  });
  it("count an agent's own evidence on from the board", () => {
    const view = ideas(STEPS)!;
    expect([1, 2, 3].map((n) => evidenceOf(view, view.agents[0]!, n)?.about)).toEqual(["When?", "Reef", undefined]);
  });
});

it("texts that differ by the numbers of their sources are the same", () => {
  expect(letters("One is red [1]. Two [2][3].")).toBe(letters("One is red. Two"));
  expect(letters("One")).not.toBe(letters("Two"));
});
