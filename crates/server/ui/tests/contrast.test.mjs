// Every pair of text and ground that the page uses, against WCAG AA (4.5 for text, 3 for edges of
// controls). Run by `npm test`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(new URL("../src/styles/tokens.css", import.meta.url), "utf8");
const blocks = css.split("prefers-color-scheme: dark");
const colours = (text) => Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/gi)].map((m) => [m[1], m[2]]));
const light = colours(blocks[0]);
const [mediaDark, chosenDark] = blocks[1].split(":root[data-theme=\"dark\"]");
const dark = colours(mediaDark);

const channel = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => channel(parseInt(hex.slice(i, i + 2), 16) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
  return (x + 0.05) / (y + 0.05);
};
const GROUNDS = ["paper", "card", "raised"];
const PAIRS = [
  ...["ink", "soft", "faint", "accent", "bad", "warn", "good", "peg0", "peg1", "peg2", "peg3", "peg4", "peg5"].flatMap((t) => GROUNDS.map((g) => [t, g, 4.5])),
  ["ink", "wash", 4.5], ["soft", "wash", 4.5], ["accent", "accent-wash", 4.5], ["ink", "accent-wash", 4.5], ["soft", "accent-wash", 4.5], ["accent-ink", "accent", 4.5],
  ["good", "good-wash", 4.5], ["bad", "bad-wash", 4.5], ["warn", "warn-wash", 4.5], ["ink", "bad-wash", 4.5], ["soft", "bad-wash", 4.5], ["ink", "warn-wash", 4.5], ["mark-ink", "mark", 4.5],
  ...GROUNDS.map((g) => ["strong-line", g, 3]),
];

for (const [name, set] of Object.entries({ light, dark })) {
  test(`${name} colours can be read`, () => {
    const weak = PAIRS.map(([text, ground, least]) => [text, ground, ratio(set[text], set[ground]), least]).filter(([, , got, least]) => got < least);
    assert.deepEqual(weak.map(([t, g, got]) => `${t} on ${g}: ${got.toFixed(2)}`), []);
  });
}
test("dark is the same whether the system or the reader chooses it", () => assert.deepEqual(colours(chosenDark), dark));
