// The part of the base's graph that is shown: it grows with each node that is opened.
import type { Hit, Neighbours } from "../../api/types";

export interface Shown {
  nodes: Map<string, Hit>;
  edges: Map<string, { from: string; to: string; edge: string }>;
  /** Nodes whose neighbours are shown. */
  expanded: Set<string>;
  /** Of these, those that have more neighbours than were fetched. */
  truncated: Set<string>;
}

/** A new value each time, so that what was drawn before can be told apart. */
export function grown(before: Shown | null, got: Neighbours): Shown {
  const nodes = new Map(before?.nodes);
  const edges = new Map(before?.edges);
  const expanded = new Set(before?.expanded).add(got.center.id);
  const truncated = new Set(before?.truncated);
  if (got.cut) truncated.add(got.center.id);
  for (const node of [got.center, ...got.nodes]) nodes.set(node.id, node);
  for (const edge of got.edges) {
    // An edge to what was not sent cannot be drawn.
    if (nodes.has(edge.from) && nodes.has(edge.to)) edges.set(`${edge.from}\u0000${edge.edge}\u0000${edge.to}`, edge);
  }
  return { nodes, edges, expanded, truncated };
}

export interface Place {
  x: number;
  y: number;
}

/**
 * Where new nodes begin: around the node they were found from, on the side that looks away from
 * the middle of what is there already; every other one a little further out, so that names do not
 * stand on one another. Places that are known stay.
 */
export function seeds(shown: Shown, from: string, known: ReadonlyMap<string, Place>): Map<string, Place> {
  const fresh = [...shown.nodes.values()].filter((node) => !known.has(node.id) && node.id !== from);
  fresh.sort((a, b) => a.layer.localeCompare(b.layer) || a.id.localeCompare(b.id));
  const places = new Map(known);
  const centre = known.get(from) ?? { x: 0, y: 0 };
  places.set(from, centre);
  const others = [...known].filter(([id]) => id !== from).map(([, place]) => place);
  const mean = (of: (place: Place) => number) => others.reduce((sum, place) => sum + of(place), 0) / (others.length || 1);
  const away = others.length ? Math.atan2(centre.y - mean((p) => p.y), centre.x - mean((p) => p.x)) : -Math.PI / 2;
  const spread = others.length ? Math.PI * 1.2 : 2 * Math.PI;
  const near = Math.max(165, (fresh.length * 66) / spread);
  fresh.forEach((node, i) => {
    const share = others.length ? (i + 0.5) / fresh.length - 0.5 : i / fresh.length;
    const angle = away + share * spread;
    const far = near * (i % 2 && fresh.length > 7 ? 1.35 : 1);
    // Names are wider than high, so the ring is too.
    places.set(node.id, { x: centre.x + far * 1.25 * Math.cos(angle), y: centre.y + far * 1.05 * Math.sin(angle) });
  });
  return places;
}

/** What a node is called: what it says where it is one sentence, else its title. An entity has a name and no text. */
export const named = (node: Hit) => (node.layer === "chunk" || node.layer === "section" || !node.text ? node.title || node.text : node.text);
