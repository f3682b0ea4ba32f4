// Numbers, times and sizes for people.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });

export const count = (n: number | null | undefined): string => (n == null ? "–" : whole.format(n));

/** 12,345 as 12.3K; small numbers in full. */
export const brief = (n: number | null | undefined): string =>
  n == null ? "–" : n < 10_000 ? whole.format(n) : short.format(n);

/** `call` as `calls`, `entity` as `entities`. */
export const pluralOf = (one: string): string => (/[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`);

/** `1 call`, `2 calls`. */
export const plural = (n: number, one: string): string => `${count(n)} ${n === 1 ? one : pluralOf(one)}`;

export function money(usd: number | null | undefined): string {
  if (usd == null) return "–";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "< $0.0001";
  if (usd < 0.1) return `$${usd.toFixed(4)}`;
  return `$${usd < 100 ? usd.toFixed(2) : whole.format(usd)}`;
}

export function duration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return "–";
  if (ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

export function bytes(n: number | null | undefined): string {
  if (n == null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = n;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

export const percent = (share: number | null | undefined): string =>
  share == null ? "–" : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;

/** A score with up to three digits. */
export const score = (n: number | null | undefined): string =>
  n == null ? "–" : Math.abs(n) >= 100 ? n.toFixed(0) : n.toFixed(n !== 0 && Math.abs(n) < 0.1 ? 3 : 2);

const dayTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function when(at: string | null | undefined): string {
  if (!at) return "–";
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : dayTime.format(time);
}

export function ago(at: string, now = Date.now()): string {
  const time = new Date(at).getTime();
  if (Number.isNaN(time)) return at;
  const seconds = Math.max(0, (now - time) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return plural(Math.round(seconds / 86_400), "day") + " ago";
  return when(at);
}

export const tokens = (usage: { prompt_tokens: number; completion_tokens: number }): number =>
  usage.prompt_tokens + usage.completion_tokens;

export const cut = (text: string, most: number): string => {
  const flat = text.replace(/\s+/g, " ").trim();
  const letters = Array.from(flat);
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : flat;
};

/** `model_called` and `pike_l1` with spaces. */
export const words = (name: string): string => name.replaceAll("_", " ");
