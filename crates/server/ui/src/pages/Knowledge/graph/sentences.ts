// The sentences of a passage that name something, and where the names are.
const MAX = 3;

export interface Sentence {
  /** Its start in the passage, in UTF-16 code units. */
  start: number;
  text: string;
}

/** Those that name all, else those that name one, else the first. */
export function sentencesNaming(passage: string, names: readonly string[]): Sentence[] {
  const all = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(passage)]
    .map(({ segment, index }) => ({ text: segment.trim(), start: index + segment.length - segment.trimStart().length }))
    .filter(({ text }) => text && !text.startsWith("#"));
  const named = (text: string) => names.filter((name) => text.toLowerCase().includes(name.toLowerCase())).length;
  const most = Math.max(0, ...all.map(({ text }) => named(text)));
  return all.filter(({ text }) => named(text) === most).slice(0, most ? MAX : 1);
}

/** The sentence in pieces, every other one a name. */
export function markNames(text: string, names: readonly string[]): string[] {
  const patterns = names.filter(Boolean).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return patterns.length ? text.split(new RegExp(`(${patterns.join("|")})`, "giu")) : [text];
}
