// The displayed part of the base's graph; it grows with each expanded node.
import type { Edge, Hit, Neighbourhood } from "../../../api/types";
import { cut } from "../../../lib/format";

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

/** What distinguishes a node: its name, or its own text without the headings above it. */
export function nodeLabel({ layer, title, text, document }: Hit): string {
  if (layer === "entity" || layer === "document" || layer === "section" || layer === "community") return title || text || document;
  return text.replace(/^(#+ .*\s+)+(?=\S)/u, "") || title;
}

/** Labels of at most this length; those that would be the same begin where their texts differ. */
export function shortLabels(nodes: Iterable<Hit>, most: number): Map<string, string> {
  const groups = new Map<string, Hit[]>();
  for (const node of nodes) groups.set(cut(nodeLabel(node), most), [...(groups.get(cut(nodeLabel(node), most)) ?? []), node]);
  return new Map([...groups].flatMap(([label, group]) => {
    const texts = group.map((node) => nodeLabel(node).split(/\s+/));
    const same = texts[0]!.findIndex((word, at) => texts.some((words) => words[at] !== word));
    return group.map(({ id }, i) => [id, same > 0 ? cut(`… ${texts[i]!.slice(same).join(" ")}`, most) : label] as const);
  }));
}

/** The kind of an entity where it is known, else the layer. */
export const kindOf = (node: Hit, kinds: ReadonlyMap<string, string>): string => (node.layer === "entity" && kinds.get(node.id)) || node.layer;
