// Several plans side by side: what each changes, what they share, what each trades for what, and where they part.
import { changedIn } from "./branches.js";
import { called, counted, h, present } from "./dom.js";
import { help } from "./help.js";

/**
 * @typedef {(view: Reply.View, number: number, document: Reply.Document|null) => void} UseWay
 * @typedef {{text: string, numbers: number[]}} End where a feature ends, and the actions that move it
 */

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, onCount: (n: number) => void, onUse: UseWay}} given
 */
export function alternativesPane(place, { schema, onCount, onUse }) {
  const count = h(
    "select",
    { id: "ways" },
    [2, 3, 4, 5].map((n) => h("option", { value: n, selected: n === 3 }, String(n))),
  );
  count.addEventListener("change", () => onCount(Number(count.value)));
  const body = h("div", { class: "ways-body" });
  place.replaceChildren(
    h(
      "div",
      { class: "bar" },
      h("h2", {}, "Other plans"),
      h("span", { class: "row" }, h("label", { htmlFor: "ways" }, "How many"), count),
    ),
    h(
      "p",
      { class: "quiet" },
      "Plans that change different features, the cheapest first. Each keeps the limits on the right.",
    ),
    body,
  );
  return {
    count: () => Number(count.value),
    clear: () => body.replaceChildren(),
    /** @param {Reply.Recourse} answer */
    show: (answer) => body.replaceChildren(...shown(answer, schema, onUse)),
    /**
     * The plans that are known while more are looked for.
     * @param {Reply.View[]} views
     */
    showSoFar(views) {
      const some = views.slice(0, Number(count.value));
      const words = `${counted(some.length, "plan")} so far; others, and cheaper ones, are being looked for`;
      body.replaceChildren(...present([h("p", { class: "quiet so-far", role: "status" }, words), sideBySide(some, schema), trades(some, schema)]));
    },
    /** @param {string} message */
    refuse: (message) => body.replaceChildren(h("p", { class: "notice" }, message)),
  };
}

/**
 * @param {Reply.Recourse} answer
 * @param {Reply.Schema} schema
 * @param {UseWay} onUse
 */
function shown(answer, schema, onUse) {
  const views = [answer.view, ...(answer.alternatives ?? [])];
  if (views[0].status !== "FOUND") {
    return [h("p", { class: "notice" }, [views[0].sentence, views[0].reason].filter(Boolean).join(": "))];
  }
  const notices = views.flatMap((one, i) =>
    one.notices.map((words) => h("p", { class: "notice" }, `Plan ${i + 1}: ${words}`)),
  );
  /** @type {(view: Reply.View, number: number) => void} */
  const use = (view, number) => onUse(view, number, answer.document.answers?.[number - 1] ?? null);
  const disclosed =
    answer.together?.disclosure &&
    h("p", { class: "quiet small" }, `Looked at for all of them together: ${answer.together.disclosure.replace("rows seen", "records")}.`);
  return present([...notices, together(answer.together, schema), sideBySide(views, schema, use), trades(views, schema), disclosed]);
}

/**
 * @param {Reply.Together|null} found
 * @param {Reply.Schema} schema
 */
function together(found, schema) {
  if (!found) return null;
  const name = (/** @type {string} */ one) =>
    called(schema.features.find((feature) => feature.name === one) ?? { name: one });
  const words = found.shared.length
    ? ["All of them change ", h("strong", {}, found.shared.map(name).join(", ")), ". "]
    : "";
  const parts = found.parts.replace(/^All change [^.]*\.\s*/, "").replace(/\b([Ww])ays\b/g, (_, w) => (w === "W" ? "Plans" : "plans"));
  return h("p", { class: "together" }, words, parts);
}

/**
 * @param {Reply.View[]} views
 * @param {Reply.Schema} schema
 * @param {(view: Reply.View, number: number) => void} [onUse] where they are all there is
 */
