// Where the answer is no: what could be done about it, one button each, and only what was tried and opens a way.
import { called, counted, h, present } from "./dom.js";

/**
 * @param {Reply.View} view
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 * @param {{change: Page.Change, tried: Reply.View|null}} given `tried`: the answer with relaxing, once it has come
 * @returns {HTMLElement[]}
 */
export function offersOf(view, state, schema, { change, tried }) {
  if (view.status === "FOUND" || view.status === "ALREADY_THERE") return [];
  const lifts = liftsOf(view, state, schema, change);
  return present([
    !state.relax && relaxing(tried, change),
    lifts.length > 0 && h("div", { class: "row" }, lifts),
    othersOf(view, state, schema),
  ]);
}

/**
 * What relaxing as little as opens a way leads to; a button only where it leads somewhere.
 * @param {Reply.View|null} tried
 * @param {Page.Change} change
 */
function relaxing(tried, change) {
  if (!tried) return h("p", { class: "quiet small", "data-key": "trying" }, "Trying whether a lower floor opens a way …");
  if (tried.status !== "FOUND") {
    return h("p", { class: "quiet small" }, "A lower floor and wider limits were tried: they open no way.");
  }
  const steps = counted(tried.actions.length || tried.states.length - 1, "action");
  return h(
    "div",
    { class: "row" },
    h(
      "button",
      {
        type: "button",
        class: "main-button",
        "data-key": "relax",
        onclick: () => change((now) => ({ ...now, relax: true })),
      },
      "Relax as little as opens a way",
    ),
    h("span", { class: "quiet small" }, `Tried: ${steps}, score ${tried.score.end_text}. ${tried.notices.join(". ")}`),
  );
}

/**
 * A button for each set of limits that were set here, and without which there is a way.
 * @param {Reply.View} view
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 * @param {Page.Change} change
 */
function liftsOf(view, state, schema, change) {
  const held = (/** @type {string} */ one) => one in state.limits || state.forbidden.includes(one);
  const sets = (view.opens ?? []).filter((names) => names.every(held));
  return sets.slice(0, 3).map((names) => {
    /** @type {Page.Edit} */
    const lift = (now) => ({
      ...now,
      limits: Object.fromEntries(Object.entries(now.limits).filter(([one]) => !names.includes(one))),
      forbidden: now.forbidden.filter((one) => !names.includes(one)),
    });
    return h(
      "button",
      { type: "button", class: "plain", "data-key": `open-${names.join("-")}`, onclick: () => change(lift) },
      `Let ${namesOf(names, schema)} change again`,
    );
  });
}

/**
 * What would open a way but is not set on this page.
 * @param {Reply.View} view
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 */
function othersOf(view, state, schema) {
  const held = (/** @type {string} */ one) => one in state.limits || state.forbidden.includes(one);
  const sets = (view.opens ?? []).filter((names) => !names.every(held));
  if (!sets.length) return null;
  const words = sets.map((names) => namesOf(names, schema)).join("; or ");
  return h("p", { class: "quiet small" }, `A way would open if the schema let this go further: ${words}.`);
}

/**
 * @param {string[]} names
 * @param {Reply.Schema} schema
 */
function namesOf(names, schema) {
  return names
    .map((name) => called(schema.features.find((feature) => feature.name === name) ?? { name }))
    .join(" and ");
}
