// The little Markdown that answers hold, as data. It is shown by elements that are made one by one;
// nothing here or there is ever read as HTML.
import { safeLink } from "./links";

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em"; inner: Inline[] }
  | { kind: "link"; text: string; href: string }
  /** `lead` is the word before, which the number must not be parted from. */
  | { kind: "cite"; number: number; lead: string };

export type Block =
  | { kind: "paragraph"; inner: Inline[] }
  | { kind: "heading"; inner: Inline[] }
  | { kind: "list"; ordered: boolean; items: Inline[][] }
  | { kind: "code"; text: string };

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^\s*(?:([-*+•])|(\d{1,3})[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;

/** `cited` is how many citations there are: `[3]` of two is text. */
export function blocks(text: string, cited = 0): Block[] {
  const made: Block[] = [];
  let running: string[] = [];
  const flush = () => {
    if (running.length) made.push({ kind: "paragraph", inner: inline(running.join("\n"), cited) });
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
      made.push({ kind: "code", text: code.join("\n") });
    } else if (heading) {
      flush();
      made.push({ kind: "heading", inner: inline(heading[1] ?? "", cited) });
    } else if (item && (running.length === 0 || item[1])) {
      flush();
      addItem(made, Boolean(item[2]), inline(item[3] ?? "", cited));
    } else if (line.trim() === "") flush();
    else running.push(line);
  }
  flush();
  return made;
}

function addItem(made: Block[], ordered: boolean, inner: Inline[]): void {
  const last = made.at(-1);
  if (last?.kind === "list" && last.ordered === ordered) last.items.push(inner);
  else made.push({ kind: "list", ordered, items: [inner] });
}

// Each alternative begins with a character that the text between does not hold, and none repeats
// inside a repetition, so that no text takes long.
const MARKS =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^[\]\n]{1,300})\]\(([^()\s]{1,2000})\)|\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,9})\]/g;

export function inline(text: string, cited: number): Inline[] {
  const made: Inline[] = [];
  const say = (said: string) => {
    if (said) made.push({ kind: "text", text: said });
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
      say(words ? words.slice(0, words.length - last.length) : "");
    } else say(before);
    made.push(...mark);
    from = match.index + match[0].length;
  }
  say(text.slice(from));
  return made;
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
  const all = (numbers ?? "").split(",").map(Number);
  const known = all.every((n) => n >= 1 && n <= cited);
  return known ? all.map((number) => ({ kind: "cite", number, lead: "" })) : undefined;
}

/** The text without its marks, for a line in a list. */
export function plain(text: string): string {
  const of = (all: Inline[]): string =>
    all.map((one) => (one.kind === "cite" ? one.lead : "inner" in one ? of(one.inner) : one.text)).join("");
  const lines = blocks(text, 999).map((block) =>
    block.kind === "list" ? block.items.map(of).join("; ") : block.kind === "code" ? block.text : of(block.inner),
  );
  return lines.join(" ");
}

/** Whether any citation is marked in the text itself. */
export function cites(made: Block[]): boolean {
  const in_ = (all: Inline[]): boolean =>
    all.some((one) => one.kind === "cite" || ("inner" in one && in_(one.inner)));
  return made.some((block) =>
    block.kind === "list" ? block.items.some(in_) : block.kind !== "code" && in_(block.inner),
  );
}
