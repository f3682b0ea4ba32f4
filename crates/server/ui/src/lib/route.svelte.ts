// The current page, from the address, with the History API.

interface Place {
  path: string;
  query: URLSearchParams;
}

const here = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
});

let place = $state.raw<Place>(here());
addEventListener("popstate", () => (place = here()));

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
  if (how.replace) history.replaceState(null, "", to);
  else if (to !== location.pathname + location.search) history.pushState(null, "", to);
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
  go(to.pathname + to.search);
  scrollTo(0, 0);
}
