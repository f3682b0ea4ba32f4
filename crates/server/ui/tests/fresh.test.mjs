// The committed build is up to date.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const PAGE = fileURLToPath(new URL("../dist/", import.meta.url));
const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length).replace(/^[/\\]/, ""))
    .sort();

test("the committed build is up to date", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "halma-ui-"));
  try {
    await build({ root: fileURLToPath(new URL("..", import.meta.url)), logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
    assert.deepEqual(files(PAGE), files(folder), "run `npm run build` and commit crates/server/ui/dist");
    for (const name of files(folder)) {
      assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(PAGE, name))), `${name} differs: run \`npm run build\` and commit crates/server/ui/dist`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
