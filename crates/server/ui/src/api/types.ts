// What the HTTP interface under /api/v1 sends and takes. Times are RFC 3339, sizes bytes, places in
// texts are counted in Unicode scalar values.

export interface Problem {
  title: string;
  status: number;
  detail: string;
  hint?: string;
  request_id?: string;
}

export interface Paged<T> {
  items: T[];
  next?: string | null;
}

export type Scope = "ask" | "write" | "admin";

export interface Me {
  workspace: string;
  scopes: Scope[];
  keys_required: boolean;
  name?: string | null;
  demo: boolean;
}

export interface Health {
  status: string;
  version: string;
}

// --- documents and builds ------------------------------------------------------------------

export type DocumentState = "indexed" | "building" | "queued" | "failed" | "refused";

export interface DocumentLine {
  id: string;
  name: string;
  format: string;
  state: DocumentState;
  title?: string;
  bytes?: number | null;
  chunks: number;
  atoms: number;
  updated?: string | null;
  error?: string | null;
}

export interface DocumentDetail {
  id: string;
  /** The first is the one shown; the others hold the same text. */
  names: string[];
  title: string;
  format: string;
  bytes?: number | null;
  length: number;
  url?: string | null;
  date?: string | null;
  author?: string | null;
  language?: string | null;
  warnings: string[];
  counts: Partial<Record<Layer, number>>;
  sections: SectionLine[];
  /** Whether the original can be had. */
  original: boolean;
}

export interface SectionLine {
  id: string;
  name?: string | null;
  page?: number | null;
  start: number;
  end: number;
}

export interface DocumentText {
  text: string;
  start: number;
  end: number;
  length: number;
  pages?: PageSpan[];
}

export interface PageSpan {
  page: number;
  start: number;
  end: number;
}

export interface Uploaded {
  accepted: { name: string; bytes: number; upload: string }[];
  refused: { name: string; reason: string; hint?: string }[];
}

export interface Estimate {
  documents: number;
  chunks: number;
  calls: number;
  tokens: number;
  usd: number;
  seconds?: number | null;
  stages?: Stage[];
}

export interface Stage {
  task: string;
  model?: string | null;
  units?: number;
  calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
  usd?: number;
}

export type BuildState = "running" | "paused" | "cancelled" | "done" | "failed";

export interface Build {
  id: string;
  state: BuildState;
  stage?: string | null;
  done: number;
  total: number;
  rate_per_s?: number | null;
  seconds_left?: number | null;
  created?: string;
  started?: string | null;
  finished?: string | null;
  report?: BuildReport | null;
  error?: Problem | string | null;
}

/** What a build did: counts, and what it refused. */
export interface BuildReport {
  refused?: { name: string; reason: string; hint?: string }[];
  [count: string]: unknown;
}

// --- the base --------------------------------------------------------------------------------

export const LAYERS = [
  "document", "section", "chunk", "table", "figure", "row",
  "atom", "summary", "tag", "entity", "fact", "community",
] as const;
export type Layer = (typeof LAYERS)[number];

export const MODES = ["hybrid", "graph", "dense", "bm25"] as const;
export type Mode = (typeof MODES)[number];

export interface Hit {
  id: string;
  layer: Layer;
  parent?: string | null;
  document: string;
  title: string;
  section?: string | null;
  page?: number | null;
  text: string;
  score: number;
  cosine?: number | null;
  parts?: { name: string; score: number; through?: string }[];
  span: { start: number; end: number };
}

/** What a hit must belong to; several values of one list are alternatives. */
export interface Filter {
  documents?: string[];
  sections?: string[];
  formats?: string[];
  tags?: string[];
  since?: string;
  until?: string;
}

export interface Neighbours {
  center: Hit;
  nodes: Hit[];
  edges: { from: string; to: string; edge: string }[];
  /** Whether there are more. */
  cut?: boolean;
}

export interface TableLine {
  name: string;
  caption?: string | null;
  columns?: Column[];
  rows?: number;
  document?: string | null;
  /** Why it cannot be read in SQL. */
  refused?: string | null;
}

export type Column = string | { name: string };

export type Cell = string | number | boolean | null;

export interface TableRows extends TableLine {
  columns: Column[];
  /** The rows of this page; `rows` says how many there are. */
  data: Cell[][];
}

export interface SqlResult {
  columns: string[];
  rows: Cell[][];
  documents?: string[];
  cut: boolean;
}

