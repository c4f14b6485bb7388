// The list of people: search, filter by outcome, sort, choose.
import { ask } from "./api.js";
import { h, styled } from "./dom.js";

const AT_ONCE = 50;
const OUTCOMES = ["false negative", "true negative", "false positive", "true positive"];

/**
 * @param {HTMLElement} place
 * @param {{schema: any, onChoose: (id: number, label: string) => void}} given
 */
export function peopleList(place, { schema, onChoose }) {
  const search = h("input", {
    type: "search",
    id: "people-search",
    placeholder: "number or value",
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
      ["score", "lowest score"],
      ["-score", "highest score"],
      ["id", "number"],
    ].map(([value, words]) => h("option", { value }, words)),
  );
  const list = h("ol", { class: "people", id: "people-list" });
  const count = h("p", { class: "quiet small", role: "status" });
  const more = h("button", { type: "button", class: "wide-button", hidden: true }, "Show more");
  const field = (label, input) => h("div", { class: "field" }, h("label", { htmlFor: input.id }, label), input);
  place.replaceChildren(
    field("Search", search),
    h("div", { class: "pair" }, schema.outcomes && field("Outcome", outcome), field("Sort", sort)),
    count,
    list,
    more,
  );

  let latest = 0;
  let chosen = null;
  const load = async (offset) => {
    const number = ++latest;
    const parts = new URLSearchParams({
      offset,
      limit: AT_ONCE,
      search: search.value.trim(),
      outcome: outcome.value,
      sort: sort.value,
    });
    try {
      const found = await ask(`people?${parts}`);
      if (number === latest) show(found, offset);
    } catch (error) {
      if (number === latest) count.textContent = error.message;
    }
  };
  const show = (found, offset) => {
    const rows = found.people.map((one) => personRow(one, { schema, chosen: one.id === chosen, onChoose }));
    if (offset === 0) list.replaceChildren(...rows);
    else list.append(...rows);
    count.textContent = found.total === 1 ? "1 person" : `${found.total.toLocaleString("en-GB")} people`;
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
  return { mark: (id) => ((chosen = id), markRow(list, id)) };
}

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
      onclick: () => onChoose(person.id, person.label),
    },
    words,
    about,
  );
  return h("li", {}, button);
}

function markRow(list, id) {
  for (const button of list.querySelectorAll("button.person")) {
    if (Number(button.dataset.id) === id) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

/** Arrow keys walk through the list. */
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...event.currentTarget.querySelectorAll("button.person")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
