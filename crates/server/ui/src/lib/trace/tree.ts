// A trace as a tree: spans are its branches, what happened in them its leaves, in their order.
import type { TraceEvent, UsageTotal } from "../../api/types";

export type Happened = Exclude<TraceEvent, { event: "span_started" }>;

export interface Leaf {
  kind: "leaf";
  /** Its place in the trace. */
  index: number;
  event: Happened;
}

export interface Branch {
  kind: "branch";
  span: number;
  name: string;
  items: (Branch | Leaf)[];
}

/** Span 0 is the whole run; a parent that never began hangs there too. */
export function tree(events: readonly TraceEvent[]): Branch {
  const root: Branch = { kind: "branch", span: 0, name: "", items: [] };
  const branches = new Map<number, Branch>([[0, root]]);
  events.forEach((event, index) => {
    if (event.event === "span_started") {
      const made: Branch = { kind: "branch", span: event.span, name: event.name, items: [] };
      (branches.get(event.parent) ?? root).items.push(made);
      branches.set(event.span, made);
    } else {
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

/** Turns in which knowledge was looked up. */
export function hops(events: readonly TraceEvent[]): number {
  const looked = events.filter((e) => e.event === "searched" || e.event === "source_queried");
  return new Set(looked.map((e) => e.span)).size;
}

export const malformed = (events: readonly TraceEvent[]): number =>
  events.filter((e) => e.event === "model_called" && typeof e.status === "object").length;

/** The limits that were reached. */
export function spent(events: readonly TraceEvent[]): string[] {
  const limits = events.flatMap((e) => (e.event === "budget_exhausted" ? [e.limit] : []));
  return [...new Set(limits)];
}

export const elapsed = (event: TraceEvent): number => ("elapsed_ms" in event ? event.elapsed_ms : 0);

/** What a branch and all below it took from the models. */
export function within(branch: Branch): TraceEvent[] {
  return branch.items.flatMap((item) => (item.kind === "leaf" ? [item.event] : within(item)));
}
