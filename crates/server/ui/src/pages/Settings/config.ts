// How values of the configuration and prices are displayed.
import type { Price } from "../../api/types";

export function displayValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (Array.isArray(value)) return value.map(displayValue).join(", ") || "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A price in US dollars per million tokens. */
export function formatPrice({ prompt, completion }: Price): string {
  if (!prompt && !completion) return "free or unknown";
  return `$${prompt} in, $${completion} out per million tokens`;
}
