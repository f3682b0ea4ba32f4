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
        await close();
      }
    });
  }
  const get = async (page, path) => (await page.request.get(`${server.url}/api/v1${path}`)).json();
  return { walk, server, get };
}
