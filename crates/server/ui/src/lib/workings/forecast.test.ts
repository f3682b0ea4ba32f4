import { describe, expect, it } from "vitest";
import type { SeriesForecast, SeriesPoint } from "../../api/types";
import { figure, forecasts, interval, plot, quantity, scale } from "./forecast";

const point = (period: string, value: number, more: Partial<SeriesPoint> = {}): SeriesPoint =>
  ({ period, value, fitted: null, rows: [], filled: false, finished: true, ...more });
const series: SeriesForecast = {
  target: "towers", unit: "", group: "", measure: "count", granularity: "year", method: "mean", errors: [], caveats: [],
  points: [point("2019", 1), point("2020", 0, { filled: true }), point("2021", 3, { fitted: 2 }), point("2022", 1, { finished: false })],
  predictions: [
    { period: "2022", value: 2, intervals: [{ level: 0.8, low: 1, high: 3 }, { level: 0.95, low: 0, high: 5 }] },
    { period: "2023", value: 2, intervals: [{ level: 0.8, low: 1, high: 4 }, { level: 0.95, low: 0, high: 6 }] },
  ],
};
const BOX = { width: 600, height: 250 };

describe("the plot of a forecast", () => {
  const drawing = plot(series, BOX);
  it("has a place for every period, in their order, an unfinished and a forecast one at the same", () => {
    const xs = drawing.points.map((p) => p.x);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(drawing.predictions[0]?.x).toBe(drawing.points[3]?.x);
    expect(drawing.periods.map((p) => p.label)).toEqual(["2019", "2020", "2021", "2022", "2023"]);
  });
  it("stays within its box and has larger values higher up", () => {
    for (const { x, y } of [...drawing.points, ...drawing.predictions]) {
      expect(x > 0 && x < BOX.width && y > 0 && y < BOX.height).toBe(true);
    }
    expect(drawing.points[2]!.y).toBeLessThan(drawing.points[0]!.y);
  });
  it("draws the widest interval first, from the last period that is over", () => {
    expect(drawing.bands.map((b) => b.level)).toEqual([0.95, 0.8]);
    const start = `M${Math.round(drawing.points[2]!.x * 10) / 10} `;
    expect(drawing.bands.every((b) => b.path.startsWith(start))).toBe(true);
    expect(drawing.line.match(/L/g)).toHaveLength(2);
  });
  it("names fewer periods where there is little space, always the last", () => {
    const narrow = plot(series, { width: 260, height: 250 }).periods.map((p) => p.label);
    expect(narrow.length).toBeLessThan(5);
    expect(narrow.at(-1)).toBe("2023");
  });
  it("leaves a likelihood out: it is on another scale", () => {
    const event = { ...series, measure: "event" };
    expect(plot(event, BOX).predictions).toEqual([]);
    expect(quantity(event, 0.834)).toBe("83.4 %");
  });
  it("draws a series of one value, of zeros, and none", () => {
    for (const points of [[point("2020", 5)], [point("2020", 0), point("2021", 0)], []]) {
      const { line, points: marks } = plot({ ...series, points, predictions: [] }, BOX);
      expect(line).not.toContain("NaN");
      expect(marks.every((m) => Number.isFinite(m.y))).toBe(true);
    }
  });
});

it("scales have round numbers on both sides of zero", () => {
  expect(scale(0, 7)).toEqual([0, 2, 4, 6, 8]);
  expect(scale(-3, 5)).toEqual([-4, -2, 0, 2, 4, 6]);
  expect(scale(1000, 1012)).toEqual([1000, 1005, 1010, 1015]);
  expect(scale(4, 4)).toEqual([4, 5]);
});

it("figures and intervals are short", () => {
  expect([figure(1234.56), figure(0.12345), figure(2)]).toEqual(["1,235", "0.1235", "2"]);
  expect(interval({ ...series, unit: "t" }, { level: 0.8, low: 1, high: 3.25 })).toBe("80 %: 1 t to 3.25 t");
});

it("the series of a run are those of its events", () => {
  expect(forecasts([{ event: "note", span: 0, note: "x" }, { event: "series_forecast", span: 1, series }])).toEqual([series]);
});
