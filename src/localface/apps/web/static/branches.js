// Other plans as they are found: each leaves alone one feature that the plan on the page changes.
import { ask, Refusal } from "./api.js";
import { questionOf } from "./state.js";

const SECONDS = 1; // that a question may take; the search for all of them takes its time

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
    this.next(easiestFirst(view), found, state, signal);
  }

  /**
   * One after the other: the first is found soonest where no other is searched for beside it.
   * @param {string[]} features which are to be left alone, one each
   * @param {Reply.View[]} found
   * @param {Page.State} state
   * @param {AbortSignal} signal
   */
  async next(features, found, state, signal) {
    for (const feature of features) {
      if (signal.aborted) return;
      const body = questionOf(state, { fixed: [feature], max_seconds: SECONDS });
      try {
        /** @type {Reply.Recourse} */
        const answer = await ask("recourse", { body, signal });
        if (signal.aborted) return;
        if (!isAnother(answer.view, found)) continue;
        found.push(answer.view);
        this.onFound(found, state);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Refusal)) throw error; // the search for all of them says what is wrong
      }
    }
  }
}

/**
 * The features that a plan changes, those first that move the score least: they are soonest done without.
 * @param {Reply.View} view
 */
function easiestFirst({ actions, score }) {
  const gains = actions.map((one, i) => Math.abs(one.score - (i ? actions[i - 1].score : score.now)));
  const order = actions.map((one, i) => ({ one, gain: gains[i] })).sort((a, b) => a.gain - b.gain);
  return [...new Set(order.flatMap(({ one }) => one.changes.map((change) => change.feature)))];
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
