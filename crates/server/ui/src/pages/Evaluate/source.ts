// Where the viewer gets an evaluation from: the server, or the file that contains it.
import { evaluations } from "../../api/calls";
import type { Detail, View } from "./report";

export interface Source {
  view: () => Promise<View>;
  question: (id: string) => Promise<Detail | null>;
  /** The texts of a question that can be searched without a request. */
  texts: (id: string) => string[];
}

export const fromServer = (id: string): Source => ({
  view: async () => (await evaluations.view(id)) as View,
  question: async (question) => (await evaluations.question(id, question)) as Detail,
  texts: () => [],
});

/** Long texts are stored line by line, each line once: `{"$": [numbers of lines]}`. */
export function expand(value: unknown, lines: string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => expand(one, lines));
  if (typeof value !== "object" || value === null) return value;
  const places = (value as { $?: number[] }).$;
  if (places) return places.map((at) => lines[at] ?? "").join("\n");
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, expand(one, lines)]));
}

interface Embedded {
  view: View;
  questions: Record<string, unknown>;
  lines: string[];
}

export function fromFile({ view, questions, lines }: Embedded): Source {
  const detail = (id: string) => (questions[id] ? (expand(questions[id], lines) as Detail) : null);
  const texts = Object.fromEntries(Object.keys(questions).map((id) => {
    const found = questions[id] as { golds: unknown; runs: { answer?: { text: unknown } | null }[] };
    return [id, [expand(found.golds, lines) as string[], ...found.runs.map((run) => expand(run.answer?.text ?? "", lines) as string)].flat()];
  }));
  return { view: async () => view, question: async (id) => detail(id), texts: (id) => texts[id] ?? [] };
}
