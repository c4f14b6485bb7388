// The list of people: search, filter by outcome, sort, choose.
import { ask, Refusal } from "./api.js";
import { h, styled } from "./dom.js";
import { help } from "./help.js";

const AT_ONCE = 50;
const OUTCOMES = ["false negative", "true negative", "false positive", "true positive"];

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, onChoose: (person: Reply.PersonLine) => void}} given
 */
export function peopleList(place, { schema, onChoose }) {
  const search = h("input", {
    type: "search",
    id: "people-search",
    placeholder: "17, age > 70, score 0.4 to 0.5",
    autocomplete: "off",
    spellcheck: "false",
  });
  const outcome = h(
    "select",
    { id: "people-outcome" },
    h("option", { value: "" }, "everyone"),
    OUTCOMES.map((one) => h("option", { value: one }, `${one}s`)),
  );
  const sort = h(
    "select",
    { id: "people-sort" },
    [
      ["borderline", "just below first"],
      ["score", "lowest score"],
      ["-score", "highest score"],
      ["id", "number"],
    ].map(([value, words]) => h("option", { value }, words)),
  );
  const list = h("ol", { class: "people", id: "people-list" });
  const count = h("p", { class: "quiet small", role: "status" });
  const more = h("button", { type: "button", class: "wide-button", hidden: true }, "Show more");
  const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) =>
    h("div", { class: "field" }, h("label", { htmlFor: input.id }, label), input);
  place.replaceChildren(
    field("Search", search),
    h("div", { class: "pair" }, schema.outcomes && field("Outcome", outcome), field("Sort", sort)),
    h("div", { class: "count-line" }, count, schema.outcomes && help("outcome")),
    list,
    more,
  );

  let latest = 0;
  /** @type {number|null} */
  let chosen = null;
  const load = async (/** @type {number} */ offset) => {
    const number = ++latest;
    const parts = new URLSearchParams({
      offset: String(offset),
      limit: String(AT_ONCE),
      search: search.value.trim(),
      outcome: outcome.value,
      sort: sort.value,
    });
    try {
      /** @type {Reply.People} */
      const found = await ask(`people?${parts}`);
      if (number === latest) show(found, offset);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (number !== latest) return;
      count.textContent = error.message;
      list.replaceChildren();
      more.hidden = true;
    }
  };
  /** @type {(found: Reply.People, offset: number) => void} */
  const show = (found, offset) => {
    const rows = found.people.map((one) => personRow(one, { schema, chosen: one.id === chosen, onChoose }));
    if (offset === 0) list.replaceChildren(...rows);
    else list.append(...rows);
    markRow(list, chosen);
    const many = found.total === 1 ? "1 person" : `${found.total.toLocaleString("en-GB")} people`;
    count.textContent = found.understood ? `${many}: ${found.understood}` : many;
    more.hidden = offset + found.people.length >= found.total;
    more.onclick = () => load(offset + found.people.length);
  };
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(0), 120);
  });
  for (const one of [outcome, sort]) one.addEventListener("change", () => load(0));
  list.addEventListener("keydown", walk);
  load(0);
  return {
    /** @param {number|null} id */
    mark(id) {
      chosen = id;
      markRow(list, id);
    },
  };
}

/**
 * @param {Reply.PersonLine} person
 * @param {{schema: Reply.Schema, chosen: boolean, onChoose: (person: Reply.PersonLine) => void}} given
 */
function personRow(person, { schema, chosen, onChoose }) {
  const { low, high } = schema.target;
  const share = Math.max(0, Math.min(1, ((person.score ?? low) - low) / (high - low || 1)));
  const bar = styled(h("span", { class: "mini", "aria-hidden": "true" }, h("i")), {
    "--now": `${100 * share}%`,
  });
  const words = [h("span", { class: "who" }, person.label), h("span", { class: "value" }, person.score_text), bar];
  const about = h(
    "span",
    { class: "gist" },
    person.outcome && h("span", { class: "outcome" }, person.outcome),
    person.gist,
  );
  const button = h(
    "button",
    {
      type: "button",
      class: "person",
      "data-id": person.id,
      "aria-current": chosen ? "true" : null,
      onclick: () => onChoose(person),
    },
    words,
    about,
  );
  return h("li", {}, button);
}

/**
 * @param {HTMLElement} list
 * @param {number|null} id
 */
function markRow(list, id) {
  for (const button of personButtons(list)) {
    if (Number(button.dataset.id) === id) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const buttons = personButtons(list);
  reachable(buttons, buttons.find((one) => one.hasAttribute("aria-current")) ?? buttons[0]);
}

/**
 * Tab stops once in the list; from there the arrow keys walk.
 * @param {HTMLButtonElement[]} buttons
 * @param {HTMLButtonElement|undefined} one
 */
function reachable(buttons, one) {
  for (const button of buttons) button.tabIndex = button === one ? 0 : -1;
}

/**
 * @param {HTMLElement} list
 * @returns {HTMLButtonElement[]}
 */
function personButtons(list) {
  return [...list.querySelectorAll("button")].filter((one) => one.classList.contains("person"));
}

/**
 * Arrow keys walk through the list.
 * @param {KeyboardEvent} event
 */
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const list = event.currentTarget;
  if (!step || !(list instanceof HTMLElement)) return;
  const buttons = personButtons(list);
  const next = buttons[buttons.findIndex((one) => one === document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  reachable(buttons, next);
  next.focus();
}
