// Starts what the tests need: `halma serve` in a temporary folder, and a mock of a model server.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const HALMA = process.env.HALMA_BIN;
if (!HALMA) throw new Error("HALMA_BIN is not set; `make test-ui` sets it");

/** A temporary folder. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "halma-clients-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs the program in a folder; returns its output. */
export function halma(cwd, ...words) {
  const { status, stdout, stderr, error } = spawnSync(HALMA, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`halma ${words[0]} failed (${error ?? status}):\n${stderr}`);
  return stdout.trim();
}

/**
 * A server on a free port; `words` are arguments of `serve`. `stop` fails if the server exits with an
 * error or has panicked.
 */
export async function serve(cwd, ...words) {
  const child = spawn(HALMA, ["serve", ...words, "--port", "0"], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const ended = new Promise((done) => child.once("exit", done));
  const url = await new Promise((found, failed) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      failed(new Error(`the server printed no address:\n${output}`));
    }, 300_000);
    const read = (piece) => {
      output += piece;
      const address = /^listening on (http:\S+)\n/m.exec(output);
      if (address) {
        clearTimeout(timer);
        found(address[1]);
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    ended.then((code) => failed(new Error(`the server ended with ${code}:\n${output}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0 || output.includes("panicked")) throw new Error(`the server ended with ${code}:\n${output.slice(-4000)}`);
  };
  return { url, stop };
}

/** The usage that the mock reports for each call. */
export const USED = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 };

/**
 * A model that answers every question with the same name. It never answers a question that contains
 * "for ever": `begun` resolves when one has arrived, `left` when the server has cancelled it. It
 * refuses a question that contains "never".
 */
export async function mockModel() {
  const waiting = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    response.setHeader("content-type", "application/json");
    if (body.includes("for ever")) {
      const call = waiting.find((call) => !call.taken);
      if (call) {
        call.taken = true;
        call.begin();
        response.once("close", call.leave);
      }
      return;
    }
    if (body.includes("never")) {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: { message: "I will not" } }));
      return;
    }
    const content = JSON.stringify({ rationale: "it stands there", answer: "Ada Tarrant" });
    response.end(JSON.stringify({
      id: "1", object: "chat.completion", created: 0, model: "stand-in", usage: USED,
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    }));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const expect = () => {
    const call = {};
    call.begun = new Promise((done) => (call.begin = done));
    call.left = new Promise((done) => (call.leave = done));
    waiting.push(call);
    return call;
  };
  const stop = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, expect, stop };
}

/** The result of a promise, or an error when it does not settle in time. */
export async function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`not within ${seconds} s: ${what}`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
