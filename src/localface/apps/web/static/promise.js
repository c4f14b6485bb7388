// Keeping the plan on the page as a promise: one click, and what came of it in words.
import { ask, Refusal } from "./api.js";
import { h } from "./dom.js";
import { questionOf } from "./state.js";

const KEEP = "Keep this as a promise";
const WRITING = "Being written down …";

/**
 * @param {HTMLElement} place
 * @param {{enabled: boolean, onPromised: (words: string) => void}} given
 */
export function promiseButton(place, { enabled, onPromised }) {
  const button = h("button", { type: "button", class: "plain", id: "promise" }, KEEP);
  const told = h("span", { class: "quiet small", id: "promised", role: "status" });
  if (enabled) place.append(button, told);
  /** @type {{view: Reply.View, state: Page.State, nPlans: number}|null} */
  let shown = null;
  const forget = () => {
    shown = null;
    button.hidden = true;
    button.disabled = false;
    button.textContent = KEEP;
    told.textContent = "";
    told.removeAttribute("title");
  };
  button.addEventListener("click", async () => {
    if (!shown) return;
    const asked = shown;
    button.disabled = true;
    button.textContent = WRITING;
    const said = await promised(asked).catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      return { words: error.message, id: "" };
    });
    if (asked !== shown) return; // somebody else is on the page
    button.textContent = KEEP;
    button.disabled = false;
    button.hidden = said.id !== ""; // it is kept: what says so stands in its place
    told.textContent = said.words;
    told.title = said.id;
    onPromised(said.words);
  });
  forget();
  return {
    forget,
    /** Keep nothing of what stands there: another plan is on its way. */
    hold() {
      shown = null;
      button.disabled = true;
    },
    /** The promise that the plan on the page is kept as, for what is printed. */
    kept: () => told.title,
    /**
     * @param {Reply.View} view
     * @param {Page.State} state
     * @param {number} nPlans how many plans were asked for where this is one of several
     */
    about(view, state, nPlans) {
      forget();
      if (view.status !== "FOUND" || !view.actions.length) return;
      shown = { view, state, nPlans };
      button.hidden = false;
    },
  };
}

/**
 * @param {{view: Reply.View, state: Page.State, nPlans: number}} asked
 */
async function promised({ view, state, nPlans }) {
  const plan = view.actions.map((one) => Object.fromEntries(one.changes.map((change) => [change.feature, change.after])));
  const reference = state.id === null ? null : String(state.id);
  const body = questionOf(state, { plan, reference, ...(nPlans > 1 ? { n_paths: nPlans } : {}) });
  /** @type {Reply.Promised} */
  const found = await ask("promises", { body });
  const day = new Date(found.time).toLocaleDateString("en-GB", { dateStyle: "medium" });
  const words = `${found.already ? "Promised already" : "Promised"}, ${day}`;
  return { words, id: found.id };
}
