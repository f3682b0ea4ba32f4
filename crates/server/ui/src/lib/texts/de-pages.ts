// German texts of the pages that are loaded on demand.
import { knowledge } from "./de-knowledge";
import type { pages as english } from "./en-pages";
import type { Text } from "./t.svelte";

export const pages = {
  ...knowledge,
  "settings.title": "Einstellungen",
} satisfies Record<keyof typeof english, Text>;
