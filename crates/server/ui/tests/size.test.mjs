// The first load stays small: what the browser loads before any click, compressed.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";

const PAGE = new URL("../dist/", import.meta.url);
const MAX = 160_000;

/** [name, compressed bytes] of the index, the files it references, and the two fonts of every page. */
export function firstLoad() {
  const index = readFileSync(new URL("index.html", PAGE), "utf8");
  const named = [...index.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((m) => m[1]);
  const fonts = readdirSync(new URL("assets/", PAGE)).filter((f) => /-latin-wght-normal-.*\.woff2$/.test(f)).map((f) => `assets/${f}`);
  return ["index.html", ...named, ...fonts].map((name) => {
    const bytes = readFileSync(new URL(name, PAGE));
    return [name, name.endsWith(".woff2") ? bytes.length : gzipSync(bytes, { level: 6 }).length];
  });
}

test("the first load is at most 160 kB compressed", () => {
  const files = firstLoad();
  const total = files.reduce((sum, [, size]) => sum + size, 0);
  console.log(files.map(([name, size]) => `${String(size).padStart(7)} ${name}`).join("\n"));
  console.log(`${String(total).padStart(7)} in all`);
  assert.ok(files.length >= 5, "the index references its script and style, and the fonts exist");
  assert.ok(total <= MAX, `${total} bytes`);
});
test("the index has no inline script or style and no external address", () => {
  const index = readFileSync(new URL("index.html", PAGE), "utf8");
  assert.ok(!/<style|style=|\son\w+=/.test(index));
  assert.ok([...index.matchAll(/<script([^>]*)>([^<]*)/g)].every((m) => m[1].includes("src=") && !m[2].trim()));
  assert.ok(!/https?:\/\//.test(index));
  assert.ok(existsSync(new URL("licences.txt", PAGE)), "the licences of what it is built from are shipped with it");
});
