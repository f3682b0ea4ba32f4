// What people come for, each in at most three clicks; conversations, options, languages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, counting, done, items, running, walks } from "./walking.mjs";

const { walk, server, get, questionOf } = walks();

const lists = async (page) => (await page.request.get(`${server.url}/api/v1/conversations`)).ok();

walk("task: the first answer from the own folder", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  const { click, check } = counting();
  await page.getByLabel("Question", { exact: true }).fill(question);
  await click(page.getByRole("button", { name: "Ask", exact: true }));
  await done(page);
  await page.locator(".answer").waitFor();
  check();
});

walk("task: the sentence behind an answer, on hover and in its document", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  const { click, check } = counting();
  const mark = page.locator(".answer .mark, .answer .cite").first();
  await mark.hover();
  await page.getByRole("tooltip").locator("q").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("tooltip").waitFor({ state: "detached" });
  await click(mark);
  await page.locator("[data-source] mark, .page mark").first().waitFor();
  check();
});

walk("task: a follow-up tomorrow", async (page) => {
  if (!(await lists(page))) return;
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  // Another tab has no memory of this one.
  const later = await page.context().newPage();
  await later.goto(`${server.url}/library`);
  const { click, check } = counting();
  await click(later.locator("header .conversations").getByRole("link", { name: question }).first());
  await later.locator(".answer").waitFor();
  const sent = later.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await ask(later, "And when was that?");
  const { conversation, history } = (await sent).postDataJSON();
  assert.equal(`/c/${conversation}`, new URL(later.url()).pathname);
  assert.ok(history === undefined || history[0].text === question);
  check();
  await later.close();
});

walk("task: what a question cost", async (page) => {
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: running([], { text: "Velby" }) }));
  await page.goto(server.url);
  await ask(page, "Where was Ann born?");
  await done(page);
  const { click, check } = counting();
  await click(page.getByText("Details", { exact: true }));
  assert.equal(await page.locator("dt", { hasText: "Cost" }).locator("xpath=following-sibling::dd[1]").textContent(), "$0");
  check();
});

walk("conversations: a new one, its link, its file; deleted after a question", async (page) => {
  if (!(await lists(page))) return;
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  const address = page.url();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
  assert.match(file.suggestedFilename(), /\.md$/);
  assert.ok(readFileSync(await file.path(), "utf8").startsWith(`# ${question}\n`));
  await page.locator("header .conversations").getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
  await page.goto(address);
  await page.locator(".answer").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByText("cannot be undone").waitFor();
  await page.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
  await page.goto(address);
  await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
});

walk("conversations: a question that a reload ended is offered again", async (page) => {
  if (!(await lists(page))) return;
  await page.route("**/api/v1/ask", () => {});
  await page.goto(server.url);
  await ask(page, "Is this ever answered?");
  await page.getByText("Reading the question").waitFor();
  await page.reload();
  await page.getByText("This question was not finished").waitFor();
  await page.unroute("**/api/v1/ask");
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await page.locator("article").getByRole("button", { name: "Ask again" }).click();
  assert.equal((await sent).postDataJSON().question, "Is this ever answered?");
});

walk("conversations: a server that keeps none has no list, and answers", async (page) => {
  await page.route("**/api/v1/conversations**", (route) => route.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" }));
  await page.goto(server.url);
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await ask(page, await questionOf(page));
  assert.equal((await sent).postDataJSON().conversation, undefined);
  await done(page);
  assert.equal(await page.getByText("Conversations").count(), 0);
});

walk("options: an effort, a folder and a method; an edited question", async (page) => {
  const body = running([], { text: "Velby" });
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  const next = () => page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await page.goto(server.url);
  await page.locator("form").getByText("Deep", { exact: true }).click();
  await page.getByRole("button", { name: "Options" }).click();
  const first = page.locator("dialog .matches button").first();
  const folder = (await first.locator("span").first().textContent()).trim();
  await first.click();
  await page.getByRole("button", { name: "Done" }).click();
  let sent = next();
  await ask(page, "Where was Ann born?");
  let asked = (await sent).postDataJSON();
  assert.deepEqual([asked.effort, asked.filter.documents, asked.strategy], ["deep", [folder.replace(/\/$/, "/*")], undefined]);
  await done(page);
  await page.locator("form .chosen button", { hasText: folder }).click();
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByText("All methods").click();
  const auto = page.locator("dialog button[aria-pressed=true]");
  await auto.getByText("default").waitFor();
  await page.locator("dialog li button", { hasText: "KAR³" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  sent = next();
  await ask(page, "And when?");
  asked = (await sent).postDataJSON();
  assert.deepEqual([asked.strategy, asked.effort, asked.filter], ["kar3", undefined, undefined]);
  await done(page, 1);
  await page.getByRole("button", { name: "Edit the question" }).first().click();
  await page.getByRole("textbox", { name: "Edit the question" }).fill("Where did Ann die?");
  sent = next();
  await page.keyboard.press("Enter");
  asked = (await sent).postDataJSON();
  assert.deepEqual([asked.question, asked.history], ["Where did Ann die?", undefined]);
});

walk("ask: on a phone the field and the tabs leave the screen to the answer", async (page) => {
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: running([], { text: "| a | b |\n| - | - |\n| 1 | 2 |" }) }));
  await page.goto(server.url);
  const options = await page.getByRole("button", { name: "Options" }).boundingBox();
  assert.ok(options.y + options.height < 844, "options are above the fold");
  await ask(page, "Which?");
  await done(page);
  await page.getByRole("cell", { name: "2" }).waitFor();
  const tops = await page.evaluate(() => [document.querySelector(".composer"), document.querySelector("nav")].map((e) => e.getBoundingClientRect().height));
  const covered = tops.reduce((sum, height) => sum + height, 0);
  assert.ok(covered < 844 / 6, `${covered} pixels are covered`);
  if (!(await lists(page))) return;
  await page.getByRole("button", { name: "Conversations" }).click();
  await page.getByRole("dialog").getByRole("heading", { name: "Conversations" }).waitFor();
}, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

walk("ask: the first touch of a citation shows its quote, the second its source", async (page) => {
  const citation = { node: "n", document: "gone.md", title: "Ann", section: null, page: null, start: 0, end: 5, quote: "Ann was born in Velby." };
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: running([], { text: "Velby", citations: [citation] }) }));
  await page.goto(server.url);
  await ask(page, "Where was Ann born?");
  await done(page);
  const mark = page.locator(".answer .mark").first();
  await mark.tap();
  await page.getByRole("tooltip").getByText("Ann was born in Velby.").waitFor();
  assert.equal(await page.locator("aside").count(), 0);
  await mark.tap();
  await page.locator("aside").getByText("no longer in the library").waitFor();
}, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

walk("languages: the browser's, and the one chosen in Settings", async (page) => {
  await page.goto(server.url);
  await page.getByPlaceholder("Stellen Sie eine Frage").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  await page.goto(`${server.url}/settings`);
  await page.getByLabel("Sprache").selectOption("en");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Ask", exact: true }).first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  assert.equal(items(await get(page, "/documents")).length > 0, true);
}, { locale: "de-DE" });
