// End-to-end tests of Ask in a browser, against the server that start.mjs finds. The questions come from
// that server's library.
import assert from "node:assert/strict";
import { ask, done, items, running, sse, walks } from "./walking.mjs";

const { walk, server, get, questionOf } = walks();

walk("ask: an answer with its hops and its source at the quoted position", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "question");
  await ask(page, question);
  await done(page);
  await page.locator(".way").waitFor();
  assert.ok((await page.locator(".way li").count()) >= 1, "the way has a step");
  assert.ok((await page.locator(".answer .cite, .answer .mark").count()) > 0, "the answer has its sources");
  assert.equal(await page.getByText("First word after").count(), 0, "figures are folded");
  await page.getByText("Details", { exact: true }).click();
  await page.getByText("First word after").waitFor();
  await page.getByText("Log of every search and call", { exact: true }).click();
  await page.locator(".tree li").first().waitFor();
  const source = page.locator("section[aria-labelledby^=sources] li button").first();
  await source.click();
  await page.locator("[data-source] mark, .page mark").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator("aside").waitFor({ state: "detached" });
  assert.ok(await source.evaluate((e) => e === document.activeElement), "the focus returns to the source");
  const address = new URL(page.url()).pathname;
  assert.match(address, /^\/c\/[A-Za-z0-9_-]{8,64}$/);
  await page.reload();
  await page.locator(".way").waitFor();
  // Back leaves the conversation, forward opens it again.
  await page.goBack();
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
  await page.goForward();
  await page.locator(".way").waitFor();
  assert.equal(new URL(page.url()).pathname, address);
});

walk("ask: another method, then a follow-up question with the conversation", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  await page.getByRole("button", { name: "Try another method" }).click();
  const other = page.locator("dialog button[aria-pressed=false]:not([disabled])").filter({ hasText: /^RAG/ }).first();
  await other.click();
  await done(page, 1);
  assert.equal(await page.locator("article.run").count(), 2);
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await ask(page, "And when was that?");
  const answered = (await page.locator(".answer .passages").count()) === 0;
  const { history } = (await sent).postDataJSON();
  if (answered) assert.deepEqual(history?.map((t) => t.role), ["user", "assistant"]);
  await done(page, 2);
});

walk("ask: the empty page offers questions that the documents answer", async (page) => {
  const offered = items(await get(page, "/examples"));
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Questions about these documents" }).waitFor();
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await page.getByRole("button", { name: offered[0].question }).click();
  const { question, strategy } = (await sent).postDataJSON();
  assert.deepEqual(JSON.parse(JSON.stringify({ question, strategy })), offered[0]);
  await done(page);
});

walk("ask: a run can be stopped", async (page) => {
  await page.route("**/api/v1/ask", () => {});
  await page.goto(server.url);
  await ask(page, "Is this ever answered?");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".ended").getByText("Stopped before there was an answer").waitFor();
});

const HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>[click](javascript:window.hit=1) [there](https://example.org/x)';
walk("texts of documents, models and users stay text", async (page) => {
  const citation = { node: "n", document: HOSTILE, title: HOSTILE, section: HOSTILE, page: 1, start: 0, end: 5, quote: HOSTILE };
  const usage = { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 0 };
  const full = { text: `${HOSTILE} [1]`, claims: [{ start: 0, end: 3, citations: [1], supported: false }] };
  const answer = { text: HOSTILE, reason: HOSTILE, citations: [citation], steps: [{ query: HOSTILE, citation: 1 }], full, abstained: false, confidence: null, partial: false };
  const body = sse([
    ["started", { id: "x", strategy: HOSTILE }],
    ["trace", { event: "span_started", span: 1, parent: 0, name: HOSTILE }],
    ["trace", { event: "searched", span: 1, layer: "chunk", mode: "hybrid", query: HOSTILE, hits: [{ id: "n", title: HOSTILE, text: HOSTILE, score: 1 }], elapsed_ms: 1 }],
    ["trace", { event: "note", span: 1, note: HOSTILE }],
    ["answer_delta", { text: HOSTILE }],
    ["answer", { id: "x", answer, strategy: HOSTILE, usage, hops: 1, elapsed_ms: 1 }],
  ]);
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.goto(server.url);
  await ask(page, HOSTILE);
  await done(page);
  await page.getByText("Details", { exact: true }).click();
  await page.getByText("Log of every search and call", { exact: true }).click();
  await page.locator(".tree summary").nth(1).click();
  await page.locator("section[aria-labelledby^=sources] li button").first().click();
  await page.getByText("no longer in the library").waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator("main img, main script, aside img, aside script").count(), 0);
  const links = await page.locator(".prose a").evaluateAll((all) => all.map((a) => [a.href, a.rel]));
  assert.deepEqual(links, [["https://example.org/x", "noopener noreferrer nofollow"]]);
});

