// A list that is loaded page by page. What a later request returns replaces what an earlier one does.
import { problemOf, type Page, type ProblemInfo } from "../api/client";

export class Pager<T> {
  items = $state.raw<T[] | null>(null);
  next = $state.raw<string | null>(null);
  problem = $state.raw<ProblemInfo | null>(null);
  #latest = 0;
  readonly #fetch: (after?: string) => Promise<Page<T>>;

  constructor(fetch: (after?: string) => Promise<Page<T>>, first?: Page<T>) {
    this.#fetch = fetch;
    if (first) [this.items, this.next] = [first.items, first.next ?? null];
  }
  async load(more = false): Promise<void> {
    const request = ++this.#latest;
    try {
      const page = await this.#fetch(more ? (this.next ?? undefined) : undefined);
      if (request !== this.#latest) return;
      this.items = more ? [...(this.items ?? []), ...page.items] : page.items;
      [this.next, this.problem] = [page.next ?? null, null];
    } catch (error) {
      if (request === this.#latest) this.problem = problemOf(error);
    }
  }
}
