// All requests to the server: adds the key, turns errors into one form.
import { explainMissing, missingInRefusal } from "../lib/access/permissions";
import { t } from "../lib/texts/t.svelte";
import type { Problem } from "./types";

/** A page of a list. */
export interface Page<T> {
  items: T[];
  next?: string | null;
}

/** A problem of the server, or an error of the web UI in the same form. */
export type ProblemInfo = Pick<Problem, "title" | "status" | "detail"> & Partial<Pick<Problem, "hint" | "request_id">>;

const KEY = "halma.key";
const WORKSPACE = "halma.workspace";

/** An error response of the server, or a failure to reach it. */
export class ApiError extends Error implements ProblemInfo {
  title: string;
  status: number;
  detail: string;
  hint?: string | null;
  request_id?: string;

  constructor(problem: ProblemInfo) {
    super(problem.detail || problem.title);
    this.title = problem.title;
    this.status = problem.status;
    this.detail = problem.detail;
    if (problem.hint) this.hint = problem.hint;
    if (problem.request_id) this.request_id = problem.request_id;
  }
}

/** Any thrown value as a problem that can be displayed. */
export function problemOf(error: unknown): ProblemInfo {
  if (error instanceof ApiError) return error;
  if (typeof error === "string") return { title: error, status: 0, detail: "" };
  if (isProblem(error)) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return { title: t("problem.page"), status: 0, detail, hint: t("problem.reload") };
}

function isProblem(value: unknown): value is ProblemInfo {
  return typeof value === "object" && value !== null && !(value instanceof Error) && "title" in value;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Called when the server requires a key or rejects the current one. */
let keyRequired: () => void = () => {};
export function onKeyRequired(callback: () => void): void {
  keyRequired = callback;
}

/** Called when a request in another workspace than the key's own one is refused. */
let workspaceRefused: () => void = () => {};
export function onWorkspaceRefused(callback: () => void): void {
  workspaceRefused = callback;
}

/** What a refusal with this status means for the session. */
export function noteRefusal(status: number): void {
  if (status === 401) keyRequired();
  else if ((status === 403 || status === 404) && workspace.get()) workspaceRefused();
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value: string) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

export const workspace = {
  get: () => sessionStorage.getItem(WORKSPACE),
  set: (value: string | null) =>
    value ? sessionStorage.setItem(WORKSPACE, value) : sessionStorage.removeItem(WORKSPACE),
};

function headers(more?: Record<string, string>): Record<string, string> {
  const all: Record<string, string> = { accept: "application/json", ...more };
  const current = key.get();
  if (current) all["authorization"] = `Bearer ${current}`;
  const selected = workspace.get();
  if (selected) all["x-halma-workspace"] = selected;
  return all;
}

export interface Options {
  method?: string;
  body?: unknown;
  form?: FormData;
  accept?: string;
  signal?: AbortSignal;
}

/** The response, if it succeeded; throws [`ApiError`] otherwise. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const { method, body, form, accept, signal } = options;
  const more: Record<string, string> = {};
  if (accept) more["accept"] = accept;
  if (body !== undefined) more["content-type"] = "application/json";
  const init: RequestInit = { headers: headers(more), signal: signal ?? null };
  init.method = method ?? (body !== undefined || form ? "POST" : "GET");
  if (form) init.body = form;
  else if (body !== undefined) init.body = JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError({
      title: t("problem.unreached"),
      status: 0,
      detail: t("problem.unreached.detail"),
      hint: t("problem.unreached.hint"),
    });
  }
  if (response.ok) return response;
  // Callers of `/me` look at the refusal themselves.
  if (path !== "/me" || response.status === 401) noteRefusal(response.status);
  throw await refusal(response);
}

async function refusal(response: Response): Promise<ApiError> {
  const problem: Partial<Problem> = await response.json().catch(() => ({}));
  const id = problem.request_id ?? response.headers.get("x-request-id") ?? undefined;
  if (response.status === 401) return new ApiError({ ...signInAgain(), status: 401, ...(id ? { request_id: id } : {}) });
  const missing = missingInRefusal(problem);
  if (missing) {
    const title = t("denied.title");
    return new ApiError({ title, status: 403, ...explainMissing(missing), ...(id ? { request_id: id } : {}) });
  }
  return new ApiError({
    title: problem.title ?? t("problem.status", { status: String(response.status) }),
    status: response.status,
    detail: problem.detail ?? "",
    ...(problem.hint ? { hint: problem.hint } : {}),
    ...(id ? { request_id: id } : {}),
  });
}

/** What people do about a missing key; the server's hint is for programs. */
function signInAgain(): Pick<ProblemInfo, "title" | "detail" | "hint"> {
  const hint = t("key.hint");
  return key.get()
    ? { title: t("key.invalid"), detail: t("key.invalid.detail"), hint }
    : { title: t("key.required"), detail: t("key.required.detail"), hint };
}

export async function json<T>(path: string, options: Options = {}): Promise<T> {
  const response = await send(path, options);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** A list; a plain array is a list of one page. */
export async function list<T>(path: string, options: Options = {}): Promise<Page<T>> {
  const page = await json<Page<T> | T[]>(path, options);
  return Array.isArray(page) ? { items: page } : page;
}

/** The pages of a list up to about this many items; `next` if there are more. */
export async function collect<T>(load: (after?: string) => Promise<Page<T>>, max: number): Promise<Page<T>> {
  const items: T[] = [];
  let next: string | null | undefined;
  do {
    const page = await load(next ?? undefined);
    items.push(...page.items);
    next = page.next;
  } while (next && items.length < max);
  return { items, next: next ?? null };
}

/** `{a: 1, b: undefined}` as `?a=1`. */
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const present = Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "");
  if (!present.length) return "";
  return `?${new URLSearchParams(present.map(([k, v]) => [k, String(v)])).toString()}`;
}

/** A segment of a path; names may contain slashes and question marks. */
export const part = encodeURIComponent;

/** The name of a prompt, whose slashes are part of the path. */
export const parts = (name: string) => name.split("/").map(encodeURIComponent).join("/");
