// The documents of the library, uploads that are not built yet, and the current build.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { builds, documents } from "../../api/calls";
import { ApiError, isAbort, problemOf, type ProblemInfo } from "../../api/client";
import type { BasePart, BuildEstimate, BuildRequest, BuildStatus, DocumentLine, FieldValue, KeptLine, UploadResult } from "../../api/types";
import { session } from "../../lib/access/session.svelte";
import { lastReported, type StageProgress } from "./progress";

type Refusal = UploadResult["refused"][number];

/** The name of a file in the library: its path within the folder that was chosen. */
const nameOf = (file: File): string => file.webkitRelativePath || file.name;

/** How many documents are listed. */
const MAX_LISTED = 2000;
/** Milliseconds between two refreshes of the list while a build runs. */
const REFRESH = 2000;

class LibraryStore {
  items = $state.raw<DocumentLine[]>([]);
  hasMore = $state(false);
  /** The selected documents by name, also those that the search does not list. */
  readonly selected = new SvelteMap<string, DocumentLine>();
  loaded = $state(false);
  /** Folders that are not as they are at first: open, or closed in a small library. */
  readonly toggled = new SvelteSet<string>();
  query = $state("");
  state = $state("");
  problem = $state.raw<ProblemInfo | null>(null);
  /** How many of several documents are changed or deleted by now. */
  done = $state(0);

  /** Build everything that is queued, not only the files uploaded last. */
  buildAll = $state(false);
  sending = $state(0);
  accepted = $state.raw<UploadResult["accepted"]>([]);
  refused = $state.raw<Refusal[]>([]);
  /** Files whose names are taken by files of other content. */
  taken = $state.raw<File[]>([]);
  estimate = $state.raw<BuildEstimate | null>(null);
  /** Why there is no estimate. */
  estimateProblem = $state.raw<ProblemInfo | null>(null);
  /** Parts that were made with other settings than the configuration has. */
  kept = $state.raw<KeptLine[]>([]);
  /** Those of them to make again. */
  rebuild = $state.raw<BasePart[]>([]);
  build = $state.raw<BuildStatus | null>(null);
  /** The last stage of the build that was reported with a total. */
  reported = $state.raw<StageProgress | null>(null);
  private watched = "";
  private latest = 0;
  private abort = new AbortController();

  async load(): Promise<void> {
    const request = ++this.latest;
    try {
      const { items, next } = await documents.all({ query: this.query.trim(), state: this.state }, MAX_LISTED);
      if (request !== this.latest) return;
      [this.items, this.hasMore, this.loaded, this.problem] = [items, Boolean(next), true, null];
      this.select(items.filter(({ name }) => this.selected.has(name)), true);
    } catch (error) {
      if (request === this.latest) this.problem = problemOf(error);
    }
  }

  /** Whether all documents are listed. */
  get isWhole(): boolean {
    return !this.hasMore && !this.query.trim() && !this.state;
  }

  select(documents: readonly DocumentLine[], isSelected: boolean): void {
    for (const one of documents) {
      if (isSelected) this.selected.set(one.name, one);
      else this.selected.delete(one.name);
    }
  }

  /** Finds a build that is already running, so that it is displayed after a reload. */
  async findBuild(): Promise<void> {
    const page = await builds.list().catch(() => ({ items: [] as BuildStatus[] }));
    const open = page.items.find((b) => b.state === "running" || b.state === "paused");
    if (open) void this.watch(open);
  }

  async upload(files: File[], replace = false): Promise<void> {
    if (!files.length) return;
    this.sending += files.length;
    this.problem = null;
    try {
      const result = await documents.upload(files, replace);
      const sent = new Set(result.accepted.map((file) => file.name));
      this.accepted = [...this.accepted.filter((file) => !sent.has(file.name)), ...result.accepted];
      this.refused = [...this.refused, ...result.refused.filter((file) => !file.replaceable)];
      const names = new Set(result.refused.flatMap((file) => (file.replaceable ? [file.name] : [])));
      this.addTaken(files.filter((file) => names.has(nameOf(file))));
      await this.loadEstimate();
    } catch (error) {
      // All of them are taken.
      if (error instanceof ApiError && error.status === 409 && !replace) this.addTaken(files);
      else this.problem = problemOf(error);
    }
    this.sending -= files.length;
  }

  private addTaken(files: File[]): void {
    const names = new Set(files.map(nameOf));
    this.taken = [...this.taken.filter((file) => !names.has(nameOf(file))), ...files];
  }

