// What the end-to-end tests share: a server and a browser for each file of tests, and a page for each
// test.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { missing, openBrowser, openPage, startServer } from "./start.mjs";

export const items = (list) => (Array.isArray(list) ? list : list.items);

/** The server of the tests of a file, and what they are written with. */
export function walks() {
  const why = missing();
  if (why && process.env.HALMA_BROWSER_REQUIRED) throw new Error(`the web UI cannot be tested: ${why}`);
  const options = { skip: why ? `not tested: ${why}` : false, timeout: 180_000 };
  const server = { url: "", stop: async () => {} };
  let browser;
  before(async () => {
    if (why) return;
    Object.assign(server, await startServer());
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server.stop();
  });

  /** A test in its own page; any error in the page fails it. */
  function walk(name, act, how = {}) {
    test(name, options, async () => {
      const { page, wrong, close } = await openPage(browser, server.url, how);
      page.setDefaultTimeout(30_000);
      try {
        await act(page);
        assert.deepEqual(wrong, []);
      } catch (error) {
        await page.screenshot({ path: `shots/failed-${name.replace(/\W+/g, "-")}.png` }).catch(() => {});
        throw error;
      } finally {
        // A handler that still waits for a reply has no page to fulfil.
        await page.unrouteAll({ behavior: "ignoreErrors" });
        await close();
      }
    });
  }
  const get = async (page, path) => (await page.request.get(`${server.url}/api/v1${path}`)).json();
  /** A question that the library can answer: one that the page offers for the usual strategy. */
  const questionOf = async (page) => items(await get(page, "/examples")).find(({ strategy }) => !strategy || strategy === "kar3").question;
  return { walk, server, get, questionOf };
}

export async function ask(page, question) {
  const box = page.getByLabel("Question", { exact: true });
  await box.fill(question);
  await box.press("Enter");
}
export const done = (page, at = 0) => page.locator("article[aria-busy=false]").nth(at).waitFor({ timeout: 120_000 });

/** Counts the clicks of a task. */
export function counting() {
  let clicks = 0;
  return { click: async (target) => { clicks += 1; await target.click(); }, check: () => assert.ok(clicks <= 3, `${clicks} clicks`) };
}

/** A stream of events as text. */
export const sse = (events) => events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
const USAGE = { llm_calls: 1, cached_calls: 0, prompt_tokens: 1, completion_tokens: 1, usd: 0 };
/** The reply to a question: its events, then the answer. */
export const running = (events, answer) => sse([["started", { id: "x", strategy: "s" }], ...events.map((event) => ["trace", event]), ["answer", { id: "x", strategy: "s", usage: USAGE, hops: 0, elapsed_ms: 5, answer: { reason: "", citations: [], abstained: false, confidence: null, partial: false, ...answer } }]]);
