// End-to-end tests of Knowledge, Settings and Runs: the graph of the entities, connecting a model,
// repeated questions.
import assert from "node:assert/strict";
import { ask, done, items, walks } from "./walking.mjs";

const { walk, server, get, questionOf: aQuestion } = walks();
const fulfil = (body) => (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(body) });

/** Lists two entities of the base that a passage names both. */
async function listEntities(page) {
  const search = async (text, layer) => (await (await page.request.post(`${server.url}/api/v1/search`, { data: { text, layer, limit: 5 } })).json()).hits;
  const [passage] = await search(await aQuestion(page), "chunk");
  const around = await get(page, `/nodes/${passage.id}/neighbours?edge=mentions&limit=100`);
  const found = around.nodes.filter((node) => node.layer === "entity").slice(0, 2);
  await page.route("**/api/v1/entities*", fulfil({ items: found.map(({ id, title }, i) => ({ id, name: title, kind: ["person", ""][i], mentions: 9 - i })), next: null }));
  return found.map(({ title }) => title);
}

walk("knowledge: begins with the entities; kinds are hidden, a node is expanded, the sentences of an edge open their source", async (page) => {
  const [first, second] = await listEntities(page);
  await page.goto(`${server.url}/knowledge`);
  await page.locator("canvas").first().waitFor();
  await page.getByText("9 mentions").waitFor();
  const kind = page.getByRole("group", { name: "Kinds to display" }).getByRole("button", { name: /person/ });
  await kind.click();
  assert.equal(await kind.getAttribute("aria-pressed"), "false");
  await page.getByRole("img", { name: "Graph of 1 nodes" }).waitFor();
  await kind.click();
  await page.getByRole("button", { name: first }).first().click();
  const neighbours = page.getByRole("toolbar", { name: "Neighbours" });
  await neighbours.getByRole("button").first().waitFor();
  await page.getByRole("button", { name: `why: the sentences behind the connection with ${second}`, exact: true }).first().click();
  await page.locator("li mark").first().waitFor();
  await page.getByRole("button", { name: /^Open the source/ }).first().click();
  await page.locator("[data-source]").first().waitFor();
});

walk("knowledge: a path between two entities, or that there is none; the search is cancelled", async (page) => {
  const [first, second] = await listEntities(page);
  const choose = async (name, end) => {
    await page.getByRole("button", { name }).first().click();
    await page.getByRole("button", { name: end }).click();
  };
  await page.goto(`${server.url}/knowledge`);
  await choose(first, "Path from here");
  await page.getByRole("button", { name: "All entities" }).click();
  await choose(second, "Path to here");
  assert.ok((await page.locator("ol li").first().waitFor(), await page.locator("ol li").count()) >= 2);
  await page.getByRole("button", { name: "remove" }).click();
  await page.route("**/neighbours*", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify({ center: {}, nodes: [], edges: [], cut: false }) }));
  await page.getByRole("button", { name: "Path from here" }).click();
  await page.getByRole("button", { name: "All entities" }).click();
  await page.getByRole("button", { name: first }).first().click();
  await page.getByRole("button", { name: "Path to here" }).click();
  await page.getByText("No path of at most 4 steps was found.").waitFor();
  await page.route("**/neighbours*", () => {});
  await page.getByRole("button", { name: "Path from here" }).click();
  await page.getByText("Both ends are the same entity").waitFor();
});

walk("knowledge: a base without entities opens on the search", async (page) => {
  await page.route("**/api/v1/entities*", fulfil({ items: [], next: null }));
  await page.goto(`${server.url}/knowledge`);
  await page.getByRole("heading", { name: "Search the knowledge base" }).waitFor();
  await page.getByText("are found when a base is built with them").waitFor();
});

walk("settings: without a model, servers of this machine come first; one is tried and used", async (page) => {
  const builtIn = { name: "extractive", url: "", model: "extractive", price: { prompt: 0, completion: 0 } };
  const sent = [];
  const models = { models: [builtIn], roles: { reader: "extractive" } };
  await page.route("**/api/v1/models", (route) => {
    if (route.request().method() === "GET") return fulfil(models)(route);
    const { name, address } = route.request().postDataJSON();
    sent.push(name, address);
    models.models.push({ ...builtIn, name, url: address.url, model: address.model });
    return fulfil(models)(route);
  });
  await page.route("**/api/v1/models/servers", fulfil({ servers: [{ kind: "Ollama", url: "http://127.0.0.1:11434/v1", loading: false, models: [{ name: "llama3.2:3b", context: 131_072 }] }] }));
  await page.route("**/api/v1/models/trial", fulfil({ outcome: "right", is_slow: false, json: "schema", tokens_per_second: 41.3, efforts: [{ effort: "quick", calls: 1, seconds: 2, usd: 0 }] }));
  await page.goto(`${server.url}/settings`);
  assert.equal(await page.locator("main h2").first().textContent(), "Connect a model");
  await page.getByRole("button", { name: "Try llama3.2:3b" }).click();
  await page.getByText("It answered a question about a passage rightly.").waitFor();
  await page.getByRole("button", { name: "Use this model" }).click();
  await page.getByText("Connect another model").waitFor();
  assert.deepEqual(sent, ["main", { url: "http://127.0.0.1:11434/v1", model: "llama3.2:3b", key_env: "" }]);
  assert.equal(await page.locator("main h2").first().textContent(), "Models");
});

walk("runs: a repeated question is one line with all of its times, and leads to its conversation", async (page) => {
  const question = await aQuestion(page);
  for (let i = 0; i < 2; i += 1) {
    await page.goto(server.url);
    await ask(page, question);
    await done(page);
  }
  await page.goto(`${server.url}/runs`);
  await page.getByRole("heading", { name: "Your questions" }).waitFor();
  assert.equal(await page.getByRole("columnheader", { name: "Key" }).count(), 0);
  const line = page.getByRole("row").filter({ has: page.getByRole("link", { name: question, exact: true }) });
  await line.first().waitFor();
  assert.equal(await line.count(), 1);
  const rows = await page.locator("tbody tr").count();
  await line.getByRole("button", { name: /Asked \d+ times/ }).click();
  assert.ok((await page.locator("tbody tr").count()) > rows);
  if (!items(await get(page, "/traces?limit=1"))[0].conversation) return;
  await line.getByRole("link", { name: "Conversation" }).click();
  await page.locator("article").first().waitFor();
  assert.match(new URL(page.url()).pathname, /^\/c\//);
});
