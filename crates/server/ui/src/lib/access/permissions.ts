// What a key permits: its scopes, and whether it is for all documents of its workspace.
import type { Me, Problem, Scope } from "../../api/types";
import { t } from "../texts/t.svelte";

/** What each scope permits. */
export const SCOPE_NAMES: Readonly<Record<Scope, string>> = {
  get ask() { return t("scope.ask"); },
  get write() { return t("scope.write"); },
  get admin() { return t("scope.admin"); },
  get metrics() { return t("scope.metrics"); },
};

/** The scope without which a page displays nothing. */
export const PAGE_SCOPES: Record<string, Scope> = {
  "": "ask", library: "ask", knowledge: "ask", runs: "ask", evaluate: "admin",
};

/** Whether something is about the documents that the key is for, or about all of the workspace. */
export type Reach = "documents" | "workspace";

/** What a key lacks: a scope, or the documents that it is not for. */
export type MissingPermission = Scope | "documents";

/** What the key lacks; `null` if it permits this. */
export function missingPermission(
  { scopes, where }: Pick<Me, "scopes" | "where">,
  scope: Scope,
  reach: Reach = "documents",
): MissingPermission | null {
  if (!scopes.includes(scope)) return scope;
  const isAboutAll = reach === "workspace" || scope === "admin" || scope === "metrics";
  return isAboutAll && where ? "documents" : null;
}

/** What is missing, and what to do about it. */
export function explainMissing(missing: MissingPermission): { detail: string; hint: string } {
  if (missing === "documents") {
    return {
      detail: t("denied.documents"),
      hint: t("denied.documents.hint"),
    };
  }
  return {
    detail: t("denied.scope", { name: SCOPE_NAMES[missing], scope: missing }),
    hint: t("denied.scope.hint"),
  };
}

/** What the key lacks, from the server's problem document when it refuses a request. */
export function missingInRefusal({ type, missing_scope: scope }: Partial<Problem>): MissingPermission | null {
  // A newer server may have scopes that this page does not know.
  if (scope && Object.hasOwn(SCOPE_NAMES, scope)) return scope;
  return type === "urn:halma:restricted-key" ? "documents" : null;
}
