// Starts and ends the built program.
import { spawn, spawnSync } from "node:child_process";

export const HALMA = process.env.HALMA_BIN;

/** Runs it in a folder; returns its output. */
export function halma({ cwd, env = {} }, ...words) {
  const { status, stdout, stderr, error } = spawnSync(HALMA, words, { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
  if (status !== 0) throw new Error(`halma ${words[0]} failed (${error ?? status}):\n${stderr}`);
  return stdout.trim();
}

/**
 * Starts it and waits for a line of its output; `match` is what `ready` found. `stop` fails if it ends
 * with an error or has panicked, `kill` leaves it no time.
 */
export async function start({ cwd, env = {}, ready }, ...words) {
  const child = spawn(HALMA, words, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const ended = new Promise((done) => child.once("exit", done));
  const match = await new Promise((found, failed) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      failed(new Error(`halma ${words[0]} is not ready:\n${output}`));
    }, 300_000);
    const read = (piece) => {
      output += piece;
      const line = ready.exec(output);
      if (!line) return;
      clearTimeout(timer);
      found(line);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", failed);
    ended.then((code) => failed(new Error(`halma ${words[0]} ended with ${code}:\n${output}`)));
  });
  const panicked = () => output.includes("panicked");
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0 || panicked()) throw new Error(`halma ${words[0]} ended with ${code}:\n${output.slice(-4000)}`);
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
    if (panicked()) throw new Error(`halma ${words[0]} has panicked:\n${output.slice(-4000)}`);
  };
  return { match, stop, kill, output: () => output };
}

/** A server in a folder of its own machine; `words` are further arguments of `serve`. */
export async function serve(where, ...words) {
  const server = await start({ ...where, ready: /^listening on (http:\S+)\n/m }, "serve", "--port", String(where.port ?? 0), ...words);
  return { ...server, url: server.match[1] };
}
