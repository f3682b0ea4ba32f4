// The source in the side panel: a citation, or a node of the base.
import type { Citation, Hit } from "../api/types";

export interface OpenedSource {
  citation: Citation;
  /** Its number in the answer. */
  number?: number;
}

let opened = $state.raw<OpenedSource | null>(null);
let previousFocus: HTMLElement | null = null;

export const source = {
  get opened() {
    return opened;
  },
};

export function openSource(next: OpenedSource): void {
  if (!opened) previousFocus = document.activeElement as HTMLElement | null;
  opened = next;
}

export function closeSource(): void {
  opened = null;
  // The focus returns to where it was before.
  if (previousFocus?.isConnected) previousFocus.focus();
  previousFocus = null;
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
