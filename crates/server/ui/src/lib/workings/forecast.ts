// A series and its forecast as a drawing: where the points, the bands and the labels are, in pixels.
import type { SeriesForecast, SeriesPoint, SeriesPrediction, TraceEvent } from "../../api/types";
import { currentLocale, t } from "../texts/t.svelte";
import "../texts/en-trace";

export interface Box {
  width: number;
  height: number;
}

/** A period at its place. */
export interface Mark<T> {
  x: number;
  y: number;
  of: T;
}

export interface Band {
  /** The probability, a share of 1. */
  level: number;
  path: string;
}

export interface Plot {
  points: Mark<SeriesPoint>[];
  /** Empty where the forecast is a probability, which is on another scale than the values. */
  predictions: Mark<SeriesPrediction>[];
  /** The values of periods that are over, and what the method gives for them. */
  line: string;
  fit: string;
  /** From the last value through the predictions. */
  ahead: string;
  /** The widest first. */
  bands: Band[];
  values: { y: number; label: string }[];
  periods: { x: number; label: string }[];
}

const EDGE = { left: 44, right: 18, top: 14, bottom: 28 };
/** The space of a label below the plot, in pixels. */
const LABEL = 62;


/** A value with four significant digits. */
export const figure = (value: number): string => new Intl.NumberFormat(currentLocale(), Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 }).format(value);

/** A value of a series with its unit; a likelihood in percent. */
export function quantity(series: SeriesForecast, value: number): string {
  if (series.measure === "event") return `${figure(value * 100)} %`;
  return series.unit ? `${figure(value)} ${series.unit}` : figure(value);
}

/** `80 %: 0 to 4`. */
export const interval = (series: SeriesForecast, at: SeriesPrediction["intervals"][number]): string =>
  t("forecast.interval", { level: figure(at.level * 100), low: quantity(series, at.low), high: quantity(series, at.high) });

/** The series that a run has continued so far. */
export const forecasts = (events: readonly TraceEvent[]): SeriesForecast[] =>
  events.flatMap((event) => (event.event === "series_forecast" ? [event.series] : []));

/** Round numbers that span `low` to `high`, about `target` of them. */
export function scale(low: number, high: number, target = 4): number[] {
  if (!(high > low)) return [low, low + 1];
  const rough = (high - low) / target;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export function plot(series: SeriesForecast, { width, height }: Box): Plot {
  const ahead = series.measure === "event" ? [] : series.predictions;
  const shown = [
    ...series.points.flatMap((p) => [p.value, ...(p.fitted == null ? [] : [p.fitted])]),
    ...ahead.flatMap((p) => [p.value, ...p.intervals.flatMap((i) => [i.low, i.high])]),
  ].filter(Number.isFinite);
  const lowest = Math.min(...shown);
  // Zero belongs to what is counted; a level far from it would be flat.
  const from = lowest >= 0 && lowest < Math.max(...shown) * 0.6 ? 0 : lowest;
  const marks = scale(from, Math.max(...shown, from + 1e-9));
  const [bottom, top] = [marks[0] ?? 0, marks.at(-1) ?? 1];
  // An unfinished period may be one that is forecast: both are at the same place.
  const periods = [...new Set([...series.points.map((p) => p.period), ...ahead.map((p) => p.period)])].sort();
  const inner = width - EDGE.left - EDGE.right;
  const x = (period: string) => EDGE.left + (inner * (periods.indexOf(period) + 0.5)) / Math.max(1, periods.length);
  const y = (value: number) => EDGE.top + ((top - value) / (top - bottom)) * (height - EDGE.top - EDGE.bottom);
  const at = (period: string, value: number) => `${round(x(period))} ${round(y(value))}`;
  const path = (places: string[]) => (places.length ? `M${places.join("L")}` : "");

  const over = series.points.filter((p) => p.finished);
  const last = over.at(-1);
  const levels = [...new Set(ahead.flatMap((p) => p.intervals.map((i) => i.level)))].sort((a, b) => b - a);
  const bands = levels.map((level) => {
    const spans = ahead.flatMap((p) => p.intervals.filter((i) => i.level === level).map((i) => ({ ...i, period: p.period })));
    const start = last ? [at(last.period, last.value)] : [];
    const upper = spans.map((s) => at(s.period, s.high));
    const lower = spans.map((s) => at(s.period, s.low)).reverse();
    return { level, path: `${path([...start, ...upper, ...lower])}Z` };
  });
  const every = Math.max(1, Math.ceil((periods.length * LABEL) / Math.max(LABEL, inner)));
  return {
    points: series.points.map((of) => ({ x: x(of.period), y: y(of.value), of })),
    predictions: ahead.map((of) => ({ x: x(of.period), y: y(of.value), of })),
    line: path(over.map((p) => at(p.period, p.value))),
    fit: path(over.flatMap((p) => (p.fitted == null ? [] : [at(p.period, p.fitted)]))),
    ahead: path([...(last ? [at(last.period, last.value)] : []), ...ahead.map((p) => at(p.period, p.value))]),
    bands,
    values: marks.map((value) => ({ y: y(value), label: figure(value) })),
    // The last one is always named: it is what was asked for.
    periods: periods.flatMap((label, i) => ((periods.length - 1 - i) % every === 0 ? [{ x: x(label), label }] : [])),
  };
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10;
