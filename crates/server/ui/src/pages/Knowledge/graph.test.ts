import { expect, it } from "vitest";
import type { Hit, Neighbours } from "../../api/types";
import { grown, named, seeds } from "./graph";

const hit = (id: string): Hit => ({ id, layer: "chunk", document: "d", title: id, text: id, score: 0, span: { start: 0, end: 1 } });
const got = (center: string, ...others: string[]): Neighbours => ({
  center: hit(center), nodes: others.map(hit), edges: others.map((to) => ({ from: center, to, edge: "mentions" })),
});

it("grows with each node that is opened, and holds each edge once", () => {
  const first = grown(null, got("a", "b", "c"));
  const second = grown(first, got("b", "a", "d"));
  expect([...second.nodes.keys()].sort()).toEqual(["a", "b", "c", "d"]);
  expect(second.edges.size).toBe(4);
  expect(grown(second, got("b", "a", "d")).edges.size).toBe(4);
  expect(first.nodes.size).toBe(3);
});
it("leaves out edges to what was not sent", () => {
  expect(grown(null, { ...got("a", "b"), edges: [{ from: "a", to: "z", edge: "next" }] }).edges.size).toBe(0);
});
it("gives every node a place of its own and moves none", () => {
  const first = grown(null, got("a", ..."bcdefghijk"));
  const placed = seeds(first, "a", new Map());
  const second = seeds(grown(first, got("b", "a", "x", "y", "z")), "b", placed);
  for (const [id, place] of placed) expect(second.get(id)).toEqual(place);
  const places = [...second.values()].map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`);
  expect(new Set(places).size).toBe(14);
});

it("calls every node something", () => {
  const node = (layer: Hit["layer"], title: string, text: string) => named({ ...hit("x"), layer, title, text });
  expect(node("entity", "Ilse Thorn", "")).toBe("Ilse Thorn");
  expect(node("chunk", "Varn", "It opened in 1911.")).toBe("Varn");
  expect(node("atom", "Varn", "It opened in 1911.")).toBe("It opened in 1911.");
});
