// Other plans as they are found: each leaves alone one feature that the plan on the page changes.
import { ask, Refusal } from "./api.js";
import { questionOf } from "./state.js";

const AT_ONCE = 4; // questions in flight: as many as one worker searches together
const SECONDS = 1; // that one of them may take; the search for all of them takes its time

/** Asks for one plan's neighbours at a time; whatever is asked about another is forgotten. */
export class Branches {
  /**
   * @param {{onFound: (views: Reply.View[], state: Page.State) => void}} given
   */
  constructor({ onFound }) {
    this.onFound = onFound;
    this.control = new AbortController();
  }

  stop() {
    this.control.abort();
    this.control = new AbortController();
  }

  /**
   * @param {Reply.View} view the plan that is known
   * @param {Page.State} state
   */
  about(view, state) {
    this.stop();
    if (view.status !== "FOUND" || !view.actions.length) return;
    const { signal } = this.control;
    const found = [view];
    this.onFound(found, state);
    const features = [...new Set(changedIn(view))];
    const next = async () => {
      const feature = features.shift();
      if (feature === undefined || signal.aborted) return;
      try {
        /** @type {Reply.Recourse} */
        const answer = await ask("recourse", { body: questionOf(state, { fixed: [feature], max_seconds: SECONDS }), signal });
        if (signal.aborted) return;
        if (isAnother(answer.view, found)) {
          found.push(answer.view);
          this.onFound(found, state);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Refusal)) throw error; // the search for all of them says what is wrong
      }
      await next();
    };
    for (let i = 0; i < AT_ONCE; i++) next();
  }
}

/** @param {Reply.View} view */
export function changedIn(view) {
  return view.actions.flatMap((one) => one.changes.map((change) => change.feature));
}

/**
 * Whether a view changes other features than those that are known.
 * @param {Reply.View} view
 * @param {Reply.View[]} known
 */
function isAnother(view, known) {
  if (view.status !== "FOUND" || !view.actions.length) return false;
  const mine = new Set(changedIn(view));
  return known.every((one) => changedIn(one).some((name) => !mine.has(name)));
}
