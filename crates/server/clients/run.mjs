// Starts `halma serve --demo` and runs the tests of every client against it. With HALMA_BASE=shared two
// servers and three workers share a base in PostgreSQL, behind a proxy. Python clients are skipped unless
// HALMA_PYTHON names an interpreter that has the packages.
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { missingPostgres, startPostgres } from "../harness/postgres.mjs";
import { OFFER } from "../harness/shared.mjs";
import { folder, isShared, newBase } from "./servers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const python = process.env.HALMA_PYTHON;
// The same requests in each run; another seed generates others.
const SEED = process.env.HALMA_SEED ?? "7";
const EXAMPLES = process.env.HALMA_EXAMPLES ?? (isShared ? "5" : "15");
// Only of several servers can one be killed. It has a base of its own and mostly waits.
const KILLS = "kills.test.mjs";

const missing = isShared && missingPostgres();
if (missing) {
  console.error(`warning: clients of several servers are not tested: ${missing}`);
  process.exit(0);
}
const postgres = isShared ? await startPostgres() : undefined;
if (postgres) process.env.HALMA_TEST_POSTGRES = postgres.address;
const work = folder();
writeFileSync(join(work.path, "halma.toml"), `${isShared ? OFFER : ""}\n[serve]\nrequests_per_minute = 0\n`);
const base = newBase(work.path);
const server = await base.serve("--demo");

const failed = [];
let killing;
/** Asynchronous, because the server blocks unless its log is read in the meantime. */
async function run(name, program, args, cwd = here) {
  console.log(`\n— ${name}`);
  const env = { ...process.env, ...base.env, HALMA_URL: server.url, HALMA_KB: base.kb };
  const child = spawn(program, args, { cwd, env, stdio: "inherit" });
  const ended = await new Promise((done) => child.once("error", done).once("exit", done));
  if (ended !== 0) failed.push(`${name} (${ended})`);
}

try {
  const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.mjs") && name !== KILLS);
  const node = (names) => [process.execPath, ["--test", "--test-timeout=290000", "--test-force-exit", ...names.map((name) => join("tests", name))]];
  if (isShared) killing = run("what is killed loses nothing", ...node([KILLS]));
  await run("Node clients", ...node(tests));
  if (python) {
    await run("OpenAI's Python client", python, ["-m", "unittest", "discover", "--start-directory", "tests", "--pattern", "*_test.py"]);
    // With the packages of LangChain and LlamaIndex themselves, typed as mypy reads it.
    const client = join(here, "..", "..", "..", "python");
    await run("the Python package", python, ["-m", "unittest", "discover", "--start-directory", join(client, "tests")], client);
    if (!isShared) await run("types of the Python package", python, ["-m", "mypy", "halma"], client);
    // Last: from the first key on every request needs one.
    const key = base.halma("keys", "create", "--name", "fuzz", "--scope", "ask", "--scope", "write", "--scope", "admin");
    const headers = { authorization: `Bearer ${key}` };
    await run("schemathesis", python, [
      "-m", "schemathesis.cli", "--config-file", join(here, "schemathesis.toml"),
      "run", `${server.url}/api/v1/openapi.json`, "--header", `Authorization: ${headers.authorization}`,
      "--seed", SEED, "--max-examples", EXAMPLES,
    ], work.path); // where it stores its cache
    // If a generated request had revoked the key, all later ones would have been refused.
    const me = await fetch(`${server.url}/api/v1/me`, { headers });
    if (me.status !== 200) failed.push(`schemathesis has revoked its own key (${me.status})`);
  }
} finally {
  await killing;
  await server.stop().catch((error) => failed.push(error.message));
  await postgres?.stop();
  work.remove();
}
if (failed.length) {
  console.error(`error: ${failed.join("; ")}`);
  process.exit(1);
}
