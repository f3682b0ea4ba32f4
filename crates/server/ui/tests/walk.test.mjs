// End-to-end tests of each page in a browser, against the server that start.mjs finds. The questions
// come from that server's library.
import assert from "node:assert/strict";
import { ask, done, items, running, walks } from "./walking.mjs";

const { walk, server, get, questionOf } = walks();

walk("feedback: an answer is marked and corrected; its statements are accepted, rejected and undone", async (page) => {
  const statement = (number, state = "pending") => ({ number, kind: "answer", question: `Question ${number}?`, answer: `Statement ${number}.`, sources: ["n1"], state, by: "", at: 0 });
  const stored = { id: "0123456789abcdef", run: "x", question: "Where was Ann born?", answer: "Oslo", strategy: "s", verdict: "wrong", correction: "Velby", by: "", at: 1_700_000_000, candidates: [statement(1), statement(2)], documents: [], cited: [], dismissed: false };
  const sent = [];
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: running([], { text: "Oslo" }) }));
  await page.route("**/api/v1/feedback**", (route) => {
    const [request, json] = [route.request(), (body, status = 200) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) })];
    const decision = /feedback\/0123456789abcdef\/(\w+)$/.exec(request.url())?.[1];
    if (request.method() === "GET") return json({ items: [stored], next: null });
    sent.push([decision ?? "give", request.postDataJSON()]);
    if (!decision) return json(stored, 201);
    const { candidates } = request.postDataJSON();
    const state = { accept: "accepted", reject: "rejected", undo: "undone" }[decision];
    for (const one of stored.candidates) if (!candidates.length || candidates.includes(one.number)) one.state = state;
    return json(stored);
  });
  await page.goto(server.url);
  await ask(page, "Where was Ann born?");
  await done(page);
  await page.getByRole("button", { name: "This is not right" }).click();
  await page.getByLabel("What the answer should be").fill("Velby");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("2 statements of it may become knowledge").waitFor();
  assert.deepEqual(sent.shift(), ["give", { run: "x", verdict: "wrong", correction: "Velby" }]);
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("heading", { name: "Feedback", exact: true }).waitFor();
  await page.getByRole("button", { name: "Accept: Question 1?" }).click();
  await page.getByRole("button", { name: "Undo: Question 1?" }).click();
  await page.getByRole("button", { name: "Reject: Question 2?" }).click();
  await page.locator(".chip", { hasText: "rejected" }).waitFor();
  assert.deepEqual(sent, [["accept", { candidates: [1] }], ["undo", { candidates: [1] }], ["reject", { candidates: [2] }]]);
});

walk("feedback: a right answer is accepted, answers its question at once, and is undone", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  await page.getByRole("button", { name: "This is right" }).click();
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("heading", { name: "Feedback", exact: true }).waitFor();
  await page.getByRole("button", { name: `Accept: ${question}` }).first().click();
  const undo = page.getByRole("button", { name: `Undo: ${question}` }).first();
  await undo.waitFor();
  const again = async () => (await page.request.post(`${server.url}/api/v1/ask`, { data: { question } })).json();
  const { answer } = await again();
  assert.ok(answer.citations.length > 0, "the accepted answer has its source");
  await undo.click();
  await undo.waitFor({ state: "detached" });
  assert.deepEqual(items(await get(page, "/feedback?state=accepted")), []);
  await page.getByRole("button", { name: "Delete", exact: true }).first().click();
  await page.getByText("will be deleted").waitFor();
  await page.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("No feedback yet").waitFor();
});

walk("library: a file of another content replaces the one of its name only when that is said", async (page) => {
  const name = `twice-${Date.now()}.md`;
  const file = (text) => ({ name, mimeType: "text/markdown", buffer: Buffer.from(`# Twice\n\n${text}\n`) });
  await page.goto(`${server.url}/library`);
  await page.locator("[data-files]").setInputFiles([file("The first text has a gate.")]);
  await page.getByRole("heading", { name: /1 file ready/ }).waitFor();
  await page.locator("[data-files]").setInputFiles([file("The second text has a mill.")]);
  await page.getByRole("heading", { name: "1 name already in the library" }).waitFor();
  await page.getByRole("button", { name: "Keep the old" }).click();
  await page.locator("[data-files]").setInputFiles([file("The second text has a mill.")]);
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByRole("heading", { name: "1 name already in the library" }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: /1 file ready/ }).waitFor();
  await page.getByRole("button", { name: "Not now" }).click();
});

