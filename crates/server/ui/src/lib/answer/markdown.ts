// The Markdown subset of answers, as data. It is rendered element by element; nothing is ever parsed
// as HTML.
import { safeLink } from "../links";

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em"; inner: Inline[] }
  | { kind: "link"; text: string; href: string }
  /** `lead` is the word before the number; there must be no line break between them. */
  | { kind: "cite"; number: number; lead: string }
  /** `[?]`: no source supports the sentence before it. */
  | { kind: "doubt" }
  /** A part of the quote that is highlighted. */
  | { kind: "mark"; text: string };

export type Block =
  | { kind: "paragraph"; inner: Inline[] }
  | { kind: "heading"; level: number; inner: Inline[] }
  | { kind: "list"; ordered: boolean; items: Inline[][] }
  | { kind: "code"; text: string }
  /** Rows of cells; the first row is the head. */
  | { kind: "table"; rows: Inline[][][] };

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^\s*(?:([-*+•])|(\d{1,3})[.)])\s+(.*)$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|[\s:|-]*-[\s:|-]*\|\s*$/;

/** The cells of a row; `\|` is a bar in a cell. */
const cells = (line: string, cited: number): Inline[][] =>
  line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll("\\|", "|"), cited));

/** `cited` is how many citations there are: with two citations `[3]` is plain text. */
export function blocks(text: string, cited = 0): Block[] {
  const parsed: Block[] = [];
  let running: string[] = [];
  const flush = () => {
    if (running.length) parsed.push({ kind: "paragraph", inner: inline(running.join("\n"), cited) });
    running = [];
  };
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const item = ITEM.exec(line);
    const heading = HEADING.exec(line);
    if (FENCE.test(line)) {
      flush();
      const code: string[] = [];
      for (at += 1; at < lines.length && !FENCE.test(lines[at] ?? ""); at += 1) code.push(lines[at] ?? "");
      parsed.push({ kind: "code", text: code.join("\n") });
    } else if (heading) {
      flush();
      parsed.push({ kind: "heading", level: heading[1]?.length ?? 1, inner: inline(heading[2] ?? "", cited) });
    } else if (ROW.test(line) && (RULE.test(lines[at + 1] ?? "") || ROW.test(lines[at + 1] ?? ""))) {
      flush();
      const rows: Inline[][][] = [];
      for (; ROW.test(lines[at] ?? ""); at += 1) if (!RULE.test(lines[at] ?? "")) rows.push(cells(lines[at] ?? "", cited));
      at -= 1;
      parsed.push({ kind: "table", rows });
    } else if (item && (running.length === 0 || item[1])) {
      flush();
      addItem(parsed, Boolean(item[2]), inline(item[3] ?? "", cited));
    } else if (line.trim() === "") flush();
    else running.push(line);
  }
  flush();
  return parsed;
}

function addItem(parsed: Block[], ordered: boolean, inner: Inline[]): void {
  const last = parsed.at(-1);
  if (last?.kind === "list" && last.ordered === ordered) last.items.push(inner);
  else parsed.push({ kind: "list", ordered, items: [inner] });
}

// Each alternative starts with a character that plain text between marks does not contain, and no
// repetition is nested, so matching takes linear time.
const MARKS =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^[\]\n]{1,300})\]\(([^()\s]{1,2000})\)|\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,9}|\?)\]/g;

export function inline(text: string, cited: number): Inline[] {
  const parsed: Inline[] = [];
  const push = (plain: string) => {
    if (plain) parsed.push({ kind: "text", text: plain });
  };
  let from = 0;
  for (const match of text.matchAll(MARKS)) {
    const mark = marked(match, cited);
    if (!mark) continue;
    const first = mark[0];
    const before = text.slice(from, match.index);
    if (first?.kind === "cite") {
      const words = before.trimEnd();
      const last = words.slice(words.search(/\S{1,24}$/));
      first.lead = words ? last : "";
      push(words ? words.slice(0, words.length - last.length) : "");
    } else push(before);
    parsed.push(...mark);
    from = match.index + match[0].length;
  }
  push(text.slice(from));
  return parsed;
}

