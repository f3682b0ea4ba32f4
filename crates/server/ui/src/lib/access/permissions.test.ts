import { expect, it } from "vitest";
import { explainMissing, missingInRefusal, missingPermission } from "./permissions";

it("finds the scope that a key lacks", () => {
  expect(missingPermission({ scopes: ["ask"] }, "ask")).toBeNull();
  expect(missingPermission({ scopes: ["ask"] }, "admin")).toBe("admin");
  expect(missingPermission({ scopes: [] }, "write")).toBe("write");
});
it("keeps keys for some documents from what is about all of them", () => {
  const restricted = { scopes: ["ask", "write", "admin"] as const, where: { team: "legal" } };
  const me = { ...restricted, scopes: [...restricted.scopes] };
  expect(missingPermission(me, "write")).toBeNull();
  expect(missingPermission(me, "write", "workspace")).toBe("documents");
  expect(missingPermission(me, "admin")).toBe("documents");
});
it("reads what is missing from the refusal of the server", () => {
  expect(missingInRefusal({ type: "urn:halma:missing-scope", missing_scope: "write" })).toBe("write");
  expect(missingInRefusal({ type: "urn:halma:restricted-key" })).toBe("documents");
  expect(missingInRefusal({ type: "urn:halma:forbidden" })).toBeNull();
  expect(missingInRefusal({ missing_scope: "toString" as "ask" })).toBeNull();
  expect(missingInRefusal({})).toBeNull();
});
it("says what is missing and whom to ask", () => {
  const { detail, hint } = explainMissing("admin");
  expect(detail).toBe("Your key lacks the permission “administer” (scope “admin”).");
  expect(hint).toContain("administrator");
});