walk("library: a file is uploaded, built, found and deleted", async (page) => {
  const name = `walk-${Date.now()}.md`;
  await page.goto(`${server.url}/library`);
  await page.locator("[data-files]").setInputFiles([
    { name, mimeType: "text/markdown", buffer: Buffer.from("# The walk\n\nThe walk passes a green gate and ends at the mill.\n") },
    { name: "walk.exe", mimeType: "application/octet-stream", buffer: Buffer.from([0x4d, 0x5a, 0x90, 0, 3, 0, 0, 0]) },
  ]);
  await page.getByText("1 file refused").waitFor();
  await page.getByRole("heading", { name: /1 file ready/ }).waitFor();
  await page.getByRole("button", { name: "Build", exact: true }).click();
  await page.getByRole("heading", { name: "Build complete" }).waitFor({ timeout: 120_000 });
  await page.getByPlaceholder("Search by name").fill(name);
  const row = page.getByRole("row", { name: new RegExp(name) });
  await row.getByText("indexed").waitFor();
  await row.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByText("everything derived from it").waitFor();
  await page.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByRole("status").filter({ hasText: "Deleted" }).waitFor();
  await row.waitFor({ state: "detached" });
});

walk("library: a part that was made with other settings is made again when it is chosen", async (page) => {
  const kept = { part: "atoms", made_with: "sentences", configured: "questions", cost: { texts: 4, calls: 4, prompt_tokens: 900, completion_tokens: 90, usd: 0.01 } };
  const asked = [];
  const answer = async (route, change) => {
    if (route.request().method() !== "POST") return route.continue();
    asked.push(route.request().postDataJSON());
    const reply = await route.fetch();
    await route.fulfill({ response: reply, json: change(await reply.json()) });
  };
  await page.route("**/api/v1/builds/estimate", (route) => answer(route, (estimate) => ({ ...estimate, kept: route.request().postDataJSON().rebuild.length ? [] : [kept] })));
  await page.route("**/api/v1/builds", (route) => answer(route, (build) => build));
  await page.goto(`${server.url}/library`);
  await page.getByRole("button", { name: "Build again…" }).click();
  await page.getByLabel("Rebuild atoms").check();
  await page.getByRole("button", { name: "Build", exact: true }).click();
  await page.getByRole("heading", { name: "Build complete" }).waitFor({ timeout: 120_000 });
  assert.deepEqual(asked.map(({ uploads, rebuild }) => [uploads, rebuild]), [[undefined, []], [undefined, ["atoms"]], [undefined, ["atoms"]]]);
});

walk("knowledge: a search, a node's neighbours, a document's layers, tables", async (page) => {
  const question = await questionOf(page);
  await page.goto(`${server.url}/knowledge`);
  await page.getByLabel("Search for").fill(question);
  await page.keyboard.press("Enter");
  await page.locator("[data-hit]").first().waitFor();
  assert.equal(await page.locator(".score").count(), 0);
  await page.getByLabel("Show scores").check();
  await page.locator(".score").first().waitFor();
  await page.getByLabel("Layer").selectOption("atom");
  await page.locator("[data-hit]").first().waitFor();
  await page.getByRole("link", { name: "neighbours" }).first().click();
  await page.locator("canvas").first().waitFor();
  const list = page.getByRole("toolbar", { name: "Neighbours" });
  await list.getByRole("button").first().press("Enter");
  await page.locator("[data-hit]").first().waitFor();
  await page.goto(`${server.url}/library`);
  await page.locator("tbody a").first().click();
  await page.getByRole("tab", { name: /Atoms/ }).click();
  await page.locator("[data-hit]").first().waitFor();
  await page.goto(`${server.url}/knowledge/tables`);
  await page.locator("textarea, h2").first().waitFor();
  if (await page.locator("textarea").count()) {
    await page.locator("textarea").fill("DROP TABLE nothing");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("alert").waitFor();
  }
});

