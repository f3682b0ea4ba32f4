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

const ORDER: Theme[] = ["system", "light", "dark"];

export const theme = {
  get chosen() {
    return chosen;
  },
  next(): void {
    chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length] ?? "system";
    localStorage.setItem(STORAGE_KEY, chosen);
    apply();
  },
};
