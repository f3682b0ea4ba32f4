// Feedback on answers, and what becomes knowledge of it.
import { json, list, part, query } from "./client";

export const VERDICTS = ["right", "wrong", "incomplete"] as const;
export type Verdict = (typeof VERDICTS)[number];

export const CANDIDATE_STATES = ["pending", "accepted", "rejected", "undone"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

/** Something that may become knowledge, or has. */
export interface Candidate {
  /** Within its feedback, from 1. */
  number: number;
  kind: "answer" | "sub_answer" | "rows" | "series" | "synthesis";
  question: string;
  answer: string;
  sources: string[];
  state: CandidateState;
  /** Who decided: the id of a key, or `verifier`. */
  by?: string;
  check?: { score: number; reason: string } | null;
}

export interface Feedback {
  id: string;
  run: string;
  question: string;
  answer: string;
  strategy: string;
  verdict: Verdict;
  correction?: string;
  note?: string;
  by: string;
  /** Seconds since 1970. */
  at: number;
  candidates: Candidate[];
  /** Ids of feedback that says otherwise. */
  contradicts?: string[];
}

export interface NewFeedback {
  run: string;
  verdict: Verdict;
  correction?: string;
  note?: string;
}

export type Decision = "accept" | "reject" | "undo";

export const feedback = {
  give: (body: NewFeedback) => json<Feedback>("/feedback", { body }),
  list: (of: { run?: string; state?: string; verdict?: string; about?: string; limit?: number; after?: string }) =>
    list<Feedback>(`/feedback${query(of)}`),
  /** About all candidates, or those with these numbers; `despite` accepts what other feedback denies. */
  decide: (id: string, decision: Decision, candidates: number[] = [], despite = false) =>
    json<Feedback>(`/feedback/${part(id)}/${decision}`, { body: { candidates, ...(despite ? { despite } : {}) } }),
  remove: (id: string) => json<void>(`/feedback/${part(id)}`, { method: "DELETE" }),
};
