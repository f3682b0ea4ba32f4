// The displayed part of the base's graph; it grows with each expanded node.
import type { Edge, Hit, Neighbourhood } from "../../../api/types";

export interface ViewEdge {
  from: string;
  to: string;
  /** `together`: passages name both. */
  edge: Edge | "together";
  /** The passages that name both. */
  through?: Hit[];
}

export interface GraphView {
  nodes: Map<string, Hit>;
  edges: Map<string, ViewEdge>;
  /** Nodes whose neighbours are displayed. */
  expanded: Set<string>;
  /** Expanded nodes with more neighbours than were loaded. */
  truncated: Set<string>;
}

/** Adds at most `limit` neighbours, of equal texts one; returns a new value, so that a change is detected. */
export function expandGraph(before: GraphView | null, loaded: Neighbourhood, limit = Infinity): GraphView {
  const nodes = new Map(before?.nodes);
  const edges = new Map(before?.edges);
  const expanded = new Set(before?.expanded).add(loaded.center.id);
  const truncated = new Set(before?.truncated);
  const distinct = [...new Map(loaded.nodes.map((node) => [node.text || node.id, node])).values()];
  if (loaded.cut || distinct.length > limit) truncated.add(loaded.center.id);
  for (const node of [loaded.center, ...distinct.slice(0, limit)]) nodes.set(node.id, node);
  for (const edge of loaded.edges) {
    // An edge to a node that was not sent cannot be drawn.
    if (nodes.has(edge.from) && nodes.has(edge.to)) edges.set(edgeId(edge), edge);
  }
  return { nodes, edges, expanded, truncated };
}

export const edgeId = (edge: ViewEdge): string => `${edge.from}\u0000${edge.edge}\u0000${edge.to}`;

/** Entities alone, joined by their relations and by the passages that name two of them. */
export function entityView(around: readonly Neighbourhood[]): GraphView {
  const nodes = new Map(around.map(({ center }) => [center.id, center]));
  const edges = new Map<string, ViewEdge>();
  const passages = around.map((one) => new Map(one.nodes.filter((node) => node.layer === "chunk").map((node) => [node.text, node])));
  for (const edge of around.flatMap((one) => one.edges)) if (edge.edge === "relates" && nodes.has(edge.from) && nodes.has(edge.to)) edges.set(edgeId(edge), edge);
  const related = new Set([...edges.values()].flatMap(({ from, to }) => [from + to, to + from]));
  around.forEach(({ center: { id: to } }, i) => around.slice(0, i).forEach(({ center: { id: from } }, j) => {
    const through = [...passages[i]!].flatMap(([text, node]) => (passages[j]!.has(text) ? [node] : []));
    if (through.length && !related.has(from + to)) edges.set(edgeId({ from, to, edge: "together" }), { from, to, edge: "together", through });
  }));
  return { nodes, edges, expanded: new Set(), truncated: new Set() };
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

/** What distinguishes a node: its name, or its own text without the headings above it. */
export function nodeLabel({ layer, title, text, document }: Hit): string {
  if (layer === "entity" || layer === "document" || layer === "section" || layer === "community") return title || text || document;
  return text.replace(/^(#+ .*\s+)+(?=\S)/u, "") || title;
}

/** The kind of an entity where it is known, else the layer. */
export const kindOf = (node: Hit, kinds: ReadonlyMap<string, string>): string => (node.layer === "entity" && kinds.get(node.id)) || node.layer;
