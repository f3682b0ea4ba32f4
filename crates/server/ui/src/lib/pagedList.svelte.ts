// A list that is loaded page by page; the reply to an earlier request is dropped.
import { problemOf, type Page, type ProblemInfo } from "../api/client";

export class PagedList<T extends { id: string }> {
  items = $state.raw<T[] | null>(null);
  problem = $state.raw<ProblemInfo | null>(null);
  /** Whether the server has replied with a page. */
  isLoaded = $state(false);
  private next = $state.raw<string | null>(null);
  private latest = 0;

  /** `first` is the first page, where it is there. */
  constructor(private readonly fetch: (from: { after?: string }) => Promise<Page<T>>, first?: Page<T>) {
    if (first) [this.items, this.next, this.isLoaded] = [first.items, first.next ?? null, true];
  }

  get hasMore(): boolean {
    return this.next !== null;
  }

  async load(more = false): Promise<void> {
    const request = ++this.latest;
    try {
      const page = await this.fetch(more && this.next ? { after: this.next } : {});
      if (request !== this.latest) return;
      // What was added before the list was there stays.
      const before = more || !this.isLoaded ? (this.items ?? []) : [];
      this.items = [...before, ...page.items.filter(({ id }) => !before.some((one) => one.id === id))];
      [this.next, this.problem, this.isLoaded] = [page.next ?? null, null, true];
    } catch (error) {
      if (request === this.latest) this.problem = problemOf(error);
    }
  }

  clear(): void {
    this.latest += 1;
    [this.items, this.next, this.problem, this.isLoaded] = [null, null, null, false];
  }
}
