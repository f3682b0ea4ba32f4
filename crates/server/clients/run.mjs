// Starts `halma serve --demo` and runs every client's tests against it. Python's are left out where
// HALMA_PYTHON does not name an interpreter that has the packages.
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { folder, halma, serve } from "./servers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const python = process.env.HALMA_PYTHON;
// The same requests at each run; another number tries others.
const SEED = process.env.HALMA_SEED ?? "7";
const EXAMPLES = process.env.HALMA_EXAMPLES ?? "15";

const place = folder();
writeFileSync(join(place.path, "halma.toml"), "[serve]\nrequests_per_minute = 0\n");
const server = await serve(place.path, "--demo");
const base = join(place.path, ".halma", "demo", "base");

const failed = [];
/** Not the synchronous call: the server's log has to be read meanwhile, or the server waits. */
async function run(what, program, words, cwd = here) {
  console.log(`\n— ${what}`);
  const env = { ...process.env, HALMA_URL: server.url, HALMA_KB: base };
  const child = spawn(program, words, { cwd, env, stdio: "inherit" });
  const ended = await new Promise((done) => child.once("error", done).once("exit", done));
  if (ended !== 0) failed.push(`${what} (${ended})`);
}

try {
  const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.mjs"));
  await run("the clients of Node", process.execPath, ["--test", "--test-timeout=180000", "--test-force-exit", ...tests.map((name) => join("tests", name))]);
  if (python) {
    await run("OpenAI's client of Python", python, ["-m", "unittest", "discover", "--start-directory", "tests", "--pattern", "*_test.py"]);
    // Last: from the first key on every request needs one.
    const key = halma(place.path, "keys", "create", "--name", "fuzz", "--scope", "ask", "--scope", "write", "--scope", "admin", "--kb", base);
    const headers = { authorization: `Bearer ${key}` };
    await run("schemathesis", python, [
      "-m", "schemathesis.cli", "--config-file", join(here, "schemathesis.toml"),
      "run", `${server.url}/api/v1/openapi.json`, "--header", `Authorization: ${headers.authorization}`,
      "--seed", SEED, "--max-examples", EXAMPLES,
    ], place.path); // where it keeps what it remembers
    // Were the key lost on the way, then all after it was refused and nothing was tested.
    const me = await fetch(`${server.url}/api/v1/me`, { headers });
    if (me.status !== 200) failed.push(`schemathesis has lost its own key (${me.status})`);
  }
} finally {
  await server.stop().catch((error) => failed.push(error.message));
  place.remove();
}
if (failed.length) {
  console.error(`error: ${failed.join("; ")}`);
  process.exit(1);
}