function marked(match: RegExpMatchArray, cited: number): Inline[] | undefined {
  const [, code, strong, em, label, address, numbers] = match;
  if (code !== undefined) return [{ kind: "code", text: code }];
  if (strong !== undefined) return [{ kind: "strong", inner: inline(strong, cited) }];
  if (em !== undefined) return [{ kind: "em", inner: inline(em, cited) }];
  if (label !== undefined && address !== undefined) {
    const href = safeLink(address);
    return href ? [{ kind: "link", text: label, href }] : undefined;
  }
  if (numbers === "?") return [{ kind: "doubt" }];
  const all = (numbers ?? "").split(",").map(Number);
  const valid = all.every((n) => n >= 1 && n <= cited);
  return valid ? all.map((number) => ({ kind: "cite", number, lead: "" })) : undefined;
}

/** The lines of text of a block: its items or cells, or one. */
const linesOf = (block: Block): Inline[][] =>
  block.kind === "list" ? block.items : block.kind === "table" ? block.rows.flat() : block.kind === "code" ? [[{ kind: "text", text: block.text }]] : [block.inner];

/** The text without markup, for a line in a list. */
export function plain(text: string): string {
  const of = (all: Inline[]): string =>
    all.map((one) => (one.kind === "cite" ? one.lead : one.kind === "doubt" ? "" : "inner" in one ? of(one.inner) : one.text)).join("");
  return blocks(text, 999).map((block) => linesOf(block).map(of).join("; ")).join(" ");
}

/** Whether the text contains citation marks. */
export function cites(parsed: Block[]): boolean {
  const anyCite = (all: Inline[]): boolean =>
    all.some((one) => one.kind === "cite" || ("inner" in one && anyCite(one.inner)));
  return parsed.some((block) => linesOf(block).some(anyCite));
}

// Private characters around a quote, which survive parsing: they belong to no mark of Markdown.
const [OPEN, CLOSE] = ["\uE000", "\uE001"];
const BOTH = /[\uE000\uE001]/g;
/** What is before the text of a line; a quote that starts there starts in the text. */
const PREFIX = /^\uE000(\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|\|\s*))/gm;

/** The bar that ends a row of a table belongs to the row, not to the quote. */
const SUFFIX = /(\s*\|[^\S\n]*)\uE001/g;

/** The blocks of a document of which a part is quoted; the quote may span several blocks. */
export function quotedBlocks(before: string, quote: string, after: string): Block[] {
  const clean = (text: string) => text.replace(BOTH, "");
  const trimmed = clean(quote).trim();
  const text = trimmed ? `${clean(before)}${OPEN}${trimmed}${CLOSE}${clean(quote).endsWith("\n") ? "\n" : ""}${clean(after)}` : clean(before + after);
  let inside = false;
  const split = (all: Inline[]): Inline[] => all.flatMap((one): Inline[] => {
    if ("inner" in one) return [{ ...one, inner: split(one.inner) }];
    if (one.kind !== "text") return one.kind === "doubt" ? [{ kind: "text", text: "[?]" }] : [one];
    return one.text.split(/([\uE000\uE001])/).flatMap((piece): Inline[] => {
      if (piece === OPEN || piece === CLOSE) inside = piece === OPEN;
      return piece && piece !== OPEN && piece !== CLOSE ? [{ kind: inside ? "mark" : "text", text: piece }] : [];
    });
  });
  return blocks(text.replace(PREFIX, `$1${OPEN}`).replace(SUFFIX, `${CLOSE}$1`)).map((block): Block => {
    if (block.kind === "list") return { ...block, items: block.items.map(split) };
    if (block.kind === "table") return { ...block, rows: block.rows.map((row) => row.map(split)) };
    if (block.kind === "code") return { ...block, text: clean(block.text) };
    return { ...block, inner: split(block.inner) };
  });
}
