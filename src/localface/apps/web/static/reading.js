// Reads one record that was typed or pasted, and says what is wrong with it.
import { inRowWords } from "./dom.js";

/**
 * Turn pasted text into a record: JSON, a table row under its header, or lines of "name: value".
 * @param {string} text
 * @returns {{values: Page.Values, problem: string|null}}
 */
export function readPasted(text) {
  const trimmed = text.trim();
  if (!trimmed) return { values: {}, problem: null };
  if (/^[[{]/.test(trimmed)) return fromJson(trimmed);
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim());
  for (const separator of ["\t", ";", ","]) {
    if (lines.length >= 2 && lines[0].includes(separator)) return fromRow(lines, separator);
  }
  const pairs = lines.map((line) => line.match(/^\s*["']?(.+?)["']?\s*(?:[:=\t]|,(?=[^,]*$))\s*(.*?)[,;]?\s*$/));
  if (pairs.every((one) => one !== null)) {
    return { values: Object.fromEntries(pairs.map((one) => [one[1], one[2]])), problem: null };
  }
  const forms = "JSON, a row under its header, or lines of “name: value”";
  return { values: {}, problem: `This cannot be read: paste ${forms}.` };
}

/**
 * The records of a pasted table with more than one row, or of a list in JSON; null where there is only one.
 * @param {string} text
 * @returns {Page.Values[]|null}
 */
export function readSeveral(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) {
    try {
      const found = JSON.parse(trimmed);
      return Array.isArray(found) && found.length > 1 ? found : null;
    } catch {
      return null;
    }
  }
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim());
  const separator = ["\t", ";", ","].find((one) => lines[0]?.includes(one));
  if (!separator || lines.length < 3) return null;
  const names = cells(lines[0], separator);
  if (names.length < 2 || names.some((name) => name !== "" && Number.isFinite(Number(name)))) return null;
  return lines.slice(1).map((line) => {
    const values = cells(line, separator);
    return Object.fromEntries(names.map((name, i) => [name, values[i] ?? ""]));
  });
}

/**
 * One record out of named texts, or what is wrong with it.
 * @param {Page.Values} given
 * @param {Reply.Schema} schema
 * @returns {{record: Page.Values|null, problem: string}}
 */
export function recordFrom(given, schema) {
  const byName = new Map(Object.entries(given ?? {}).map(([name, value]) => [name.trim().toLowerCase(), value]));
  /** @type {Page.Values} */
  const record = {};
  for (const feature of schema.features) {
    const value = byName.get(feature.name.toLowerCase()) ?? (feature.text ? byName.get(feature.text.toLowerCase()) : undefined);
    const empty = value === undefined || value === null || value === "";
    const read = readValue(feature, empty && feature.may_be_missing ? "?" : (value ?? ""));
    if (read.problem) return { record: null, problem: `${feature.text || feature.name}: ${read.problem}` };
    record[feature.name] = read.value;
  }
  const broken = brokenRelation(schema.relations, record);
  return broken ? { record: null, problem: broken.problem } : { record, problem: "" };
}

/**
 * @param {string} text
 * @returns {{values: Page.Values, problem: string|null}}
 */
function fromJson(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return { values: {}, problem: "This is not complete JSON yet." };
  }
  if (Array.isArray(found)) found = found.length === 1 ? found[0] : null;
  if (found === null || typeof found !== "object" || Array.isArray(found)) {
    return { values: {}, problem: "One record is wanted: an object of names and values." };
  }
  return { values: found, problem: null };
}

/**
 * @param {string[]} lines
 * @param {string} separator
 */
function fromRow(lines, separator) {
  const names = cells(lines[0], separator);
  const values = cells(lines[1], separator);
  if (names.length !== values.length) {
    return { values: {}, problem: `The header has ${names.length} names, and the row ${values.length} values.` };
  }
  const problem = lines.length > 2 ? `Only the first of ${lines.length - 1} rows was read.` : null;
  return { values: Object.fromEntries(names.map((name, i) => [name, values[i]])), problem };
}

/**
 * Split a line at its separators, but not inside quotes.
 * @param {string} line
 * @param {string} separator
 */
function cells(line, separator) {
  const found = [""];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) found.push("");
    else found[found.length - 1] += character;
  }
  return found.map((cell) => cell.trim());
}

