// The list of conversations: that of the server, newest first, with what is asked in this tab.
import { conversations as calls } from "../../api/calls";
import { ApiError, problemOf, type ProblemInfo } from "../../api/client";
import type { Conversation } from "../../api/types";
import { session } from "../access/session.svelte";

/** `shared`: others may read it; unknown to servers that cannot share. */
type ConversationHead = Conversation & { shared?: boolean };

const PAGE = 30;
let items = $state.raw<ConversationHead[] | null>(null);
let next = $state.raw<string | null>(null);
let problem = $state.raw<ProblemInfo | null>(null);
/** Servers before 0.2 keep no conversations. */
let isAvailable = $state(false);
let current = $state("");
let latest = 0;
let started: Promise<void> | undefined;

async function load(more = false): Promise<void> {
  const request = ++latest;
  problem = null;
  try {
    const page = await calls.list({ limit: PAGE, ...(more && next ? { after: next } : {}) });
    if (request !== latest) return;
    items = more ? [...(items ?? []), ...page.items] : page.items;
    next = page.next ?? null;
    isAvailable = true;
  } catch (error) {
    if (request !== latest) return;
    if (error instanceof ApiError && error.status === 404) isAvailable = false;
    else problem = problemOf(error);
  }
}

export const conversationList = {
  get items() {
    return items;
  },
  get hasMore() {
    return next !== null;
  },
  get problem() {
    return problem;
  },
  get isAvailable() {
    return isAvailable;
  },
  /** The id of the conversation on the page Ask, which is also kept while another page is open. */
  get current() {
    return current;
  },
  set current(id: string) {
    current = id;
  },
  load,
  /** Resolves once it is known whether the server keeps conversations. */
  start: (): Promise<void> => (started ??= load()),
  /** A question was asked in this conversation, which is now the newest. */
  note(id: string, question: string): void {
    const before = items?.find((one) => one.id === id);
    const head = { ...before, id, title: before?.title ?? question, at: new Date().toISOString(), questions: (before?.questions ?? 0) + 1 };
    items = [head, ...(items ?? []).filter((one) => one.id !== id)];
  },
  /** Loads the list as far as to this conversation. */
  async find(id: string): Promise<void> {
    while (next !== null && !items?.some((one) => one.id === id)) await load(true);
  },
  async share(id: string, shared: boolean): Promise<void> {
    await calls.share(id, shared);
    items = items?.map((one) => (one.id === id ? { ...one, shared } : one)) ?? null;
  },
  async remove(id: string): Promise<void> {
    await calls.remove(id);
    items = items?.filter((one) => one.id !== id) ?? null;
  },
};

session.onSwitch(() => {
  [items, next, current, started] = [null, null, "", undefined];
  latest += 1;
});
