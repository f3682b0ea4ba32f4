// The steps of a creative answer, as one picture that grows while the run is in progress.
import type { IdeaEvidence, IdeaReview, ProposedIdea, TraceEvent } from "../../api/types";
import { t, valueText } from "../texts/t.svelte";
import "../texts/en-trace";

/** What another agent says of an idea. */
export interface Review extends IdeaReview {
  by: string;
  round: number;
}

export interface Idea extends ProposedIdea {
  reviews: Review[];
  /** The mean of all scores, from 1 to 5; none before any. */
  score: number | undefined;
}

export interface Agent {
  /** From 1. */
  number: number;
  name: string;
  concern: string;
  /** What it looked up itself. */
  evidence: IdeaEvidence[];
  ideas: Idea[];
  /** It has replied, perhaps with nothing. */
  done: boolean;
}

export interface Group {
  title: string;
  /** Each with the proposals that say it, the first of which stands for all. */
  ideas: { idea: Idea; by: string[] }[];
}

export interface Ideas {
  board: IdeaEvidence[];
  open: string[];
  agents: Agent[];
  groups: Group[];
}

const mean = (values: number[]): number | undefined =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;

const total = (review: IdeaReview): number => (review.feasibility + review.evidence + review.novelty) / 3;

/** `undefined` for a run that has none. */
export function ideas(events: readonly TraceEvent[]): Ideas | undefined {
  const steps = events.flatMap((event) => (event.event === "ideas_developed" ? [event.ideas] : []));
  if (!steps.length) return undefined;
  const view: Ideas = { board: [], open: [], agents: [], groups: [] };
  const byId = new Map<string, Idea>();
  const nameOf = (number: number) => view.agents[number - 1]?.name ?? t("ideas.agent", { name: number });
  for (const step of steps) {
    if (step.step === "board") [view.board, view.open] = [step.evidence, step.open];
    else if (step.step === "perspectives") {
      view.agents = step.agents.map((agent, at) => ({ ...agent, number: at + 1, evidence: [], ideas: [], done: false }));
    } else if (step.step === "proposed") {
      const agent = view.agents[step.agent - 1];
      if (!agent) continue;
      agent.evidence = step.evidence;
      agent.ideas = step.ideas.map((idea) => ({ ...idea, reviews: [], score: undefined }));
      agent.done = true;
      for (const idea of agent.ideas) byId.set(idea.id, idea);
    } else if (step.step === "reviewed") {
      for (const review of step.reviews) {
        const idea = byId.get(review.idea);
        if (!idea) continue;
        idea.reviews.push({ ...review, by: nameOf(step.agent), round: step.round });
        idea.score = mean(idea.reviews.map(total));
      }
    } else {
      view.groups = step.groups.map(({ title, ideas: named }) => ({
        title,
        ideas: named.flatMap((ids) => {
          const found = ids.flatMap((id) => byId.get(id) ?? []);
          const by = [...new Set(ids.map((id) => nameOf(Number.parseInt(id, 10))))];
          return found[0] ? [{ idea: found[0], by }] : [];
        }),
      }));
    }
  }
  return view;
}

/** The evidence that an agent calls by a number: the board's first, then its own. */
export function evidenceOf(view: Ideas, agent: Agent, number: number): IdeaEvidence | undefined {
  const shared = view.board.length;
  return number <= shared ? view.board[number - 1] : agent.evidence[number - shared - 1];
}

/** From 1 to 5, with one decimal. */
export const scoreOf = (value: number): string => valueText(Math.round(value * 10) / 10);

/** The mean of one score of an idea over all reviews. */
export const scored = (idea: Idea, by: "feasibility" | "evidence" | "novelty"): number | undefined =>
  mean(idea.reviews.map((review) => review[by]));
