// End-to-end tests of each page in a browser, against the server that start.mjs finds. The questions
// come from that server's library.
import assert from "node:assert/strict";
import { items, walks } from "./walking.mjs";

const { walk, server, get } = walks();

/** A question that the library can answer: one that the page offers for the usual strategy. */
async function questionOf(page) {
  const offered = items(await get(page, "/examples"));
  return offered.find(({ strategy }) => !strategy || strategy === "kar3").question;
}
async function ask(page, question) {
  const box = page.getByLabel("Question", { exact: true });
  await box.fill(question);
  await box.press("Enter");
}
const done = (page, at = 0) => page.locator("article[aria-busy=false]").nth(at).waitFor({ timeout: 120_000 });

walk("ask: an answer with its hops and its source at the quoted position", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await page.getByRole("heading", { name: /one search cannot/ }).waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "question");
  await ask(page, question);
  await done(page);
  await page.locator(".way").waitFor();
  assert.ok((await page.locator(".way li").count()) >= 3, "the way has the question, a step and the answer");
  assert.ok((await page.locator(".way circle").count()) >= 3, "the graph has its nodes");
  assert.ok((await page.locator(".prose .cite").count()) > 0, "the sentences have their sources");
  await page.getByText("first word after").waitFor();
  const log = page.getByText("Log of every search and call", { exact: true });
  assert.equal(await page.locator(".tree li").first().isVisible(), false, "the log is folded");
  await log.click();
  await page.locator(".tree li").first().waitFor();
  const source = page.locator("section[aria-labelledby^=sources] li button").first();
  await source.click();
  await page.locator("#quoted, .page mark").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator("aside").waitFor({ state: "detached" });
  assert.ok(await source.evaluate((e) => e === document.activeElement), "the focus returns to the source");
  await page.reload();
  await page.getByText("Log of every search and call", { exact: true }).waitFor();
  await page.locator(".way").waitFor();
});

walk("ask: compare strategies, then a follow-up question with the conversation", async (page) => {
  const question = await questionOf(page);
  await page.goto(server.url);
  await ask(page, question);
  await done(page);
  await page.getByRole("button", { name: "Compare strategies" }).click();
  const other = page.locator("dialog button[aria-pressed=false]:not([disabled])").filter({ hasText: "naive" }).first();
  await other.click();
  await done(page, 1);
  assert.equal(await page.locator("article.run").count(), 2);
  const sent = page.waitForRequest((r) => r.url().endsWith("/api/v1/ask"));
  await ask(page, "And when was that?");
  const answered = (await page.locator("article.run").first().textContent()).includes("do not contain") === false;
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
  assert.deepEqual({ question, strategy }, offered[0]);
  await done(page);
});

walk("ask: a run can be stopped", async (page) => {
  await page.route("**/api/v1/ask", () => {});
  await page.goto(server.url);
  await ask(page, "Is this ever answered?");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped before there was an answer").waitFor();
});

const sse = (events) => events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
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
  await page.getByText("Your documents do not say.", { exact: true }).first().waitFor();
  await ask(page, "nearest");
  await page.getByRole("heading", { name: "Nearest passages" }).waitFor();
  await page.getByRole("link", { name: "Connect a model" }).waitFor();
  assert.equal(await page.locator(".passages mark").textContent(), source.quote);
  await page.getByText("log.md · page 2").waitFor();
  await ask(page, "two");
  await page.getByText("The budget (calls) was spent").waitFor();
  await page.getByText("This answer has no source").waitFor();
  await ask(page, "three");
  for (const text of ["Too many questions", "60 a minute are allowed", "Wait a minute.", "r-1"]) await page.getByText(text).first().waitFor();
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
  assert.equal(await page.locator(".prose .doubt").count(), 1);
  await page.getByText("No source supports the sentences marked").waitFor();
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
const USAGE = { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 0 };
const running = (events, answer) => sse([["started", { id: "x", strategy: "s" }], ...events.map((event) => ["trace", event]), ["answer", { id: "x", strategy: "s", usage: USAGE, hops: 0, elapsed_ms: 5, answer: { reason: "", citations: [], abstained: false, confidence: null, partial: false, ...answer } }]]);

walk("ask: a forecast is drawn, its periods open their rows, and a table says the same", async (page) => {
  const full = { text: "2 (80 % interval 0 to 4) [1].\n\nIt goes on.", claims: [{ start: 0, end: 30, citations: [1], supported: true }] };
  const citation = { node: "n1", document: "gone.csv", title: "Towers", section: null, page: null, start: 0, end: 4, quote: "name: n1" };
  const body = running([{ event: "series_forecast", span: 1, series: SERIES }], { text: "2 (80 % interval 0 to 4)", full, computation: "Computed from 5 rows.", citations: [citation] });
  await page.route("**/api/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.route("**/api/v1/nodes/*", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(hit(route.request().url().split("/").pop())) }));
  await page.goto(server.url);
  await ask(page, "How many next year?");
  await done(page);
  assert.equal(await page.locator("figure path.band").count(), 2, "two intervals");
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
  await page.getByRole("button", { name: "Wrong", exact: true }).click();
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
  await page.getByRole("button", { name: "Right", exact: true }).click();
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
  await page.getByRole("searchbox").fill(question);
  await page.keyboard.press("Enter");
  await page.locator("[data-hit]").first().waitFor();
  await page.getByLabel("Layer").selectOption("atom");
  await page.locator("[data-hit]").first().waitFor();
  await page.getByRole("link", { name: "neighbours" }).first().click();
  await page.locator("canvas").first().waitFor();
  const list = page.getByRole("toolbar", { name: "Neighbours" });
  await list.getByRole("button").first().press("Enter");
  await page.locator("[data-hit]").first().waitFor();
  await page.goto(`${server.url}/library`);
  await page.locator("tbody a").first().click();
  await page.getByRole("tab", { name: /atoms/ }).click();
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
  await page.getByRole("button", { name: "Find servers on this machine" }).click();
  await page.getByText("No model server runs on this machine.").or(page.locator(".found").first()).waitFor();
  await page.getByLabel("Address").fill("http://127.0.0.1:9/v1");
  await page.getByLabel("Model", { exact: true }).fill("none");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText(/cannot be reached/).first().waitFor();
  const role = page.getByLabel("reader", { exact: true });
  const before = await role.inputValue();
  const other = (await role.locator("option").allTextContents()).at(-1);
  await role.selectOption(other);
  await page.getByText(`is now assigned to ${other}`).waitFor();
  await page.reload();
  assert.equal(await role.inputValue(), other);
  await role.selectOption(before);
  await page.getByText(`is now assigned to ${before}`).waitFor();
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