walk("runs: the list, one run's timings, hops, prompts and costs", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  await page.goto(`${server.url}/runs`);
  await page.getByLabel("Question").fill(question.slice(0, 12));
  await page.locator("tbody a").first().click();
  await page.locator("[data-bar]").first().waitFor();
  await page.locator("[data-bar]").filter({ hasText: "called" }).first().click();
  await page.locator("pre.reply").waitFor();
  await page.getByRole("tab", { name: "Hops" }).click();
  await page.locator(".tree li").first().waitFor();
  await page.getByRole("tab", { name: "Cost by prompt" }).click();
  await page.getByRole("columnheader", { name: "Tokens in" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "JSON" }).click()]);
  assert.match(download.suggestedFilename(), /\.json$/);
});

walk("evaluate: the list, or what to do to get one; charts and differences", async (page) => {
  await page.goto(`${server.url}/evaluate`);
  await page.locator("tbody a, .empty").first().waitFor();
  if (!(await page.locator("tbody a").count())) return;
  await page.locator("tbody a").first().click();
  await page.getByRole("heading", { name: "Right answers over cost" }).waitFor();
  await page.getByRole("link", { name: "Open as a file" }).waitFor();
});

walk("evaluate: an evaluation is started from the page and followed to its end", async (page) => {
  const question = await questionOf(page);
  await page.goto(`${server.url}/evaluate`);
  await page.getByRole("button", { name: "Start an evaluation" }).click();
  const name = `walk-${Date.now()}`;
  await page.getByLabel("Name").fill(name);
  await page.getByLabel(/one JSON object per line/).fill(JSON.stringify({ question, answers: ["x"] }));
  await page.getByRole("checkbox", { name: "kar3" }).uncheck();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const run = page.locator("[data-run]").filter({ hasText: name });
  await run.waitFor();
  await page.locator("[data-run=done]").filter({ hasText: name }).waitFor({ timeout: 120_000 });
  await page.locator("tbody a").first().waitFor();
});

