import { expect, it } from "vitest";
import { markNames, sentencesNaming } from "./sentences";

const PASSAGE = "# Varn\n\nThe tower opened in 1911. Ilse Thorn built Varn. Thorn left. It burned.";
const texts = (...names: string[]) => sentencesNaming(PASSAGE, names).map((one) => one.text);
it("chooses the sentences that name the most", () => {
  expect(texts("Ilse Thorn", "varn")).toEqual(["Ilse Thorn built Varn."]);
  expect(texts("Thorn")).toEqual(["Ilse Thorn built Varn.", "Thorn left."]);
  expect(texts("Osk")).toEqual(["The tower opened in 1911."]);
  expect(PASSAGE.slice(sentencesNaming(PASSAGE, ["burned"])[0]?.start)).toBe("It burned.");
});
it("marks names, whatever signs they have", () => {
  expect(markNames("A (b) met a (B).", ["A (b)"])).toEqual(["", "A (b)", " met ", "a (B)", "."]);
  expect(markNames("A", [""])).toEqual(["A"]);
});
