import { expect, it } from "vitest";
import { ConditionError, parseConditions, writeConditions } from "./conditions";

it("reads conditions as the command line does", () => {
  expect(parseConditions("team=legal\n\n year >= 2020 \nyear<2024\nopen=true")).toEqual({
    team: "legal", year: { gte: 2020, lt: 2024 }, open: true,
  });
  expect(parseConditions("team=legal, finance")).toEqual({ team: ["legal", "finance"] });
  expect(parseConditions('code="7"\ndate>2023-01')).toEqual({ code: "7", date: { gt: "2023-01" } });
  expect(parseConditions("")).toEqual({});
});
it("says what is wrong with a condition", () => {
  for (const [written, reason] of [["team", "write it as"], ["=a", "name of a field"], ["team=", "value is missing"], ["a=1\na=2", "two conditions"], ["a=1\na>2", "two conditions"], ["a b=1", "name of a field"]] as const) {
    expect(() => parseConditions(written), written).toThrow(ConditionError);
    expect(() => parseConditions(written), written).toThrow(reason);
  }
});
it("writes what it reads", () => {
  for (const written of ["team=legal", "team=legal,finance", 'code="7"', "year>=2020", "open=true", 'name="a,b"', "constructor=a"]) {
    expect(writeConditions(parseConditions(written))).toEqual([written]);
  }
  expect(writeConditions({ year: { gte: 2020, lt: 2024 }, team: ["a"] })).toEqual(["year>=2020", "year<2024", 'team=["a"]']);
});
