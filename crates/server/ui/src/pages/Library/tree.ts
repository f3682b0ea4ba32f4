// The documents as rows of a table: in folders by the slashes of their names, and sorted by a column.
import { DocumentStateValues, type DocumentLine, type FieldValue } from "../../api/types";

export const COLUMNS = ["name", "state", "bytes", "updated"] as const;
export interface Sorting {
  column: (typeof COLUMNS)[number];
  descending: boolean;
}
export interface Row {
  /** The name of a document; of a folder with the slash after it. */
  path: string;
  /** What of it is not the name of a folder above. */
  name: string;
  depth: number;
  documents: DocumentLine[];
  isFolder: boolean;
}

/** What a row is sorted by, that of a folder by all of its documents. */
const VALUES: Record<Sorting["column"], (documents: DocumentLine[]) => number> = {
  name: () => 0,
  state: (all) => Math.max(...all.map((one) => DocumentStateValues.indexOf(one.state))),
  bytes: (all) => all.reduce((sum, one) => sum + (one.bytes ?? 0), 0),
  updated: (all) => Math.max(...all.map((one) => (one.updated ? Date.parse(one.updated) : 0))),
};

/** The rows of a folder, and those of the folders in it that are open. */
export function rowsOf(documents: readonly DocumentLine[], sorting: Sorting, isOpen: (folder: string) => boolean, folder = "", depth = 0): Row[] {
  const rows = new Map<string, Row>();
  for (const document of documents) {
    const rest = document.name.slice(folder.length);
    const slash = rest.indexOf("/");
    const isFolder = slash > 0 && slash < rest.length - 1;
    const name = isFolder ? rest.slice(0, slash + 1) : rest;
    const row = rows.get(name) ?? { path: folder + name, name, depth, documents: [], isFolder };
    row.documents.push(document);
    rows.set(name, row);
  }
  const value = VALUES[sorting.column];
  const direction = sorting.descending ? -1 : 1;
  const sorted = [...rows.values()].sort((a, b) =>
    Number(b.isFolder) - Number(a.isFolder) || direction * (value(a.documents) - value(b.documents) || a.name.localeCompare(b.name)));
  return sorted.flatMap((row) => [row, ...(row.isFolder && isOpen(row.path) ? rowsOf(row.documents, sorting, isOpen, row.path, depth + 1) : [])]);
}

/** A field with a value that every document of a folder has and no other document. */
export function fieldOf(folder: string, documents: readonly DocumentLine[]): [string, FieldValue] | undefined {
  const inside = documents.filter(({ name }) => name.startsWith(folder));
  const values = (document: DocumentLine | undefined, field: string): FieldValue[] => [document?.metadata?.[field] ?? []].flat();
  const pairs = Object.keys(inside[0]?.metadata ?? {}).flatMap((field) => values(inside[0], field).map((value): [string, FieldValue] => [field, value]));
  return pairs.find(([field, value]) => documents.every((one) => values(one, field).includes(value) === one.name.startsWith(folder)));
}
