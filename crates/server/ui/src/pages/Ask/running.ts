// The questions that are being answered, in the storage of the tab: a reload ends them, and the page
// then offers to ask them again.
const STORAGE_KEY = "halma.running";

type Entry = [conversation: string, question: string];

// Leaving the page breaks off the requests, which must not look like their end.
let leaving = false;
if (typeof addEventListener === "function") {
  addEventListener("pagehide", () => (leaving = true));
  addEventListener("pageshow", () => (leaving = false));
}

function read(): Entry[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one): one is Entry => Array.isArray(one) && one.length === 2) : [];
  } catch {
    return [];
  }
}

function write(entries: Entry[]): void {
  if (entries.length) sessionStorage.setItem(STORAGE_KEY, JSON.stringify(entries));
  else sessionStorage.removeItem(STORAGE_KEY);
}

export const running = {
  add: (conversation: string, question: string): void => write([...read(), [conversation, question]]),
  remove(conversation: string, question: string): void {
    if (leaving) return;
    const entries = read();
    const at = entries.findIndex(([id, text]) => id === conversation && text === question);
    if (at >= 0) write(entries.toSpliced(at, 1));
  },
  of: (conversation: string): string[] => read().flatMap(([id, text]) => (id === conversation ? [text] : [])),
  /** Forgets those of a conversation; all without one. */
  clear: (conversation?: string): void => write(read().filter(([id]) => conversation !== undefined && id !== conversation)),
};
