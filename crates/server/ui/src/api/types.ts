// Generated from the OpenAPI description; do not edit.
// HALMA_WRITE_REFERENCE=1 cargo test -p halma-server --test http types

export interface AcceptedFile {
  bytes: number;
  name: string;
  upload: string;
}

export interface Answer {
  abstained: boolean;
  citations: Citation[];
  computation?: string | null;
  confidence?: number | null;
  full?: FullAnswer | null;
  kind?: ResultKind;
  limitation?: string | null;
  partial: boolean;
  passages?: NearestPassage[];
  reason: string;
  steps?: AnswerStep[];
  text: string;
}

export const AnswerKindValues = ["short", "yes_no", "option", "number", "long", "verdict"] as const;
export type AnswerKind = (typeof AnswerKindValues)[number];

export interface AnswerStep {
  citation: number;
  query: string;
}

export const AnswerStyleValues = ["short", "full"] as const;
export type AnswerStyle = (typeof AnswerStyleValues)[number];

export interface AskRequest {
  answer_kind?: AnswerKind | null;
  answer_style?: AnswerStyle | null;
  asked_at?: string | null;
  budget?: Budget | null;
  conversation?: string | null;
  effort?: Effort | null;
  filter?: Filter | null;
  history?: Turn[];
  options?: string[];
  question: string;
  settings?: Record<string, unknown>;
  strategy?: string | null;
  stream?: boolean;
}

export interface AskResponse {
  answer: Answer;
  elapsed_ms: number;
  first_word_ms?: number | null;
  hops: number;
  id: string;
  question: string;
  strategy: string;
  usage: UsageTotal;
}

export const BasePartValues = ["atoms", "chunks", "entities", "tags", "summaries", "communities", "tables", "vectors", "embedder"] as const;
export type BasePart = (typeof BasePartValues)[number];

export interface Budget {
  calls?: number | null;
  repairs?: number | null;
  seconds?: number | null;
  tokens?: number | null;
  usd?: number | null;
}

export interface BuildEstimate {
  calls: number;
  chunks: number;
  documents: number;
  kept: KeptLine[];
  seconds: number;
  stages: StageEstimate[];
  tokens: number;
  usd: number;
}

export const BuildPhaseValues = ["running", "paused", "cancelled", "done", "failed"] as const;
export type BuildPhase = (typeof BuildPhaseValues)[number];

export interface BuildReport {
  refused: RefusedFile[];
  refused_files: number;
  [key: string]: unknown;
}

export interface BuildRequest {
  rebuild?: BasePart[];
  uploads?: string[] | null;
}

export interface BuildStatus {
  created: string;
  done: number;
  error?: string | null;
  finished?: string | null;
  id: string;
  rate_per_s?: number | null;
  rebuild?: BasePart[];
  report?: BuildReport | null;
  seconds_left?: number | null;
  stage: string;
  started?: string | null;
  state: BuildPhase;
  total: number;
}

export const CandidateKindValues = ["answer", "sub_answer", "rows", "series", "synthesis"] as const;
export type CandidateKind = (typeof CandidateKindValues)[number];

export const CandidateStateValues = ["pending", "accepted", "rejected", "undone"] as const;
export type CandidateState = (typeof CandidateStateValues)[number];

export interface ChatMessage {
  content?: unknown;
  role: string;
}

export interface ChatRequest {
  answer_style?: AnswerStyle | null;
  filter?: Filter | null;
  messages: ChatMessage[];
  model: string;
  n?: number | null;
  stream?: boolean;
  stream_options?: StreamOptions | null;
}

export interface Check {
  reason: string;
  score: number;
}

export interface Citation {
  document: string;
  end: number;
  node: NodeId;
  page?: number | null;
  quote: string;
  section?: string | null;
  start: number;
  title: string;
}

export interface Claim {
  citations: number[];
  end: number;
  start: number;
  supported: boolean;
}

export interface ColumnLine {
  kind: string;
  name: string;
  unit?: string | null;
  written: string;
}

export interface Compared {
  comparison?: Record<string, unknown> | null;
  flips: Flip[];
}

export interface ConfigValue {
  key: string;
  origin: string;
  value: unknown;
}

export interface ConfigValues {
  values: ConfigValue[];
}

