// Light, dark, or as the system has it.
export type Theme = "system" | "light" | "dark";

const KEPT = "halma.theme";
const known = (value: string | null): Theme => (value === "light" || value === "dark" ? value : "system");

let chosen = $state<Theme>(known(localStorage.getItem(KEPT)));

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
  turn(): void {
    chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length] ?? "system";
    localStorage.setItem(KEPT, chosen);
    apply();
  },
};
