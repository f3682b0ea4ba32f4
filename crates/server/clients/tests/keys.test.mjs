// A server with keys and a model: authorization, usage, and that a model call ends when its client
// disconnects.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";
import { HALMA, USED, folder, mockModel, newBase, within } from "../servers.mjs";

const LIGHT = "# Orrin Light\n\nOrrin Light is a lighthouse on Varn reef. It was designed by Ada Tarrant.\n";
const place = folder();
const base = newBase(place.path);
let model;
let server;
const keys = {};

before(async () => {
  model = await mockModel();
  const config = `[models.stand_in]\nurl = "${model.url}"\nmodel = "stand-in"\nretries = 0\n
[roles]\ndefault = "extractive"\nreader = "stand_in"\n
[ask]\nstrategy = "naive"\n\n[embedder]\nkind = "none"\n`;
  writeFileSync(join(place.path, "halma.toml"), config);
  mkdirSync(join(place.path, "library"));
  writeFileSync(join(place.path, "library", "orrin.md"), LIGHT);
  base.halma("index", "library");
  for (const scope of ["ask", "write"]) keys[scope] = base.halma("keys", "create", "--name", scope, "--scope", scope);
  server = await base.serve();
});
after(async () => {
  await server?.stop();
  await model?.stop();
  place.remove();
});

const openai = (apiKey) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
const chat = (key, question, more, options) =>
  openai(key).chat.completions.create({ model: "halma", messages: [{ role: "user", content: question }], ...more }, options);

describe("OpenAI's client", () => {
  test("an invalid key, a truncated one, and one without the scope", async () => {
    const wrong = keys.ask.replace(/.{4}$/, (end) => (end === "0000" ? "1111" : "0000"));
    for (const stream of [false, true]) {
      for (const key of [wrong, wrong.slice(0, 20), "sk-other"]) {
        await assert.rejects(chat(key, "Who?", { stream }), (error) => {
          assert.ok(error instanceof OpenAI.AuthenticationError);
          assert.deepEqual([error.status, error.type], [401, "authentication_error"]);
          assert.ok(!error.message.includes(key), "the key is not repeated");
          return true;
        });
      }
      await assert.rejects(chat(keys.write, "Who?", { stream }), (error) => error instanceof OpenAI.PermissionDeniedError && error.type === "permission_error");
    }
    await assert.rejects(openai(wrong).models.list(), OpenAI.AuthenticationError);
    await assert.rejects(openai(wrong).embeddings.create({ model: "any", input: "x" }), OpenAI.AuthenticationError);
  });

  test("usage is what the model reports", async () => {
    const reply = await chat(keys.ask, "Who designed Orrin Light?");
    assert.match(reply.choices[0].message.content, /^Ada Tarrant \[1\]/);
    // One call reads, and one writes the answer out.
    const both = Object.fromEntries(Object.entries(USED).map(([key, tokens]) => [key, 2 * tokens]));
    assert.deepEqual(reply.usage, both);
    let usage;
    for await (const chunk of await chat(keys.ask, "Who has designed Orrin Light?", { stream: true, stream_options: { include_usage: true } })) usage = chunk.usage ?? usage;
    assert.deepEqual(usage, both);
  });

  test("a refusal of the model is a server error, also within a stream", async () => {
    await assert.rejects(chat(keys.ask, "Who never lit Orrin Light?"), (error) => error instanceof OpenAI.InternalServerError && error.status === 502 && error.type === "server_error");
    const stream = await chat(keys.ask, "Who never ever lit Orrin Light?", { stream: true });
    const read = async () => {
      for await (const chunk of stream) assert.equal(chunk.choices[0].delta.content, "");
    };
    await assert.rejects(read(), (error) => error instanceof OpenAI.APIError && error.type === "server_error");
  });

  test("a model call ends when its client disconnects", async () => {
    for (const stream of [false, true]) {
      const call = model.expect();
      const leaving = new AbortController();
      const asked = chat(keys.ask, `Who stays on Orrin Light for ever, ${stream ? "streamed" : "whole"}?`, { stream }, { signal: leaving.signal });
      const ended = (async () => {
        const read = async () => {
          for await (const chunk of await asked) assert.ok(chunk);
        };
        // A stream that has begun ends; one whose head has not come yet is an error like any other.
        const aborted = (error) => assert.ok(error instanceof OpenAI.APIUserAbortError, error);
        await (stream ? read().catch(aborted) : assert.rejects(asked, OpenAI.APIUserAbortError));
      })();
      await within(30, "the model call", call.begun);
      leaving.abort();
      await ended;
      await within(10, `the call to the model ends (stream: ${stream})`, call.left);
    }
  });
});

describe("the client of MCP", () => {
  const over = {
    http: (key) => new StreamableHTTPClientTransport(new URL("/mcp", server.url), { requestInit: { headers: key ? { authorization: `Bearer ${key}` } : {} } }),
    stdio: () => new StdioClientTransport({ command: HALMA, args: ["mcp", "--kb", base.kb], cwd: place.path, env: { ...process.env, ...base.env }, stderr: "ignore" }),
  };
  const connected = async (transport, t) => {
    const client = new Client({ name: "halma-clients", version: "0" });
    t.after(() => client.close());
    await client.connect(transport);
    return client;
  };
  const ask = (client, question, options) => client.callTool({ name: "ask", arguments: { question } }, undefined, options);

  test("is not let in without a key, or with one that may not ask", async (t) => {
    for (const key of [undefined, "halma_no", keys.write]) await assert.rejects(connected(over.http(key), t), (error) => [401, 403].includes(error.code));
    const client = await connected(over.http(keys.ask), t);
    assert.match((await ask(client, "Who then designed Orrin Light?")).content[0].text, /^Ada Tarrant/);
  });

  for (const how of ["http", "stdio"]) {
    test(`${how}: a call that is cancelled is over for its caller, and the next one is answered`, async (t) => {
      const client = await connected(over[how](keys.ask), t);
      const call = model.expect();
      const leaving = new AbortController();
      let asked;
      const told = new Promise((hear) => {
        const options = { signal: leaving.signal, onprogress: (step) => hear(step.message) };
        asked = assert.rejects(ask(client, `Who waits on Orrin Light for ever by ${how}?`, options), /enough/);
      });
      await within(30, "the model call", call.begun);
      assert.match(await within(10, "word of a step", told), /Orrin Light/);
      leaving.abort("enough");
      await asked;
      assert.match((await ask(client, `Who, by ${how}, designed Orrin Light?`)).content[0].text, /^Ada Tarrant/);
      // Over HTTP this client says so in a request of its own. Without sessions nobody can tell whose
      // call that is, so that the call lasts until the client closes the stream it hears it by.
      if (how === "http") await client.close();
      await within(10, "the call to the model ends", call.left);
    });

    test(`${how}: a model call ends when its client disconnects`, async (t) => {
      const client = await connected(over[how](keys.ask), t);
      const call = model.expect();
      const asked = assert.rejects(ask(client, `Who leaves Orrin Light for ever by ${how}?`), /closed/i);
      await within(30, "the model call", call.begun);
      await client.close();
      await asked;
      await within(10, "the call to the model ends", call.left);
    });
  }
});