export interface Conversation {
  at: string;
  id: string;
  questions: number;
  shared: boolean;
  title: string;
}

export type CreatedKey = Key & {
  key: string;
};

export interface Decide {
  candidates?: number[];
  despite?: boolean;
}

export interface DeferredCandidate {
  candidate: number;
  reason: string;
}

export interface DeletedDocument {
  removed: Record<string, number>;
}

export interface DocumentDetail {
  author?: string | null;
  bytes?: number | null;
  counts: Record<string, number>;
  date?: string | null;
  format: string;
  id: string;
  language?: string | null;
  length: number;
  metadata: Metadata;
  names: string[];
  original: boolean;
  sections: SectionLine[];
  title: string;
  url?: string | null;
  warnings: string[];
}

export interface DocumentLine {
  atoms: number;
  bytes?: number | null;
  chunks: number;
  error?: string | null;
  format: string;
  id: string;
  metadata?: Metadata;
  name: string;
  state: DocumentState;
  title: string;
  updated?: string | null;
}

export const DocumentStateValues = ["indexed", "building", "queued", "failed", "refused"] as const;
export type DocumentState = (typeof DocumentStateValues)[number];

export interface DocumentText {
  end: number;
  length: number;
  pages: PageRange[];
  start: number;
  text: string;
}

export const EdgeValues = ["contains", "next", "refers_to", "links_to", "derived_from", "mentions", "relates", "tagged", "member_of", "maps_to"] as const;
export type Edge = (typeof EdgeValues)[number];

export interface EdgeLine {
  edge: Edge;
  from: NodeId;
  to: NodeId;
  weight: number;
}

export const EffortValues = ["quick", "normal", "deep", "exhaustive"] as const;
export type Effort = (typeof EffortValues)[number];

export interface EffortEstimate {
  calls: number;
  effort: Effort;
  seconds: number;
  usd: number;
}

export interface EmbeddingRequest {
  dimensions?: number | null;
  encoding_format?: string | null;
  input: unknown;
  model?: string | null;
}

export interface EmbeddingResponse {
  data: unknown[];
  model: string;
  object: string;
  usage: unknown;
}

export interface EvaluationLine {
  at?: string | null;
  dataset: string;
  id: string;
  n: number;
  runs: RunLine[];
}

export interface EvaluationRun {
  done: number;
  error?: string | null;
  failed: number;
  id: string;
  label: string;
  name: string;
  started: string;
  state: RunState;
  total: number;
}

export interface Feedback {
  answer: string;
  at: number;
  by: string;
  candidates: FeedbackCandidate[];
  cited: NodeId[];
  contradicts?: string[];
  correction?: string;
  dismissed: boolean;
  documents: string[];
  id: string;
  note?: string;
  question: string;
  run: string;
  strategy: string;
  verdict: Verdict;
}

export interface FeedbackCandidate {
  answer: string;
  at: number;
  atom?: NodeId | null;
  by?: string;
  check?: Check | null;
  kind: CandidateKind;
  number: number;
  question: string;
  sources: NodeId[];
  state: CandidateState;
}

export type FieldValue = boolean | number | string | FieldValue[];

export interface Filter {
  documents?: string[];
  feedback?: boolean | null;
  formats?: string[];
  metadata?: MetadataFilter;
  sections?: string[];
  since?: string | null;
  tags?: string[];
  until?: string | null;
}

export interface Flip {
  a: string;
  b: string;
  kind?: string | null;
  question: string;
}

export interface FullAnswer {
  claims: Claim[];
  text: string;
}

export interface GiveFeedback {
  correction?: string;
  note?: string;
  run: string;
  verdict: Verdict;
}

export interface Health {
  status: string;
  version: string;
}

export interface Hit {
  cosine?: number | null;
  document: string;
  id: NodeId;
  layer: Layer;
  page?: number | null;
  parent?: NodeId | null;
  parts?: ScorePart[];
  score: number;
  section?: string | null;
  span: Span;
  text: string;
  title: string;
}

export interface HitLine {
  id: NodeId;
  score: number;
  text: string;
  title: string;
}

export interface IdeaEvidence {
  about: string;
  nodes: NodeId[];
  text: string;
}

export interface IdeaGroup {
  ideas: string[][];
  title: string;
}

export interface IdeaPerspective {
  concern: string;
  name: string;
}

