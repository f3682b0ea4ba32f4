// The calls to the server, by subject.
import { collect, json, list, part, parts, query, ApiError, send, type Options } from "./client";
import { events } from "./sse";
import type * as T from "./types";

type Signal = { signal?: AbortSignal };

export const me = () => json<T.Me>("/me");
export const health = () => json<T.Health>("/health");
export const ready = () => json<T.Readiness>("/ready");

export const documents = {
  list: (of: { query?: string; state?: string; limit?: number; after?: string }, on: Signal = {}) =>
    list<T.DocumentLine>(`/documents${query(of)}`, on),
  /** As many as this, in pages of the largest size. */
  all: (of: { query?: string; state?: string }, max = Infinity) =>
    collect((after) => documents.list({ ...of, limit: 500, ...(after ? { after } : {}) }), max),
  get: (id: string) => json<T.DocumentDetail>(`/documents/${part(id)}`),
  text: (id: string, start?: number, end?: number, on: Signal = {}) =>
    json<T.DocumentText>(`/documents/${part(id)}/text${query({ start, end })}`, on),
  nodes: (id: string, layer: T.Layer, max: number) =>
    collect((after) => list<T.Hit>(`/documents/${part(id)}/nodes${query({ layer, after, limit: 500 })}`), max),
  file: async (id: string, on: Signal = {}) =>
    (await send(`/documents/${part(id)}/file`, { accept: "*/*", ...on })).blob(),
  remove: (id: string) =>
    json<T.DeletedDocument>(`/documents/${part(id)}`, { method: "DELETE" }),
  setFields: (id: string, fields: T.Metadata) =>
    json<T.Metadata>(`/documents/${part(id)}/metadata`, { method: "PUT", body: fields }),
  /** With `replace`, files take the place of those of the same name. */
  upload: (files: File[], replace = false) => {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.webkitRelativePath || file.name);
    return json<T.UploadResult>(`/documents${query({ replace: replace || undefined })}`, { form });
  },
  /** The document with this name, if it still exists; names are unique in a base. */
  named: async (name: string): Promise<T.DocumentDetail | undefined> => {
    try {
      return await documents.get(name);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  },
};

export const builds = {
  estimate: (request: T.BuildRequest) => json<T.BuildEstimate>("/builds/estimate", { body: request }),
  start: (request: T.BuildRequest) => json<T.BuildStatus>("/builds", { body: request }),
  list: () => list<T.BuildStatus>("/builds"),
  get: (id: string) => json<T.BuildStatus>(`/builds/${part(id)}`),
  act: (id: string, action: "pause" | "resume" | "cancel") =>
    json<T.BuildStatus>(`/builds/${part(id)}/${action}`, { method: "POST" }),
  watch: async function* (id: string, signal: AbortSignal): AsyncGenerator<T.BuildStatus> {
    const response = await send(`/builds/${part(id)}/events`, { accept: "text/event-stream", signal });
    for await (const sent of events(response)) {
      if (sent.event === "progress" || sent.event === "done") yield JSON.parse(sent.data) as T.BuildStatus;
    }
  },
};

export const ask = (request: T.AskRequest, signal: AbortSignal) =>
  send("/ask", { body: { ...request, stream: true }, accept: "text/event-stream", signal });

export const traces = {
  list: (of: { strategy?: string; query?: string; conversation?: string; limit?: number; after?: string | undefined }) =>
    list<T.TraceHead>(`/traces${query(of)}`),
  get: (id: string) => json<T.TraceDetail>(`/traces/${part(id)}`),
  remove: (id: string) => json<void>(`/traces/${part(id)}`, { method: "DELETE" }),
};

export const conversations = {
  list: (of: { limit?: number; after?: string }) =>
    list<T.Conversation>(`/conversations${query(of)}`),
  share: (id: string, shared: boolean) => json<void>(`/conversations/${part(id)}/shared`, { method: "PUT", body: { shared } }),
  remove: (id: string) => json<void>(`/conversations/${part(id)}`, { method: "DELETE" }),
};

