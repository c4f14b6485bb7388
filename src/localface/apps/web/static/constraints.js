// What this person may change: the panel with target, floor, and a row for every feature.
import { h } from "./dom.js";
import { floorSlider, goalSlider } from "./goals.js";
import { limitRow } from "./limit.js";
import { valueOf } from "./reading.js";

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, change: Page.Change}} given
 */
export function constraintsPanel(place, { schema, change }) {
  const goal = goalSlider(schema, change);
  const floor = floorSlider(schema, change);
  const find = h("input", {
    type: "search",
    id: "feature-search",
    placeholder: "name of a feature",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = h("ul", { class: "limits" });
  const clear = h(
    "button",
    { type: "button", class: "plain", onclick: () => change((state) => ({ ...state, limits: {}, forbidden: [], effort: {} })) },
    "Lift all limits",
  );
  const head = h(
    "div",
    { class: "bar" },
    h("label", { htmlFor: find.id, class: "over" }, "Limits for each feature"),
    clear,
  );
  place.replaceChildren(goal.node, floor.node, head, find, list);
  find.addEventListener("input", () => filterRows(list, find.value));
  /** @type {ReturnType<typeof limitRow>[]} */
  let rows = [];
  /** @type {string|null} */
  let whose = null;
  /** @type {string|null} */
  let kept = null;
  return {
    /**
     * Say at the floor itself where the answer keeps another one.
     * @param {Page.State} state
     * @param {string|null} why
     */
    keptFloor(state, why) {
      kept = why;
      floor.sync(state, kept);
    },
    /**
     * Build the rows anew for another person, else only bring them up to date.
     * @param {Page.State} state
     * @param {Page.Values|null|undefined} person
     */
    sync(state, person) {
      goal.sync(state);
      floor.sync(state, kept);
      const set = [state.limits, state.effort].some((one) => Object.keys(one).length > 0);
      clear.hidden = !set && !state.forbidden.length;
      if (person && JSON.stringify(person) !== whose) {
        whose = JSON.stringify(person);
        rows = schema.features.flatMap((one) => {
          const own = valueOf(one, person);
          return own === null ? [] : [limitRow(one, own, change)];
        });
        list.replaceChildren(...rows.map((one) => one.node));
        filterRows(list, find.value);
      }
      for (const row of rows) row.sync(state);
    },
    /** Nothing of the person before stays. */
    forget() {
      whose = null;
      kept = null;
      rows = [];
      list.replaceChildren();
    },
    /**
     * Mark the features that the answer changes.
     * @param {string[]} names
     */
    mark(names) {
      for (const row of rows) row.node.classList.toggle("moves", names.includes(row.name));
    },
  };
}

/**
 * @param {HTMLElement} list
 * @param {string} text
 */
function filterRows(list, text) {
  const wanted = text.trim().toLowerCase();
  for (const row of list.querySelectorAll("li")) {
    row.hidden = wanted !== "" && !row.dataset.words?.includes(wanted);
  }
}