export interface IdeaReview {
  evidence: number;
  feasibility: number;
  idea: string;
  novelty: number;
  objection: string;
}

export type IdeaStep = {
  evidence: IdeaEvidence[];
  open: string[];
  step: "board";
} | {
  agents: IdeaPerspective[];
  step: "perspectives";
} | {
  agent: number;
  evidence: IdeaEvidence[];
  ideas: ProposedIdea[];
  step: "proposed";
} | {
  agent: number;
  reviews: IdeaReview[];
  round: number;
  step: "reviewed";
} | {
  groups: IdeaGroup[];
  step: "synthesised";
};

export type KeptLine = KeptPart & ({
  cost?: RebuildCost | null;
});

export interface KeptPart {
  configured: string;
  made_with: string;
  part: BasePart;
}

export interface Key {
  budget_per_day_usd?: number | null;
  calls_per_day?: number | null;
  created: string;
  expires?: string | null;
  id: string;
  name: string;
  scopes: Scope[];
  where?: MetadataFilter | null;
  workspace: string;
}

export const LayerValues = ["document", "section", "chunk", "table", "figure", "row", "atom", "summary", "tag", "entity", "fact", "community"] as const;
export type Layer = (typeof LayerValues)[number];

export interface LearnRequest {
  replace?: boolean;
  samples: TagSample[];
}

export const LimitValues = ["calls", "tokens", "usd", "seconds"] as const;
export type Limit = (typeof LimitValues)[number];

export interface ListedEntity {
  id: NodeId;
  kind: string;
  mentions: number;
  name: string;
}

export interface Me {
  demo: boolean;
  keys_required: boolean;
  name?: string | null;
  scopes: Scope[];
  where?: MetadataFilter | null;
  workspace: string;
}

export interface Mention {
  kind: string;
  score: number;
  span: Span;
  text: string;
}

export interface Message {
  role: string;
  text: string;
}

export type Metadata = Record<string, FieldValue>;

export type MetadataFilter = Record<string, MetadataTest>;

export type MetadataTest = FieldValue | ValueRange;

export interface MethodError {
  error: number;
  method: string;
}

export const ModeValues = ["bm25", "dense", "hybrid", "graph"] as const;
export type Mode = (typeof ModeValues)[number];

export interface Model {
  created: number;
  id: string;
  object: string;
  owned_by: string;
}

export interface ModelAddress {
  key_env?: string;
  model: string;
  url: string;
}

export interface ModelConnection {
  address: ModelAddress;
  name: string;
  reader_only?: boolean;
}

export interface ModelLine {
  model: string;
  name: string;
  price: Price;
  url: string;
}

export interface ModelList {
  data: Model[];
  object: string;
}

export interface ModelServer {
  kind: string;
  loading: boolean;
  models: ServedModel[];
  url: string;
}

export interface ModelServers {
  servers: ModelServer[];
}

export interface ModelTest {
  message: string;
  ms: number;
  ok: boolean;
}

export interface Models {
  models: ModelLine[];
  roles: Record<string, string>;
}

export interface NearestPassage {
  source: Citation;
  text: string;
}

export interface Neighbourhood {
  center: Hit;
  cut: boolean;
  edges: EdgeLine[];
  nodes: Hit[];
}

export interface NewEvaluation {
  name: string;
  questions: string;
  strategies: string[];
}

export interface NewKey {
  budget_per_day_usd?: number | null;
  calls_per_day?: number | null;
  expires?: string | null;
  name: string;
  scopes: Scope[];
  where?: MetadataFilter | null;
  workspace?: string | null;
}

export interface NewWorkspace {
  name: string;
}

export type NodeId = string;

export interface PageRange {
  end: number;
  page: number;
  start: number;
}

export interface PredictionInterval {
  high: number;
  level: number;
  low: number;
}

export interface Price {
  cached?: number | null;
  completion: number;
  prompt: number;
}

export interface Problem {
  detail: string;
  hint?: string | null;
  missing_scope?: Scope | null;
  request_id: string;
  status: number;
  title: string;
  type: string;
}

export type PromptDetail = PromptLine & {
  shipped_text: string;
  text: string;
};

export interface PromptLine {
  changed: boolean;
  hash: string;
  name: string;
  role: string;
  task: string;
  variables: string[];
}

