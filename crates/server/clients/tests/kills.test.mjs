// Two servers and three workers over one database are killed and started again while a client uploads,
// builds, asks, follows and deletes through the proxy. Nothing is lost and nothing is there twice. It waits
// much: calls of a worker that was killed are given to others after a minute, and the right to write of a
// server after half of one.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import OpenAI from "openai";
import { folder, newBase, within } from "../servers.mjs";

/** Calls of the model that one program has in progress, at most. */
const CONCURRENCY = 2;
/** Those that do calls for a build: the workers, and the server that builds. */
const PROGRAMS = 4;
/** How long an ordinary client goes on with a request. */
const PATIENCE = 150_000;
const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));

const nameOf = (number) => `bridge-${number}.md`;
const builder = (number) => `Works${number}`;
const text = (number) => `# Bridge B${number}\n\nBridge B${number} was built by ${builder(number)} over the river Nox.\n`;
const question = (number) => `Who built Bridge B${number}?`;

/** A model that reads who built the bridge, and counts equal requests of builds. */
async function startModel() {
  const calls = new Map();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { messages } = JSON.parse(body);
    const prompt = messages.map((message) => message.content).join("\n");
    const isBuild = prompt.includes("Write the questions that the passage answers");
    let content;
    if (isBuild) {
      calls.set(prompt, (calls.get(prompt) ?? 0) + 1);
      content = question(/Bridge B(\d+) was built/.exec(prompt)[1]);
      await sleep(800);
    } else {
      const asked = prompt.split("Who built Bridge B").pop().split("?")[0];
      const answer = prompt.includes(`Bridge B${asked} was built by`) ? builder(asked) : "no one";
      content = JSON.stringify({ rationale: "it stands there", answer });
    }
    response.setHeader("content-type", "application/json");
    const usage = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 };
    response.end(JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: "reader", usage, choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }] }));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, calls, stop };
}

const config = (url) => `[models.double]\nurl = "${url}"\nmodel = "reader"\nconcurrency = ${CONCURRENCY}\n
[roles]\ndefault = "extractive"\nreader = "double"\natomizer = "double"\n
[ask]\nstrategy = "naive"\n\n[embedder]\nkind = "none"\n\n[serve]\nrequests_per_minute = 0\n`;

/** What a request failed with that may be sent again: a connection that broke, or a server that says so. */
const failures = [];

