// Light, dark, or the system's setting.
export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "halma.theme";
const parse = (value: string | null): Theme => (value === "light" || value === "dark" ? value : "system");

let chosen = $state<Theme>(parse(localStorage.getItem(STORAGE_KEY)));

function apply(): void {
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}
apply();

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = {
  get chosen() {
    return chosen;
  },
  next(): void {
    theme.choose(THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? "system");
  },
  choose(next: Theme): void {
    chosen = next;
    localStorage.setItem(STORAGE_KEY, chosen);
    apply();
  },
};