export interface PromptText {
  text: string;
}

export interface ProposedIdea {
  id: string;
  idea: string;
  mechanism: string;
  rests_on: number[];
  risks: string;
  unknowns: string;
}

export interface Readiness {
  database?: boolean | null;
  disk: boolean;
  embedder?: string | null;
  queue: boolean;
  ready: boolean;
  store: boolean;
}

export interface RebuildCost {
  calls: number;
  completion_tokens: number;
  prompt_tokens: number;
  texts: number;
  usd: number;
}

export interface RefusedFile {
  hint: string;
  line?: number | null;
  name: string;
  reason: string;
  replaceable?: boolean;
}

export type ReplyStatus = "valid" | {
  malformed: string;
};

export const ResultKindValues = ["answer", "passages", "count", "forecast", "none"] as const;
export type ResultKind = (typeof ResultKindValues)[number];

export interface RoleAssignment {
  roles: Record<string, string>;
}

export interface RunLine {
  label: string;
  strategy: string;
  values: unknown;
}

export const RunStateValues = ["running", "done", "failed", "cancelled"] as const;
export type RunState = (typeof RunStateValues)[number];

export const ScopeValues = ["ask", "write", "admin", "metrics"] as const;
export type Scope = (typeof ScopeValues)[number];

export interface ScorePart {
  name: string;
  score: number;
  through?: string;
}

export interface SearchRequest {
  filter?: Filter | null;
  layer?: Layer | null;
  limit?: number | null;
  mode?: Mode | null;
  text: string;
}

export interface SearchResponse {
  hits: Hit[];
}

export interface SectionLine {
  end: number;
  id: NodeId;
  name?: string | null;
  page?: number | null;
  start: number;
}

export interface SeriesForecast {
  caveats: string[];
  errors: MethodError[];
  granularity: string;
  group: string;
  measure: string;
  method: string;
  points: SeriesPoint[];
  predictions: SeriesPrediction[];
  target: string;
  unit: string;
}

export interface SeriesPoint {
  filled: boolean;
  finished: boolean;
  fitted?: number | null;
  period: string;
  rows: NodeId[];
  value: number;
}

export interface SeriesPrediction {
  intervals: PredictionInterval[];
  period: string;
  value: number;
}

export interface ServedModel {
  context?: number | null;
  name: string;
}

export interface Sharing {
  shared: boolean;
}

export interface Span {
  end: number;
  start: number;
}

export interface SqlRequest {
  sql: string;
}

export interface SqlResult {
  columns: string[];
  cut: boolean;
  documents: string[];
  rows: SqlRow[];
}

export interface SqlRow {
  sources: NodeId[];
  values: unknown[];
}

export interface StageEstimate {
  calls: number;
  completion_tokens: number;
  measured: boolean;
  model: string;
  prompt_tokens: number;
  seconds: number;
  task: string;
  units: number;
  usd: number;
}

export interface StrategyLine {
  calls: string;
  default: boolean;
  name: string;
  needs: string[];
  paper: string;
  settings: unknown;
  summary: string;
  unmet?: string | null;
}

export interface StreamEvent {
  data: string;
  event: string;
}

export interface StreamOptions {
  include_usage?: boolean;
}

export interface Suggestion {
  question: string;
  strategy?: string | null;
}

export interface TableLine {
  caption?: string | null;
  columns: ColumnLine[];
  document?: string | null;
  id: NodeId;
  name: string;
  page?: number | null;
  refused?: string | null;
  rows: number;
  unites?: string[];
}

export type TableRows = TableLine & {
  data: unknown[][];
};

export interface TagSample {
  answer?: string;
  answers?: string[];
  documents?: string[];
  question?: string;
}

export interface Timeline {
  cut: boolean;
  entities: string[];
  events: TimelineEvent[];
  unread: number;
}

export interface TimelineEvent {
  date: string;
  document: string;
  node: NodeId;
  text: string;
}

export type Trace = TraceEvent[];

export interface TraceDetail {
  abstained: boolean;
  answer?: Answer | null;
  at: string;
  conversation?: string | null;
  elapsed_ms: number;
  error?: string | null;
  hops: number;
  id: string;
  key?: string | null;
  question: string;
  strategy: string;
  trace: Trace;
  usage: UsageTotal;
}