  /** Sends the files again, in place of those that have their names. */
  async replaceTaken(): Promise<void> {
    const files = this.taken;
    this.taken = [];
    await this.upload(files, true);
  }

  private get request(): BuildRequest {
    const uploads = this.buildAll ? {} : { uploads: this.accepted.map((a) => a.upload) };
    return { ...uploads, rebuild: this.rebuild };
  }

  async estimateAll(): Promise<void> {
    this.buildAll = true;
    await this.loadEstimate();
  }

  async loadEstimate(): Promise<void> {
    this.estimate = null;
    this.estimateProblem = null;
    if (!this.accepted.length && !this.buildAll) return;
    try {
      const request = this.request;
      const estimate = await builds.estimate(request);
      // Another one was asked for meanwhile.
      if (request.rebuild !== this.rebuild) return;
      this.estimate = estimate;
      if (!this.rebuild.length) this.kept = estimate.kept;
    } catch (error) {
      this.estimateProblem = problemOf(error);
    }
  }

  /** Makes a part again, or leaves it as it was made. */
  toggleRebuild(part: BasePart): void {
    const others = this.rebuild.filter((other) => other !== part);
    this.rebuild = others.length < this.rebuild.length ? others : [...others, part];
    void this.loadEstimate();
  }

  dismiss(): void {
    this.accepted = [];
    this.buildAll = false;
    this.estimate = null;
    this.kept = [];
    this.rebuild = [];
    void this.load();
  }

  start = (): Promise<void> => this.begin(this.request, () => this.dismiss());

  reread = (name: string): Promise<void> => this.begin({ uploads: [name], rebuild: ["chunks"] });

  private async begin(request: BuildRequest, then = () => {}): Promise<void> {
    try {
      const build = await builds.start(request);
      then();
      [this.refused, this.problem] = [[], null];
      await this.watch(build);
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  private display(build: BuildStatus): void {
    const before = this.build?.id === build.id ? this.reported : null;
    this.reported = lastReported(before, build);
    this.build = build;
  }

  private async watch(build: BuildStatus): Promise<void> {
    this.display(build);
    if (this.watched === build.id) return;
    this.watched = build.id;
    const { signal } = this.abort;
    try {
      let refresh = Date.now() + REFRESH;
      for await (const now of builds.watch(build.id, signal)) {
        this.display(now);
        if (Date.now() < refresh) continue;
        refresh = Infinity;
        void this.load().finally(() => (refresh = Date.now() + REFRESH));
      }
      // The stream may end without a final event.
      if (this.build?.state === "running") this.display(await builds.get(build.id));
    } catch (error) {
      if (signal.aborted) return;
      if (!isAbort(error)) this.problem = problemOf(error);
    }
    this.watched = "";
    await this.load();
  }

  async act(action: "pause" | "resume" | "cancel"): Promise<void> {
    if (!this.build) return;
    try {
      const now = await builds.act(this.build.id, action);
      this.display(now);
      if (action === "resume") void this.watch(now);
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  /** Forgets everything: it is of a workspace or a key that is not used any more. */
  reset(): void {
    this.abort.abort();
    this.abort = new AbortController();
    this.latest += 1;
    [this.items, this.hasMore, this.loaded, this.problem] = [[], false, false, null];
    this.selected.clear();
    [this.query, this.state, this.watched, this.build, this.reported] = ["", "", "", null, null];
    [this.accepted, this.refused, this.taken, this.buildAll] = [[], [], [], false];
    [this.estimate, this.estimateProblem, this.kept, this.rebuild] = [null, null, [], []];
  }

  private async each(all: readonly DocumentLine[], act: (one: DocumentLine) => Promise<unknown>): Promise<void> {
    this.done = 0;
    try {
      for (const one of all) {
        await act(one);
        this.done += 1;
      }
    } finally {
      await this.load();
    }
  }

  remove = (all: readonly DocumentLine[]): Promise<void> => this.each(all, async (one) => {
    await documents.remove(one.id);
    this.select([one], false);
  });

  /** Sets these fields of documents; `null` removes one. */
  setFields = (all: readonly DocumentLine[], change: Readonly<Record<string, FieldValue | null>>): Promise<void> => this.each(all, (one) => {
    const fields = Object.entries({ ...one.metadata, ...change }).filter((entry): entry is [string, FieldValue] => entry[1] !== null);
    return documents.setFields(one.id, Object.fromEntries(fields));
  });
}

export const library = new LibraryStore();
session.onSwitch(() => library.reset());
