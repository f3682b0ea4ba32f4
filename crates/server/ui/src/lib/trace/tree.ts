// A trace as a tree: spans are the branches, events the leaves, in their order.
import type { HitLine, TraceEvent, UsageTotal } from "../../api/types";

/** What is sent while a run lasts and is in no trace. */
type LiveEvent = Extract<TraceEvent, { event: "answer_delta" | "model_asked" }>;

export type ModelAsked = Extract<TraceEvent, { event: "model_asked" }>;

export type StepEvent = Exclude<TraceEvent, LiveEvent | { event: "span_started" }>;

export const isLive = (event: TraceEvent): event is LiveEvent =>
  event.event === "answer_delta" || event.event === "model_asked";

export interface Leaf {
  kind: "leaf";
  /** Its index in the trace. */
  index: number;
  event: StepEvent;
}

export interface Branch {
  kind: "branch";
  span: number;
  name: string;
  items: (Branch | Leaf)[];
}

/** Span 0 is the whole run; spans with an unknown parent are added to it as well. */
export function tree(events: readonly TraceEvent[]): Branch {
  const root: Branch = { kind: "branch", span: 0, name: "", items: [] };
  const branches = new Map<number, Branch>([[0, root]]);
  events.forEach((event, index) => {
    if (event.event === "span_started") {
      const branch: Branch = { kind: "branch", span: event.span, name: event.name, items: [] };
      (branches.get(event.parent) ?? root).items.push(branch);
      branches.set(event.span, branch);
    } else if (!isLive(event)) {
      (branches.get(event.span) ?? root).items.push({ kind: "leaf", index, event });
    }
  });
  return root;
}

export function usage(events: readonly TraceEvent[]): UsageTotal {
  const total: UsageTotal = {
    llm_calls: 0, cached_calls: 0, prompt_tokens: 0, completion_tokens: 0, usd: 0,
  };
  for (const event of events) {
    if (event.event !== "model_called") continue;
    if (event.cached) {
      total.cached_calls += 1;
      continue;
    }
    total.llm_calls += 1;
    total.prompt_tokens += event.usage.prompt_tokens;
    total.completion_tokens += event.usage.completion_tokens;
    total.usd += event.usd;
  }
  return total;
}

/** Number of spans with a search. */
export function hops(events: readonly TraceEvent[]): number {
  const searches = events.filter((e) => e.event === "searched" || e.event === "source_queried");
  return new Set(searches.map((e) => e.span)).size;
}

/** The passages that the searches found, nearest first and each once. */
export function nearestHits(events: readonly TraceEvent[], limit: number): HitLine[] {
  const passages = events.flatMap((e) => (e.event === "searched" && (e.layer === "chunk" || e.layer === "atom") ? e.hits : []));
  const byTitle = new Map<string, HitLine>();
  for (const hit of passages.toSorted((a, b) => b.score - a.score)) if (!byTitle.has(hit.title)) byTitle.set(hit.title, hit);
  return [...byTitle.values()].slice(0, limit);
}

export const malformed = (events: readonly TraceEvent[]): number =>
  events.filter((e) => e.event === "model_called" && typeof e.status === "object").length;

/** The limits that were reached. */
export function exhaustedLimits(events: readonly TraceEvent[]): string[] {
  const limits = events.flatMap((e) => (e.event === "budget_exhausted" ? [e.limit] : []));
  return [...new Set(limits)];
}

/** How long a step took; the time of the first word is not the length of a step. */
export const elapsed = (event: TraceEvent): number =>
  "elapsed_ms" in event && event.event !== "answer_started" ? event.elapsed_ms : 0;

/** The events of a branch and all branches below it. */
export function eventsBelow(branch: Branch): TraceEvent[] {
  return branch.items.flatMap((item) => (item.kind === "leaf" ? [item.event] : eventsBelow(item)));
}
