// Several people side by side: decision and plan of each, a link to each, and the table as a file.
import { ask, Refusal } from "./api.js";
import { h, inRowWords } from "./dom.js";
import { judge } from "./firmness.js";
import { linkOf, saveText } from "./report.js";
import { nameOf, questionOf } from "./state.js";
import { wordsOf } from "./takeaway.js";
import { verdictOf } from "./view.js";

/**
 * @typedef {{state: Page.State, name: string, view: Reply.View|null, problem: string}} Row
 */

/**
 * @param {HTMLElement} place
 * @param {{onOpen: (state: Page.State) => void}} given
 */
export function severalPane(place, { onOpen }) {
  /** @type {Row[]} */
  let rows = [];
  const body = h("tbody", {});
  const count = h("span", { class: "quiet small", role: "status" });
  const save = h("button", { type: "button", class: "plain", id: "several-save", onclick: () => saveText(csvOf(rows), "people", "csv") }, "Save as CSV");
  const clear = h("button", { type: "button", class: "plain", onclick: () => ((rows = []), draw()) }, "Empty the table");
  const heads = [inRowWords("Person"), "Score", "Decision", "Plan", "How firm"].map((one) => h("th", { scope: "col" }, one));
  heads.push(h("th", { scope: "col" }, h("span", { class: "unseen" }, "Open, or take out")));
  const table = h("table", {}, h("caption", {}, "People who were put into this table"), h("thead", {}, h("tr", {}, heads)), body);
  place.replaceChildren(
    h("div", { class: "bar" }, h("h2", { id: "several-title" }, inRowWords("Several people")), count, h("span", { class: "row" }, save, clear)),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": inRowWords("Table of people") }, table),
  );
  const draw = () => {
    place.hidden = rows.length === 0;
    count.textContent = inRowWords(rows.length === 1 ? "1 person" : `${rows.length} people`);
    body.replaceChildren(...rows.map((row) => lineOf(row, { onOpen, onDrop: () => ((rows = rows.filter((one) => one !== row)), draw()) })));
  };
  draw();
  return {
    redraw: draw,
    /**
     * Put somebody into the table whose answer is known.
     * @param {Page.State} state
     * @param {Reply.View} view
     */
    add(state, view) {
      const link = linkOf(state);
      rows = [...rows.filter((one) => linkOf(one.state) !== link), { state, name: nameOf(state), view, problem: "" }];
      draw();
    },
    /**
     * Ask about several, one after the other.
     * @param {Page.State[]} states
     */
    async addAll(states) {
      const added = states.map((state) => ({ state, name: nameOf(state), view: /** @type {Reply.View|null} */ (null), problem: "" }));
      rows = [...rows, ...added];
      draw();
      for (const row of added) {
        try {
          row.view = (await ask("recourse", { body: questionOf(row.state) })).view;
          draw();
          if (row.view && !row.view.doubts?.length) await judge(row.view, row.state);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          row.problem = error.message;
        }
        draw();
      }
    },
  };
}

/**
 * @param {Row} row
 * @param {{onOpen: (state: Page.State) => void, onDrop: () => void}} given
 */
function lineOf(row, { onOpen, onDrop }) {
  const { view, problem, state, name } = row;
  const doubtful = view?.doubts?.length ? "Values to be confirmed first: open it" : "";
  const told = problem || doubtful || (view ? "" : "being worked out");
  const cells = told || !view ? [h("td", {}), h("td", { colspan: 3, class: "quiet" }, told)] : factsOf(view).map((one) => h("td", {}, one));
  const open = h("button", { type: "button", class: "plain", onclick: () => onOpen(state) }, "Open", h("span", { class: "unseen" }, ` ${name}`));
  const drop = h("button", { type: "button", class: "plain", "aria-label": `Take ${name} out of the table`, onclick: onDrop }, "✕");
  return h("tr", {}, h("th", { scope: "row" }, h("a", { href: linkOf(state) }, name)), cells, h("td", {}, open, " ", drop));
}

/**
 * Score, decision, plan, firmness.
 * @param {Reply.View} view
 */
function factsOf(view) {
  const none = view.status === "ALREADY_THERE" ? "nothing needs to change" : view.reason;
  const plan = view.status === "FOUND" ? wordsOf(view).join(" ") : none;
  return [view.score.now_text, verdictOf(view), plan, view.status === "FOUND" ? view.firmness || "not worked out yet" : ""];
}

/**
 * @param {Row[]} rows
 */
function csvOf(rows) {
  const quoted = (/** @type {string} */ text) => `"${text.replace(/^([=+@-])/, "'$1").replaceAll('"', '""')}"`;
  const lines = rows.map((row) => {
    const told = row.view && !row.view.doubts?.length ? factsOf(row.view) : ["", row.problem || "not shown", "", ""];
    return [row.name, ...told, linkOf(row.state)];
  });
  return [["person", "score", "decision", "plan", "how firm", "link"], ...lines].map((line) => line.map(quoted).join(",")).join("\r\n");
}
