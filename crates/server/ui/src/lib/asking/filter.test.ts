import { expect, it } from "vitest";
import type { DocumentLine } from "../../api/types";
import { asPatterns, conditions, fields, folders, withDocument, withField } from "./filter";

it("collects folders, documents and fields, and takes each out again", () => {
  const filter = withField(withDocument(withDocument(undefined, "law/*"), "a.md"), "team", "legal");
  expect(filter).toEqual({ documents: ["law/*", "a.md"], metadata: { team: "legal" } });
  const all = conditions(filter);
  expect(all.map((one) => one.label)).toEqual(["law/", "a.md", "team: legal"]);
  expect(all[0]?.without).toEqual({ documents: ["a.md"], metadata: { team: "legal" } });
  expect(conditions(all[2]?.without).map((one) => one.label)).toEqual(["law/", "a.md"]);
  expect(conditions({ documents: ["a.md"] })[0]?.without).toBeUndefined();
});
it("counts the documents of folders", () => {
  expect(folders(["law/eu/a.md", "law/b.md", "c.md"])).toEqual([["law/*", 2], ["law/eu/*", 1]]);
});
it("names a folder in place of all documents in it", () => {
  const all = ["law/eu/a.md", "law/b.md", "c.md", "it/d.md", "it/e.md"];
  expect(asPatterns(all.slice(0, 4), all)).toEqual(["law/*", "c.md", "it/d.md"]);
  expect(asPatterns(["law/eu/a.md"], [])).toEqual(["law/eu/a.md"]);
});
it("lists the values of fields", () => {
  const documents = [{ metadata: { team: ["legal", "it"], year: 2020 } }, { metadata: { team: "it" } }, {}] as unknown as DocumentLine[];
  expect([...fields(documents)]).toEqual([["team", ["it", "legal"]], ["year", [2020]]]);
});
