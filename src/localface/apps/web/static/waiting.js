// What stands on the page until the answer comes: whose it will be, what is known already, and nothing else.
import { h } from "./dom.js";

/**
 * The decision before it is known: the score where the list has told it, else a blank of the same size.
 * @param {string} name
 * @param {{score_text?: string|null}} [known]
 */
export function waitingDecision(name, known = {}) {
  const { score_text: score } = known;
  const figure = score ? h("span", { class: "figure now" }, score) : h("span", { class: "figure blank" }, "–");
  return h(
    "div",
    { class: "decision is-waiting" },
    h("div", { class: "verdict" }, h("span", { class: "badge" }, "Working it out"), h("span", { class: "wanted-text" }, name)),
    h("div", { class: "numbers" }, h("span", { class: "label" }, "Score"), figure),
    h("div", { class: "gauge", "aria-hidden": "true" }),
    h("div", { class: "usual" }),
    h("div", { class: "firm" }),
  );
}

/** Blank cards, where the answer will be. */
export function skeleton() {
  const line = () => h("div", { class: "blank-card" });
  return h("div", { class: "skeleton", "aria-hidden": "true" }, line(), line(), line());
}

/**
 * Nobody is shown: what to do, or why.
 * @param {string} [words]
 */
export function nobodyShown(words) {
  const help = "Pick someone from the list, or enter a record: the decision and what would change it appear here.";
  return h("p", { class: words ? "notice" : "quiet" }, words ?? help);
}
