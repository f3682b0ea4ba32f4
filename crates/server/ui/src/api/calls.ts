// The calls the pages make, by what they are about.
import { json, list, part, parts, query, Refused, send, type Options } from "./client";
import { events } from "./sse";
import type * as T from "./types";

type Signal = { signal?: AbortSignal };

export const me = () => json<T.Me>("/me");
export const health = () => json<T.Health>("/health");

export const documents = {
  list: (of: { query?: string; state?: string; limit?: number; after?: string }, on: Signal = {}) =>
    list<T.DocumentLine>(`/documents${query(of)}`, on),
  get: (id: string) => json<T.DocumentDetail>(`/documents/${part(id)}`),
  text: (id: string, start?: number, end?: number, on: Signal = {}) =>
    json<T.DocumentText>(`/documents/${part(id)}/text${query({ start, end })}`, on),
  nodes: (id: string, layer: T.Layer, after?: string) =>
    list<T.Hit>(`/documents/${part(id)}/nodes${query({ layer, after, limit: 100 })}`),
  file: async (id: string, on: Signal = {}) =>
    (await send(`/documents/${part(id)}/file`, { accept: "*/*", ...on })).blob(),
  remove: (id: string) =>
    json<{ removed: Record<string, number> } | undefined>(`/documents/${part(id)}`, { method: "DELETE" }),
  upload: (files: File[]) => {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.webkitRelativePath || file.name);
    return json<T.Uploaded>("/documents", { form });
  },
  /** The document of this name, if it is still there; names are unique in a base. */
  named: async (name: string): Promise<T.DocumentDetail | undefined> => {
    try {
      return await documents.get(name);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  },
};

export const builds = {
  estimate: (uploads?: string[]) => json<T.Estimate>("/builds/estimate", { body: { uploads } }),
  start: (uploads?: string[]) => json<T.Build>("/builds", { body: { uploads } }),
  list: () => list<T.Build>("/builds"),
  get: (id: string) => json<T.Build>(`/builds/${part(id)}`),
  act: (id: string, what: "pause" | "resume" | "cancel") =>
    json<T.Build | undefined>(`/builds/${part(id)}/${what}`, { method: "POST" }),
  watch: async function* (id: string, signal: AbortSignal): AsyncGenerator<T.Build> {
    const response = await send(`/builds/${part(id)}/events`, { accept: "text/event-stream", signal });
    for await (const sent of events(response)) {
      if (sent.event === "progress" || sent.event === "done") yield JSON.parse(sent.data) as T.Build;
    }
  },
};

export const ask = (request: T.AskRequest, signal: AbortSignal) =>
  send("/ask", { body: { ...request, stream: true }, accept: "text/event-stream", signal });

export const traces = {
  list: (of: { strategy?: string; query?: string; limit?: number; after?: string }) =>
    list<T.TraceLine>(`/traces${query(of)}`),
  get: async (id: string): Promise<T.TraceDetail> => json<T.TraceDetail>(`/traces/${part(id)}`),
  remove: (id: string) => json<void>(`/traces/${part(id)}`, { method: "DELETE" }),
};

export const base = {
  search: (
    of: { text: string; layer?: T.Layer; mode?: T.Mode; limit?: number; filter?: T.Filter },
    on: Signal = {},
  ) => json<{ hits: T.Hit[] }>("/search", { body: of, ...on }),
  node: (id: string) => json<T.Hit>(`/nodes/${part(id)}`),
  neighbours: (id: string, edge?: string, limit = 40) =>
    json<T.Neighbours>(`/nodes/${part(id)}/neighbours${query({ edge, limit })}`),
  tables: () => list<T.TableLine>("/tables"),
  table: (name: string, offset = 0, limit = 50) =>
    json<T.TableRows>(`/tables/${part(name)}${query({ offset, limit })}`),
  sql: (sql: string) => json<T.SqlResult>("/sql", { body: { sql } }),
};

export const strategies = async () => (await list<T.Strategy>("/strategies")).items;

export const prompts = {
  list: async () => (await list<T.PromptLine>("/prompts")).items,
  get: (name: string) => json<T.Prompt>(`/prompts/${parts(name)}`),
  save: (name: string, text: string) =>
    json<T.Prompt | undefined>(`/prompts/${parts(name)}`, { method: "PUT", body: { text } }),
  reset: (name: string) => json<void>(`/prompts/${parts(name)}`, { method: "DELETE" }),
};

export const models = {
  get: () => json<T.Models>("/models"),
  test: (name: string) => json<T.ModelTest>(`/models/${part(name)}/test`, { method: "POST" }),
};

export const keys = {
  list: async () => (await list<T.Key>("/keys")).items,
  make: (of: Partial<T.Key>) => json<T.Key>("/keys", { body: of }),
  revoke: (id: string) => json<void>(`/keys/${part(id)}`, { method: "DELETE" }),
};

export const workspaces = async () => (await list<T.Workspace>("/workspaces")).items;

export const config = () => json<unknown>("/config");
export const usage = async (by: "day" | "key" | "strategy") =>
  (await list<T.UsageLine>(`/usage${query({ by })}`)).items;

export const evaluations = {
  list: async () => (await list<Record<string, unknown>>("/evaluations")).items,
  view: (id: string) => json<unknown>(`/evaluations/${part(id)}/view`),
  question: (id: string, question: string) =>
    json<unknown>(`/evaluations/${part(id)}/question${query({ question })}`),
  page: async (id: string, on: Options = {}) =>
    (await send(`/evaluations/${part(id)}/page`, { accept: "text/html", ...on })).blob(),
};
