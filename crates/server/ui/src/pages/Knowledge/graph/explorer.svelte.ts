// The graph that is displayed: what is in it, what is chosen, and a path between two entities.
import { base } from "../../../api/calls";
  import type { ListedEntity } from "../../../api/types";
import { isAbort, problemOf, type ProblemInfo } from "../../../api/client";
import type { Hit } from "../../../api/types";
import { findPath, type Path } from "./path";
import { edgeId, entityView, expandGraph, kindOf, type GraphView } from "./view";

/** Neighbours that a click draws, and that are read for a path or for what two entities share. */
export const LIMIT = 14;
const READ_LIMIT = 100;
/** Entities that are drawn at first. */
const TOP = 16;

export class Explorer {
  view = $state.raw<GraphView | null>(null);
  /** A node or an edge. */
  chosen = $state("");
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  ends = $state.raw<{ from?: Hit; to?: Hit }>({});
  /** `null` where the search found none, `undefined` before one. */
  path = $state.raw<Path | null | undefined>(undefined);
  searching = $state.raw<AbortController | null>(null);
  problem = $state.raw<ProblemInfo | null>(null);
  busy = $state(false);
  kinds = $state.raw<ReadonlyMap<string, string>>(new Map());

  node = $derived(this.view?.nodes.get(this.chosen));
  edge = $derived(this.view?.edges.get(this.chosen));
  onPath = $derived(new Set(this.path?.edges.map(edgeId)));
  /** Each kind with the number of its nodes, the most frequent first. */
  legend = $derived.by(() => {
    const counts = new Map<string, number>();
    for (const node of this.view?.nodes.values() ?? []) counts.set(kindOf(node, this.kinds), (counts.get(kindOf(node, this.kinds)) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  });
  /** Without what the legend hides. */
  visible = $derived.by((): GraphView | null => {
    const { view, hidden, kinds } = this;
    if (!view || !hidden.size) return view;
    const nodes = new Map([...view.nodes].filter(([, node]) => !hidden.has(kindOf(node, kinds))));
    return { ...view, nodes, edges: new Map([...view.edges].filter(([, edge]) => nodes.has(edge.from) && nodes.has(edge.to))) };
  });

  addKinds(items: readonly ListedEntity[]): void {
    const fresh = items.filter(({ id }) => !this.kinds.has(id));
    if (fresh.length) this.kinds = new Map([...this.kinds, ...fresh.map(({ id, kind }) => [id, kind] as const)]);
  }
  /** Starts with the first of these entities. */
  start = (items: readonly ListedEntity[]) => this.#during(async () => {
    this.addKinds(items);
    this.view = entityView(await Promise.all(items.slice(0, TOP).map(({ id }) => base.neighbours(id, undefined, READ_LIMIT))));
  });
  /** Chooses a node and adds its neighbours. */
  expand = async (id: string): Promise<void> => {
    this.chosen = id;
    if (this.view?.expanded.has(id)) return;
    await this.#during(async () => {
      this.view = expandGraph(this.view, await base.neighbours(id, undefined, READ_LIMIT), LIMIT);
    });
  };
  toggle(kind: string): void {
    const hidden = new Set(this.hidden);
    if (!hidden.delete(kind)) hidden.add(kind);
    this.hidden = hidden;
  }
  /** The search begins once both ends are chosen. */
  setEnd(end: "from" | "to", node: Hit): void {
    this.searching?.abort();
    [this.ends, this.path] = [{ ...this.ends, [end]: node }, undefined];
    const { from, to } = this.ends;
    if (from && to && from.id !== to.id) void this.#search(from, to);
  }
  clearPath(): void {
    this.searching?.abort();
    [this.ends, this.path] = [{}, undefined];
  }
  async #search(from: Hit, to: Hit): Promise<void> {
    const abort = (this.searching = new AbortController());
    await this.#during(async () => {
      const path = await findPath(from, to, (id) => base.neighbours(id, undefined, READ_LIMIT), abort.signal);
      if (path && this.view) {
        const { nodes, edges } = this.view;
        this.view = { ...this.view, nodes: new Map([...nodes, ...path.nodes.map((node) => [node.id, node] as const)]), edges: new Map([...edges, ...path.edges.map((edge) => [edgeId(edge), edge] as const)]) };
      }
      this.path = path;
    });
    if (this.searching === abort) this.searching = null;
  }
  async #during(work: () => Promise<void>): Promise<void> {
    [this.busy, this.problem] = [true, null];
    try {
      await work();
    } catch (error) {
      if (!isAbort(error)) this.problem = problemOf(error);
    }
    this.busy = false;
  }
}