walk("abstentions, partial answers and refusals are displayed", async (page) => {
  const usage = { llm_calls: 0, cached_calls: 0, prompt_tokens: 0, completion_tokens: 0, usd: 0 };
  const reply = (answer) => sse([["started", { id: "x", strategy: "s" }], ["trace", { event: "budget_exhausted", span: 0, limit: "calls" }], ["answer", { id: "x", strategy: "s", usage, hops: 0, elapsed_ms: 5, answer }]]);
  const source = { node: "c-1", document: "log.md", title: "Log", section: null, page: 2, start: 11, end: 29, quote: "The lamp went out." };
  const answers = [
    { text: "", kind: "none", reason: "Nothing is near.", citations: [], abstained: true, confidence: null, partial: false },
    { text: "", kind: "passages", reason: "", limitation: "No language model is configured.", passages: [{ text: "It stormed. The lamp went out. It was lit again.", source }], citations: [], abstained: true, confidence: null, partial: false },
    { text: "Perhaps", reason: "", citations: [], abstained: false, confidence: null, partial: true },
  ];
  await page.route("**/api/v1/ask", (route) => {
    const answer = answers.shift();
    if (answer) return route.fulfill({ contentType: "text/event-stream", body: reply(answer) });
    return route.fulfill({ status: 429, contentType: "application/problem+json", body: JSON.stringify({ title: "Too many questions", status: 429, detail: "60 a minute are allowed", hint: "Wait a minute.", request_id: "r-1" }) });
  });
  await page.goto(server.url);
  await ask(page, "one");
  await page.locator("p", { hasText: "None of your documents says this." }).last().waitFor();
  await ask(page, "nearest");
  await page.getByRole("heading", { name: "Nearest passages" }).waitFor();
  await page.getByRole("link", { name: "Connect a model" }).waitFor();
  assert.equal(await page.locator(".passages mark").textContent(), source.quote);
  await page.getByText("log.md · page 2").waitFor();
  await ask(page, "two");
  await page.getByText("a limit was reached (model calls)").waitFor();
  await page.getByText("This answer has no source").waitFor();
  await ask(page, "three");
  await page.getByText("There are too many questions at the moment").waitFor();
  assert.equal(await page.getByText("60 a minute are allowed").isVisible(), false, "the server's words are folded");
  await page.getByText("Details for your administrator").click();
  for (const text of ["60 a minute are allowed", "Wait a minute.", "r-1"]) await page.getByText(text).first().waitFor();
});

