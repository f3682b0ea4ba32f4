// The texts of the web UI: `t("key", values)` in the language that is in use. English is part of the
// first load, any other language is one file, loaded on demand (`language.svelte.ts`).
import { en } from "./en";
import type { options } from "./en-options";
import type { pages } from "./en-pages";
import type { trace } from "./en-trace";

/** A text, or its forms by the plural category of the value `n`. Values stand in braces: `{name}`. */
export type Text = string | { readonly one: string; readonly other: string };

type English = typeof en & typeof options & typeof pages & typeof trace;
export type Key = keyof English;
/** A language: every key of English and no other. */
export type Texts = Readonly<Record<Key, Text>>;

type Names<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type NamesIn<T> = T extends string ? Names<T> : T extends object ? Names<T[keyof T]> : never;
export type Values<K extends Key> = Readonly<Record<NamesIn<English[K]>, string | number>>;
/** No second argument where a text has no values. */
type Rest<K extends Key> = [NamesIn<English[K]>] extends [never] ? [] : [values: Values<K>];

const english: Record<string, Text> = { ...en };
let texts = $state.raw<Readonly<Record<string, Text>>>({});
let locale = $state("en-GB");

/** Adds English texts of pages that are loaded on demand. */
export function addEnglish(more: Readonly<Record<string, Text>>): void {
  Object.assign(english, more);
}

/** Uses these texts, and this locale for numbers, dates and plurals; English where a text is missing. */
export function useTexts(chosen: Readonly<Record<string, Text>>, of: string): void {
  [texts, locale] = [chosen, of];
}

/** The locale of numbers and dates, such as `de-CH`. */
export const currentLocale = (): string => locale;

const plurals = new Map<string, Intl.PluralRules>();
const numbers = new Map<string, Intl.NumberFormat>();
function cached<T>(all: Map<string, T>, make: (locale: string) => T): T {
  const found = all.get(locale) ?? make(locale);
  all.set(locale, found);
  return found;
}

/** The text without its values, in the right plural form. */
export function template(key: Key, n?: string | number): string {
  const text = texts[key] ?? english[key] ?? key;
  if (typeof text === "string") return text;
  const rules = cached(plurals, (of) => new Intl.PluralRules(of));
  return typeof n === "number" && rules.select(n) === "one" ? text.one : text.other;
}

/** A value as text; numbers as people of the language write them. */
export function valueText(value: string | number | undefined): string {
  if (typeof value !== "number") return value ?? "";
  return cached(numbers, (of) => new Intl.NumberFormat(of)).format(value);
}

/** Puts values into a text. Braces in values stay as they are. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => valueText(values[name]));

export function t<K extends Key>(key: K, ...[values = {} as Values<K>]: Rest<K> | [Values<K>?]): string {
  const all = values as Readonly<Record<string, string | number>>;
  return fill(template(key, all["n"]), all);
}
