// An event in one line.
import type { IdeaStep } from "../../api/types";
import type { StepEvent } from "./tree";
import "../texts/en-trace";
import { t, type Key } from "../texts/t.svelte";
import { cut } from "../format";

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
      return { action: event.attempt > 1 ? t("trace.called.again", { role: event.role, attempt: event.attempt }) : t("trace.called", { role: event.role }), subject: event.prompt, result: summarize(event.reply), tone: bad ? "bad" : "ask" };
    }
    case "model_call_failed": return { action: t("trace.failed.call"), subject: event.prompt, result: event.reason, tone: "bad" };
    case "searched": return { action: t("trace.searched", { layers: t(`layers.${event.layer}`) }), subject: event.query, result: topHit(event.hits), tone: "search" };
    case "source_queried": return { action: t("trace.queried", { source: event.source }), subject: event.query, result: topHit(event.hits), tone: "search" };
    case "source_failed": return { action: t("trace.failed", { source: event.source }), subject: event.query, result: event.reason, tone: "bad" };
    case "sql_executed": return { action: t("trace.sql"), subject: event.sql, result: t("trace.rows", { n: event.rows }), tone: "compute" };
    case "series_forecast": return { action: t("trace.forecast"), subject: event.series.target, result: event.series.predictions.map((p) => `${p.period}: ${Math.round(p.value * 100) / 100}`).join(", ") || event.series.method, tone: "compute" };
    case "ideas_developed": return { action: t("trace.ideas"), subject: ideaStep(event.ideas), result: "", tone: "compute" };
    case "reranked": return { action: t("trace.reranked"), subject: event.query, result: topHit(event.hits), tone: "compute" };
    case "tagged": return { action: t("trace.entities"), subject: event.entities.map((e) => e.text).join(", ") || t("trace.none"), result: event.tagger, tone: "compute" };
    case "note": return { action: t("trace.note"), subject: event.note, result: "", tone: "note" };
    case "answer_started": return { action: t("trace.answer"), subject: "", result: "", tone: "note" };
    case "budget_exhausted": return { action: t("trace.budget"), subject: t("trace.budget.limit", { limit: limitName(event.limit) }), result: "", tone: "bad" };
  }
}

/** `time` for `seconds`. */
export const limitName = (limit: string): string => (["calls", "seconds", "tokens", "usd"].includes(limit) ? t(`limit.${limit}` as Key) : limit);

function ideaStep(step: IdeaStep): string {
  switch (step.step) {
    case "board": return t("trace.board", { facts: step.evidence.length, open: step.open.length });
    case "perspectives": return t("trace.perspectives", { names: step.agents.map((agent) => agent.name).join("; ") });
    case "proposed": return t("trace.proposes", { agent: step.agent, n: step.ideas.length });
    case "reviewed": return t("trace.reviews", { agent: step.agent, n: step.reviews.length });
    case "synthesised": return step.groups.map((group) => group.title || t("trace.ideas")).join("; ");
  }
}

function topHit(hits: { title: string }[]): string {
  const first = hits[0];
  if (!first) return t("trace.results.none");
  const more = hits.length - 1;
  return more ? t("trace.more", { first: cut(first.title, 48), n: more }) : cut(first.title, 48);
}

/** A summary of a reply: the values of its JSON, or else its text. */
export function summarize(reply: string): string {
  const inner = reply.trim().replace(/^```(?:json)?\s*|\s*```$/g, "");
  try {
    const values = leaves(JSON.parse(inner));
    return values.length ? values.join(" · ") : t("trace.empty");
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
