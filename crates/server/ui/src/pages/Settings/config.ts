// The configuration as lines: name, value, where it comes from.

export interface Line {
  name: string;
  value: string;
  from?: string;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads `{a: {b: {value, from}}}` as well as `[{name, value, from}]` and plain values. */
export function flat(config: unknown, before = ""): Line[] {
  if (Array.isArray(config)) {
    return config.flatMap((one) => (isTree(one) && (one["name"] ?? one["key"]) !== undefined ? [line(String(one["name"] ?? one["key"]), one)] : []));
  }
  if (!isTree(config)) return [];
  return Object.entries(config).flatMap(([key, value]) => {
    const name = before ? `${before}.${key}` : key;
    if (isTree(value) && "value" in value) return [line(name, value)];
    if (isTree(value) || (Array.isArray(value) && value.some(isTree))) return flat(value, name);
    return [{ name, value: shown(value) }];
  });
}

function line(name: string, of: Tree): Line {
  const from = of["from"] ?? of["source"] ?? of["origin"];
  return { name, value: shown(of["value"]), ...(typeof from === "string" ? { from } : {}) };
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (Array.isArray(value)) return value.map(shown).join(", ") || "none";
  return isTree(value) ? JSON.stringify(value) : String(value);
}

/** A price in dollars for a million tokens. */
export function priceOf(price: unknown): string {
  if (!isTree(price)) return price == null ? "free, or not known" : String(price);
  const input = price["input"] ?? price["prompt"];
  const output = price["output"] ?? price["completion"];
  if (!input && !output) return "free, or not known";
  return `$${shown(input)} in, $${shown(output)} out a million tokens`;
}