export const base = {
  /** By mentions, the most frequent first. */
  entities: (of: { query?: string; limit?: number; after?: string | undefined }) =>
    list<T.ListedEntity>(`/entities${query(of)}`),
  search: (
    of: { text: string; layer?: T.Layer; mode?: T.Mode; limit?: number; filter?: T.Filter },
    on: Signal = {},
  ) => json<T.SearchResponse>("/search", { body: of, ...on }),
  node: (id: string) => json<T.Hit>(`/nodes/${part(id)}`),
  neighbours: (id: string, edge?: string, limit = 40) =>
    json<T.Neighbourhood>(`/nodes/${part(id)}/neighbours${query({ edge, limit })}`),
  tables: () => list<T.TableLine>("/tables"),
  table: (name: string, offset = 0, limit = 50) =>
    json<T.TableRows>(`/tables/${part(name)}${query({ offset, limit })}`),
  sql: (sql: string) => json<T.SqlResult>("/sql", { body: { sql } }),
};

export const examples = async () => (await list<T.Suggestion>("/examples")).items;

export const strategies = async () => (await list<T.StrategyLine>("/strategies")).items;

export const prompts = {
  list: async () => (await list<T.PromptLine>("/prompts")).items,
  get: (name: string) => json<T.PromptDetail>(`/prompts/${parts(name)}`),
  save: (name: string, text: string) =>
    json<T.PromptDetail>(`/prompts/${parts(name)}`, { method: "PUT", body: { text } }),
  reset: (name: string) => json<T.PromptDetail>(`/prompts/${parts(name)}`, { method: "DELETE" }),
};

export const models = {
  get: () => json<T.Models>("/models"),
  test: (name: string) => json<T.ModelTest>(`/models/${part(name)}/test`, { method: "POST" }),
  servers: () => json<T.ModelServers>("/models/servers"),
  trial: (address: T.ModelAddress) => json<T.Trial>("/models/trial", { method: "POST", body: address }),
  connect: (body: T.ModelConnection) => json<T.Models>("/models", { method: "POST", body }),
  assign: (roles: Record<string, string>) => json<T.Models>("/models/roles", { method: "PUT", body: { roles } }),
};

export type FeedbackDecision = "accept" | "reject" | "undo";

/** What people say of answers, and what becomes knowledge of it. */
export const feedback = {
  give: (body: T.GiveFeedback) => json<T.Feedback>("/feedback", { body }),
  list: (of: { state?: string; verdict?: string; limit?: number; after?: string | undefined }) =>
    list<T.Feedback>(`/feedback${query(of)}`),
  /** About all candidates, or those with these numbers; `despite` accepts what other feedback denies. */
  decide: (id: string, decision: FeedbackDecision, candidates: number[] = [], despite = false) =>
    json<T.Feedback>(`/feedback/${part(id)}/${decision}`, { body: { ...(candidates.length ? { candidates } : {}), ...(despite ? { despite } : {}) } }),
  remove: (id: string) => json<void>(`/feedback/${part(id)}`, { method: "DELETE" }),
};

export const keys = {
  list: async () => (await list<T.Key>("/keys")).items,
  create: (body: T.NewKey) => json<T.CreatedKey>("/keys", { body }),
  revoke: (id: string) => json<void>(`/keys/${part(id)}`, { method: "DELETE" }),
};

export const workspaces = async () => (await list<T.WorkspaceLine>("/workspaces")).items;

export const config = () => json<T.ConfigValues>("/config");
export const usage = async (by: "day" | "key" | "strategy") =>
  (await list<T.UsageLine>(`/usage${query({ by })}`)).items;

export const evaluations = {
  runs: async () => (await list<T.EvaluationRun>("/evaluation-runs")).items,
  start: (body: T.NewEvaluation) => json<T.EvaluationRun>("/evaluation-runs", { body }),
  cancel: (id: string) => json<T.EvaluationRun>(`/evaluation-runs/${part(id)}/cancel`, { method: "POST" }),
  list: async () => (await list<Record<string, unknown>>("/evaluations")).items,
  view: (id: string) => json<unknown>(`/evaluations/${part(id)}/view`),
  question: (id: string, question: string) =>
    json<unknown>(`/evaluations/${part(id)}/question${query({ question })}`),
  page: async (id: string, on: Options = {}) =>
    (await send(`/evaluations/${part(id)}/page`, { accept: "text/html", ...on })).blob(),
};
