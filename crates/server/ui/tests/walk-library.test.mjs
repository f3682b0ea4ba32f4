// End-to-end tests of the library: folders, fields, several documents, how a document was cut; and of
// what colleagues get to see: a folder, a conversation.
import assert from "node:assert/strict";
import { ask, counting, done, items, walks } from "./walking.mjs";

const { walk, server, get, questionOf } = walks();

const json = (body) => ({ contentType: "application/json", body: JSON.stringify(body) });
const documents = async (page) => items(await get(page, "/documents?limit=500"));
/** A folder with more than one document, and their names. */
async function folderOf(page) {
  const names = (await documents(page)).map(({ name }) => name);
  const inside = (folder) => names.filter((name) => name.startsWith(folder));
  const folder = names.filter((name) => name.includes("/")).map((name) => name.slice(0, name.indexOf("/") + 1)).find((one) => inside(one).length > 1);
  return { folder, names: inside(folder), others: names.filter((name) => !name.startsWith(folder)) };
}
const box = (page, name) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });
const openFolder = async (page, folder) => {
  const button = page.getByRole("button", { name: folder, exact: true });
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
};

walk("library: folders open and close, and columns sort", async (page) => {
  const { folder, names } = await folderOf(page);
  await page.goto(`${server.url}/library`);
  await openFolder(page, folder);
  await box(page, names[0]).waitFor();
  await page.getByRole("button", { name: folder, exact: true }).press("Enter");
  await box(page, names[0]).waitFor({ state: "detached" });
  await page.getByPlaceholder("Search by name").fill(names[0]);
  await box(page, names[0]).waitFor();
  await page.getByPlaceholder("Search by name").fill("");
  await page.getByRole("button", { name: "Size" }).click();
  await page.locator('th[aria-sort="descending"]', { hasText: "Size" }).waitFor();
  await page.getByRole("button", { name: "Size" }).click();
  await page.locator('th[aria-sort="ascending"]', { hasText: "Size" }).waitFor();
});

walk("library: a folder and a document are selected, and a question is limited to them", async (page) => {
  const { folder, others } = await folderOf(page);
  const single = others.find((name) => !name.includes("/")) ?? others[0];
  await page.goto(`${server.url}/library`);
  if (single.includes("/")) await openFolder(page, single.slice(0, single.indexOf("/") + 1));
  await box(page, folder).check();
  await box(page, single).check();
  await page.getByRole("button", { name: "Ask about these" }).click();
  await page.locator("form .chosen").getByText(folder).waitFor();
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await page.keyboard.type("Where was Ann born?");
  await page.keyboard.press("Enter");
  const { filter } = (await sent).postDataJSON();
  assert.deepEqual([filter.documents[0], filter.documents[1].split("/")[0]], [`${folder}*`, single.split("/")[0]]);
});

walk("library: fields are set for several documents, changed for one, and removed", async (page) => {
  const { folder, names: [first, second] } = await folderOf(page);
  const field = `walk${Date.now()}`;
  const fieldOf = async (name) => (await documents(page)).find((one) => one.name === name).metadata?.[field];
  await page.goto(`${server.url}/library`);
  await openFolder(page, folder);
  for (const name of [first, second]) await box(page, name).check();
  const dialog = page.getByRole("dialog");
  const last = (label) => dialog.getByRole("textbox", { name: label }).or(dialog.getByRole("combobox", { name: label })).last();
  await page.getByRole("button", { name: "Set fields" }).click();
  await dialog.getByText("Keys may be limited").waitFor();
  if (await last("Field").getAttribute("readonly") !== null) await dialog.getByRole("button", { name: "Add a field" }).click();
  await last("Field").fill(field);
  await last("Value").fill("legal, finance");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".chip", { hasText: `${field}: legal,finance` }).nth(1).waitFor();
  assert.deepEqual(await fieldOf(second), ["legal", "finance"]);
  await page.getByRole("button", { name: `Fields of ${first}` }).click();
  await last("Value").fill("2020");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".chip", { hasText: `${field}: 2020` }).waitFor();
  assert.equal(await fieldOf(first), 2020);
  await page.getByRole("button", { name: "Set fields" }).click();
  await dialog.getByPlaceholder("different values").waitFor();
  await dialog.getByRole("button", { name: `Remove ${field}` }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual([await fieldOf(first), await fieldOf(second)], [undefined, undefined]);
});

