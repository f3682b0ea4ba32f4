// Runs the tests of every client against `halma serve --demo`, and again against two servers and three
// workers that share a base in PostgreSQL, behind a proxy. Python clients are skipped unless HALMA_PYTHON
// names an interpreter that has the packages.
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { missingPostgres, startPostgres } from "../harness/postgres.mjs";
import { OFFER } from "../harness/shared.mjs";
import { folder, newBase } from "./servers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const python = process.env.HALMA_PYTHON;
// The same requests in each run; another seed generates others.
const SEED = process.env.HALMA_SEED ?? "7";
const EXAMPLES = process.env.HALMA_EXAMPLES ?? "15";
// What a request does is the same behind a proxy: fewer show whether servers differ.
const SHARED_EXAMPLES = process.env.HALMA_EXAMPLES ?? "5";
// Only of several servers can one be killed. It has a base of its own and mostly waits.
const KILLS = "kills.test.mjs";

const failed = [];
/** Asynchronous, because the server blocks unless its log is read in the meantime. */
async function run(name, [program, ...args], { env = {}, cwd = here } = {}) {
  console.log(`\n— ${name}`);
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit" });
  const ended = await new Promise((done) => child.once("error", done).once("exit", done));
  if (ended !== 0) failed.push(`${name} (${ended})`);
}

const node = (names) => [process.execPath, "--test", "--test-timeout=290000", "--test-force-exit", ...names.map((name) => join("tests", name))];

/** Every client against a new base with the demo library. */
async function runClients({ shared }) {
  const work = folder();
  const title = (name) => (shared ? `${name}, two servers behind a proxy` : name);
  writeFileSync(join(work.path, "halma.toml"), `${shared ? OFFER : ""}\n[serve]\nrequests_per_minute = 0\n`);
  const base = newBase(work.path, shared);
  let server;
  try {
    server = await base.serve("--demo");
    const env = { ...base.env, HALMA_BASE: shared ? "shared" : "", HALMA_URL: server.url, HALMA_KB: base.kb };
    const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.mjs") && name !== KILLS);
    await run(title("Node clients"), node(tests), { env });
    if (!python) return;
    await run(title("OpenAI's Python client"), [python, "-m", "unittest", "discover", "--start-directory", "tests", "--pattern", "*_test.py"], { env });
    // With the packages of LangChain and LlamaIndex themselves, typed as mypy reads it.
    const cwd = join(here, "..", "..", "..", "python");
    await run(title("the Python package"), [python, "-m", "unittest", "discover", "--start-directory", join(cwd, "tests")], { env, cwd });
    if (!shared) await run("types of the Python package", [python, "-m", "mypy", "halma"], { cwd });
    // Last: from the first key on every request needs one.
    const key = base.halma("keys", "create", "--name", "fuzz", "--scope", "ask", "--scope", "write", "--scope", "admin");
    const headers = { authorization: `Bearer ${key}` };
    await run(title("schemathesis"), [
      python, "-m", "schemathesis.cli", "--config-file", join(here, "schemathesis.toml"),
      "run", `${server.url}/api/v1/openapi.json`, "--header", `Authorization: ${headers.authorization}`,
      "--seed", SEED, "--max-examples", shared ? SHARED_EXAMPLES : EXAMPLES,
    ], { cwd: work.path }); // where it stores its cache
    // If a generated request had revoked the key, all later ones would have been refused.
    const me = await fetch(`${server.url}/api/v1/me`, { headers });
    if (me.status !== 200) failed.push(title(`schemathesis has revoked its own key (${me.status})`));
  } finally {
    await server?.stop().catch((error) => failed.push(error.message));
    work.remove();
  }
}

const missing = missingPostgres();
if (missing) console.error(`warning: clients of several servers are not tested: ${missing}`);
const postgres = missing ? undefined : await startPostgres();
if (postgres) process.env.HALMA_TEST_POSTGRES = postgres.address;
let killing;
try {
  if (postgres) killing = run("what is killed loses nothing", node([KILLS]), { env: { HALMA_BASE: "shared" } });
  await runClients({ shared: false });
  if (postgres) await runClients({ shared: true });
} finally {
  await killing;
  await postgres?.stop();
}
if (failed.length) {
  console.error(`error: ${failed.join("; ")}`);
  process.exit(1);
}
