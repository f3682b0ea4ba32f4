import { expect, it } from "vitest";

const FILES = import.meta.glob<string>(["/src/**/*.svelte"], { query: "?raw", import: "default", eager: true });
/** The viewer of evaluations is English, as the reports and the terms in it are. */
const ENGLISH = /\/pages\/Evaluate\/(?!Evaluate|ReportPage)[A-Z]\w+\.svelte$/;
/** Names, examples of what is typed, and what is code. */
const EXCEPTIONS = ["Halma", "JSON", "PDF", "pdf", "halma_…", "dialog", "llama3.2:3b", "http://127.0.0.1:11434/v1", "halma eval questions.jsonl --strategy naive,kar3"];
const ATTRIBUTES = /\s(?:aria-label|title|placeholder|alt|what|name)="([^"{]*[\p{L}]{2}[^"]*)"/gu;

/** Markup without what stands in braces, which may nest. */
function withoutExpressions(markup: string): string {
  let depth = 0;
  return Array.from(markup, (sign) => {
    if (sign === "{") depth += 1;
    if (sign === "}") return depth-- > 1 ? "" : "\u0000";
    return depth ? "" : sign;
  }).join("");
}

function textsIn(source: string): string[] {
  const markup = source.replace(/<(script|style)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->/g, "");
  // Values of inputs and names of icons are no texts.
  const attributes = [...markup.replace(/<(input|Icon|AnswerView)\b[^>]*\sname="[^"]*"/g, "<$1").matchAll(ATTRIBUTES)].map((match) => match[1] ?? "");
  const texts = withoutExpressions(markup).replace(/<[^>]*>/g, "\u0000").split("\u0000");
  return [...attributes, ...texts].map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text) && !EXCEPTIONS.includes(text));
}

it("finds texts that are not from the catalogue", () => {
  expect(textsIn('<p title="Some text">{t("a.b", { n: `${1}` })} More <b>words</b></p><script>const a = "b";</script>')).toEqual(["Some text", "More", "words"]);
});
it.each(Object.entries(FILES).filter(([path]) => !ENGLISH.test(path) ))("has no text in the markup of %s", (_, source) => {
  expect(textsIn(source)).toEqual([]);
});
