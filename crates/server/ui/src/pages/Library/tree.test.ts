import { expect, it } from "vitest";
import type { DocumentLine } from "../../api/types";
import { fieldOf, rowsOf, type Sorting } from "./tree";

const line = (name: string, more: Partial<DocumentLine> = {}) => ({ name, state: "indexed", bytes: 1, ...more }) as DocumentLine;
const documents = [line("b.md", { bytes: 9 }), line("law/eu/c.md", { state: "failed" }), line("a.md"), line("law/d.md", { metadata: { team: ["legal", "it"] } }), line("/odd")];
const show = (column: Sorting["column"], descending = false, isOpen = () => true) => rowsOf(documents, { column, descending }, isOpen).map(({ path, depth }) => `${depth} ${path}`);

it("puts documents into folders, which come first", () => {
  expect(show("name")).toEqual(["0 law/", "1 law/eu/", "2 law/eu/c.md", "1 law/d.md", "0 /odd", "0 a.md", "0 b.md"]);
  expect(show("name", true, () => false)).toEqual(["0 law/", "0 b.md", "0 a.md", "0 /odd"]);
  expect(show("bytes", true, () => false).slice(1, 2)).toEqual(["0 b.md"]);
});
it("finds the field by which the documents of a folder differ from all others", () => {
  const legal = { metadata: { team: ["legal", "it"], year: 2020 } };
  const all = [line("law/a", legal), line("law/b", { metadata: { team: "legal", year: 2020 } }), line("c", { metadata: { year: 2020 } })];
  expect(fieldOf("law/", all)).toEqual(["team", "legal"]);
  expect(fieldOf("law/", [...all, line("law/d")])).toBeUndefined();
});
