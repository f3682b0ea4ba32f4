// Where a question is searched: folders, documents and fields of documents.
import type { DocumentLine, FieldValue, Filter } from "../../api/types";

export interface Condition {
  label: string;
  /** The filter without this condition. */
  without: Filter | undefined;
}

/** A filter without empty parts; `undefined` if nothing is left. */
function tidy(filter: Filter): Filter | undefined {
  const { documents, metadata, ...rest } = filter;
  const made: Filter = {
    ...rest,
    ...(documents?.length ? { documents } : {}),
    ...(metadata && Object.keys(metadata).length ? { metadata } : {}),
  };
  return Object.keys(made).length ? made : undefined;
}

/** `contracts/*` is shown as `contracts/`. */
const shownName = (pattern: string): string => pattern.replace(/\/\*$/, "/");

export function conditions(filter: Filter | undefined): Condition[] {
  if (!filter) return [];
  const documents = (filter.documents ?? []).map((name): Condition => ({
    label: shownName(name),
    without: tidy({ ...filter, documents: (filter.documents ?? []).filter((one) => one !== name) }),
  }));
  const fields = Object.entries(filter.metadata ?? {}).map(([field, value]): Condition => {
    const { [field]: _, ...metadata } = filter.metadata ?? {};
    return { label: `${field}: ${String(value)}`, without: tidy({ ...filter, metadata }) };
  });
  return [...documents, ...fields];
}

/** With this document or pattern of documents in addition. */
export const withDocument = (filter: Filter | undefined, name: string): Filter =>
  ({ ...filter, documents: [...new Set([...(filter?.documents ?? []), name])] });

export const withField = (filter: Filter | undefined, field: string, value: FieldValue): Filter =>
  ({ ...filter, metadata: { ...filter?.metadata, [field]: value } });

/** The folders of these names, as patterns for what is in them, with the number of documents. */
export function folders(names: readonly string[]): [pattern: string, documents: number][] {
  const counts = new Map<string, number>();
  for (const name of names) {
    const parts = name.split("/").slice(0, -1);
    parts.forEach((_, at) => {
      const folder = `${parts.slice(0, at + 1).join("/")}/*`;
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    });
  }
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

/** The names of documents; the pattern of a folder in place of those in it, where all of them are chosen. */
export function asPatterns(chosen: readonly string[], all: readonly string[]): string[] {
  const sizes = new Map(folders(all));
  const whole = folders(chosen).flatMap(([pattern, n]) => (n > 1 && sizes.get(pattern) === n ? [pattern] : []));
  const isIn = (pattern: string) => (name: string) => name !== pattern && name.startsWith(pattern.slice(0, -1));
  const outer = whole.filter((one) => !whole.some((other) => isIn(other)(one)));
  return [...outer, ...chosen.filter((name) => !outer.some((pattern) => isIn(pattern)(name)))];
}

/** The fields of documents with their values; values that are lists count one by one. */
export function fields(documents: readonly DocumentLine[]): Map<string, FieldValue[]> {
  const found = new Map<string, Set<FieldValue>>();
  for (const { metadata } of documents) {
    for (const [field, value] of Object.entries(metadata ?? {})) {
      const values = found.get(field) ?? new Set();
      for (const one of Array.isArray(value) ? value : [value]) values.add(one);
      found.set(field, values);
    }
  }
  return new Map([...found].map(([field, values]) => [field, [...values].sort()]));
}
