// An event in one line.
import type { IdeaStep } from "../../api/types";
import type { StepEvent } from "./tree";
import { cut, pluralOf, plural } from "../format";

export type Tone = "ask" | "search" | "compute" | "note" | "bad";

export interface Description {
  /** What was done. */
  action: string;
  /** The query, the prompt. */
  subject: string;
  /** What it returned. */
  result: string;
  tone: Tone;
}

export function describe(event: StepEvent): Description {
  switch (event.event) {
    case "model_called": {
      const bad = typeof event.status === "object";
      const retry = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
      return {
        action: `called ${event.role}${retry}`,
        subject: event.prompt,
        result: summarize(event.reply),
        tone: bad ? "bad" : "ask",
      };
    }
    case "model_call_failed":
      return { action: "call failed", subject: event.prompt, result: event.reason, tone: "bad" };
    case "searched":
      return { action: `searched ${pluralOf(event.layer)}`, subject: event.query, result: topHit(event.hits), tone: "search" };
    case "source_queried":
      return { action: `queried ${event.source}`, subject: event.query, result: topHit(event.hits), tone: "search" };
    case "source_failed":
      return { action: `${event.source} failed`, subject: event.query, result: event.reason, tone: "bad" };
    case "sql_executed":
      return { action: "ran SQL", subject: event.sql, result: plural(event.rows, "row"), tone: "compute" };
    case "series_forecast":
      return {
        action: "forecast",
        subject: event.series.target,
        result: event.series.predictions.map((p) => `${p.period}: ${Math.round(p.value * 100) / 100}`).join(", ") || event.series.method,
        tone: "compute",
      };
    case "ideas_developed":
      return { action: "ideas", subject: ideaStep(event.ideas), result: "", tone: "compute" };
    case "reranked":
      return { action: "reranked", subject: event.query, result: topHit(event.hits), tone: "compute" };
    case "tagged":
      return {
        action: "found entities",
        subject: event.entities.map((e) => e.text).join(", ") || "none",
        result: event.tagger,
        tone: "compute",
      };
    case "note":
      return { action: "note", subject: event.note, result: "", tone: "note" };
    case "answer_started":
      return { action: "began the answer", subject: "", result: "", tone: "note" };
    case "budget_exhausted":
      return { action: "budget exhausted", subject: `limit on ${event.limit}`, result: "", tone: "bad" };
  }
}

function ideaStep(step: IdeaStep): string {
  switch (step.step) {
    case "board":
      return `board: ${plural(step.evidence.length, "fact")}, ${plural(step.open.length, "open question")}`;
    case "perspectives":
      return `perspectives: ${step.agents.map((agent) => agent.name).join("; ")}`;
    case "proposed":
      return `agent ${step.agent} proposes ${plural(step.ideas.length, "idea")}`;
    case "reviewed":
      return `agent ${step.agent} reviews ${plural(step.reviews.length, "idea")}`;
    case "synthesised":
      return step.groups.map((group) => group.title || "ideas").join("; ");
  }
}

function topHit(hits: { title: string }[]): string {
  const first = hits[0];
  if (!first) return "no results";
  const more = hits.length - 1;
  return more ? `${cut(first.title, 48)} and ${more} more` : cut(first.title, 48);
}

/** A summary of a reply: the values of its JSON, or else its text. */
export function summarize(reply: string): string {
  const inner = reply.trim().replace(/^```(?:json)?\s*|\s*```$/g, "");
  try {
    const values = leaves(JSON.parse(inner));
    return values.length ? values.join(" · ") : "empty";
  } catch {
    // Not JSON.
  }
  return inner;
}

function leaves(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (value !== null && typeof value === "object") return Object.values(value).flatMap(leaves);
  const text = String(value ?? "").trim();
  return text ? [text] : [];
}
