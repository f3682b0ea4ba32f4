// `/` moves the focus to the question, or to the search field of the current page.

export function focusQuestion(event: KeyboardEvent): void {
  if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey) return;
  const at = event.target as HTMLElement;
  if (at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName)) return;
  if (document.querySelector("dialog[open]")) return;
  const place = document.querySelector<HTMLElement>("[data-slash]");
  if (!place) return;
  event.preventDefault();
  place.focus();
}

/** Arrow keys, Home and End move between the items of a list that is a single tab stop. */
export function moveFocus(event: KeyboardEvent, selector: string): void {
  const list = event.currentTarget as HTMLElement;
  const items = [...list.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const to = {
    ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1,
  }[event.key];
  const next = to === undefined ? undefined : items[to];
  if (!next) return;
  event.preventDefault();
  for (const item of items) item.tabIndex = item === next ? 0 : -1;
  next.focus();
}
