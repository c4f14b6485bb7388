// The list of people: search, filter by outcome, sort, choose.
import { ask, Refusal } from "./api.js";
import { h, inRowWords, styled } from "./dom.js";
import { help } from "./help.js";
import { longList } from "./rows.js";

const ROW_HEIGHT = 88; // pixels, as the style sheet has it: a place in the list is a place on the screen
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
  const count = h("p", { class: "quiet small", role: "status" });
  const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) =>
    h("div", { class: "field" }, h("label", { htmlFor: input.id }, label), input);

  let latest = 0;
  /** @type {number|null} */
  let chosen = null;
  /** @type {(offset: number, limit: number) => Promise<{total: number, rows: Reply.PersonLine[]}|null>} */
  const fetchRows = async (offset, limit) => {
    const number = offset === 0 ? ++latest : latest;
    const asked = { search: search.value.trim(), outcome: outcome.value, sort: sort.value };
    const parts = new URLSearchParams({ offset: String(offset), limit: String(limit), ...asked });
    try {
      /** @type {Reply.People} */
      const found = await ask(`people?${parts}`);
      if (number !== latest) return null;
      if (offset === 0) begin(found);
      return { total: found.total, rows: found.people };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (number !== latest) return null;
      rows.clear();
      count.textContent = error.message;
      return null;
    }
  };
  /** @param {Reply.People} found */
  const begin = (found) => {
    rows.clear();
    const many = inRowWords(found.total === 1 ? "1 person" : `${found.total.toLocaleString("en-GB")} people`);
    count.textContent = found.understood ? `${many}: ${found.understood}` : many;
  };
  const rows = longList({
    label: inRowWords("People"),
    rowHeight: ROW_HEIGHT,
    fetchRows,
    draw: (/** @type {Reply.PersonLine} */ one) => personRow(one, { schema, chosen: one.id === chosen, onChoose }),
  });
  place.replaceChildren(
    field("Search", search),
    h("div", { class: "pair" }, schema.outcomes && field("Outcome", outcome), field("Sort", sort)),
    h("div", { class: "count-line" }, count, schema.outcomes && help("outcome")),
    rows.node,
  );
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => rows.renew(), 120);
  });
  for (const one of [outcome, sort]) one.addEventListener("change", () => rows.renew());
  new MutationObserver(() => markRow(rows.list, chosen)).observe(rows.list, { childList: true });
  rows.list.addEventListener("keydown", walker(rows));
  rows.renew();
  return {
    /** @param {number|null} id */
    mark(id) {
      chosen = id;
      markRow(rows.list, id);
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
  return button;
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
  const stop = buttons.find((one) => one === document.activeElement) ?? buttons.find((one) => one.hasAttribute("aria-current"));
  reachable(buttons, stop ?? buttons[0]);
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
 * Arrow keys walk through the list, also to rows that are still on their way.
 * @param {{list: HTMLElement, reach: (place: number) => Promise<HTMLElement|null>}} rows
 */
function walker(rows) {
  /** @type {number|null} */
  let aim = null; // where the keys have led to, while its row is not there yet
  return async (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = document.activeElement?.closest("li");
    if (!step || !row) return;
    event.preventDefault();
    const mine = (aim ?? Number(row.getAttribute("aria-posinset")) - 1) + step;
    aim = mine;
    const reached = await rows.reach(mine);
    if (aim !== mine) return;
    aim = null;
    const next = reached?.querySelector("button");
    if (!next) return;
    reachable(personButtons(rows.list), next);
    next.focus({ preventScroll: true });
  };
}
