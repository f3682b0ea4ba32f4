// The displayed part of the base's graph; it grows with each expanded node.
import type { Hit, Neighbourhood } from "../../api/types";

export interface GraphView {
  nodes: Map<string, Hit>;
  edges: Map<string, { from: string; to: string; edge: string }>;
  /** Nodes whose neighbours are displayed. */
  expanded: Set<string>;
  /** Expanded nodes with more neighbours than were loaded. */
  truncated: Set<string>;
}

/** Adds a neighbourhood; returns a new value, so that a change is detected. */
export function expandGraph(before: GraphView | null, loaded: Neighbourhood): GraphView {
  const nodes = new Map(before?.nodes);
  const edges = new Map(before?.edges);
  const expanded = new Set(before?.expanded).add(loaded.center.id);
  const truncated = new Set(before?.truncated);
  if (loaded.cut) truncated.add(loaded.center.id);
  for (const node of [loaded.center, ...loaded.nodes]) nodes.set(node.id, node);
  for (const edge of loaded.edges) {
    // An edge to a node that was not sent cannot be drawn.
    if (nodes.has(edge.from) && nodes.has(edge.to)) edges.set(`${edge.from}\u0000${edge.edge}\u0000${edge.to}`, edge);
  }
  return { nodes, edges, expanded, truncated };
}

export interface Place {
  x: number;
  y: number;
}

/**
 * Initial positions of new nodes: around the expanded node, on the side away from the centre of the
 * existing nodes; every other one slightly further out, so that labels do not overlap. Existing
 * positions are unchanged.
 */
export function placeNodes(view: GraphView, from: string, existing: ReadonlyMap<string, Place>): Map<string, Place> {
  const fresh = [...view.nodes.values()].filter((node) => !existing.has(node.id) && node.id !== from);
  fresh.sort((a, b) => a.layer.localeCompare(b.layer) || a.id.localeCompare(b.id));
  const places = new Map(existing);
  const centre = existing.get(from) ?? { x: 0, y: 0 };
  places.set(from, centre);
  const others = [...existing].filter(([id]) => id !== from).map(([, place]) => place);
  const mean = (of: (place: Place) => number) => others.reduce((sum, place) => sum + of(place), 0) / (others.length || 1);
  const away = others.length ? Math.atan2(centre.y - mean((p) => p.y), centre.x - mean((p) => p.x)) : -Math.PI / 2;
  const spread = others.length ? Math.PI * 1.2 : 2 * Math.PI;
  const near = Math.max(165, (fresh.length * 66) / spread);
  fresh.forEach((node, i) => {
    const share = others.length ? (i + 0.5) / fresh.length - 0.5 : i / fresh.length;
    const angle = away + share * spread;
    const far = near * (i % 2 && fresh.length > 7 ? 1.35 : 1);
    // Labels are wider than high, so the ring is an ellipse.
    places.set(node.id, { x: centre.x + far * 1.25 * Math.cos(angle), y: centre.y + far * 1.05 * Math.sin(angle) });
  });
  return places;
}

/** The label of a node: its text where that is one sentence, or else its title. */
export const nodeLabel = (node: Hit) => (node.layer === "chunk" || node.layer === "section" || !node.text ? node.title || node.text : node.text);
