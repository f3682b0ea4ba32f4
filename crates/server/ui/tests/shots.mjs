// Screenshots of every page: `node tests/shots.mjs FOLDER [only]`, with HALMA_URL or HALMA_BIN set.
import { mkdirSync } from "node:fs";
import { openBrowser, openPage, startServer } from "./start.mjs";

const [folder = "shots", only = "", question = "In which country was the architect of the Varn lighthouse born?"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await startServer();
const browser = await openBrowser();

const looks = {
  light: {}, dark: { colorScheme: "dark" }, german: { locale: "de-DE" }, middle: { viewport: { width: 1024, height: 768 } },
  narrow: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};

async function ask(page, method) {
  await page.goto(server.url);
  if (method) {
    await page.getByRole("button", { name: "Options" }).click();
    await page.getByText("All methods").click();
    await page.locator("dialog li button").filter({ has: page.getByText(method, { exact: true }) }).click();
    await page.getByRole("button", { name: "Done" }).click();
  }
  await page.getByLabel("Question", { exact: true }).fill(question);
  await page.keyboard.press("Enter");
}
const SCENES = {
  welcome: (page) => page.goto(server.url),
  asking: async (page) => {
    await ask(page);
    await page.locator(".progress li").nth(1).waitFor();
  },
  answer: async (page) => {
    await ask(page);
    await page.getByRole("heading", { name: "Sources" }).waitFor();
    await page.locator("article[aria-busy=false]").waitFor();
  },
  // With a question about the future.
  forecast: async (page) => {
    await ask(page, "PIKE-RAG, level 3");
    await page.locator("figure path.band").first().waitFor({ timeout: 60_000 });
    await page.locator("article[aria-busy=false]").waitFor({ timeout: 60_000 });
    await page.locator("article.run").evaluate((e) => e.scrollIntoView({ block: "start" }));
  },
  // With a question for ideas and a server whose model has some.
  creative: async (page) => {
    await ask(page, "PIKE-RAG, level 4");
    await page.getByRole("heading", { name: "Synthesis" }).waitFor({ timeout: 60_000 });
    await page.locator("article[aria-busy=false]").waitFor({ timeout: 60_000 });
    await page.locator(".ideas").evaluate((e) => e.scrollIntoView({ block: "start" }));
  },
  source: async (page) => {
    await SCENES.answer(page);
    await page.getByRole("button", { name: "Source 1", exact: true }).first().press("Enter");
    await page.locator("[data-source] mark").first().waitFor();
  },
  pdf: async (page) => {
    await SCENES.answer(page);
    await page.getByRole("button", { name: /\.pdf/ }).first().press("Enter");
    await page.locator(".pdf-text mark").first().waitFor();
  },
  compare: async (page) => {
    await SCENES.answer(page);
    await page.getByRole("button", { name: "Try another method" }).click();
    await page.getByRole("button", { name: /^ProbTree/ }).click();
    await page.locator("article[aria-busy=false]").nth(1).waitFor();
  },
  options: async (page) => {
    await page.goto(server.url);
    await page.getByRole("button", { name: "Options" }).click();
    await page.locator("dialog .matches li").first().waitFor();
  },
  preview: async (page) => {
    await SCENES.answer(page);
    await page.getByRole("button", { name: "Source 1", exact: true }).first().hover();
    await page.locator("[role=tooltip]").waitFor({ timeout: 2000 }).catch(() => {});
  },
  details: async (page) => {
    await SCENES.answer(page);
    await page.getByText("Details", { exact: true }).click();
  },
  none: async (page) => {
    await page.goto(server.url);
    await page.getByLabel("Question", { exact: true }).fill("Who built the unknown tower?");
    await page.keyboard.press("Enter");
    await page.locator("article[aria-busy=false]").waitFor();
  },
  problem: async (page) => {
    await page.goto(server.url);
    await page.getByLabel("Question", { exact: true }).fill("error?");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
  },
  library: (page) => page.goto(`${server.url}/library`),
  knowledge: async (page) => {
    await page.goto(`${server.url}/knowledge?text=lighthouse+architect`);
    await page.locator("[data-hit]").first().waitFor();
  },
  node: async (page) => {
    await SCENES.knowledge(page);
    await page.getByRole("link", { name: /neighbours/i }).first().click();
    await page.locator("canvas").first().waitFor();
  },
  document: async (page) => {
    await page.goto(`${server.url}/library`);
    await page.locator("tbody a").first().click();
  },
  tables: (page) => page.goto(`${server.url}/knowledge/tables`),
  runs: async (page) => {
    await SCENES.answer(page);
    await page.goto(`${server.url}/runs`);
    await page.locator("tbody a").first().waitFor();
  },
  run: async (page) => {
    await SCENES.answer(page);
    await page.getByText("Details", { exact: true }).click();
    await page.getByRole("link", { name: "Full record" }).click();
    await page.locator("[data-bar]").first().waitFor();
  },
  start: async (page) => {
    await page.goto(`${server.url}/evaluate`);
    await page.getByRole("button", { name: "Start an evaluation" }).click();
  },
  evaluate: async (page) => {
    await page.goto(`${server.url}/evaluate`);
    await page.locator("tbody a").first().click();
    await page.locator("circle").first().waitFor();
  },
  settings: (page) => page.goto(`${server.url}/settings`),
  prompts: async (page) => {
    await page.goto(`${server.url}/settings/prompts`);
    await page.locator("[data-prompt]").first().click();
  },
  keys: (page) => page.goto(`${server.url}/settings/keys`),
  usage: (page) => page.goto(`${server.url}/settings/usage`),
};

for (const [scene, act] of Object.entries(SCENES)) {
  if (only && !only.split(",").includes(scene)) continue;
  for (const [look, options] of Object.entries(looks)) {
    if (process.env.LOOKS && !process.env.LOOKS.split(",").includes(look)) continue;
    const { page, wrong, close } = await openPage(browser, server.url, options);
    try {
      await act(page);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/${scene}-${look}.png`, fullPage: process.env.FULL === "1" });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) wrong.push(`${wide} pixels too wide`);
    } catch (error) {
      wrong.push(String(error).slice(0, 400));
      await page.screenshot({ path: `${folder}/${scene}-${look}-failed.png` });
    }
    if (wrong.length) console.log(scene, look, wrong);
    await close();
  }
}
await browser.close();
await server.stop();
