// One way to the server: adds the key, reads errors into one shape.
import type { Paged, Problem } from "./types";

const KEY = "halma.key";
const WORKSPACE = "halma.workspace";

/** What the server said when it refused, or that it could not be reached. */
export class Refused extends Error implements Problem {
  title: string;
  status: number;
  detail: string;
  hint?: string;
  request_id?: string;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.title = problem.title;
    this.status = problem.status;
    this.detail = problem.detail;
    this.hint = problem.hint;
    this.request_id = problem.request_id;
  }
}

/** Anything thrown, as a problem that can be shown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refused) return error;
  if (typeof error === "string") return { title: error, status: 0, detail: "" };
  if (isProblem(error)) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return { title: "Something in this page went wrong", status: 0, detail, hint: "Reload the page." };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && !(value instanceof Error) && "title" in value;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Called when the server wants a key, or another one. */
let onKeyWanted: () => void = () => {};
export function whenKeyWanted(then: () => void): void {
  onKeyWanted = then;
}

export const wantKey = (): void => onKeyWanted();

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
  const held = key.get();
  if (held) all["authorization"] = `Bearer ${held}`;
  const named = workspace.get();
  if (named) all["x-halma-workspace"] = named;
  return all;
}

export interface Options {
  method?: string;
  body?: unknown;
  form?: FormData;
  accept?: string;
  signal?: AbortSignal;
}

/** The response, if it is a good one; throws [`Refused`] otherwise. */
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
    throw new Refused({
      title: "The server cannot be reached",
      status: 0,
      detail: "No answer came from where this page was loaded from.",
      hint: "See whether `halma serve` still runs, then try again.",
    });
  }
  if (response.ok) return response;
  if (response.status === 401) onKeyWanted();
  throw await refusal(response);
}

async function refusal(response: Response): Promise<Refused> {
  const told: Partial<Problem> = await response.json().catch(() => ({}));
  const id = told.request_id ?? response.headers.get("x-request-id") ?? undefined;
  return new Refused({
    title: told.title ?? `The server answered ${response.status}`,
    status: response.status,
    detail: told.detail ?? "",
    ...(told.hint ? { hint: told.hint } : {}),
    ...(id ? { request_id: id } : {}),
  });
}

export async function json<T>(path: string, options: Options = {}): Promise<T> {
  const response = await send(path, options);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** A list; also reads a plain array as one. */
export async function list<T>(path: string, options: Options = {}): Promise<Paged<T>> {
  const got = await json<Paged<T> | T[]>(path, options);
  return Array.isArray(got) ? { items: got } : got;
}

/** `{a: 1, b: undefined}` as `?a=1`. */
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const kept = Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "");
  if (!kept.length) return "";
  return `?${new URLSearchParams(kept.map(([k, v]) => [k, String(v)])).toString()}`;
}

/** A part of a path: names hold slashes and question marks. */
export const part = encodeURIComponent;

/** A prompt's name, whose slashes are slashes of the path. */
export const parts = (name: string) => name.split("/").map(encodeURIComponent).join("/");