// --- asking ------------------------------------------------------------------------------------

export interface Citation {
  node: string;
  /** The document's name, not its id. */
  document: string;
  title: string;
  section?: string | null;
  page?: number | null;
  start: number;
  end: number;
  quote: string;
}

export interface Answer {
  text: string;
  reason: string;
  citations: Citation[];
  abstained: boolean;
  confidence?: number | null;
  partial: boolean;
}

export interface UsageTotal {
  llm_calls: number;
  cached_calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  usd: number;
}

export interface Turn {
  role: "user" | "assistant";
  text: string;
}

export interface Budget {
  calls?: number;
  tokens?: number;
  usd?: number;
  seconds?: number;
}

export type Setting = string | number | boolean | null;

export interface AskRequest {
  question: string;
  strategy?: string;
  settings?: Record<string, Setting>;
  history?: Turn[];
  options?: string[];
  answer_kind?: string;
  stream?: boolean;
  budget?: Budget;
}

export interface Asked {
  id: string;
  /** As it was understood, which may not be as it was asked. */
  question?: string;
  answer: Answer;
  strategy: string;
  usage: UsageTotal;
  hops: number;
  elapsed_ms: number;
}

export interface Strategy {
  name: string;
  paper?: string | null;
  summary: string;
  needs: string[] | string;
  unmet?: string | null;
  default: boolean;
  calls?: string | null;
  settings?: Record<string, unknown> | null;
}

// --- traces ------------------------------------------------------------------------------------

export interface HitLine {
  id: string;
  title: string;
  text: string;
  score: number;
}

export interface Message {
  role: string;
  text: string;
}

export type ReplyStatus = "valid" | { malformed: string };

export type TraceEvent =
  | { event: "span_started"; span: number; parent: number; name: string }
  | {
      event: "model_called"; span: number; prompt: string; hash: string; role: string; model: string;
      attempt: number; messages: Message[]; reply: string; status: ReplyStatus;
      usage: { prompt_tokens: number; completion_tokens: number };
      cached: boolean; usd: number; elapsed_ms: number;
    }
  | { event: "model_call_failed"; span: number; prompt: string; model: string; reason: string; elapsed_ms: number }
  | { event: "searched"; span: number; layer: Layer; mode: Mode; query: string; hits: HitLine[]; elapsed_ms: number }
  | { event: "source_queried"; span: number; source: string; query: string; hits: HitLine[]; elapsed_ms: number }
  | { event: "source_failed"; span: number; source: string; query: string; reason: string; elapsed_ms: number }
  | { event: "sql_executed"; span: number; sql: string; rows: number; elapsed_ms: number }
  | { event: "reranked"; span: number; reranker: string; query: string; hits: HitLine[]; elapsed_ms: number }
  | {
      event: "tagged"; span: number; tagger: string; text: string;
      entities: { text: string; kind: string }[]; elapsed_ms: number;
    }
  | { event: "note"; span: number; note: string }
  | { event: "budget_exhausted"; span: number; limit: string };

export interface TraceLine {
  id: string;
  question: string;
  strategy: string;
  at: string;
  /** In the list its text only. */
  answer?: Answer | string | null;
  abstained?: boolean;
  error?: Problem | string | null;
  usage: UsageTotal;
  elapsed_ms: number;
  hops?: number;
}

export interface TraceDetail extends TraceLine {
  answer?: Answer | null;
  trace: TraceEvent[];
}

// --- settings ----------------------------------------------------------------------------------

export interface PromptLine {
  name: string;
  task?: string | null;
  role?: string | null;
  variables?: string[];
  changed: boolean;
  hash: string;
}

export interface Prompt extends PromptLine {
  text: string;
  shipped_text: string;
}

export interface Models {
  models: { name: string; url?: string | null; model?: string | null; price?: unknown }[];
  roles: Record<string, string>;
}

export interface ModelTest {
  ok: boolean;
  ms: number;
  message: string;
}

export interface Key {
  id: string;
  name: string;
  scopes: Scope[];
  workspace: string;
  created?: string;
  expires?: string | null;
  budget_per_day_usd?: number | null;
  calls_per_day?: number | null;
  /** Only in the reply to its making. */
  key?: string;
}

export interface UsageLine {
  group: string;
  questions: number;
  calls: number;
  cached: number;
  prompt_tokens: number;
  completion_tokens: number;
  usd: number;
}

export interface Workspace {
  name: string;
  documents: number;
  created?: string | null;
}
