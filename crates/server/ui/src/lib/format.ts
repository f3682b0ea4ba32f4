// Numbers, times and sizes for people, as they are written in the language of the web UI.
import { currentLocale } from "./texts/t.svelte";

/** A formatter for each locale; making one is slow. */
function perLocale<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const locale = currentLocale();
    const one = made.get(locale) ?? make(locale);
    made.set(locale, one);
    return one;
  };
}
const numbers = (options: Intl.NumberFormatOptions) => perLocale((locale) => new Intl.NumberFormat(locale, options));

const whole = numbers({ maximumFractionDigits: 0 });
const short = numbers({ notation: "compact", maximumFractionDigits: 1 });
const tenths = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const dollars = [0, 2, 4].map((digits) =>
  numbers({ style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: digits, maximumFractionDigits: digits }));
const percents = [0, 1].map((digits) => numbers({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }));
const scores = [0, 2, 3].map((digits) => numbers({ minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }));
const dayTime = perLocale((locale) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }));
const relative = perLocale((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }));

export const count = (n: number | null | undefined): string => (n == null ? "–" : whole().format(n));

/** 12,345 as 12.3K; small numbers in full. */
export const brief = (n: number | null | undefined): string =>
  n == null ? "–" : (n < 10_000 ? whole() : short()).format(n);

/** `call` as `calls`, `entity` as `entities`. */
export const pluralOf = (one: string): string => (/[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`);

/** `1 call`, `2 calls`. */
export const plural = (n: number, one: string): string => `${count(n)} ${n === 1 ? one : pluralOf(one)}`;

export function money(usd: number | null | undefined): string {
  if (usd == null) return "–";
  const [units, cents, parts] = dollars;
  if (usd === 0 || usd >= 100) return units!().format(usd);
  if (usd < 0.0001) return `< ${parts!().format(0.0001)}`;
  return (usd < 0.1 ? parts! : cents!)().format(usd);
}

export function duration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return "–";
  if (ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${(seconds < 10 ? tenths : whole)().format(seconds)} s`;
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
  return `${(unit === 0 || size >= 100 ? whole : tenths)().format(size)} ${units[unit]}`;
}

export const percent = (share: number | null | undefined): string =>
  share == null ? "–" : percents[share > 0 && share < 0.1 ? 1 : 0]!().format(share);

/** A score with up to three digits. */
export const score = (n: number | null | undefined): string =>
  n == null ? "–" : scores[Math.abs(n) >= 100 ? 0 : n !== 0 && Math.abs(n) < 0.1 ? 2 : 1]!().format(n);

export function when(at: string | null | undefined): string {
  if (!at) return "–";
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : dayTime().format(time);
}

export function ago(at: string, now = Date.now()): string {
  const time = new Date(at).getTime();
  if (Number.isNaN(time)) return at;
  const seconds = Math.max(0, (now - time) / 1000);
  if (seconds < 45) return relative().format(0, "second");
  if (seconds < 3600) return relative().format(-Math.max(1, Math.round(seconds / 60)), "minute");
  if (seconds < 86_400) return relative().format(-Math.round(seconds / 3600), "hour");
  if (seconds < 7 * 86_400) return relative().format(-Math.round(seconds / 86_400), "day");
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
