// What the tests need: a base in a folder with `halma serve`, or one in PostgreSQL with two servers, three
// workers and a proxy, as HALMA_BASE says; and a mock of a model server.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HALMA, halma, serve } from "../harness/program.mjs";
import { sharedBase } from "../harness/shared.mjs";

export { HALMA };
if (!HALMA) throw new Error("HALMA_BIN is not set; `make test-ui` sets it");

/** Whether the tests run over a base that servers share, in the PostgreSQL that HALMA_TEST_POSTGRES names. */
const isShared = process.env.HALMA_BASE === "shared";

/** A temporary folder. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "halma-clients-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * A new base, whose configuration is in the folder `cwd`: what `--kb` names it by, the variables that a
 * program needs to open it, commands on it, and a server whose `url` may have several behind it.
 */
export function newBase(cwd, shared = isShared) {
  if (shared) return sharedBase(cwd, process.env.HALMA_TEST_POSTGRES);
  const kb = join(cwd, "base");
  const run = (...words) => halma({ cwd }, ...words, "--kb", kb);
  return { kb, env: {}, halma: run, serve: (...words) => serve({ cwd }, "--kb", kb, ...words) };
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
