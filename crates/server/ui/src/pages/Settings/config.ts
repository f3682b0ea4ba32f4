// How values of the configuration and prices are displayed.
import type { ConfigValue, ModelLine, Price } from "../../api/types";
import { bytes, count, duration, money } from "../../lib/format";
import { t, type Key } from "../../lib/texts/t.svelte";

/** The model that needs no server. */
export const isBuiltIn = (model: ModelLine): boolean => model.name === "extractive";

export function displayValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return t("config.none");
  if (Array.isArray(value)) return value.map(displayValue).join(", ") || t("config.none");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A price in US dollars per million tokens. */
export const formatPrice = ({ prompt, completion }: Price): string =>
  prompt || completion ? t("models.price", { prompt: money(prompt), completion: money(completion) }) : t("models.free");

/** Which limits there are, by what they are about: the beginnings of their keys, and their ends. */
const LIMITS = [
  ["question", /^(budget\.ask|ask\.max_question_chars)/], ["build", /^budget\.index/], ["evaluation", /^budget\.eval/],
  ["storage", /^(cache\.max_bytes|serve\.(keep_|max_workspace_))/], ["server", /^serve\.(connections|concurrent_asks|requests_per_minute|max_|open_workspaces|\w+_seconds)/],
] as const;
/** Where zero is no limit. */
const UNLIMITED = ["requests_per_minute", "keep_trace_days"];
const UNITS: [RegExp, (value: number) => string][] = [
  [/usd$/, money], [/bytes$/, bytes], [/seconds$/, (value) => duration(value * 1000)],
  [/days$/, (n) => t("limits.days", { n })], [/chars$/, (n) => t("limits.characters", { n })], [/./, count],
];

export interface Limit {
  key: string;
  group: string;
  meaning: string;
  value: string;
  isChanged: boolean;
}

/** The limits among these values, those first that are not the default. */
export function limitsOf(values: readonly ConfigValue[]): Limit[] {
  const limits = values.flatMap(({ key, value, origin }): Limit[] => {
    const group = LIMITS.find(([, keys]) => keys.test(key))?.[0];
    if (!group) return [];
    const name = key.slice(key.lastIndexOf(".") + 1);
    const isNone = typeof value !== "number" || (value === 0 && UNLIMITED.includes(name));
    const written = isNone ? t("limits.none") : UNITS.find(([end]) => end.test(name))![1](value);
    return [{ key, group: t(`limits.${group}`), meaning: t(`limits.of.${name}` as Key), value: written, isChanged: origin !== "default" }];
  });
  return limits.sort((a, b) => Number(b.isChanged) - Number(a.isChanged));
}