export type TraceEvent = {
  event: "span_started";
  name: string;
  parent: number;
  span: number;
} | {
  attempt: number;
  cached: boolean;
  elapsed_ms: number;
  event: "model_called";
  hash: string;
  messages: Message[];
  model: string;
  prompt: string;
  reply: string;
  role: string;
  span: number;
  status: ReplyStatus;
  thoughts?: string;
  usage: Usage;
  usd: number;
} | {
  elapsed_ms: number;
  event: "model_call_failed";
  model: string;
  prompt: string;
  reason: string;
  span: number;
  transient?: boolean;
} | {
  elapsed_ms: number;
  event: "searched";
  hits: HitLine[];
  layer: Layer;
  mode: Mode;
  query: string;
  span: number;
} | {
  elapsed_ms: number;
  event: "source_queried";
  hits: HitLine[];
  query: string;
  source: string;
  span: number;
} | {
  elapsed_ms: number;
  event: "source_failed";
  query: string;
  reason: string;
  source: string;
  span: number;
} | {
  elapsed_ms: number;
  event: "sql_executed";
  rows: number;
  span: number;
  sql: string;
} | {
  event: "series_forecast";
  series: SeriesForecast;
  span: number;
} | {
  event: "ideas_developed";
  ideas: IdeaStep;
  span: number;
} | {
  elapsed_ms: number;
  event: "reranked";
  hits: HitLine[];
  query: string;
  reranker: string;
  span: number;
} | {
  elapsed_ms: number;
  entities: Mention[];
  event: "tagged";
  span: number;
  tagger: string;
  text: string;
} | {
  event: "note";
  note: string;
  span: number;
} | {
  event: "budget_exhausted";
  limit: Limit;
  span: number;
} | {
  elapsed_ms: number;
  event: "answer_started";
  span: number;
} | {
  event: "answer_delta";
  restart: boolean;
  text: string;
} | {
  event: "model_asked";
  longest_ms?: number | null;
  model: string;
  role: string;
  span: number;
};

export interface TraceHead {
  abstained: boolean;
  answer?: string | null;
  at: string;
  conversation?: string | null;
  documents: string[];
  elapsed_ms: number;
  error?: string | null;
  hops: number;
  id: string;
  key?: string | null;
  question: string;
  strategy: string;
  usage: UsageTotal;
}

export interface Trial {
  advice?: string | null;
  context?: number | null;
  efforts: EffortEstimate[];
  is_slow: boolean;
  json: string;
  outcome: TrialOutcome;
  prompt_tokens_per_second?: number | null;
  tokens_per_second: number;
}

export const TrialOutcomeValues = ["right", "wrong", "unreadable"] as const;
export type TrialOutcome = (typeof TrialOutcomeValues)[number];

export interface Turn {
  role: string;
  text: string;
}

export interface UploadForm {
  file: string[];
  metadata?: string | null;
  path?: string | null;
}

export interface UploadResult {
  accepted: AcceptedFile[];
  refused: RefusedFile[];
}

export interface Usage {
  cached_tokens?: number;
  completion_tokens: number;
  prompt_tokens: number;
  reasoning_tokens?: number;
}

export interface UsageCounts {
  cached: number;
  calls: number;
  completion_tokens: number;
  prompt_tokens: number;
  questions: number;
  usd: number;
}

export type UsageLine = UsageCounts & {
  group: string;
};

export interface UsageTotal {
  cached_calls: number;
  cached_tokens?: number;
  completion_tokens: number;
  llm_calls: number;
  prompt_tokens: number;
  reasoning_tokens?: number;
  usd: number;
}

export interface ValueRange {
  gt?: FieldValue | null;
  gte?: FieldValue | null;
  lt?: FieldValue | null;
  lte?: FieldValue | null;
}

export const VerdictValues = ["right", "wrong", "incomplete"] as const;
export type Verdict = (typeof VerdictValues)[number];

export interface VerifiedFeedback {
  accepted: number[];
  deferred: DeferredCandidate[];
  feedback: Feedback;
  usage: UsageTotal;
}

export interface WorkspaceLine {
  created?: string | null;
  documents: number;
  name: string;
}

export interface OpenAiError {
  error: {
    message: string;
    type: string;
    code: string;
    param?: string | null;
    request_id?: string;
  };
}
