/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The page is built into ../page, which is committed and put into the binary, so that building
// Halma needs no Node. Names carry hashes, so that browsers may keep the files for ever.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:8787" } },
  test: { include: ["src/**/*.test.ts"] },
});