walk("ask: the answer appears as it is written, and what no source supports is marked", async (page) => {
  const usage = { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 0 };
  const citation = { node: "n", document: "a.md", title: "A", section: null, page: null, start: 0, end: 5, quote: "Ann was born in Velby." };
  const full = { text: "Ann was born in Velby [1]. She never left.", claims: [{ start: 0, end: 26, citations: [1], supported: true }, { start: 27, end: 42, citations: [], supported: false }] };
  const answer = { text: "Velby", reason: "", citations: [citation], steps: [{ query: "birthplace of Ann", citation: 1 }], full, abstained: false, confidence: null, partial: false };
  const delta = (text, restart = false) => ["answer_delta", { event: "answer_delta", text, restart }];
  const pieces = [["started", { id: "x", strategy: "s" }], delta("Wrong"), delta("", true), delta("Ann was born ")];
  // The stream is held open until the test ends it.
  await page.addInitScript((body) => {
    const real = window.fetch;
    window.fetch = (url, init) => {
      if (!String(url).endsWith("/api/v1/ask")) return real(url, init);
      const encoder = new TextEncoder();
      const stream = new ReadableStream({ start(controller) {
        controller.enqueue(encoder.encode(body[0]));
        window.endAnswer = () => { controller.enqueue(encoder.encode(body[1])); controller.close(); };
      } });
      return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    };
  }, [sse(pieces), sse([delta("in Velby [1]."), ["answer", { id: "x", strategy: "s", question: "Where was Ann born?", usage, hops: 1, elapsed_ms: 5, first_word_ms: 3, answer }]])]);
  await page.goto(server.url);
  await ask(page, "Where was Ann born?");
  await page.locator(".writing").getByText("Ann was born").waitFor();
  assert.equal(await page.getByText("Wrong").count(), 0, "what was withdrawn is gone");
  await page.evaluate(() => window.endAnswer());
  await done(page);
  await page.locator(".headline", { hasText: "Velby" }).waitFor();
  assert.equal(await page.locator(".answer").getByText("Ann was born").filter({ visible: true }).count(), 0, "the sentence that repeats the headline is left out, and one step is folded");
  assert.equal(await page.locator(".prose .doubt").count(), 1);
  await page.getByText("No source supports the sentences marked").waitFor();
  await page.getByText("How it was found").click();
  await page.locator(".way").getByText("birthplace of Ann").waitFor();
});

const SERIES = {
  target: "towers opened", unit: "", group: "", measure: "count", granularity: "year", method: "mean of the values", errors: [{ method: "mean", error: 0.8 }], caveats: ["2 rows without a usable date left out"],
  points: [
    { period: "2019", value: 1, fitted: 1.5, rows: ["n1"], filled: false, finished: true },
    { period: "2020", value: 0, fitted: 1.5, rows: [], filled: true, finished: true },
    { period: "2021", value: 3, fitted: 1.5, rows: ["n1", "n2", "n3"], filled: false, finished: true },
    { period: "2022", value: 1, fitted: null, rows: ["n4"], filled: false, finished: false },
  ],
  predictions: [{ period: "2022", value: 2, intervals: [{ level: 0.8, low: 0, high: 4 }, { level: 0.95, low: 0, high: 6 }] }],
};
const hit = (id) => ({ id, layer: "row", parent: null, document: "gone.csv", title: `Towers, ${id}`, section: null, page: null, text: `name: ${id}; opened: 2021`, score: 1, parts: [], span: { start: 0, end: 4 } });

walk("ask: a forecast is drawn, its periods open their rows, and a table says the same", async (page) => {
  const full = { text: "2 (80 % interval 0 to 4) [1].\n\nIt goes on.", claims: [{ start: 0, end: 30, citations: [1], supported: true }] };
  const citation = { node: "n1", document: "gone.csv", title: "Towers", section: null, page: null, start: 0, end: 4, quote: "name: n1" };
  const body = running([{ event: "series_forecast", span: 1, series: SERIES }], { text: "2 (80 % interval 0 to 4)", full, computation: "Computed from 5 rows.", citations: [citation] });
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.route("**/api/v1/nodes/*", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(hit(route.request().url().split("/").pop())) }));
  await page.goto(server.url);
  await ask(page, "How many next year?");
  await done(page);
  await page.locator("figure path.band").nth(1).waitFor();
  assert.equal(await page.locator(".prose .doubt").count(), 0, "what was computed is not doubted");
  await page.getByText("2022: 2 (80 %: 0 to 4; 95 %: 0 to 6)").waitFor();
  // One row opens its source, several are listed first.
  const one = page.getByRole("button", { name: "2019: 1, 1 row" });
  await one.press("Enter");
  await page.getByRole("heading", { name: "Towers, n1" }).waitFor();
  await page.keyboard.press("Escape");
  assert.ok(await one.evaluate((e) => e === document.activeElement), "the focus returns to the period");
  await page.getByRole("button", { name: "2021: 3, 3 rows" }).click();
  await page.getByRole("region", { name: "Rows of 2021" }).getByRole("button", { name: /n3/ }).click();
  await page.getByRole("heading", { name: "Towers, n3" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("As a table").click();
  await page.getByRole("row", { name: /2022 1 .*not over, not used/ }).waitFor();
  await page.getByRole("row", { name: /2022 2 0 to 4 0 to 6 forecast/ }).waitFor();
});

