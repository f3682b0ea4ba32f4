// English texts of the pages that are loaded on demand: Library, Knowledge, Runs, Evaluate, Settings.
import { addEnglish } from "./t.svelte";

export const pages = {
  "settings.title": "Settings",
} as const;
addEnglish(pages);