/** Sends a request until it is answered, as clients do that repeat after cut connections and 5xx. */
async function persist(what, send) {
  const until = Date.now() + PATIENCE;
  for (;;) {
    try {
      const response = await send();
      if (response.status < 500) return response;
      failures.push(`${what}: ${response.status} ${await response.text()}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // what `fetch` and its bodies break with
      failures.push(`${what}: ${error.cause?.code ?? error.message}`);
    }
    if (Date.now() > until) throw new Error(`${what} is not answered: ${failures.at(-1)}`);
    await sleep(100);
  }
}

class Client {
  constructor(url) {
    this.url = url;
  }

  api(path, body, options = {}) {
    const json = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return fetch(`${this.url}/api/v1${path}`, { ...json, ...options });
  }

  async get(path) {
    const response = await persist(path, () => this.api(path));
    assert.equal(response.status, 200, `${path}: ${response.status}`);
    return response.json();
  }

  async upload(numbers) {
    const response = await persist("upload", () => {
      const form = new FormData();
      for (const number of numbers) form.append("file", new Blob([text(number)]), nameOf(number));
      return this.api("/documents", undefined, { method: "POST", body: form });
    });
    const { accepted, refused } = await response.json();
    assert.deepEqual([accepted.length, refused], [numbers.length, []]);
  }

  async startBuild() {
    const response = await persist("start of a build", () => this.api("/builds", {}));
    assert.equal(response.status, 202);
    return (await response.json()).id;
  }

  /** Follows a build by its events, again wherever they end early. */
  async follow(id) {
    for (const until = Date.now() + PATIENCE; Date.now() < until; await sleep(200)) {
      const response = await persist("events", () => this.api(`/builds/${id}/events`));
      assert.equal(response.status, 200, "a build that was started is known to every server");
      try {
        const events = await response.text();
        const done = /event: done\ndata: (.*)\n/.exec(events);
        if (done) return JSON.parse(done[1]);
      } catch (error) {
        failures.push(`events: ${error.cause?.code ?? error.message}`);
      }
    }
    throw new Error("the build does not end");
  }

  /** The answer, read from a stream or whole. */
  async ask(number, stream) {
    const begun = Date.now();
    for (;;) {
      const response = await persist("question", () => this.api("/ask", { question: question(number), stream }));
      assert.equal(response.status, 200);
      try {
        const body = await response.text();
        if (!stream) return JSON.parse(body).answer.text;
        const answer = /event: answer\ndata: (.*)\n/.exec(body);
        if (answer) return JSON.parse(answer[1]).answer.text;
        failures.push(`stream: ${/event: error\ndata: (.*)\n/.exec(body)?.[1] ?? "cut off"}`);
      } catch (error) {
        failures.push(`stream: ${error.cause?.code ?? error.message}`);
      }
      if (Date.now() - begun > PATIENCE) throw new Error(`question ${number} is not answered`);
    }
  }
}

test("what is killed loses nothing and answers go on", { timeout: 280_000 }, async (t) => {
  const place = folder();
  const model = await startModel();
  writeFileSync(join(place.path, "halma.toml"), config(model.url));
  const base = newBase(place.path);
  const { url, servers, workers, stop } = await base.serve();
  t.after(async () => {
    await stop();
    await model.stop();
    place.remove();
  });
  const client = new Client(url);
  const [many, few] = [40, 12].map((count, index) => Array.from({ length: count }, (_, number) => 100 * (index + 1) + number));
  await client.upload([1, 2, 3, 4]);
  assert.equal((await client.follow(await client.startBuild())).state, "done");

  // From here on someone asks all the time.
  let goesOn = true;
  let answered = 0;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none is needed", maxRetries: 8 });
  const asking = [true, false].map(async (stream) => {
    for (let turn = 0; goesOn; turn += 1) {
      const number = 1 + (turn % 2);
      assert.match(await client.ask(number, stream), new RegExp(builder(number)));
      const chat = await openai.chat.completions.create({ model: "halma", messages: [{ role: "user", content: question(number) }] });
      assert.match(chat.choices[0].message.content, new RegExp(builder(number)));
      answered += 2;
      await sleep(300);
    }
  });

  const kill = async (place) => {
    await place.kill();
    await sleep(1_000);
    await place.restart();
  };
  const remove = async (number) => {
    const { items } = await client.get(`/documents?query=${nameOf(number)}`);
    const removed = await persist("deletion", () => client.api(`/documents/${items[0]?.id}`, undefined, { method: "DELETE" }));
    // 404, if the connection was cut after the deletion.
    assert.ok([200, 404].includes(removed.status), `the deletion: ${removed.status}`);
  };
  const calls = () => [...model.calls.values()].reduce((sum, times) => sum + times, 0);
  /** Starts a build of what waits; returns when every program has as many calls in progress as it may. */
  const buildBusily = async () => {
    const before = calls();
    const build = await client.startBuild();
    const until = Date.now() + PATIENCE;
    while (calls() < before + PROGRAMS * CONCURRENCY && Date.now() < until) await sleep(20);
    return build;
  };
  let repeated;
  const changing = async () => {
    // The server that deletes is killed in the middle of it.
    const { items } = await client.get(`/documents?query=${nameOf(4)}`);
    new Client(servers[0].url).api(`/documents/${items[0].id}`, undefined, { method: "DELETE" }).catch(() => {});
    await sleep(15);
    await kill(servers[0]);
    await remove(4);

    await client.upload(many);
    let build = await buildBusily();
    // Whichever server builds is among them.
    for (const at of [0, 1]) {
      await kill(workers[at]);
      await kill(servers[at]);
    }
    await client.upload([5]);
    assert.equal((await client.follow(build)).state, "done");
    // A call is done again only where a program was killed that had it.
    repeated = calls() - model.calls.size;
    assert.ok(repeated <= 4 * CONCURRENCY, `${repeated} calls were paid for again`);

    // A deletion interrupts a build, wherever that goes on then.
    await client.upload(few);
    build = await buildBusily();
    const killing = kill(servers[1]);
    await remove(3);
    await killing;
    const { state, error } = await client.follow(build);
    assert.deepEqual([state, error], ["done", undefined]);
  };
  try {
    await Promise.race([changing(), Promise.all(asking)]);
  } finally {
    goesOn = false;
  }
  await Promise.all(asking);
  assert.ok(answered > 20, `only ${answered} questions were answered`);

  const expected = [1, 2, 5, ...many, ...few].map(nameOf).sort();
  const holders = [];
  for (const server of servers) {
    for (const number of [3, 4]) {
      const { items } = await new Client(server.url).get(`/documents?query=${nameOf(number)}`);
      if (items.length) holders.push(`${server.url}: ${JSON.stringify(items)}`);
      if (base.halma("kb", "list").includes(nameOf(number))) holders.push("the database");
    }
  }
  assert.deepEqual(holders, [], "a deleted document is there");
  for (const server of servers) {
    const direct = new Client(server.url);
    const { items } = await direct.get("/documents?limit=500");
    assert.deepEqual(items.map((item) => item.name).sort(), expected);
    assert.deepEqual([...new Set(items.map((item) => item.state))], ["indexed"]);
    assert.ok(items.every((item) => item.chunks === 1 && item.atoms === 1), "nothing is there twice");
    const found = async (number, limit) => (await (await direct.api("/search", { text: question(number), limit })).json()).hits;
    for (const number of [1, 2, 5, ...many, ...few]) {
      assert.match((await found(number, 1))[0].text, new RegExp(`Bridge B${number} was built`));
    }
    for (const number of [3, 4]) {
      assert.ok(!JSON.stringify(await found(number, 50)).includes(`Bridge B${number} was`), "a deleted document is found");
    }
  }
  base.halma("kb", "verify");
  // What clients saw of it can be repeated: cut connections, and errors that say so.
  const unclear = failures.filter((failure) => / 5\d\d /.test(failure) && !/50[234] /.test(failure));
  assert.deepEqual(unclear, []);
  t.diagnostic(`${answered} questions answered, ${failures.length} requests repeated, ${repeated} calls done again`);
});
