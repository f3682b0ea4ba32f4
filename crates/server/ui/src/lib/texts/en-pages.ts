// English texts of the pages that are loaded on demand: Library, Knowledge, Runs, Evaluate, Settings.
import { knowledge } from "./en-knowledge";
import "./en-trace";
import { addEnglish } from "./t.svelte";

export const pages = {
  ...knowledge,
  "settings.title": "Settings",
} as const;
addEnglish(pages);