const PROPOSED = (agent, name) => ({ event: "ideas_developed", span: agent, ideas: { step: "proposed", agent, evidence: [], ideas: [{ id: `${agent}.1`, idea: `${name} first.`, mechanism: "It is seen.", rests_on: agent === 1 ? [1] : [], risks: "Cost.", unknowns: "" }] } });
const IDEAS = [
  { event: "ideas_developed", span: 1, ideas: { step: "board", evidence: [{ about: "When did it open?", text: "In 1911.", nodes: ["n1"] }], open: ["Who pays?"] } },
  { event: "ideas_developed", span: 1, ideas: { step: "perspectives", agents: [{ name: "Pilots", concern: "light" }, { name: "Keepers", concern: "work" }] } },
  PROPOSED(1, "A brighter lamp"), PROPOSED(2, "A horn"),
  { event: "ideas_developed", span: 3, ideas: { step: "reviewed", agent: 2, round: 1, reviews: [{ idea: "1.1", feasibility: 4, evidence: 3, novelty: 2, objection: "Too bright." }] } },
  { event: "ideas_developed", span: 4, ideas: { step: "synthesised", groups: [{ title: "Light and sound", ideas: [["1.1"], ["2.1"]] }] } },
];
walk("ask: the agents of a creative answer are shown as they work, with board, criticism and synthesis", async (page) => {
  await page.addInitScript((body) => {
    const real = window.fetch;
    window.fetch = (url, init) => {
      if (!String(url).endsWith("/api/v1/ask")) return real(url, init);
      const encoder = new TextEncoder();
      const stream = new ReadableStream({ start(controller) {
        controller.enqueue(encoder.encode(body[0]));
        window.endAnswer = () => { controller.enqueue(encoder.encode(body[1])); controller.close(); };
      } });
      return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    };
  }, [sse([["started", { id: "x", strategy: "s" }], ...IDEAS.slice(0, 3).map((event) => ["trace", event])]), running(IDEAS.slice(3), { text: "Light or sound.", full: { text: "Light or sound.", claims: [] } })]);
  await page.route("**/api/v1/nodes/*", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(hit("n1")) }));
  await page.goto(server.url);
  await ask(page, "How could more ships find it?");
  const agent = (name) => page.getByRole("article", { name: `Agent: ${name}` });
  await agent("Pilots").getByText("A brighter lamp first.").waitFor();
  await agent("Keepers").getByText("Working…").waitFor();
  await page.evaluate(() => window.endAnswer());
  await done(page);
  await agent("Keepers").getByText("no evidence").waitFor();
  await agent("Pilots").getByText("1 objection").click();
  await agent("Pilots").getByText("Too bright.").waitFor();
  await page.getByRole("heading", { name: "Light and sound" }).waitFor();
  await page.getByText("Open: Who pays?").waitFor();
  await agent("Pilots").getByRole("button", { name: "Evidence 1" }).click();
  await page.getByRole("heading", { name: "Towers, n1" }).waitFor();
});
