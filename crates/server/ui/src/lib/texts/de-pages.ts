// German texts of the pages that are loaded on demand.
import { knowledge } from "./de-knowledge";
import { settings } from "./de-settings";
import type { pages as english } from "./en-pages";
import type { Text } from "./t.svelte";

export const pages = {
  ...knowledge,
  ...settings,
} satisfies Record<keyof typeof english, Text>;
