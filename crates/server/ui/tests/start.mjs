// Finds a browser and a server for the walks: a running server by HALMA_URL, else the binary named
// by HALMA_BIN, which is started with the demo library on a free port.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const BROWSERS = [process.env.HALMA_BROWSER, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const browserPath = BROWSERS.find((path) => path && existsSync(path));

/** Why the walks cannot be made here; nothing if they can. */
export function missing() {
  if (!browserPath) return "no Chromium is installed (name one by HALMA_BROWSER)";
  if (!process.env.HALMA_URL && !process.env.HALMA_BIN) return "neither HALMA_URL nor HALMA_BIN names a server";
  return undefined;
}

export async function startServer() {
  if (process.env.HALMA_URL) return { url: process.env.HALMA_URL.replace(/\/$/, ""), stop: async () => {} };
  const words = process.env.HALMA_BIN.split(" ");
  const more = (process.env.HALMA_ARGS ?? "serve --demo --port 0").split(" ").filter(Boolean);
  const child = spawn(words[0], [...words.slice(1), ...more], { stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((found, failed) => {
    let said = "";
    const patience = setTimeout(() => failed(new Error(`the server printed no address:\n${said}`)), 300_000);
    const hear = (piece) => {
      said += piece;
      const address = /https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+/.exec(said);
      if (!address) return;
      clearTimeout(patience);
      found(address[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}:\n${said}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await gone;
  };
  return { url, stop };
}

export const openBrowser = () =>
  chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** A page that remembers what went wrong in it: errors, broken rules for content, foreign requests. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // A refused request is logged by the browser itself; the page shows it to the reader.
    if (message.type() === "error" && !/Failed to load resource/.test(text)) wrong.push(text);
  });
  page.on("request", (request) => {
    const at = request.url();
    if (!at.startsWith(url) && !at.startsWith("blob:") && !at.startsWith("data:")) wrong.push(`foreign request: ${at}`);
  });
  return { page, wrong, close: () => context.close() };
}
