// The shortest path between two nodes, searched from both ends at once, level by level.
import type { Edge, EdgeLine, Hit, Neighbourhood } from "../../../api/types";

export interface Path {
  nodes: Hit[];
  edges: EdgeLine[];
}

/** Documents and their order join everything with everything, and say nothing of it. */
const FOLLOWED: readonly Edge[] = ["mentions", "relates", "derived_from"];
const MAX_REQUESTS = 60;
export const MAX_DEPTH = 4;
const otherEnd = (edge: EdgeLine, id: string): string => (edge.from === id ? edge.to : edge.from);

/** `null` where there is none of at most four edges, or none that sixty requests find. */
export async function findPath(from: Hit, to: Hit, load: (id: string) => Promise<Neighbourhood>, signal: AbortSignal): Promise<Path | null> {
  const nodes = new Map([[from.id, from], [to.id, to]]);
  /** The way from each end to what was reached from there. */
  const [forth, back] = [from, to].map(({ id }) => ({ ways: new Map<string, EdgeLine[]>([[id, []]]), frontier: [id] })) as [Side, Side];
  let requests = 0;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const near = forth.frontier.length <= back.frontier.length ? forth : back;
    const frontier: string[] = [];
    for (const id of near.frontier) {
      if (requests++ === MAX_REQUESTS) return null;
      const around = await load(id);
      signal.throwIfAborted();
      for (const node of around.nodes) nodes.set(node.id, node);
      for (const edge of around.edges) {
        const other = otherEnd(edge, id);
        if (near.ways.has(other) || !FOLLOWED.includes(edge.edge) || nodes.get(other)?.layer === "document") continue;
        near.ways.set(other, [...near.ways.get(id)!, edge]);
        frontier.push(other);
        const [one, two] = [forth.ways.get(other), back.ways.get(other)];
        if (!one || !two) continue;
        const edges = [...one, ...two.toReversed()];
        let at = from.id;
        return { nodes: [from, ...edges.map((step) => nodes.get((at = otherEnd(step, at)))!)], edges };
      }
    }
    near.frontier = frontier;
  }
  return null;
}

interface Side {
  ways: Map<string, EdgeLine[]>;
  frontier: string[];
}
