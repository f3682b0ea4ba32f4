// End-to-end tests of states that a page must display: changes that are not saved, a server without an
// embedder, the stages of a build, narrow screens.
import assert from "node:assert/strict";
import { walks } from "./walking.mjs";

const { walk, server } = walks();

walk("settings: an edited prompt is not left without a question", async (page) => {
  const [first, second] = [page.locator("[data-prompt]").first(), page.locator("[data-prompt]").nth(1)];
  const words = page.locator("textarea");
  const dialog = page.getByRole("dialog", { name: "Discard changes?" });
  const keep = () => dialog.getByRole("button", { name: "Keep editing" }).click();
  await page.goto(`${server.url}/settings`);
  await page.getByRole("link", { name: "Prompts" }).click();
  await first.click();
  await words.waitFor();
  const edited = `${await words.inputValue()}\nBe brief.`;
  await words.fill(edited);
  const place = page.url();
  // Another prompt, another tab, another page, the way back.
  for (const leave of [() => second.click(), () => page.getByRole("link", { name: "Usage" }).click(), () => page.getByRole("link", { name: "Runs", exact: true }).click(), () => page.evaluate(() => history.back())]) {
    await leave();
    await keep();
    await dialog.waitFor({ state: "detached" });
    assert.equal(page.url(), place);
    assert.equal(await words.inputValue(), edited);
  }
  const asked = new Promise((seen) => page.once("dialog", (browser) => browser.dismiss().then(() => seen(browser.type()))));
  page.reload({ timeout: 2000 }).catch(() => {});
  assert.equal(await asked, "beforeunload");
  await page.evaluate(() => history.back());
  await dialog.getByRole("button", { name: "Discard changes" }).click();
  await words.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/settings/prompts");
  await page.goForward();
  await words.waitFor();
  assert.notEqual(await words.inputValue(), edited);
  await second.click();
  await page.locator("h2", { hasText: (await second.textContent()).trim() }).waitFor();
});

walk("knowledge: without an embedder, the search by meaning is off and the page says why", async (page) => {
  await page.route("**/api/v1/ready", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify({ ready: true, store: true, embedder: null, disk: true, queue: true }) }));
  // An address from a time when there was one.
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/search"));
  await page.goto(`${server.url}/knowledge?text=company&mode=dense`);
  assert.equal((await sent).postDataJSON().mode, undefined);
  await page.getByText("This server has no embedder").first().waitFor();
  const meaning = page.getByLabel("Mode").getByRole("option", { name: "meaning (no embedder)" });
  assert.ok(await meaning.isDisabled());
  assert.equal(await meaning.getAttribute("title"), "This server has no embedder");
  await page.unroute("**/api/v1/ready");
  await page.goto(`${server.url}/knowledge`);
  assert.equal(await page.getByLabel("Mode").getByRole("option", { name: "meaning", exact: true }).isDisabled(), false);
});

const build = (more) => ({ id: "b1", state: "running", created: new Date().toISOString(), ...more });
const json = (body) => ({ contentType: "application/json", body: JSON.stringify(body) });
const sse = (events) => ({ contentType: "text/event-stream", body: events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("") });

walk("library: a paused build keeps its figures", async (page) => {
  const running = build({ stage: "atomizing", done: 34, total: 120 });
  const paused = build({ state: "paused", stage: "paused", done: 0, total: 0 });
  await page.route("**/api/v1/builds", (route) => route.fulfill(json({ items: [running] })));
  await page.route("**/api/v1/builds/b1/events", (route) => route.fulfill(sse([["progress", running], ["done", paused]])));
  await page.goto(`${server.url}/library`);
  await page.getByRole("heading", { name: "Paused: Finding what each chunk answers" }).waitFor();
  await page.getByText("34 of 120").waitFor();
  await page.getByText("Resume the build to continue").waitFor();
});

walk("library: a stage that is complete is not displayed as the build", async (page) => {
  const read = build({ stage: "reading", done: 9000, total: 9000 });
  await page.route("**/api/v1/builds", (route) => route.fulfill(json({ items: [read] })));
  await page.route("**/api/v1/builds/b1", (route) => route.fulfill(json(read)));
  await page.route("**/api/v1/builds/b1/events", (route) => route.fulfill(sse([["progress", read]])));
  await page.goto(`${server.url}/library`);
  await page.getByText("Reading the files: 9.0 kB done").waitFor();
  await page.getByText("Other steps may be running").waitFor();
  assert.equal(await page.getByRole("progressbar", { name: "Progress of the build" }).getAttribute("value"), null);
  assert.equal(await page.getByText("100%").count(), 0);
});

walk("settings: on a narrow screen values and names are not broken into letters", async (page) => {
  await page.goto(`${server.url}/settings`);
  await page.getByText("All settings and their origins").click();
  const narrowest = await page.locator("main dd").evaluateAll((all) => Math.min(...all.map((e) => e.clientWidth)));
  assert.ok(narrowest > 150, `a value has ${narrowest} pixels`);
}, { viewport: { width: 390, height: 844 } });
