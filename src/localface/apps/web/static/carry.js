// Limits that were set for one person: left behind with the next, unless somebody says that they go along.
import { h } from "./dom.js";
import { inForce, nameOf } from "./state.js";

/** @typedef {Pick<Page.State, "limits"|"forbidden"|"effort"|"minScore"|"minDensity">} Asked what is asked for, of whomever */

/** @returns {Asked} */
function nothing() {
  return { limits: {}, forbidden: [], effort: {}, minScore: null, minDensity: null };
}

/**
 * What is asked for, without whom.
 * @param {Page.State} state
 * @returns {Asked}
 */
function askedOf({ limits, forbidden, effort, minScore, minDensity }) {
  return { limits, forbidden, effort, minScore, minDensity };
}

/** What becomes of one person's limits when another is chosen. */
export class Carried {
  constructor() {
    this.always = false;
    /** @type {{words: string, from: string, asked: Asked}|null} */
    this.aside = null;
  }

  /**
   * The limits that the next person is asked about with; what is not kept is set aside, to be offered.
   * @param {Page.State} state of the person who is left
   * @param {Reply.Schema} schema
   * @returns {Asked}
   */
  next(state, schema) {
    if (this.always) return askedOf(state);
    const words = limitsInWords(state, schema);
    if (words) this.aside = { words, from: nameOf(state), asked: askedOf(state) };
    return nothing();
  }

  forget() {
    this.aside = null;
  }
}

/**
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 */
function limitsInWords(state, schema) {
  const words = inForce(state, schema.features).map((one) => one.text);
  if (state.minScore !== null) words.push(`score to reach ${state.minScore}`);
  if (state.minDensity !== null) words.push(`floor ${Number((100 * state.minDensity).toFixed(2))} %`);
  return words.join("; ");
}

/**
 * The question whether the limits of the person before go along.
 * @param {Carried} carried
 * @param {string} name of the person on the page
 * @param {{onKeep: (asked: Asked) => void, onAlways: (asked: Asked) => void, onLeave: () => void}} then
 * @returns {HTMLElement[]} nothing where nothing was set aside
 */
export function carryOf({ aside }, name, { onKeep, onAlways, onLeave }) {
  if (!aside) return [];
  const button = (/** @type {string} */ words, /** @type {string} */ key, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: "plain", "data-key": key, onclick }, words);
  return [
    h("p", {}, h("strong", {}, `Keep these limits for ${name}? `), `They were set for ${aside.from}: ${aside.words}.`),
    h(
      "div",
      { class: "row" },
      button(`Keep for ${name}`, "carry-keep", () => onKeep(aside.asked)),
      button("Keep for everyone from now on", "carry-always", () => onAlways(aside.asked)),
      button("No", "carry-leave", onLeave),
    ),
  ];
}
