// End-to-end tests of what a key or a workspace does not permit, and of the way back from there.
import assert from "node:assert/strict";
import { walks } from "./walking.mjs";

const { walk, server } = walks();

/** The page as a key with these permissions sees it. */
const as = (page, me) => page.route("**/api/v1/me", (route) =>
  route.fulfill({ contentType: "application/json", body: JSON.stringify({ workspace: "default", keys_required: true, name: "a key", demo: false, ...me }) }));
const openWorkspace = (page, name) => page.addInitScript((chosen) => {
  if (sessionStorage.getItem("walked")) return;
  sessionStorage.setItem("walked", "1");
  sessionStorage.setItem("halma.workspace", chosen);
}, name);

walk("a workspace that does not exist is left for one that does", async (page) => {
  await openWorkspace(page, "gone");
  await page.goto(`${server.url}/knowledge/document/nothing`);
  await page.getByText("The workspace “gone” no longer exists. You are in the workspace “default” now.").waitFor();
  await page.getByRole("heading", { name: "Knowledge", exact: true }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/knowledge");
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.getByText("no longer exists").waitFor({ state: "detached" });
});

walk("a workspace that is deleted while it is displayed is left", async (page) => {
  const name = `walk-${Date.now()}`;
  await page.request.post(`${server.url}/api/v1/workspaces`, { data: { name } });
  await openWorkspace(page, name);
  await page.goto(`${server.url}/library`);
  await page.getByRole("heading", { name: "The library is empty" }).waitFor();
  assert.equal((await page.request.delete(`${server.url}/api/v1/workspaces/${name}`)).status(), 204);
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByText(`The workspace “${name}” no longer exists.`).waitFor();
  await page.getByRole("link", { name: "Library", exact: true }).click();
  await page.locator("tbody a").first().waitFor();
});

walk("a key that may only ask sees no controls that it may not use, and what it lacks", async (page) => {
  await as(page, { scopes: ["ask"] });
  await page.goto(`${server.url}/library`);
  await page.getByText("permission “change the library” (scope “write”)").waitFor();
  assert.equal(await page.getByText("Drop files here").count(), 0);
  const pages = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
  assert.deepEqual(pages.map((name) => name.trim()), ["Ask", "Library", "Knowledge", "Runs", "Settings"]);
  for (const place of ["/evaluate", "/settings/keys"]) {
    await page.goto(`${server.url}${place}`);
    await page.getByText("Your key lacks the permission “administer” (scope “admin”). Ask an administrator of this server").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0, place);
  }
  await page.getByRole("button", { name: "Use another key" }).click();
  await page.getByRole("dialog", { name: "Use another API key" }).getByRole("button", { name: "Close" }).click();
  await page.goto(`${server.url}/settings`);
  await page.getByRole("heading", { name: "Your usage" }).waitFor();
  for (const name of [/^Language/, /^Theme/]) await page.getByRole("combobox", { name }).waitFor();
  assert.equal(await page.locator("main nav").count() + await page.getByRole("button", { name: "By key" }).count(), 0);
});

walk("a key for some of the documents is told what is about all of them", async (page) => {
  await as(page, { scopes: ["ask", "write"], where: { team: "legal" } });
  await page.goto(`${server.url}/settings/prompts`);
  await page.getByText("Your key is for some of the documents").waitFor();
});

walk("a refusal says what is missing, not what the server wrote", async (page) => {
  const refusal = { type: "urn:halma:missing-scope", missing_scope: "write", title: "Forbidden", status: 403, detail: "this key lacks the scope `write`", hint: "`halma keys create --scope …`", request_id: "r-7" };
  await page.route("**/api/v1/documents?*", (route) => route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify(refusal) }));
  await page.goto(`${server.url}/library`);
  const problem = page.getByRole("alert");
  await problem.getByText("Your key lacks the permission “change the library”").waitFor();
  await problem.getByText("Ask an administrator").waitFor();
  assert.equal(await page.getByText("halma keys create").count(), 0);
});
