// Places in texts. The server counts Unicode scalar values; JavaScript's strings count UTF-16 code
// units, in which a character beyond U+FFFF takes two.

/** The UTF-16 index of the scalar value number `scalars`; the text's length if it is shorter. */
export function toUnits(text: string, scalars: number): number {
  let unit = 0;
  for (let seen = 0; seen < scalars && unit < text.length; seen += 1) {
    unit += isPair(text, unit) ? 2 : 1;
  }
  return unit;
}

/** How many scalar values a text has. */
export function scalars(text: string): number {
  let seen = 0;
  for (let unit = 0; unit < text.length; seen += 1) unit += isPair(text, unit) ? 2 : 1;
  return seen;
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
  /** Whether the marked text is where it was said to be, found elsewhere, or not there. */
  found: "exact" | "moved" | "missing";
}

/**
 * A window of a document cut in three at a citation. `from` is the place in the document at which
 * the window begins. Where the text at the place is not the quote (the document has changed, or
 * white space differs), the quote is looked for in the window.
 */
export function cutAt(text: string, from: number, start: number, end: number, quote: string): Parts {
  const a = toUnits(text, Math.max(0, start - from));
  const b = toUnits(text, Math.max(0, end - from));
  const exact = { before: text.slice(0, a), marked: text.slice(a, b), after: text.slice(b) };
  const wanted = flat(quote);
  if (exact.marked && (!wanted || flat(exact.marked) === wanted)) return { ...exact, found: "exact" };
  const at = locate(text, quote);
  if (at) {
    const [s, e] = at;
    return { before: text.slice(0, s), marked: text.slice(s, e), after: text.slice(e), found: "moved" };
  }
  // The place is still the best that is known.
  if (exact.marked) return { ...exact, found: "moved" };
  return { before: text, marked: "", after: "", found: "missing" };
}

const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Where a quote stands in a text, white space aside; UTF-16 indices. */
export function locate(text: string, quote: string): [number, number] | undefined {
  const words = flat(quote).split(" ").filter(Boolean).map(escaped);
  if (!words.length) return undefined;
  const match = new RegExp(words.join("\\s+"), "u").exec(text);
  return match ? [match.index, match.index + match[0].length] : undefined;
}

const escaped = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
