// What the library holds, what is on its way into it, and the build that puts it there.
import { builds, documents } from "../../api/calls";
import { isAbort, problemOf } from "../../api/client";
import type { Build, DocumentLine, Estimate, Problem, Uploaded } from "../../api/types";

type Refusal = Uploaded["refused"][number];

class Shelf {
  items = $state.raw<DocumentLine[]>([]);
  next = $state.raw<string | null>(null);
  loaded = $state(false);
  query = $state("");
  state = $state("");
  problem = $state.raw<Problem | null>(null);

  /** Everything that waits is to be built, not only what was sent just now. */
  whole = $state(false);
  sending = $state(0);
  accepted = $state.raw<Uploaded["accepted"]>([]);
  refused = $state.raw<Refusal[]>([]);
  estimate = $state.raw<Estimate | null>(null);
  /** Why there is no estimate. */
  unguessed = $state.raw<Problem | null>(null);
  build = $state.raw<Build | null>(null);
  private watched = "";
  private turn = 0;

  async load(more = false): Promise<void> {
    const mine = ++this.turn;
    try {
      const after = more && this.next ? { after: this.next } : {};
      const got = await documents.list({ query: this.query.trim(), state: this.state, limit: 100, ...after });
      if (mine !== this.turn) return;
      this.items = more ? [...this.items, ...got.items] : got.items;
      this.next = got.next ?? null;
      this.loaded = true;
      this.problem = null;
    } catch (error) {
      if (mine === this.turn) this.problem = problemOf(error);
    }
  }

  /** Finds a build that runs already, so that a reload does not lose sight of it. */
  async find(): Promise<void> {
    const got = await builds.list().catch(() => ({ items: [] as Build[] }));
    const open = got.items.find((b) => b.state === "running" || b.state === "paused");
    if (open) void this.watch(open);
  }

  async upload(files: File[]): Promise<void> {
    if (!files.length) return;
    this.sending += files.length;
    this.problem = null;
    try {
      const got = await documents.upload(files);
      this.accepted = [...this.accepted, ...got.accepted];
      this.refused = [...this.refused, ...got.refused];
      await this.guess();
    } catch (error) {
      this.problem = problemOf(error);
    }
    this.sending -= files.length;
  }

  private get uploads(): string[] | undefined {
    return this.whole ? undefined : this.accepted.map((a) => a.upload);
  }

  async guessWhole(): Promise<void> {
    this.whole = true;
    await this.guess();
  }

  async guess(): Promise<void> {
    this.estimate = null;
    this.unguessed = null;
    if (!this.accepted.length && !this.whole) return;
    try {
      this.estimate = await builds.estimate(this.uploads);
    } catch (error) {
      this.unguessed = problemOf(error);
    }
  }

  leave(): void {
    this.accepted = [];
    this.whole = false;
    this.estimate = null;
    void this.load();
  }

  async start(): Promise<void> {
    try {
      const build = await builds.start(this.uploads);
      this.leave();
      this.refused = [];
      await this.watch(build);
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  private async watch(build: Build): Promise<void> {
    this.build = build;
    if (this.watched === build.id) return;
    this.watched = build.id;
    const leave = new AbortController();
    try {
      for await (const now of builds.watch(build.id, leave.signal)) this.build = { ...build, ...now };
      // The stream may end without a last word.
      if (this.build?.state === "running") this.build = await builds.get(build.id);
    } catch (error) {
      if (!isAbort(error)) this.problem = problemOf(error);
    }
    this.watched = "";
    await this.load();
  }

  async act(what: "pause" | "resume" | "cancel"): Promise<void> {
    if (!this.build) return;
    try {
      const now = await builds.act(this.build.id, what);
      if (now?.state) this.build = { ...this.build, ...now };
      if (what === "resume") void this.watch(this.build);
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  async remove(id: string): Promise<Record<string, number>> {
    const gone = await documents.remove(id);
    await this.load();
    return gone?.removed ?? {};
  }
}

export const shelf = new Shelf();
