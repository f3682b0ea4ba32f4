// Starts what the tests talk to: `halma serve` in a folder of its own, and a stand-in for a model.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const HALMA = process.env.HALMA_BIN;
if (!HALMA) throw new Error("HALMA_BIN names no program; `make test-ui` does");

/** A folder that is gone at the end. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "halma-clients-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs the program to its end in a folder; gives what it printed. */
export function halma(cwd, ...words) {
  const { status, stdout, stderr, error } = spawnSync(HALMA, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`halma ${words[0]} failed (${error ?? status}):\n${stderr}`);
  return stdout.trim();
}

/**
 * A server on a free port; `words` follow `serve`. `stop` fails when it does not end well or when
 * something in it has panicked.
 */
export async function serve(cwd, ...words) {
  const child = spawn(HALMA, ["serve", ...words, "--port", "0"], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const ended = new Promise((done) => child.once("exit", done));
  const url = await new Promise((found, failed) => {
    const patience = setTimeout(() => {
      child.kill("SIGKILL");
      failed(new Error(`the server printed no address:\n${said}`));
    }, 300_000);
    const hear = (piece) => {
      said += piece;
      const address = /^listening on (http:\S+)\n/m.exec(said);
      if (address) {
        clearTimeout(patience);
        found(address[1]);
      }
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    ended.then((code) => failed(new Error(`the server ended with ${code}:\n${said}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0 || said.includes("panicked")) throw new Error(`the server ended with ${code}:\n${said.slice(-4000)}`);
  };
  return { url, stop };
}

/** What the stand-in says that it used for each call. */
export const USED = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 };

/**
 * A model that answers every question by the same name. It never answers a question that says
 * "for ever": `begun` tells when one has come, `left` when the server has given it up. It refuses
 * one that says "never".
 */
export async function standIn() {
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

/** The result of a promise, or an error that says what did not happen in time. */
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
