import { expect, it } from "vitest";
import type { Hit, Neighbourhood } from "../../../api/types";
import { entityView, expandGraph, nodeLabel, shortLabels } from "./view";

const hit = (id: string): Hit => ({ id, layer: "chunk", document: "d", title: id, text: id, score: 0, span: { start: 0, end: 1 } });
const neighbours = (center: string, ...others: string[]): Neighbourhood => ({
  center: hit(center), nodes: others.map(hit), edges: others.map((to) => ({ from: center, to, edge: "mentions", weight: 1 })), cut: false,
});

it("grows with each expanded node and has each edge once", () => {
  const first = expandGraph(null, neighbours("a", "b", "c"));
  const second = expandGraph(first, neighbours("b", "a", "d"));
  expect([...second.nodes.keys()].sort()).toEqual(["a", "b", "c", "d"]);
  expect(second.edges.size).toBe(4);
  expect(expandGraph(second, neighbours("b", "a", "d")).edges.size).toBe(4);
  expect(first.nodes.size).toBe(3);
});
it("omits edges to nodes that were not sent", () => {
  expect(expandGraph(null, { ...neighbours("a", "b"), edges: [{ from: "a", to: "z", edge: "next", weight: 1 }] }).edges.size).toBe(0);
});
it("labels every node", () => {
  const node = (layer: Hit["layer"], title: string, text: string) => nodeLabel({ ...hit("x"), layer, title, text });
  expect(node("entity", "Ilse Thorn", "")).toBe("Ilse Thorn");
  expect(node("chunk", "Varn", "# Varn\n\n## Opening\n\nIt opened in 1911.")).toBe("It opened in 1911.");
  expect(node("chunk", "Varn", "# Varn")).toBe("# Varn");
  expect(node("atom", "Varn", "It opened in 1911.")).toBe("It opened in 1911.");
});

it("distinguishes labels that begin alike", () => {
  const texts = ["The towers of the coast: Varn, 1911", "The towers of the coast: Skarv, 1902", "Ilse Thorn"];
  expect([...shortLabels(texts.map((text, i) => ({ ...hit(`${i}`), text })), 22).values()]).toEqual(["… Varn, 1911", "… Skarv, 1902", "Ilse Thorn"]);
});
it("joins entities by relations, and by passages that name both", () => {
  const related = { ...neighbours("a", "p"), edges: [{ from: "a", to: "b", edge: "relates" as const, weight: 1 }] };
  const view = entityView([related, neighbours("b", "p", "q"), neighbours("c", "q"), neighbours("d", "r")]);
  expect([...view.nodes.keys()]).toEqual(["a", "b", "c", "d"]);
  expect([...view.edges.values()].map(({ from, to, edge, through }) => [from, to, edge, through?.map((hit) => hit.id)])).toEqual([["a", "b", "relates", undefined], ["b", "c", "together", ["q"]]]);
});
