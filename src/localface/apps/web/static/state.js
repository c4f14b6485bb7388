// What is asked about whom: kept in one place, written into the address, and read back from it.
import { inRowWords } from "./dom.js";

/** @returns {Page.State} */
export function emptyState() {
  return {
    id: null,
    record: null,
    label: "",
    limits: {},
    forbidden: [],
    effort: {},
    minScore: null,
    minDensity: null,
    relax: false,
    wish: {},
  };
}

/**
 * Whether anybody has been chosen or entered.
 * @param {Page.State} state
 */
export function someone(state) {
  return state.id !== null || state.record !== null;
}

/**
 * Who is asked about, as the service wants it.
 * @param {Page.State} state
 */
function whom(state) {
  return state.id !== null ? { id: state.id } : { person: state.record };
}

/**
 * Whether two states are about the same person.
 * @param {Page.State} one
 * @param {Page.State} other
 */
export function samePerson(one, other) {
  return JSON.stringify(whom(one)) === JSON.stringify(whom(other));
}

/**
 * What the person is called.
 * @param {Page.State} state
 */
export function nameOf(state) {
  return state.label || (state.id !== null ? `${inRowWords("person")} ${state.id}` : "the record entered");
}

/**
 * The constraints, as `explain(where=...)` takes them.
 * @param {Page.State} state
 */
function whereOf(state) {
  /** @type {Record<string, unknown>} */
  const where = {};
  for (const [name, limit] of Object.entries(state.limits)) {
    if (limit.pinned) where[name] = "never";
    else {
      const parts = Object.entries({ moves: limit.moves, bounds: limit.bounds, categories: limit.categories });
      const given = Object.fromEntries(parts.filter(([, value]) => value !== undefined));
      if (Object.keys(given).length) where[name] = given;
    }
  }
  return where;
}

/**
 * The whole question.
 * @param {Page.State} state
 * @param {Page.Body} [more]
 */
export function questionOf(state, more = {}) {
  const { forbidden: avoid, relax } = state;
  return { ...whom(state), where: whereOf(state), avoid, weights: weightsOf(state), relax, ...aims(state), ...more };
}

const WEIGHTS = { easy: 1 / 3, hard: 3 }; // what a change costs, beside others

/**
 * How much a change of each feature costs, as `explain(weights=...)` takes it.
 * @param {Page.State} state
 */
function weightsOf(state) {
  return Object.fromEntries(Object.entries(state.effort).map(([name, how]) => [name, WEIGHTS[how]]));
}

/**
 * Who is asked about what speaks for and against them.
 * @param {Page.State} state
 */
export function personOf(state) {
  return whom(state);
}

/**
 * The question whether a wish can come true: what is forbidden may not change for it either.
 * @param {Page.State} state
 * @param {Page.Values} wish
 */
export function checkOf(state, wish) {
  const still = Object.fromEntries(state.forbidden.map((name) => [name, "never"]));
  return { ...whom(state), wish, where: { ...whereOf(state), ...still }, ...aims(state) };
}

/**
 * @param {Page.State} state
 */
function aims(state) {
  /** @type {{min_score?: number, min_density?: number}} */
  const given = {};
  if (state.minScore !== null) given.min_score = state.minScore;
  if (state.minDensity !== null) given.min_density = state.minDensity;
  return given;
}

/**
 * Change one feature's limit; whatever is left empty is forgotten.
 * @param {Page.State} state
 * @param {string} name
 * @param {Page.Limit} change
 * @returns {Page.State}
 */
export function limited(state, name, change) {
  const parts = Object.entries({ ...state.limits[name], ...change });
  /** @type {Page.Limit} */
  const limit = Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== false));
  const limits = { ...state.limits, [name]: limit };
  if (!Object.keys(limit).length) delete limits[name];
  return { ...state, limits };
}

/**
 * Everything that was narrowed, in words, for the page and the report.
 * @param {Page.State} state
 * @param {Reply.Feature[]} features
 */
export function inForce(state, features) {
  /** @type {Array<{name: string, text: string, forbidden?: boolean, effort?: boolean}>} */
  const words = [];
  const called = (/** @type {string} */ name) => features.find((one) => one.name === name)?.text || name;
  for (const [name, limit] of Object.entries(state.limits)) {
    const unit = features.find((one) => one.name === name)?.unit;
    const told = toldLimit(limit, unit);
    if (told) words.push({ name, text: `${called(name)} ${told}` });
  }
  for (const [name, how] of Object.entries(state.effort)) {
    words.push({ name, text: `${called(name)} is ${how} to change`, effort: true });
  }
  for (const name of state.forbidden) words.push({ name, text: `${called(name)} is left alone`, forbidden: true });
  return words;
}

