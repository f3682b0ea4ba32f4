/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// PDF.js contains the emulated environment of compiled C, with a home folder that nothing uses. Such
// paths are removed from what is committed.
const HOME = ["", "home", "web_user"].join("/");
const removeHomePath = (): Plugin => ({
  name: "remove-home-path",
  renderChunk: (code) => (code.includes(HOME) ? { code: code.replaceAll(HOME, "/"), map: null } : null),
});

// The web UI is built into dist, which is committed and embedded in the binary, so that building
// Halma needs no Node. File names contain hashes, so that browsers can cache them forever.
export default defineConfig({
  plugins: [svelte(), removeHomePath()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es", plugins: () => [removeHomePath()] },
  server: { proxy: { "/api": "http://127.0.0.1:8787" } },
  test: { include: ["src/**/*.test.ts"] },
});
