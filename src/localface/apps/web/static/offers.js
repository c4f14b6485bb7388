// Where the answer is no: what could be done about it, one button each.
import { called, h, present } from "./dom.js";

/**
 * @param {Reply.View} view
 * @param {Page.State} state
 * @param {Reply.Schema} schema
 * @param {Page.Change} change
 * @returns {HTMLElement[]}
 */
export function offersOf(view, state, schema, change) {
  if (view.status === "FOUND" || view.status === "ALREADY_THERE") return [];
  const name = (/** @type {string} */ one) =>
    called(schema.features.find((feature) => feature.name === one) ?? { name: one });
  const offers = [];
  if (!state.relax) {
    const words = "Relax as little as opens a way";
    offers.push(
      h(
        "button",
        {
          type: "button",
          class: "main-button",
          "data-key": "relax",
          onclick: () => change((now) => ({ ...now, relax: true })),
        },
        words,
      ),
    );
  }
  const held = (/** @type {string} */ one) => one in state.limits || state.forbidden.includes(one);
  for (const names of (view.opens ?? []).filter((set) => set.some(held)).slice(0, 3)) {
    /** @type {Page.Edit} */
    const lift = (now) => ({
      ...now,
      limits: Object.fromEntries(Object.entries(now.limits).filter(([one]) => !names.includes(one))),
      forbidden: now.forbidden.filter((one) => !names.includes(one)),
    });
    offers.push(
      h(
        "button",
        { type: "button", class: "plain", "data-key": `open-${names.join("-")}`, onclick: () => change(lift) },
        `Let ${names.map(name).join(" and ")} change again`,
      ),
    );
  }
  const opens = (view.opens ?? []).map((names) => names.map(name).join(" with "));
  const told =
    opens.length > 0 &&
    h("p", { class: "quiet small" }, `It would open without the limits on ${opens.join("; or ")}.`);
  return present([told, h("div", { class: "row" }, offers)]);
}
