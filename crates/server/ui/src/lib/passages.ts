// A passage and the sentence of it that is nearest to the question.
import { locate } from "./offsets";

/** Characters that are shown before and after the sentence. */
const AROUND = 600;

export interface Marked {
  before: string;
  quote: string;
  after: string;
}

/** A passage split at its nearest sentence; the start of a passage that does not contain it. */
export function marked(text: string, quote: string): Marked {
  const [start, end] = locate(text, quote) ?? [0, 0];
  const before = text.slice(Math.max(0, start - AROUND), start);
  const after = text.slice(end, end + AROUND);
  return {
    before: start > AROUND ? `…${whole(before, true)}` : before,
    quote: text.slice(start, end),
    after: text.length > end + AROUND ? `${whole(after, false)}…` : after,
  };
}

/** Without the word that is cut at the beginning or the end. */
const whole = (text: string, first: boolean): string => text.replace(first ? /^\S{0,40}\s/u : /\s\S{0,40}$/u, "");
