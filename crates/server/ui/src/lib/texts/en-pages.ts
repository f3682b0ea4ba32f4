// English texts of the pages that are loaded on demand: Library, Knowledge, Runs, Evaluate, Settings.
import { knowledge } from "./en-knowledge";
import { settings } from "./en-settings";
import "./en-trace";
import { addEnglish } from "./t.svelte";

export const pages = {
  ...knowledge,
  ...settings,
} as const;
addEnglish(pages);
