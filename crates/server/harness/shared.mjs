// A shared base behind a proxy: two servers and three workers over a database of their own.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { newDatabase } from "./postgres.mjs";
import { halma, serve, start } from "./program.mjs";
import { startProxy } from "./proxy.mjs";

// A model that no question and no build of the tests asks, so that the workers have something to
// offer where there is no local embedder.
export const OFFER = `[models.double]\nurl = "http://127.0.0.1:9/v1"\nmodel = "double"\n
[roles]\ndefault = "extractive"\nvision = "double"\n`;

const SERVERS = 2;
const WORKERS = 3;

/**
 * A base in a new database of the server at `postgres`, in a folder with a `halma.toml`. `kb` is its
 * address, `env` the machine that commands of the tests run on.
 */
export function sharedBase(cwd, postgres) {
  const machines = join(cwd, "machines");
  const keys = join(cwd, "keys");
  mkdirSync(keys, { recursive: true });
  const database = newDatabase(postgres);
  const kb = `${database}${database.includes("?") ? "&" : "?"}workspace=test&keys=${keys}`;
  const machine = (name) => {
    const replicas = join(machines, name);
    mkdirSync(replicas, { recursive: true });
    return { HALMA_REPLICAS: replicas };
  };
  const env = machine("client");
  const run = (...words) => halma({ cwd, env }, ...words, "--kb", kb);
  return { kb, env, halma: run, serve: (...words) => serveShared({ cwd, kb, machine }, words) };
}

/** Stops everything, also if something of it fails; the first failure is reported. */
async function stopAll(stops) {
  const results = await Promise.allSettled(stops.map((stop) => stop()));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

async function serveShared({ cwd, kb, machine }, words) {
  const running = [];
  const servers = [];
  const workers = [];
  try {
    const startServer = (number, port) => serve({ cwd, env: machine(`server-${number}`), port }, "--kb", kb, ...words);
    // The first one fills the base, which the others find.
    for (let number = 0; number < SERVERS; number += 1) {
      const place = { current: await startServer(number) };
      place.url = place.current.url;
      place.port = Number(new URL(place.url).port);
      place.kill = () => place.current.kill();
      place.restart = async () => (place.current = await startServer(number, place.port));
      running.push(() => place.current.stop());
      servers.push(place);
    }
    const startWorker = (number) => start({ cwd, env: machine(`worker-${number}`), ready: /Doing calls of/ }, "worker", "--kb", kb);
    await Promise.all(Array.from({ length: WORKERS }, async (_, number) => {
      const place = { current: await startWorker(number) };
      place.kill = () => place.current.kill();
      place.restart = async () => (place.current = await startWorker(number));
      running.push(() => place.current.stop());
      workers.push(place);
    }));
    const proxy = await startProxy(servers.map((server) => server.port));
    running.push(proxy.stop);
    return { url: proxy.url, servers, workers, stop: () => stopAll(running) };
  } catch (error) {
    await stopAll(running).catch(() => {});
    throw error;
  }
}
