// Conditions on the fields of documents, written as on the command line: `team=legal`,
// `team=legal,finance` (one of them), `year>=2020`.
import type { FieldValue, MetadataFilter, MetadataTest, ValueRange } from "../../api/types";

const BOUNDS = { ">=": "gte", ">": "gt", "<=": "lte", "<": "lt" } as const;

/** A condition that cannot be read as one. */
export class ConditionError extends Error {}

/** Each condition of a filter, as it is written. */
export function writeConditions(filter: MetadataFilter): string[] {
  return Object.entries(filter).flatMap(([field, test]) => {
    if (!isRange(test)) return [`${field}=${writeValues(test)}`];
    const bounds = Object.entries(BOUNDS).map(([sign, name]) => [sign, test[name]] as const);
    return bounds.flatMap(([sign, value]) => (value == null ? [] : [`${field}${sign}${writeValue(value)}`]));
  });
}

/** Reads one condition per line; throws [`ConditionError`] for one that is not valid. */
export function parseConditions(text: string): MetadataFilter {
  const filter: MetadataFilter = {};
  for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) addCondition(filter, line);
  return filter;
}

function addCondition(filter: MetadataFilter, line: string): void {
  const [, name = "", sign = "", written = ""] = /^([^=<>]*)(<=|>=|=|<|>)(.*)$/.exec(line) ?? [];
  if (!sign) throw new ConditionError(`“${line}”: write it as field=value, field>=value or field<value.`);
  const [field, value] = [name.trim(), written.trim()];
  if (!/^[\p{L}\p{N}_.-]{1,64}$/u.test(field)) {
    throw new ConditionError(`“${line}”: the name of a field has 1 to 64 letters, digits, “_”, “-” or “.”.`);
  }
  if (!value) throw new ConditionError(`“${line}”: the value is missing.`);
  const before = Object.hasOwn(filter, field) ? filter[field] : undefined;
  if (sign === "=") {
    if (before !== undefined) throw new ConditionError(`“${line}”: there are two conditions on “${field}”.`);
    filter[field] = parseValues(value);
    return;
  }
  if (before !== undefined && !isRange(before)) throw new ConditionError(`“${line}”: there are two conditions on “${field}”.`);
  const range: ValueRange = before ?? {};
  filter[field] = { ...range, [BOUNDS[sign as keyof typeof BOUNDS]]: parseValue(value) };
}

const isRange = (test: MetadataTest): test is ValueRange => typeof test === "object" && !Array.isArray(test);

/** Quoted where it would be read as something else. */
function writeValue(value: FieldValue): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return value.includes(",") || parseValue(value) !== value ? JSON.stringify(value) : value;
}

/** The values of a field as a condition has them. */
export function writeValues(value: FieldValue): string {
  if (!Array.isArray(value)) return writeValue(value);
  const written = value.map(writeValue);
  return value.length > 1 && !written.some((one) => one.includes(",")) ? written.join(",") : JSON.stringify(value);
}

/** A value, or several with commas between them. */
export function parseValues(text: string): FieldValue {
  const value = parseValue(text);
  if (typeof value !== "string" || text.startsWith('"') || !text.includes(",")) return value;
  return text.split(",").map((one) => parseValue(one.trim()));
}

/** JSON where it is a truth, a number, a quoted text or a list, else the text itself. */
function parseValue(text: string): FieldValue {
  try {
    const value: unknown = JSON.parse(text);
    return isFieldValue(value) ? value : text;
  } catch {
    return text;
  }
}

function isFieldValue(value: unknown): value is FieldValue {
  return ["boolean", "number", "string"].includes(typeof value) || (Array.isArray(value) && value.every(isFieldValue));
}
