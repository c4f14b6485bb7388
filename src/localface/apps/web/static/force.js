// The limits in force, in words, each a button that lifts it.
import { h } from "./dom.js";
import { inForce } from "./state.js";

/**
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 * @param {Page.Change} change
 * @param {{carries: boolean, onStay: () => void}} carry whether the limits go along to the next person
 * @returns {HTMLElement[]} nothing where nothing was narrowed
 */
export function forceOf(state, schema, change, { carries, onStay }) {
  const chips = inForce(state, schema.features).map((one) =>
    chip(one.name, one.text, "lift this limit", () => change((now) => lifted(now, one))),
  );
  if (state.relax) {
    chips.push(chip("relax", "relaxing is allowed", "no longer", () => change((now) => ({ ...now, relax: false }))));
  }
  if (carries) chips.push(chip("carry", "limits go along to the next person", "no longer", onStay));
  return chips.length ? [h("span", { class: "over" }, "Limits in force"), ...chips] : [];
}

/**
 * @param {string} key
 * @param {string} words
 * @param {string} does
 * @param {() => void} onclick
 */
function chip(key, words, does, onclick) {
  const cross = h("span", { class: "cross", "aria-hidden": "true" }, " ✕");
  const told = h("span", { class: "unseen" }, `: ${does}`);
  return h("button", { type: "button", class: "chip lift", "data-key": `lift-${key}`, onclick }, words, cross, told);
}

/**
 * @param {Page.State} state
 * @param {{name: string, forbidden?: boolean, effort?: boolean}} one
 */
function lifted(state, one) {
  if (one.forbidden) return { ...state, forbidden: state.forbidden.filter((name) => name !== one.name) };
  if (one.effort) {
    const effort = { ...state.effort };
    delete effort[one.name];
    return { ...state, effort };
  }
  const limits = { ...state.limits };
  delete limits[one.name];
  return { ...state, limits };
}
