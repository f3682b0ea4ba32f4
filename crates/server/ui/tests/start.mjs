// Finds a browser and a server for the end-to-end tests: a running server at HALMA_URL, or else the
// binary HALMA_BIN, which is started with the demo library on a free port. With HALMA_BASE=shared two
// servers and three workers are started over a PostgreSQL, and the browser speaks to a proxy.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { missingPostgres, startPostgres } from "../../harness/postgres.mjs";
import { OFFER, sharedBase } from "../../harness/shared.mjs";

const BROWSERS = [process.env.HALMA_BROWSER, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const browserPath = BROWSERS.find((path) => path && existsSync(path));

const isShared = process.env.HALMA_BASE === "shared";

/** Why the tests cannot run here; `undefined` if they can. */
export function missing() {
  if (!browserPath) return "no Chromium is installed (HALMA_BROWSER can name one)";
  if (!process.env.HALMA_URL && !process.env.HALMA_BIN) return "neither HALMA_URL nor HALMA_BIN is set";
  return isShared ? missingPostgres() : undefined;
}

/** Two servers over one database, behind a proxy that gives each request to the next one. */
async function startShared() {
  const folder = mkdtempSync(join(tmpdir(), "halma-walk-"));
  const postgres = await startPostgres();
  const clear = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeFileSync(join(folder, "halma.toml"), `${OFFER}\n[serve]\nrequests_per_minute = 0\n`);
    const { url, stop } = await sharedBase(folder, postgres.address).serve("--demo");
    return { url, stop: () => stop().finally(clear) };
  } catch (error) {
    await clear();
    throw error;
  }
}

export async function startServer() {
  if (isShared) return startShared();
  if (process.env.HALMA_URL) return { url: process.env.HALMA_URL.replace(/\/$/, ""), stop: async () => {} };
  const command = process.env.HALMA_BIN.split(" ");
  const more = (process.env.HALMA_ARGS ?? "serve --demo --port 0").split(" ").filter(Boolean);
  // An own folder, so that no run finds the knowledge base of an earlier one.
  const folder = mkdtempSync(join(tmpdir(), "halma-walk-"));
  const found = (word) => (!isAbsolute(word) && existsSync(word) ? resolve(word) : word);
  const child = spawn(found(command[0]), [...command.slice(1).map(found), ...more], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((ready, failed) => {
    let output = "";
    const timer = setTimeout(() => failed(new Error(`the server printed no address:\n${output}`)), 300_000);
    const read = (piece) => {
      output += piece;
      const address = /https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+/.exec(output);
      if (!address) return;
      clearTimeout(timer);
      ready(address[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}:\n${output}`)));
  });
  const stop = async () => {
    if (child.exitCode === null) {
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
}

export const openBrowser = () =>
  chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** A page that records errors, violations of the content security policy and requests to other sites. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // The browser itself logs a failed request; the page displays it.
    if (message.type() === "error" && !/Failed to load resource/.test(text)) wrong.push(text);
  });
  page.on("request", (request) => {
    const at = request.url();
    if (!at.startsWith(url) && !at.startsWith("blob:") && !at.startsWith("data:")) wrong.push(`foreign request: ${at}`);
  });
  return { page, wrong, close: () => context.close() };
}
