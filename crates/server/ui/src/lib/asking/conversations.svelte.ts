// The list of conversations: that of the server, newest first, with what is asked in this tab.
import { conversations as calls } from "../../api/calls";
import { ApiError, problemOf, type ProblemInfo } from "../../api/client";
import type { Conversation } from "../../api/types";
import { session } from "../access/session.svelte";

/** `shared`: others may read it; unknown to servers that cannot share. */
type ConversationHead = Conversation & { shared?: boolean };

const PAGE = 30;

class ConversationList {
  items = $state.raw<ConversationHead[] | null>(null);
  problem = $state.raw<ProblemInfo | null>(null);
  /** Servers before 0.2 keep no conversations. */
  isAvailable = $state(false);
  /** The id of the conversation on the page Ask, which is also kept while another page is open. */
  current = $state("");
  private next = $state.raw<string | null>(null);
  private latest = 0;
  private started: Promise<void> | undefined;

  get hasMore(): boolean {
    return this.next !== null;
  }

  async load(more = false): Promise<void> {
    const request = ++this.latest;
    this.problem = null;
    try {
      const page = await calls.list({ limit: PAGE, ...(more && this.next ? { after: this.next } : {}) });
      if (request !== this.latest) return;
      this.items = more ? [...(this.items ?? []), ...page.items] : page.items;
      this.next = page.next ?? null;
      this.isAvailable = true;
    } catch (error) {
      if (request !== this.latest) return;
      if (error instanceof ApiError && error.status === 404) this.isAvailable = false;
      else this.problem = problemOf(error);
    }
  }

  /** Resolves once it is known whether the server keeps conversations. */
  start = (): Promise<void> => (this.started ??= this.load());

  /** A question was asked in this conversation, which is now the newest. */
  note(id: string, question: string): void {
    const before = this.items?.find((one) => one.id === id);
    const head = { ...before, id, title: before?.title ?? question, at: new Date().toISOString(), questions: (before?.questions ?? 0) + 1 };
    this.items = [head, ...(this.items ?? []).filter((one) => one.id !== id)];
  }

  /** Loads the list as far as to this conversation. */
  async find(id: string): Promise<void> {
    while (this.hasMore && !this.problem && !this.items?.some((one) => one.id === id)) await this.load(true);
  }

  async share(id: string, shared: boolean): Promise<void> {
    await calls.share(id, shared);
    this.items = this.items?.map((one) => (one.id === id ? { ...one, shared } : one)) ?? null;
  }

  async remove(id: string): Promise<void> {
    await calls.remove(id);
    this.items = this.items?.filter((one) => one.id !== id) ?? null;
  }

  forget(): void {
    [this.items, this.next, this.current, this.started] = [null, null, "", undefined];
    this.latest += 1;
  }
}

export const conversationList = new ConversationList();
session.onSwitch(() => conversationList.forget());
