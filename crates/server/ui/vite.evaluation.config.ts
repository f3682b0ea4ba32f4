import { createHash } from "node:crypto";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// Puts the script and the style into the page, and allows these two and nothing else: should a text
// ever be taken for markup, the browser still refuses what is in it.
const oneFile = (): Plugin => ({
  name: "one-file",
  enforce: "post",
  generateBundle(_, bundle) {
    const file = (end: string) => {
      const name = Object.keys(bundle).find((one) => one.endsWith(end));
      const found = name === undefined ? undefined : bundle[name];
      if (name === undefined || found === undefined) throw new Error(`no ${end} was built`);
      if (!end.endsWith("html")) delete bundle[name];
      return found;
    };
    const script = file(".js");
    const style = file(".css");
    const page = file(".html");
    if (script.type !== "chunk" || style.type !== "asset" || page.type !== "asset") throw new Error("the build has another shape");
    const code = script.code.replaceAll("</script", "<\\/script").trim();
    const css = String(style.source).trim();
    const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(css)}; base-uri 'none'; form-action 'none'`;
    const bare = String(page.source).replace(/\s*<script type="module"[^>]*><\/script>/, "").replace(/\s*<link rel="stylesheet"[^>]*>/, "");
    const head = `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <style>${css}</style>\n  </head>`;
    page.source = bare.replace("</head>", () => head).replace("</body>", () => `<script type="module">${code}</script>\n  </body>`);
  },
});

// Built into the crate that writes reports, and committed there.
export default defineConfig({
  plugins: [svelte(), oneFile()],
  publicDir: false,
  build: {
    outDir: "../../eval/viewer",
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    target: "es2022",
    reportCompressedSize: false,
    rollupOptions: { input: "evaluate.html" },
  },
});
