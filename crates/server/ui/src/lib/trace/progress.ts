// A trace in the words of the one who asked: what is being looked for, and what was found.
import type { TraceEvent } from "../../api/types";

export interface Finding {
  /** What was looked for, without the question mark. */
  query: string;
  /** The titles of what was found and is read. */
  results: string[];
}

/** The strategies note the passage that they choose in this form. */
const READ = /^reads “(.+?)” for: (.+)$/su;
const QUESTION_WORD = /^(who|whom|whose|what|which|where|when|why|how|in which|wer|wen|wem|wessen|was|welch\w*|wo|wohin|woher|wann|warum|wie|in welch\w*)\b/iu;
const MAX_RESULTS = 2;

/** `Who founded X?` as `who founded X`, to follow “Looking for”. */
export function asObject(query: string): string {
  const plain = query.trim().replace(/[?？.\s]+$/u, "");
  return QUESTION_WORD.test(plain) ? plain.charAt(0).toLowerCase() + plain.slice(1) : plain;
}

/** One finding for each hop; a query that is repeated counts once, with all that it led to. */
export function findings(events: readonly TraceEvent[]): Finding[] {
  const bySpan = new Map<number, { queries: string[]; top: string[]; read: string[] }>();
  for (const event of events) {
    const isSearch = event.event === "searched" || event.event === "source_queried";
    if (!isSearch && event.event !== "note") continue;
    const hop = bySpan.get(event.span) ?? { queries: [], top: [], read: [] };
    if (isSearch) {
      bySpan.set(event.span, hop);
      hop.queries.push(event.query);
      hop.top.push(event.hits[0]?.title ?? "");
    } else {
      const [, title] = READ.exec(event.note) ?? [];
      if (title) hop.read.push(title);
    }
  }
  const found = new Map<string, Set<string>>();
  for (const { queries, top, read } of bySpan.values()) {
    // The query that led to what is read; the first one while nothing is.
    const at = Math.max(0, top.findIndex((title) => read.includes(title)));
    const query = asObject(queries[at] ?? "");
    const results = found.get(query) ?? new Set();
    for (const title of read.length ? read : [top[at] ?? ""]) if (title) results.add(title);
    if (query) found.set(query, results);
  }
  return [...found].map(([query, results]) => ({ query, results: [...results].slice(-MAX_RESULTS) }));
}

export type Phase = "reading" | "thinking" | "choosing" | "searching" | "writing" | "checking";

const BY_ROLE: Record<string, Phase> = { proposer: "thinking", planner: "thinking", decomposer: "thinking", selector: "choosing", reader: "writing", writer: "writing", judge: "checking" };

/** What is done now: by the role of the model that works, else by the last event. */
export function phase(events: readonly TraceEvent[], role: string): Phase {
  const last = events.at(-1);
  if (events.some((event) => event.event === "answer_started")) return "writing";
  if (role) return BY_ROLE[role] ?? "thinking";
  if (!last) return "reading";
  if (last.event === "model_called") return last.role === "proposer" ? "searching" : "thinking";
  return last.event === "searched" || last.event === "source_queried" ? "choosing" : "searching";
}
