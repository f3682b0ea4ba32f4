// A mock of the server for development: `npm run mock`, then open the address it prints. It stores
// everything in memory, answers from a made-up archive and sends the same content security policy as
// the server, so that violations are visible.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { answer } from "./routes.mjs";

const PAGE = new URL("../dist/", import.meta.url).pathname;
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain" };
const CSP =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; worker-src 'self' blob:";

async function file(path) {
  const inside = normalize(path).replace(/^(\.\.[/\\])+/, "");
  try {
    return { body: await readFile(join(PAGE, inside)), type: TYPES[extname(inside)] ?? "application/octet-stream" };
  } catch {
    return { body: await readFile(join(PAGE, "index.html")), type: TYPES[".html"] };
  }
}

const server = createServer(async (request, response) => {
  response.setHeader("content-security-policy", CSP);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("x-request-id", `mock-${Math.random().toString(36).slice(2, 10)}`);
  const url = new URL(request.url, "http://local");
  if (url.pathname.startsWith("/api/")) return answer(request, response, url);
  const { body, type } = await file(url.pathname === "/" ? "index.html" : url.pathname);
  response.setHeader("content-type", type);
  response.end(body);
});

const at = process.argv.indexOf("--port");
server.listen(at > 0 ? Number(process.argv[at + 1]) : 0, "127.0.0.1", () => {
  console.log(`Halma (mock) is listening on http://127.0.0.1:${server.address().port}`);
});
