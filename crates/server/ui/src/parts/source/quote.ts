// Finds a quote in the text items of a PDF page. What is extracted from a PDF differs from what its
// page holds in spaces, hyphens at line ends and ligatures, so only letters and digits count.

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
  const found: Letters = { text: "", item: [], at: [] };
  const made: string[] = [];
  items.forEach((item, i) => {
    let at = 0;
    for (const character of item) {
      for (const plain of character.normalize("NFKD").toLowerCase()) {
        if (!/[\p{L}\p{N}]/u.test(plain)) continue;
        made.push(plain);
        for (let unit = 0; unit < plain.length; unit += 1) {
          found.item.push(i);
          found.at.push(at);
        }
      }
      at += character.length;
    }
  });
  found.text = made.join("");
  return found;
}

/** Fewer letters than this could stand anywhere. */
const LEAST = 16;

/**
 * Where the quote stands: the whole of it, or, when it runs on from another page or on to the next,
 * as much of its beginning or end as this page holds.
 */
export function findQuote(items: readonly string[], quote: string): Range[] {
  const page = letters(items);
  const wanted = letters([quote]).text;
  if (!wanted) return [];
  const whole = page.text.indexOf(wanted);
  if (whole >= 0) return ranges(page, items, whole, whole + wanted.length);
  const begins = longest(wanted.length, (n) => page.text.endsWith(wanted.slice(0, n)) || page.text.includes(wanted.slice(0, n)));
  const ends = longest(wanted.length, (n) => page.text.includes(wanted.slice(wanted.length - n)));
  const found: Range[] = [];
  if (begins >= Math.min(LEAST, wanted.length)) {
    const at = page.text.indexOf(wanted.slice(0, begins));
    found.push(...ranges(page, items, at, at + begins));
  }
  if (ends >= Math.min(LEAST, wanted.length)) {
    const at = page.text.indexOf(wanted.slice(wanted.length - ends));
    found.push(...ranges(page, items, at, at + ends));
  }
  return joined(found);
}

/** The largest n for which `holds`, which once false stays false. */
function longest(most: number, holds: (n: number) => boolean): number {
  let [low, high] = [0, most];
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
    // Spaces and hyphens between two letters of one item are marked with them.
    if (last?.item === item) last.end = Math.max(last.end, end);
    else found.push({ item, start, end });
  }
  return found;
}

function joined(all: Range[]): Range[] {
  const sorted = [...all].sort((a, b) => a.item - b.item || a.start - b.start);
  const made: Range[] = [];
  for (const range of sorted) {
    const last = made.at(-1);
    if (last && last.item === range.item && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else made.push({ ...range });
  }
  return made;
}