walk("library: several documents are deleted after one question", async (page) => {
  const stem = `several-${Date.now()}`;
  await page.goto(`${server.url}/library`);
  await page.locator("[data-files]").setInputFiles(["a", "b"].map((one) => ({ name: `${stem}-${one}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${one}\n\nThe gate ${one} of ${stem} is green.\n`) })));
  await page.getByRole("heading", { name: /2 files ready/ }).waitFor();
  await page.getByRole("button", { name: "Build", exact: true }).click();
  await page.getByRole("heading", { name: "Build complete" }).waitFor({ timeout: 120_000 });
  await page.getByPlaceholder("Search by name").fill(stem);
  await page.locator("tbody tr").nth(2).waitFor({ state: "detached" });
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Delete 2 documents?" });
  await dialog.getByText(`${stem}-b.md`).waitFor();
  await dialog.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("2 documents deleted.").waitFor();
  assert.ok(!(await documents(page)).some(({ name }) => name.startsWith(stem)));
});

walk("library: the states of documents, a copy, and reading one again", async (page) => {
  const line = (name, state, more = {}) => ({ id: `d-${name}`, name, title: name, format: "md", bytes: 9, chunks: 1, atoms: 1, state, ...more });
  let state = "failed";
  await page.route("**/api/v1/documents?*", (route) => route.fulfill(json({ items: [line("copy.md", "indexed", { error: "same text as `law/a.md`" }), line("b.md", state, state === "failed" ? { error: "2 units of work failed" } : {})] })));
  const build = (stage) => ({ id: "b1", state: stage === "done" ? "done" : "running", stage, done: 1, total: 4, created: new Date().toISOString() });
  await page.route("**/api/v1/builds", (route) => {
    if (route.request().method() === "GET") return route.fulfill(json({ items: [] }));
    assert.deepEqual(route.request().postDataJSON(), { uploads: ["b.md"], rebuild: ["chunks"] });
    state = "building";
    return route.fulfill(json(build("chunking")));
  });
  await page.route("**/api/v1/builds/b1/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `event: progress\ndata: ${JSON.stringify(build("chunking"))}\n\n` }));
  await page.route("**/api/v1/builds/b1", (route) => route.fulfill(json(build("embedding"))));
  await page.goto(`${server.url}/library`);
  assert.equal(await page.getByText("same text as").getByRole("link").getAttribute("href"), "/knowledge/document/law%2Fa.md");
  await page.getByText("2 units of work failed").waitFor();
  await page.getByRole("button", { name: "Read b.md again" }).click();
  await page.getByRole("heading", { name: "Building: Preparing the search by meaning" }).waitFor();
  await page.locator("td .chip", { hasText: "building" }).waitFor();
});

walk("library: of many documents the first 2,000 are listed, and a key that may not write changes none", async (page) => {
  await page.route("**/api/v1/me", (route) => route.fulfill(json({ workspace: "default", keys_required: true, demo: false, scopes: ["ask"] })));
  await page.route("**/api/v1/documents?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("after") ?? 0);
    const page = Array.from({ length: 500 }, (_, i) => ({ id: `d${from + i}`, name: `all/${String(from + i).padStart(4, "0")}.md`, title: "", format: "md", state: "indexed", bytes: 1, chunks: 1, atoms: 1, metadata: { team: "legal" } }));
    return route.fulfill(json({ items: page, next: String(from + 500) }));
  });
  await page.goto(`${server.url}/library`);
  await page.getByText("These are the first 2,000 documents").waitFor();
  await openFolder(page, "all/");
  await page.locator(".chip", { hasText: "team: legal" }).first().waitFor();
  for (const name of [/^Fields of/, /^Delete/, /Read .* again/, /^Give access/]) assert.equal(await page.getByRole("button", { name }).count(), 0, String(name));
  await box(page, "all/0000.md").check();
  assert.equal(await page.getByRole("button", { name: "Set fields" }).count(), 0);
});

