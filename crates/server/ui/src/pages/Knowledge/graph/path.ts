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

/** `null` where there is none of at most four edges, or none that sixty requests find. */
export async function findPath(from: Hit, to: Hit, load: (id: string) => Promise<Neighbourhood>, signal: AbortSignal): Promise<Path | null> {
  const nodes = new Map([[from.id, from], [to.id, to]]);
  const sides = [from.id, to.id].map((id) => ({ reached: new Map<string, EdgeLine | null>([[id, null]]), frontier: [id] }));
  let requests = 0;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const [near, far] = (sides[0]!.frontier.length <= sides[1]!.frontier.length ? sides : sides.toReversed()) as [typeof sides[0], typeof sides[0]];
    const frontier: string[] = [];
    for (const id of near.frontier) {
      if (requests++ === MAX_REQUESTS) return null;
      const around = await load(id);
      signal.throwIfAborted();
      for (const node of around.nodes) nodes.set(node.id, node);
      for (const edge of around.edges) {
        const other = edge.from === id ? edge.to : edge.from;
        if (near.reached.has(other) || !FOLLOWED.includes(edge.edge) || nodes.get(other)?.layer === "document") continue;
        near.reached.set(other, edge);
        frontier.push(other);
        if (far.reached.has(other)) return join(other, sides.map(({ reached }) => reached), nodes);
      }
    }
    near.frontier = frontier;
  }
  return null;
}

/** From where both sides meet back to each end. */
function join(meeting: string, sides: ReadonlyMap<string, EdgeLine | null>[], nodes: ReadonlyMap<string, Hit>): Path {
  const [before, after] = sides.map((reached) => {
    const [ids, edges]: [string[], EdgeLine[]] = [[], []];
    for (let at = meeting, edge = reached.get(at); edge; edge = reached.get(at)) {
      at = edge.from === at ? edge.to : edge.from;
      ids.push(at);
      edges.push(edge);
    }
    return { ids, edges };
  });
  const ids = [...before!.ids.toReversed(), meeting, ...after!.ids];
  return { nodes: ids.map((id) => nodes.get(id)!), edges: [...before!.edges.toReversed(), ...after!.edges] };
}