/**
 * Read one value for a feature.
 * @param {Reply.Feature} feature
 * @param {unknown} given
 * @returns {{value: Page.Value|null, problem: string|null}}
 */
export function readValue(feature, given) {
  const text = String(given ?? "").trim();
  if (text === "") return { value: null, problem: "A value is wanted." };
  if (feature.may_be_missing && isUnknown(text)) return { value: null, problem: null };
  if (feature.categories) return readCategory(feature.categories, feature.labels, text);
  const value = Number(text.replace(/^([+-]?\d+),(\d+)$/, "$1.$2"));
  if (!Number.isFinite(value)) return { value: null, problem: `“${text}” is no number.` };
  if (feature.whole && !Number.isInteger(value)) return { value: null, problem: "A whole number is wanted." };
  return { value, problem: null };
}

/**
 * A person's value of a feature; null where it is missing, or a code for a reason: it stays so.
 * @param {Reply.Feature} feature
 * @param {Page.Values} person
 * @returns {Page.Value|null}
 */
export function valueOf(feature, person) {
  const value = person[feature.name] ?? null;
  return feature.codes.some((one) => one.value === value) ? null : value;
}

/**
 * Whether somebody says that a value is not known.
 * @param {string} text
 */
export function isUnknown(text) {
  return ["?", "na", "n/a", "nan", "null", "none", "missing", "unknown", "not known"].includes(text.trim().toLowerCase());
}

/**
 * @param {Page.Value[]} categories
 * @param {string[]|null} labels
 * @param {string} text
 */
function readCategory(categories, labels, text) {
  const words = categories.map((one, i) => [String(one), String(labels?.[i] ?? one)]);
  const place = words.findIndex((pair) => pair.some((word) => word.toLowerCase() === text.toLowerCase()));
  const numeric = categories.findIndex((one) => typeof one === "number" && one === Number(text));
  const found = place >= 0 ? place : numeric;
  if (found >= 0) return { value: categories[found], problem: null };
  return { value: null, problem: `One of ${words.map((pair) => pair[1]).join(", ")} is wanted.` };
}

/**
 * A value that can be read but is worth a second look: what hardly anybody has.
 * @param {Reply.Feature} feature
 * @param {Page.Value|null} value
 * @returns {string|null}
 */
export function unusual(feature, value) {
  if (feature.categories || typeof value !== "number" || !Number.isFinite(value)) return null;
  if (feature.codes.some((one) => one.value === value)) return null; // it stands for a reason
  const [least, most] = feature.bounds ?? [null, null];
  if (least !== null && value < least) return `It cannot be below ${least}.`;
  if (most !== null && value > most) return `It cannot be above ${most}.`;
  const { low, high } = feature;
  if (low !== null && high !== null && (value < low || value > high)) {
    return inRowWords(`98 % of people lie between ${low} and ${high}.`);
  }
  return null;
}

/**
 * Which relation between two features a record breaks, if any, in words.
 * @param {string[][]} relations
 * @param {Page.Values} record
 */
export function brokenRelation(relations, record) {
  for (const [first, , second] of relations ?? []) {
    const lower = record[first];
    const upper = record[second];
    if (typeof lower === "number" && typeof upper === "number" && lower > upper) {
      return { feature: first, problem: `${first} may not exceed ${second}.` };
    }
  }
  return null;
}

/**
 * The names in a pasted record that are no features.
 * @param {Page.Values} values
 * @param {Reply.Feature[]} features
 */
export function strangers(values, features) {
  const known = new Set(features.flatMap((one) => [one.name.toLowerCase(), one.text.toLowerCase()]));
  return Object.keys(values).filter((name) => !known.has(name.trim().toLowerCase()));
}