walk("library: how a document was cut", async (page) => {
  const document = (await documents(page)).find((one) => one.chunks > 2 && one.name.endsWith(".md"));
  await page.goto(`${server.url}/library`);
  await page.getByPlaceholder("Search by name").fill(document.name);
  await page.locator(`tbody a[title="${document.name}"]`).click();
  const chunks = page.getByRole("list", { name: "Chunks in their order" }).locator("> li");
  await page.locator("[data-source] mark").first().waitFor();
  await chunks.nth(1).getByRole("button").click();
  const quote = (await chunks.nth(1).locator(".text").textContent()).match(/[\p{L} ]{20,}/gu).at(-1).trim();
  await page.locator("[data-source] mark", { hasText: quote }).first().waitFor();
  await chunks.nth(0).getByRole("button").click();
  await chunks.nth(0).getByText(/statements? finds? it/).click();
  await chunks.nth(0).locator("details li").first().waitFor();
});

walk("task: give a colleague access to one folder", async (page) => {
  const { folder } = await folderOf(page);
  await page.goto(server.url);
  const { click, check } = counting();
  await click(page.getByRole("link", { name: "Library", exact: true }));
  await click(page.getByRole("button", { name: `Give access to ${folder}` }));
  const conditions = page.getByLabel(/Only documents whose fields/);
  const dialog = page.getByRole("dialog");
  await conditions.or(dialog).first().waitFor();
  if (await dialog.count()) {
    await dialog.getByText("Documents that are added to the folder later need it too.").waitFor();
    await click(dialog.getByRole("button", { name: "Save" }));
  }
  await conditions.waitFor();
  check();
  const [field, value] = (await conditions.inputValue()).split("=");
  const having = (await documents(page)).filter(({ metadata }) => [metadata?.[field]].flat().includes(value));
  assert.ok(having.length > 1 && having.every(({ name }) => name.startsWith(folder)));
});

walk("conversations: one is shared by its link, and not any more", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  // A server that cannot share yet.
  await page.route("**/shared", async (route) => {
    const response = await route.fetch();
    return response.ok() ? route.fulfill({ response }) : route.fulfill({ status: 204 });
  });
  await page.goto(server.url);
  await ask(page, await questionOf(page));
  await done(page);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share this conversation" });
  await dialog.getByText("Only you can read this conversation.").waitFor();
  const sent = page.waitForRequest((r) => r.url().endsWith("/shared"));
  await dialog.getByRole("button", { name: "Share it" }).click();
  assert.deepEqual((await sent).postDataJSON(), { shared: true });
  await dialog.getByText("can read this conversation.").waitFor();
  await dialog.getByRole("button", { name: "Copy link" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
  await page.locator("header .conversations a", { hasText: "shared:" }).waitFor();
  await dialog.getByRole("button", { name: "End sharing" }).click();
  await dialog.getByText("Only you can read this conversation.").waitFor();
});

walk("conversations: someone else's is read, not changed", async (page) => {
  await page.goto(server.url);
  await ask(page, await questionOf(page));
  await done(page);
  const address = page.url();
  await page.route("**/api/v1/traces?*", async (route) => {
    const response = await route.fetch();
    const { items, ...rest } = await response.json();
    await route.fulfill({ response, json: { ...rest, items: items.map((head) => ({ ...head, key: "colleague" })) } });
  });
  await page.goto(address);
  await page.locator(".answer").waitFor();
  await page.getByText("Someone shared this conversation with you.").waitFor();
  for (const name of ["Share", "Delete", "Edit the question", "Ask again", "This is right"]) assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  await page.getByRole("link", { name: "Ask your own question" }).click();
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
});
