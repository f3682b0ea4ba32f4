// Finds a quote in the text items of a PDF page. Extracted text differs from the page in spaces,
// hyphens at line ends and ligatures, so only letters and digits are compared.

/** A part of one text item; UTF-16 indices, end exclusive. */
export interface Range {
  item: number;
  start: number;
  end: number;
}

interface Letters {
  text: string;
  /** For each code unit of `text`: which item, and where in it. */
  item: number[];
  at: number[];
}

function letters(items: readonly string[]): Letters {
  const result: Letters = { text: "", item: [], at: [] };
  const characters: string[] = [];
  items.forEach((item, i) => {
    let at = 0;
    for (const character of item) {
      for (const plain of character.normalize("NFKD").toLowerCase()) {
        if (!/[\p{L}\p{N}]/u.test(plain)) continue;
        characters.push(plain);
        for (let unit = 0; unit < plain.length; unit += 1) {
          result.item.push(i);
          result.at.push(at);
        }
      }
      at += character.length;
    }
  });
  result.text = characters.join("");
  return result;
}

/** Shorter matches may be accidental. */
const MIN_LETTERS = 16;

/**
 * The ranges of the quote: all of it, or, if it continues from or onto another page, as much of its
 * beginning or end as is on this page.
 */
export function findQuote(items: readonly string[], quote: string): Range[] {
  const page = letters(items);
  const target = letters([quote]).text;
  if (!target) return [];
  const whole = page.text.indexOf(target);
  if (whole >= 0) return ranges(page, items, whole, whole + target.length);
  const begins = longest(target.length, (n) => page.text.endsWith(target.slice(0, n)) || page.text.includes(target.slice(0, n)));
  const ends = longest(target.length, (n) => page.text.includes(target.slice(target.length - n)));
  const found: Range[] = [];
  if (begins >= Math.min(MIN_LETTERS, target.length)) {
    const at = page.text.indexOf(target.slice(0, begins));
    found.push(...ranges(page, items, at, at + begins));
  }
  if (ends >= Math.min(MIN_LETTERS, target.length)) {
    const at = page.text.indexOf(target.slice(target.length - ends));
    found.push(...ranges(page, items, at, at + ends));
  }
  return merge(found);
}

/** The largest n for which the monotonic condition `holds`. */
function longest(max: number, holds: (n: number) => boolean): number {
  let [low, high] = [0, max];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function ranges(page: Letters, items: readonly string[], from: number, to: number): Range[] {
  const found: Range[] = [];
  for (let i = from; i < to; i += 1) {
    const [item, start] = [page.item[i]!, page.at[i]!];
    const end = start + ((items[item]!.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
    const last = found.at(-1);
    // Spaces and hyphens between two letters of one item are included.
    if (last?.item === item) last.end = Math.max(last.end, end);
    else found.push({ item, start, end });
  }
  return found;
}

function merge(all: Range[]): Range[] {
  const sorted = [...all].sort((a, b) => a.item - b.item || a.start - b.start);
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && last.item === range.item && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}
