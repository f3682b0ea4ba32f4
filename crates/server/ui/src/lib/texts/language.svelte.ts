// The language of the web UI: the one chosen in Settings, or the browser's. A file `xx.ts` next to this
// one adds a language.
import { useTexts, type Texts } from "./t.svelte";

const FILES = import.meta.glob<{ default: Texts }>(["./??.ts", "!./en.ts"]);
const STORAGE_KEY = "halma.language";

/** The codes of all languages. */
export const LANGUAGES: readonly string[] = ["en", ...Object.keys(FILES).map((path) => path.slice(2, 4))];

/** `""` follows the browser. */
let chosen = $state(localStorage.getItem(STORAGE_KEY) ?? "");

const preferred = (): readonly string[] => (chosen ? [chosen, ...navigator.languages] : navigator.languages);

async function apply(): Promise<void> {
  const code = preferred().map((one) => one.slice(0, 2).toLowerCase()).find((one) => LANGUAGES.includes(one)) ?? "en";
  // Numbers and dates as in the browser's country, if that speaks the language.
  const locale = navigator.languages.find((one) => one.toLowerCase().startsWith(code)) ?? (code === "en" ? "en-GB" : code);
  const load = FILES[`./${code}.ts`];
  try {
    useTexts(load ? (await load()).default : {}, locale);
    document.documentElement.lang = code;
  } catch {
    // The server was updated or is gone: the page stays in English.
    document.documentElement.lang = "en";
  }
}

export const language = {
  get chosen() {
    return chosen;
  },
  /** Before the page is displayed, so that it does not change its language before the reader's eyes. */
  start: apply,
  choose(code: string): Promise<void> {
    chosen = code;
    if (code) localStorage.setItem(STORAGE_KEY, code);
    else localStorage.removeItem(STORAGE_KEY);
    return apply();
  },
  /** `Deutsch` for `de`. */
  nameOf: (code: string): string => {
    const name = new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;
    return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
  },
};
