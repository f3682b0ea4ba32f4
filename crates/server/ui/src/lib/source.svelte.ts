// The source that lies open beside the page: a citation, or a node of the base.
import type { Citation, Hit } from "../api/types";

export interface Opened {
  citation: Citation;
  /** Its number in the answer. */
  number?: number;
}

let opened = $state.raw<Opened | null>(null);
let from: HTMLElement | null = null;

export const source = {
  get opened() {
    return opened;
  },
};

export function openSource(what: Opened): void {
  if (!opened) from = document.activeElement as HTMLElement | null;
  opened = what;
}

export function closeSource(): void {
  opened = null;
  // The focus goes back to where the reader was.
  if (from?.isConnected) from.focus();
  from = null;
}

export const citationOf = (hit: Hit): Citation => ({
  node: hit.id,
  document: hit.document,
  title: hit.title,
  section: hit.section ?? null,
  page: hit.page ?? null,
  start: hit.span.start,
  end: hit.span.end,
  quote: hit.layer === "chunk" || hit.layer === "section" ? hit.text : "",
});