walk("settings: models, a prompt edited and restored, usage statistics", async (page) => {
  await page.goto(`${server.url}/settings`);
  await page.getByRole("button", { name: "Test" }).first().click();
  await page.locator("td .chip").first().waitFor({ timeout: 60_000 });
  // Without a model the form is there at once.
  if (await page.getByText("Connect another model").count()) await page.getByText("Connect another model").click();
  await page.getByText("Search again").or(page.getByText("Another server")).first().waitFor();
  if (!(await page.getByLabel("Address").isVisible())) await page.getByText("Another server").click();
  await page.getByLabel("Address").fill("http://127.0.0.1:9/v1");
  await page.getByLabel("Model", { exact: true }).fill("none");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText(/cannot be reached/).first().waitFor();
  // Where there is one model only, there is nothing to choose.
  const role = page.getByLabel("reader", { exact: true });
  if (await role.count()) {
    const before = await role.inputValue();
    const other = (await role.locator("option").allTextContents()).at(-1);
    await role.selectOption(other);
    await page.getByText(`is now assigned to ${other}`).waitFor();
    await page.reload();
    assert.equal(await role.inputValue(), other);
    await role.selectOption(before);
    await page.getByText(`is now assigned to ${before}`).waitFor();
  }
  await page.getByRole("link", { name: "Prompts" }).click();
  await page.locator("[data-prompt]").first().click();
  const words = page.locator("textarea");
  await words.waitFor();
  const shipped = await words.inputValue();
  await words.fill(`${shipped.trimEnd()}\nBe brief.\n`);
  await page.locator(".diff .added", { hasText: "Be brief." }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("button", { name: "Restore shipped text" }).click();
  await page.getByRole("button", { name: "Discard this text" }).click();
  await page.getByText("The shipped text is restored.").waitFor();
  assert.equal((await words.inputValue()).trim(), shipped.trim());
  await page.getByRole("link", { name: "Usage" }).click();
  for (const by of ["By key", "By strategy", "By day"]) await page.getByRole("button", { name: by }).click();
  await page.locator("table, .empty").first().waitFor();
});

walk("a missing key is requested, and an error has its details and request id", async (page) => {
  const problem = (status, title) => ({ status, contentType: "application/problem+json", body: JSON.stringify({ type: "x", title, status, detail: "because", hint: "do this", request_id: "r-42" }) });
  await page.route("**/api/v1/me", (route) => route.fulfill(problem(401, "API key required")));
  await page.goto(server.url);
  await page.getByRole("dialog").getByLabel("API key").waitFor();
  await page.unroute("**/api/v1/me");
  await page.route("**/api/v1/documents?*", (route) => route.fulfill(problem(500, "The base cannot be read")));
  await page.goto(`${server.url}/library`);
  for (const text of ["The base cannot be read", "because", "do this", "r-42"]) await page.getByText(text).first().waitFor();
  await page.unroute("**/api/v1/documents?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator("table, .empty").first().waitFor();
});

const PLACES = ["/", "/library", "/knowledge", "/knowledge/tables", "/runs", "/runs/feedback", "/evaluate", "/settings", "/settings/prompts", "/settings/keys", "/settings/usage"];
for (const [name, how] of [["narrow", { viewport: { width: 360, height: 740 } }], ["dark", { colorScheme: "dark" }]]) {
  walk(`every page, ${name}: a title, one main heading, no horizontal overflow`, async (page) => {
    for (const place of PLACES) {
      await page.goto(`${server.url}${place}`);
      await page.locator("main h1, main h2").first().waitFor();
      await page.waitForLoadState("networkidle");
      const found = await page.evaluate(() => ({
        over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        title: document.title, lang: document.documentElement.lang,
        nameless: [...document.querySelectorAll("button, a[href], input:not([type=file]), select, textarea")].filter((e) => e.checkVisibility() && !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map((e) => e.outerHTML.slice(0, 120)),
      }));
      assert.equal(found.over, 0, `${place} is ${found.over} pixels too wide`);
      assert.deepEqual(found.nameless, [], place);
      assert.match(found.title, /Halma/);
      assert.equal(found.lang, "en");
    }
  }, how);
}

walk("keyboard navigation: the skip link first, then the main part", async (page) => {
  await page.goto(`${server.url}/library`);
  await page.getByRole("heading", { name: "Library" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.goBack().catch(() => {});
  await page.goto(`${server.url}/runs`);
  await page.getByRole("link", { name: "Ask", exact: true }).first().press("Enter");
  await page.getByLabel("Question", { exact: true }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
});

// Last, because from the first key on the server requires one.
walk("settings: the first key is displayed once, required from then on; keys for some documents; revoked", async (page) => {
  await page.goto(`${server.url}/settings/keys`);
  await page.getByLabel("Name").fill("walker");
  for (const scope of ["change the library", "administer"]) await page.getByLabel(scope).check();
  await page.getByRole("button", { name: "Create key" }).click();
  const shown = await page.locator("dialog code").first().textContent();
  assert.match(shown, /^halma_/);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: /walker/ }).waitFor();
  // Without the key, the page asks for it.
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.locator("table, dialog").first().waitFor();
  if (await page.locator("dialog").count()) {
    await page.getByRole("dialog").getByLabel("API key").fill(shown);
    await page.getByRole("button", { name: "Sign in" }).click();
  }
  const form = page.locator("form").filter({ hasText: "Create key" });
  const conditions = form.getByLabel(/Only documents whose fields/);
  await form.getByLabel("Name").fill("legal team");
  if (await form.getByLabel("administer").isChecked()) {
    assert.ok(await conditions.isDisabled(), "a key that administers sees all documents");
    await form.getByLabel("administer").uncheck();
  }
  await conditions.fill("team");
  await form.getByRole("button", { name: "Create key" }).click();
  await form.getByText("write it as field=value").waitFor();
  await conditions.fill("team=legal,finance\nyear>=2020");
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/keys") && r.method() === "POST");
  await form.getByRole("button", { name: "Create key" }).click();
  assert.deepEqual((await sent).postDataJSON().where, { team: ["legal", "finance"], year: { gte: 2020 } });
  await page.getByRole("button", { name: "Done" }).click();
  const limited = page.getByRole("row", { name: /legal team/ });
  await limited.getByText("team=legal,finance").waitFor();
  await limited.getByText("year>=2020").waitFor();
  const { id } = items(await page.evaluate(async () => (await fetch("/api/v1/keys", { headers: { authorization: `Bearer ${sessionStorage.getItem("halma.key")}` } })).json())).find((one) => one.name === "legal team");
  await limited.getByText(id, { exact: true }).waitFor();
  await limited.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByText(id, { exact: true }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await limited.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /walker/ });
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("heading", { name: "Revoke this key?" }).waitFor({ state: "detached" });
});
