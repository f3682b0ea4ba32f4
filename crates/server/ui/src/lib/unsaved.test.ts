import { expect, it } from "vitest";
import { unsaved } from "./unsaved.svelte";

it("asks only where changes would be lost, and continues when they are discarded", () => {
  const done: string[] = [];
  unsaved.leave(() => done.push("first"));
  expect([done, unsaved.isAsking]).toEqual([["first"], false]);
  unsaved.what = "kar3/answer";
  unsaved.leave(() => done.push("second"));
  expect([done, unsaved.isAsking]).toEqual([["first"], true]);
  unsaved.stay();
  expect([unsaved.what, unsaved.isAsking]).toEqual(["kar3/answer", false]);
  unsaved.leave(() => done.push("third"));
  unsaved.discard();
  expect([done, unsaved.what, unsaved.isAsking]).toEqual([["first", "third"], "", false]);
});
