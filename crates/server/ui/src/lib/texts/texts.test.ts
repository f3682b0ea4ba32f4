import { afterEach, describe, expect, it } from "vitest";
import de from "./de";
import { en } from "./en";
import { options } from "./en-options";
import { pages } from "./en-pages";
import { trace } from "./en-trace";
import { t, useTexts, type Key, type Text } from "./t.svelte";

const english: Record<string, Text> = { ...en, ...options, ...pages, ...trace };
const names = (text: Text): string[] => {
  const forms = typeof text === "string" ? [text] : Object.values(text);
  return [...new Set(forms.flatMap((form) => [...form.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "")))].sort();
};
const links = (text: Text): string[] => [...JSON.stringify(text).matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? "").sort();

afterEach(() => useTexts({}, "en-GB"));

describe("languages", () => {
  it("has in German every key of English and no other", () => {
    expect(Object.keys(de).sort()).toEqual(Object.keys(english).sort());
  });
  it("has no key on both pages and in the first load", () => {
    expect(Object.keys(en).filter((key) => key in pages || key in options || key in trace)).toEqual([]);
  });
  it.each(Object.entries(de))("has the values and links of English in %s", (key, text) => {
    const source = english[key] ?? "";
    expect(names(text)).toEqual(names(source));
    expect(links(text)).toEqual(links(source));
    expect(JSON.stringify(text)).not.toMatch(/""|^" | "$/);
  });
});

describe("t", () => {
  it("puts values into the text once", () => {
    useTexts({ "nav.ask": "{name} asks {n}" }, "de");
    expect(t("nav.ask", { name: "{n}", n: 12_345 } as never)).toBe("{n} asks 12.345");
  });
  it("chooses the plural form of the language", () => {
    const forms = { one: "{n} Quelle", other: "{n} Quellen" };
    useTexts({ "nav.ask": forms }, "de");
    expect([0, 1, 2].map((n) => t("nav.ask", { n } as never))).toEqual(["0 Quellen", "1 Quelle", "2 Quellen"]);
  });
  it("is English where a language has no text", () => {
    useTexts({}, "de");
    expect(t("nav.ask")).toBe("Ask");
    expect(t("no.such" as Key)).toBe("no.such");
  });
});
