/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// PDF.js carries the make-believe environment of compiled C, in which somebody has a home. Nothing
// uses it; paths of machines have no place in what is committed.
const HOME = ["", "home", "web_user"].join("/");
const nobodysHome = (): Plugin => ({
  name: "nobodys-home",
  renderChunk: (code) => (code.includes(HOME) ? { code: code.replaceAll(HOME, "/"), map: null } : null),
});

// The page is built into dist, which is committed and put into the binary, so that building
// Halma needs no Node. Names carry hashes, so that browsers may keep the files for ever.
export default defineConfig({
  plugins: [svelte(), nobodysHome()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es", plugins: () => [nobodysHome()] },
  server: { proxy: { "/api": "http://127.0.0.1:8787" } },
  test: { include: ["src/**/*.test.ts"] },
});
