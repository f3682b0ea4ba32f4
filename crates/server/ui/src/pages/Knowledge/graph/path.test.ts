import { expect, it, vi } from "vitest";
import type { Edge, Hit, Layer, Neighbourhood } from "../../../api/types";
import { findPath } from "./path";

const hit = (id: string): Hit => ({ id, layer: (id.startsWith("d") ? "document" : "chunk") as Layer, document: "", title: id, text: id, score: 0, span: { start: 0, end: 1 } });
/** `ab` is an edge from a to b. */
const graph = (pairs: string, edge: Edge = "mentions") => (id: string): Promise<Neighbourhood> => {
  const edges = pairs.split(" ").filter((pair) => pair.includes(id)).map((pair) => ({ from: pair[0]!, to: pair[1]!, edge, weight: 1 }));
  return Promise.resolve({ center: hit(id), nodes: edges.map(({ from, to }) => hit(from === id ? to : from)), edges, cut: false });
};
const find = (load: (id: string) => Promise<Neighbourhood>, signal = new AbortController().signal) => findPath(hit("a"), hit("z"), load, signal);

it("finds the shortest path in whichever direction its edges point", async () => {
  const path = await find(graph("pa bp pz ax xy yz bz"));
  expect(path?.nodes.map((node) => node.id)).toEqual(["a", "p", "z"]);
  expect(path?.edges.map(({ from, to }) => from + to)).toEqual(["pa", "pz"]);
  expect((await find(graph("ab bc ce ez")))?.nodes.map((node) => node.id).join("")).toBe("abcez");
});
it("ends where there is none, where it is too long, and follows no documents and no order", async () => {
  for (const load of [graph("ab cz"), graph("ab bc ce ef fz"), graph("ad dz"), graph("ab bz", "next")]) expect(await find(load)).toBeNull();
});
it("stops after sixty requests, or when it is cancelled", async () => {
  const load = vi.fn((id: string) => Promise.resolve({ center: hit(id), nodes: [], edges: Array.from({ length: 99 }, (_, i) => ({ from: id, to: `${id}${i}`, edge: "mentions" as const, weight: 1 })), cut: true }));
  expect(await find(load)).toBeNull();
  expect(load).toHaveBeenCalledTimes(60);
  await expect(find(load, AbortSignal.abort())).rejects.toThrow();
});