/**
 * @param {Page.Limit} limit
 * @param {string|null|undefined} unit
 */
function toldLimit(limit, unit) {
  if (limit.pinned) return "stays as it is";
  /** @type {string[]} */
  const parts = [];
  if (limit.moves) parts.push(limit.moves === "up" ? "may only rise" : "may only fall");
  const [low, high] = limit.bounds ?? [null, null];
  const unitText = unit ? ` ${unit}` : "";
  if (low !== null && high !== null) parts.push(`between ${low} and ${high}${unitText}`);
  else if (low !== null) parts.push(`at least ${low}${unitText}`);
  else if (high !== null) parts.push(`at most ${high}${unitText}`);
  if (limit.categories) parts.push(`only ${limit.categories.join(" or ")}`);
  return parts.join(", ");
}

/**
 * Write the state as the part of an address after #; it never leaves the browser.
 * @param {Page.State} state
 */
export function written(state) {
  const parts = new URLSearchParams();
  if (state.id !== null) parts.set("id", String(state.id));
  else if (state.record) parts.set("record", JSON.stringify(state.record));
  if (Object.keys(state.limits).length) parts.set("limits", JSON.stringify(state.limits));
  if (state.forbidden.length) parts.set("forbidden", JSON.stringify(state.forbidden));
  if (Object.keys(state.effort).length) parts.set("effort", JSON.stringify(state.effort));
  if (state.minScore !== null) parts.set("score", String(state.minScore));
  if (state.minDensity !== null) parts.set("floor", String(state.minDensity));
  if (state.relax) parts.set("relax", "1");
  if (Object.keys(state.wish).length) parts.set("wish", JSON.stringify(state.wish));
  return parts.toString();
}

/**
 * Read such a part back; whatever does not fit the features is left out.
 * @param {string} fragment
 * @param {Reply.Feature[]} features
 * @returns {Page.State}
 */
export function readState(fragment, features) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = emptyState();
  const known = new Set(features.map((one) => one.name));
  const id = parts.get("id");
  if (id !== null && /^\d{1,12}$/.test(id)) state.id = Number(id);
  else state.record = valuesIn(parts.get("record"));
  for (const [name, limit] of Object.entries(plainObject(parsed(parts.get("limits"))) ?? {})) {
    const read = known.has(name) && readLimit(plainObject(limit) ?? {});
    if (read && Object.keys(read).length) state.limits[name] = read;
  }
  const forbidden = parsed(parts.get("forbidden"));
  if (Array.isArray(forbidden)) state.forbidden = forbidden.filter((name) => known.has(name));
  for (const [name, how] of Object.entries(plainObject(parsed(parts.get("effort"))) ?? {})) {
    if (known.has(name) && (how === "easy" || how === "hard")) state.effort[name] = how;
  }
  state.minScore = finite(parts.get("score"));
  state.minDensity = finite(parts.get("floor"));
  state.relax = parts.get("relax") === "1";
  const wish = Object.entries(valuesIn(parts.get("wish")) ?? {});
  state.wish = Object.fromEntries(wish.filter(([name]) => known.has(name)));
  return state;
}

/**
 * The parts of a limit that make sense.
 * @param {Record<string, unknown>} given
 */
function readLimit({ moves, bounds, categories, pinned }) {
  /** @type {Page.Limit} */
  const limit = {};
  if (moves === "up" || moves === "down") limit.moves = moves;
  if (Array.isArray(bounds) && bounds.length === 2) limit.bounds = [bounds[0], bounds[1]];
  if (Array.isArray(categories) && categories.length) limit.categories = categories;
  if (pinned === true) limit.pinned = true;
  return limit;
}

/**
 * Values by feature, out of an address; whether they fit is the service's to say.
 * @param {string|null} text
 * @returns {Page.Values|null}
 */
function valuesIn(text) {
  return /** @type {Page.Values|null} */ (plainObject(parsed(text)));
}

/**
 * @param {string|null} text
 * @returns {unknown}
 */
function parsed(text) {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>|null}
 */
function plainObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : null;
}

/**
 * @param {string|null} text
 */
function finite(text) {
  const value = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/**
 * The person of a view as the controls take them: dates are days here, not words.
 * @param {Reply.View|null|undefined} view
 */
export function recordOf(view) {
  return view?.states[0].record;
}
