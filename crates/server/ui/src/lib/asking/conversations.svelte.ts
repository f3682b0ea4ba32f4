// The list of conversations: that of the server, newest first, with what is asked in this tab.
import { conversations as calls } from "../../api/calls";
import type { Conversation } from "../../api/types";
import { session } from "../access/session.svelte";
import { PagedList } from "../pagedList.svelte";

const PAGE = 30;

class ConversationList extends PagedList<Conversation> {
  /** The id of the conversation on the page Ask, which is also kept while another page is open. */
  current = $state("");
  private started: Promise<void> | undefined;

  constructor() {
    super((from) => calls.list({ limit: PAGE, ...from }));
  }

  /** A server with `serve.keep_traces = 0` has no list. */
  get isAvailable(): boolean {
    return this.isLoaded;
  }

  /** Resolves once it is known whether the server keeps conversations. */
  start = (): Promise<void> => (this.started ??= this.load());

  /** A question was asked in this conversation, which is now the newest. */
  note(id: string, question: string): void {
    const before = this.items?.find((one) => one.id === id);
    const head = { shared: false, ...before, id, title: before?.title ?? question, at: new Date().toISOString(), questions: (before?.questions ?? 0) + 1 };
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

  override clear(): void {
    super.clear();
    [this.current, this.started] = ["", undefined];
  }
}

export const conversationList = new ConversationList();
session.onSwitch(() => conversationList.clear());
