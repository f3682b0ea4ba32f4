// German. `de-pages.ts` has the texts of the pages that are loaded on demand.
import { pages } from "./de-pages";
import type { Texts } from "./t.svelte";

export default {
  ...pages,
  "nav.ask": "Fragen",
  "nav.library": "Bibliothek",
  "nav.knowledge": "Wissen",
  "nav.runs": "Läufe",
  "nav.evaluate": "Auswertung",
  "nav.settings": "Einstellungen",
  "language.label": "Sprache",
  "language.system": "wie im Browser",
} satisfies Texts;
