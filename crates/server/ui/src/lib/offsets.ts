// Positions in texts. The server counts Unicode scalar values; JavaScript's strings count UTF-16 code
// units, in which a character beyond U+FFFF takes two.

/** The UTF-16 index of the scalar value number `scalars`; the text's length if it is shorter. */
export function toUnits(text: string, scalars: number): number {
  let unit = 0;
  for (let counted = 0; counted < scalars && unit < text.length; counted += 1) {
    unit += isPair(text, unit) ? 2 : 1;
  }
  return unit;
}

/** The number of scalar values in a text. */
export function scalars(text: string): number {
  let counted = 0;
  for (let unit = 0; unit < text.length; counted += 1) unit += isPair(text, unit) ? 2 : 1;
  return counted;
}

function isPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff) return false;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

export interface Parts {
  before: string;
  marked: string;
  after: string;
  /** Whether the quote is at its position, elsewhere in the text, or missing. */
  found: "exact" | "moved" | "missing";
}

/**
 * Splits a window of a document at a citation. `from` is the position in the document at which the
 * window starts. If the text at the position is not the quote (the document has changed, or white
 * space differs), the quote is searched for in the window.
 */
export function cutAt(text: string, from: number, start: number, end: number, quote: string): Parts {
  const a = toUnits(text, Math.max(0, start - from));
  const b = toUnits(text, Math.max(0, end - from));
  const exact = { before: text.slice(0, a), marked: text.slice(a, b), after: text.slice(b) };
  const expected = flat(quote);
  if (exact.marked && (!expected || flat(exact.marked) === expected)) return { ...exact, found: "exact" };
  const at = locate(text, quote);
  if (at) {
    const [s, e] = at;
    return { before: text.slice(0, s), marked: text.slice(s, e), after: text.slice(e), found: "moved" };
  }
  // The position is still the best guess.
  if (exact.marked) return { ...exact, found: "moved" };
  return { before: text, marked: "", after: "", found: "missing" };
}

const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The range of a quote in a text, ignoring white space; UTF-16 indices. */
export function locate(text: string, quote: string): [number, number] | undefined {
  const words = flat(quote).split(" ").filter(Boolean).map(escaped);
  if (!words.length) return undefined;
  const match = new RegExp(words.join("\\s+"), "u").exec(text);
  return match ? [match.index, match.index + match[0].length] : undefined;
}

const escaped = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Characters of a passage that are shown before and after the sentence. */
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