function sideBySide(views, schema, onUse) {
  const ends = views.map(changedBy);
  const features = schema.features.filter((one) => ends.some((end) => end.has(one.name)));
  const all = (/** @type {string} */ name) => ends.every((end) => end.has(name));
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Feature"),
    h("th", { scope: "col", class: "n" }, "now"),
    views.map((_, i) => h("th", { scope: "col", class: "n" }, `Plan ${i + 1}`)),
  );
  const rows = features.map((one) =>
    h(
      "tr",
      { class: all(one.name) ? "shared" : null },
      h(
        "th",
        { scope: "row" },
        called(one),
        " ",
        one.unit && h("span", { class: "unit" }, one.unit),
        all(one.name) && h("span", { class: "chip" }, "all"),
      ),
      h("td", { class: "n quiet" }, nowText(views, one.name)),
      ends.map((end) => wayCell(end.get(one.name))),
    ),
  );
  const scores = h(
    "tr",
    { class: "scores" },
    h("th", { scope: "row" }, "Score"),
    h("td", { class: "n" }, views[0].score.now_text),
    views.map((one) => h("td", { class: "n" }, one.score.end_text)),
  );
  const steps = h(
    "tr",
    {},
    h("th", { scope: "row" }, "Actions"),
    h("td", {}),
    views.map((one) => h("td", { class: "n" }, String(one.actions.length))),
  );
  const usual = factRow("How usual then", views, (one) => `${Math.round(100 * one.actions[one.actions.length - 1].density)} %`, "usual");
  const effort = factRow("Ordinary differences", views, (one) => one.effort?.toFixed(1) ?? "", "effort");
  const use = onUse && h(
    "tr",
    { class: "use" },
    h("th", { scope: "row" }, h("span", { class: "unseen" }, "Show")),
    h("td", {}),
    views.map((one, i) =>
      h(
        "td",
        { class: "n" },
        h(
          "button",
          { type: "button", class: "plain", onclick: () => onUse?.(one, i + 1) },
          "Show",
          h("span", { class: "unseen" }, ` plan ${i + 1}`),
        ),
      ),
    ),
  );
  const caption = `${counted(views.length, "plan")} side by side; the small number is the action that makes the change`;
  const table = h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, head),
    h("tbody", {}, scores, steps, effort, usual, rows, use),
  );
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Plans side by side" }, table);
}

/**
 * A row of figures, one a plan.
 * @param {string} words
 * @param {Reply.View[]} views
 * @param {(view: Reply.View) => string} figure
 * @param {string} term of the glossary
 */
function factRow(words, views, figure, term) {
  const cells = views.map((one) => h("td", { class: "n" }, figure(one)));
  return h("tr", {}, h("th", { scope: "row" }, words, help(term)), h("td", {}), cells);
}

/**
 * What each plan trades for what, beside the first.
 * @param {Reply.View[]} views
 * @param {Reply.Schema} schema
 */
function trades(views, schema) {
  const [first, ...others] = views;
  const name = (/** @type {string} */ one) => called(schema.features.find((feature) => feature.name === one) ?? { name: one });
  const named = (/** @type {Set<string>} */ all, /** @type {Set<string>} */ without) =>
    [...all].filter((one) => !without.has(one)).map(name).join(", ");
  const theirs = new Set(changedIn(first));
  const lines = others.map((view, i) => {
    const mine = new Set(changedIn(view));
    const spared = named(theirs, mine);
    const instead = named(mine, theirs);
    const leaves = spared ? `leaves ${spared} alone` : "changes all that plan 1 does";
    return h("li", {}, `Plan ${i + 2} ${leaves}${instead ? ` and changes ${instead}` : ""}${differenceIn(first, view)}.`);
  });
  return lines.length ? h("ul", { class: "trades" }, lines) : null;
}

/**
 * @param {Reply.View} first
 * @param {Reply.View} view
 */
function differenceIn(first, view) {
  const more = (view.effort ?? 0) - (first.effort ?? 0);
  if (Math.abs(more) < 0.05) return "; it goes as far in all";
  return `; in all it goes ${Math.abs(more).toFixed(1)} ordinary differences ${more > 0 ? "further" : "less far"}`;
}

/**
 * Where each changed feature ends, and the actions that move it.
 * @param {Reply.View} view
 * @returns {Map<string, End>}
 */
function changedBy(view) {
  const ends = new Map();
  for (const action of view.actions) {
    for (const change of action.changes) {
      const before = ends.get(change.feature)?.numbers ?? [];
      ends.set(change.feature, { text: change.after_text, numbers: [...before, action.number] });
    }
  }
  return ends;
}

/**
 * @param {End|undefined} end
 */
function wayCell(end) {
  if (!end) {
    const dot = h("span", { "aria-hidden": "true" }, "·");
    return h("td", { class: "n quiet" }, dot, h("span", { class: "unseen" }, "unchanged"));
  }
  return h(
    "td",
    { class: "n changed" },
    end.text,
    h("sup", {}, h("span", { class: "unseen" }, " by action "), end.numbers.join(", ")),
  );
}

/**
 * @param {Reply.View[]} views
 * @param {string} name
 */
function nowText(views, name) {
  for (const view of views) if (view.states[0]?.text[name] !== undefined) return view.states[0].text[name];
  return "";
}
