// interim
export interface Problem { type: string; title: string; status: number; detail: string; hint?: string | null; request_id: string }
export const ScopeValues = ["ask", "write", "admin"] as const; export type Scope = (typeof ScopeValues)[number];
export interface Me { workspace: string; scopes: Scope[]; keys_required: boolean; name?: string | null; demo: boolean }
export interface Health { status: string; version: string }
export const DocumentStateValues = ["indexed", "building", "queued", "failed", "refused"] as const; export type DocumentState = (typeof DocumentStateValues)[number];
export interface DocumentLine { id: string; name: string; title: string; format: string; state: DocumentState; bytes?: number | null; chunks: number; atoms: number; updated?: string | null; error?: string | null }
export const LayerValues = ["document", "section", "chunk", "table", "figure", "row", "atom", "summary", "tag", "entity", "fact", "community"] as const; export type Layer = (typeof LayerValues)[number];
export const EdgeValues = ["contains", "next", "refers_to", "links_to", "derived_from", "mentions", "relates", "tagged", "member_of", "maps_to"] as const; export type Edge = (typeof EdgeValues)[number];
export const ModeValues = ["bm25", "dense", "hybrid", "graph"] as const; export type Mode = (typeof ModeValues)[number];
export interface DocumentDetail { id: string; names: string[]; title: string; format: string; bytes?: number | null; length: number; url?: string | null; date?: string | null; author?: string | null; language?: string | null; warnings: string[]; counts: Partial<Record<Layer, number>>; sections: SectionLine[]; original: boolean }
export type NodeId = string;
export interface SectionLine { id: NodeId; name?: string | null; page?: number | null; start: number; end: number }
export interface DocumentText { text: string; start: number; end: number; length: number; pages: PageRange[] }
export interface PageRange { page: number; start: number; end: number }
export interface RefusedFile { name: string; line?: number | null; reason: string; hint: string }
export interface AcceptedFile { name: string; bytes: number; upload: string }
export interface UploadResult { accepted: AcceptedFile[]; refused: RefusedFile[] }
export interface StageEstimate { task: string; model: string; units: number; calls: number; prompt_tokens: number; completion_tokens: number; usd: number; seconds: number; measured: boolean }
export interface BuildEstimate { documents: number; chunks: number; calls: number; tokens: number; usd: number; seconds: number; stages: StageEstimate[] }
export const BuildPhaseValues = ["running", "paused", "cancelled", "done", "failed"] as const; export type BuildPhase = (typeof BuildPhaseValues)[number];
export interface BuildReport { refused: RefusedFile[]; [key: string]: unknown }
export interface BuildStatus { id: string; state: BuildPhase; stage: string; done: number; total: number; rate_per_s?: number | null; seconds_left?: number | null; created: string; started?: string | null; finished?: string | null; report?: null | BuildReport; error?: string | null }
export interface ScorePart { name: string; score: number; through: string }
export interface Span { start: number; end: number }
export interface Hit { id: NodeId; layer: Layer; parent?: null | NodeId; document: string; title: string; section?: string | null; page?: number | null; text: string; score: number; cosine?: number | null; parts: ScorePart[]; span: Span }
export interface Filter { documents?: string[]; sections?: string[]; formats?: string[]; tags?: string[]; since?: string | null; until?: string | null }
export interface EdgeLine { from: NodeId; to: NodeId; edge: Edge; weight: number }
export interface Neighbourhood { center: Hit; nodes: Hit[]; edges: EdgeLine[]; cut: boolean }
export interface ColumnLine { name: string; written: string; kind: string; unit?: string | null }
export interface TableLine { name: string; id: NodeId; caption?: string | null; document?: string | null; page?: number | null; rows: number; columns: ColumnLine[]; unites: string[]; refused?: string | null }
export type TableRows = TableLine & { data: unknown[][] };
export interface SqlRow { values: unknown[]; sources: NodeId[] }
export interface SqlResult { columns: string[]; rows: SqlRow[]; documents: string[]; cut: boolean }
export interface SearchResponse { hits: Hit[] }
export interface Citation { node: NodeId; document: string; title: string; section?: string | null; page?: number | null; start: number; end: number; quote: string }
export interface Answer { text: string; reason: string; citations: Citation[]; abstained: boolean; confidence?: number | null; partial: boolean }
export interface UsageTotal { llm_calls: number; cached_calls: number; prompt_tokens: number; completion_tokens: number; usd: number }
export interface Turn { role: string; text: string }
export interface Budget { calls?: number | null; tokens?: number | null; usd?: number | null; seconds?: number | null }
export const AnswerKindValues = ["short", "yes_no", "option", "number", "long", "verdict"] as const; export type AnswerKind = (typeof AnswerKindValues)[number];
export interface AskRequest { question: string; strategy?: string | null; settings?: Record<string, unknown>; history?: Turn[]; options?: string[]; answer_kind?: null | AnswerKind; stream?: boolean; budget?: null | Budget }
export interface AskResponse { id: string; question: string; answer: Answer; strategy: string; usage: UsageTotal; hops: number; elapsed_ms: number }
export interface MeasuredCost { calls: number; tokens: number }
export interface StrategyLine { name: string; paper: string; summary: string; needs: string[]; unmet?: string | null; default: boolean; cost?: null | MeasuredCost; settings: unknown }
export interface HitLine { id: NodeId; title: string; text: string; score: number }
export interface Message { role: string; text: string }
export type ReplyStatus = "valid" | { malformed: string };
export interface Usage { prompt_tokens: number; completion_tokens: number }
export interface Mention { text: string; kind: string; span: Span; score: number }
export const LimitValues = ["calls", "tokens", "usd", "seconds"] as const; export type Limit = (typeof LimitValues)[number];
export type TraceEvent =
  | { event: "span_started"; span: number; parent: number; name: string }
  | { event: "model_called"; span: number; prompt: string; hash: string; role: string; model: string; attempt: number; messages: Message[]; reply: string; status: ReplyStatus; usage: Usage; cached: boolean; usd: number; elapsed_ms: number }
  | { event: "model_call_failed"; span: number; prompt: string; model: string; reason: string; elapsed_ms: number }
  | { event: "searched"; span: number; layer: Layer; mode: Mode; query: string; hits: HitLine[]; elapsed_ms: number }
  | { event: "source_queried"; span: number; source: string; query: string; hits: HitLine[]; elapsed_ms: number }
  | { event: "source_failed"; span: number; source: string; query: string; reason: string; elapsed_ms: number }
  | { event: "sql_executed"; span: number; sql: string; rows: number; elapsed_ms: number }
  | { event: "reranked"; span: number; reranker: string; query: string; hits: HitLine[]; elapsed_ms: number }
  | { event: "tagged"; span: number; tagger: string; text: string; entities: Mention[]; elapsed_ms: number }
  | { event: "note"; span: number; note: string }
  | { event: "budget_exhausted"; span: number; limit: Limit };
