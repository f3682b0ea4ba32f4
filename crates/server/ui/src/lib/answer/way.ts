// The way to an answer as a graph: the question, the cited passages, the answer.
import type { Answer } from "../../api/types";

export interface WayNode {
  /** 0 is the question; then the steps in their order; the last is the answer. */
  id: number;
  label: string;
  /** Its distance from the question. */
  row: number;
  /** Its place in the row, and how many places there are. */
  place: number;
  places: number;
}

export interface Way {
  nodes: WayNode[];
  edges: [number, number][];
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the words of a name stand in a text in a row. */
function names(text: string, name: string): boolean {
  const wanted = wordsOf(name).join(" ");
  return wanted !== "" && ` ${wordsOf(text).join(" ")} `.includes(` ${wanted} `);
}

/**
 * A step follows from an earlier one whose passage names its title, or whose title its query names;
 * else from the question. The answer follows from the steps from which no other step follows.
 */
export function way(question: string, answer: Answer): Way {
  const steps = answer.steps ?? [];
  const cited = steps.map((step) => answer.citations[step.citation - 1]);
  const edges: [number, number][] = [];
  const rows = [0];
  cited.forEach((citation, at) => {
    const parents = cited.slice(0, at).flatMap((earlier, j) => {
      if (!earlier || !citation || names(question, citation.title)) return [];
      const led = names(earlier.quote, citation.title) || names(steps[at]?.query ?? "", earlier.title);
      return led && earlier.title !== citation.title ? [j + 1] : [];
    });
    const from = parents.length ? parents : [0];
    for (const parent of from) edges.push([parent, at + 1]);
    rows.push(Math.max(...from.map((parent) => rows[parent] ?? 0)) + 1);
  });
  const last = cited.length + 1;
  const leaves = cited.map((_, at) => at + 1).filter((id) => !edges.some(([from]) => from === id));
  for (const leaf of leaves.length ? leaves : [0]) edges.push([leaf, last]);
  rows.push(Math.max(...rows) + 1);
  const labels = [question, ...cited.map((citation) => citation?.title ?? ""), answer.text];
  const nodes = rows.map((row, id) => {
    const peers = rows.flatMap((other, peer) => (other === row ? [peer] : []));
    return { id, label: labels[id] ?? "", row, place: peers.indexOf(id), places: peers.length };
  });
  return { nodes, edges };
}

/** A text without the numbers of its sources, its spaces and its signs. */
export const letters = (text: string): string => text.replace(/\[[^\]]*\]/g, "").replace(/[^\p{L}\p{N}]/gu, "");

/** A text with a mark after each claim that no source supports; positions count UTF-16 units. */
export function withMarks(text: string, ends: number[], mark: string): string {
  let out = "";
  let from = 0;
  for (const end of ends) {
    out += text.slice(from, end) + mark;
    from = end;
  }
  return out + text.slice(from);
}
