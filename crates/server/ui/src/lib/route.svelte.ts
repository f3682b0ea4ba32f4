// The current page, from the address, with the History API. Changes that are not saved are not left
// without a question.
import { unsaved } from "./unsaved.svelte";

interface Place {
  path: string;
  query: URLSearchParams;
}

const here = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
});

let place = $state.raw<Place>(here());

/** How many pages of the web UI there are before this one in the history of the tab. */
let position = positionIn(history.state);
history.replaceState({ position }, "");

function positionIn(state: unknown): number {
  const found = (state as { position?: unknown } | null)?.position;
  return typeof found === "number" ? found : 0;
}

addEventListener("popstate", (event) => {
  const target = positionIn(event.state);
  const steps = target - position;
  if (unsaved.what && steps !== 0) {
    // The browser has moved already: it moves back, and again once the changes are discarded.
    history.go(-steps);
    unsaved.leave(() => history.go(steps));
    return;
  }
  // After the way back from there the address is that of the page.
  if (unsaved.what) return;
  position = target;
  place = here();
});

export const route = {
  get path() {
    return place.path;
  },
  get query() {
    return place.query;
  },
  /** The parts of the path, decoded: `/runs/a%2Fb` is `["runs", "a/b"]`. */
  get parts(): string[] {
    return place.path.split("/").filter(Boolean).map(decoded);
  },
};

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function go(to: string, how: { replace?: boolean } = {}): void {
  if (how.replace) history.replaceState({ position }, "", to);
  else if (to !== location.pathname + location.search) history.pushState({ position: ++position }, "", to);
  place = here();
}

/** Handles clicks on links inside the web UI; new tabs, downloads and other sites are left to the browser. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href, location.href);
  if (to.origin !== location.origin || to.pathname.startsWith("/api/")) return;
  if (to.hash && to.pathname === location.pathname) return;
  event.preventDefault();
  const address = to.pathname + to.search;
  const move = () => {
    go(address);
    scrollTo(0, 0);
  };
  if (address === location.pathname + location.search) move();
  else unsaved.leave(move);
}
