// What an event says in a line.
import type { Happened } from "./tree";
import { cut, many, plural } from "../format";

export type Tone = "ask" | "search" | "compute" | "note" | "bad";

export interface Line {
  /** What was done: a verb and its object. */
  verb: string;
  /** With what: the query, the prompt. */
  what: string;
  /** What came of it. */
  came: string;
  tone: Tone;
}

export function line(event: Happened): Line {
  switch (event.event) {
    case "model_called": {
      const bad = typeof event.status === "object";
      const again = event.attempt > 1 ? `, try ${event.attempt}` : "";
      return {
        verb: `asked ${event.role}${again}`,
        what: event.prompt,
        came: said(event.reply),
        tone: bad ? "bad" : "ask",
      };
    }
    case "model_call_failed":
      return { verb: "asked in vain", what: event.prompt, came: event.reason, tone: "bad" };
    case "searched":
      return { verb: `searched ${many(event.layer)}`, what: event.query, came: found(event.hits), tone: "search" };
    case "source_queried":
      return { verb: `looked up ${event.source}`, what: event.query, came: found(event.hits), tone: "search" };
    case "source_failed":
      return { verb: `${event.source} failed`, what: event.query, came: event.reason, tone: "bad" };
    case "sql_executed":
      return { verb: "computed", what: event.sql, came: plural(event.rows, "row"), tone: "compute" };
    case "reranked":
      return { verb: "reranked", what: event.query, came: found(event.hits), tone: "compute" };
    case "tagged":
      return {
        verb: "found names",
        what: event.entities.map((e) => e.text).join(", ") || "none",
        came: event.tagger,
        tone: "compute",
      };
    case "note":
      return { verb: "noted", what: event.note, came: "", tone: "note" };
    case "budget_exhausted":
      return { verb: "budget spent", what: `no more ${event.limit} are allowed`, came: "", tone: "bad" };
  }
}

function found(hits: { title: string }[]): string {
  const first = hits[0];
  if (!first) return "nothing near enough";
  const more = hits.length - 1;
  return more ? `${cut(first.title, 48)} and ${more} more` : cut(first.title, 48);
}

/** The gist of a reply: the values of its JSON if it is JSON, its words otherwise. */
export function said(reply: string): string {
  const inner = reply.trim().replace(/^```(?:json)?\s*|\s*```$/g, "");
  try {
    const values = leaves(JSON.parse(inner));
    return values.length ? values.join(" · ") : "nothing";
  } catch {
    // It is not JSON; then it is words.
  }
  return inner;
}

function leaves(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (value !== null && typeof value === "object") return Object.values(value).flatMap(leaves);
  const text = String(value ?? "").trim();
  return text ? [text] : [];
}
