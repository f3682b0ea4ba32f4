// English texts of the first load: the frame, Ask, answers, sources, problems. Those of the other pages
// are in `en-pages.ts`. The key is `area.what`; values stand in braces, and `n` chooses the plural.
export const en = {
  "nav.ask": "Ask",
  "nav.library": "Library",
  "nav.knowledge": "Knowledge",
  "nav.runs": "Runs",
  "nav.evaluate": "Evaluate",
  "nav.settings": "Settings",
  "language.label": "Language",
  "language.system": "as in the browser",
} as const;