export interface TraceHead { id: string; question: string; strategy: string; at: string; answer?: string | null; abstained: boolean; error?: string | null; usage: UsageTotal; hops: number; elapsed_ms: number; key?: string | null; documents: string[] }
export interface TraceDetail { id: string; question: string; strategy: string; at: string; answer?: null | Answer; abstained: boolean; error?: string | null; usage: UsageTotal; hops: number; elapsed_ms: number; key?: string | null; trace: TraceEvent[] }
export interface PromptLine { name: string; task: string; role: string; variables: string[]; changed: boolean; hash: string }
export type PromptDetail = PromptLine & { text: string; shipped_text: string };
export interface Price { prompt: number; completion: number }
export interface ModelLine { name: string; url: string; model: string; price: Price }
export interface Models { models: ModelLine[]; roles: Record<string, string> }
export interface ModelTest { ok: boolean; ms: number; message: string }
export interface Key { id: string; name: string; scopes: Scope[]; workspace: string; created: string; expires?: string | null; budget_per_day_usd?: number | null; calls_per_day?: number | null }
export interface NewKey { name: string; scopes: Scope[]; workspace?: string | null; expires?: string | null; budget_per_day_usd?: number | null; calls_per_day?: number | null }
export type CreatedKey = Key & { key: string };
export type UsageLine = { group: string } & { questions: number; calls: number; cached: number; prompt_tokens: number; completion_tokens: number; usd: number };
export interface WorkspaceLine { name: string; documents: number; created?: string | null }
export interface ConfigValue { key: string; value: unknown; origin: string }
export interface ConfigValues { values: ConfigValue[] }
export interface DeletedDocument { removed: Partial<Record<Layer, number>> }
