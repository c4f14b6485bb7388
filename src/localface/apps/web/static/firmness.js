// How firm the plan on the page is: asked for once the answer stands still, and told where it is shown.
import { ask, Refusal } from "./api.js";
import { personOf } from "./state.js";

const SETTLED = 250; // milliseconds without another answer before it is asked for
const AGAIN = 4000; // milliseconds between questions while models are being fitted again

/**
 * What the service wants to know of a plan.
 * @param {Reply.View} view
 */
function planOf(view) {
  const actions = view.actions.map((one) => Object.fromEntries(one.changes.map((change) => [change.feature, change.after])));
  return { actions, density: Math.max(0, Math.min(1, view.actions[view.actions.length - 1].density)) };
}

/**
 * Ask how firm a plan is, and write it into its view.
 * @param {Reply.View} view
 * @param {Page.State} state
 * @param {{retrained?: boolean, signal?: AbortSignal}} [how]
 * @returns {Promise<boolean>} whether there may be more to know in a while
 */
export async function judge(view, state, { retrained = false, signal } = {}) {
  if (!view.actions.length || (!retrained && view.firmness)) return false;
  const aims = state.minScore === null ? {} : { min_score: state.minScore };
  const body = { ...personOf(state), ...aims, plans: [planOf(view)], retrained };
  /** @type {Reply.Firmness} */
  const found = await ask("firmness", { body, signal });
  const [plan] = found.plans;
  if (plan.firmness) view.firmness = [view.firmness, plan.firmness].filter(Boolean).join("; ");
  view.actions.forEach((one, i) => (one.firm = plan.actions[i] ?? one.firm));
  return found.learning;
}

/** Asks about one plan at a time; whatever is asked about another is forgotten. */
export class Firmness {
  /**
   * @param {{retrained: boolean, onFirm: (view: Reply.View) => void}} given
   */
  constructor({ retrained, onFirm }) {
    this.retrained = retrained;
    this.onFirm = onFirm;
    this.timer = 0;
    this.control = new AbortController();
  }

  stop() {
    clearTimeout(this.timer);
    this.control.abort();
    this.control = new AbortController();
  }

  /**
   * @param {Reply.View} view
   * @param {Page.State} state
   */
  about(view, state) {
    this.stop();
    if (view.status !== "FOUND" || !view.actions.length || view.firmness) return;
    this.timer = setTimeout(() => this.find(view, state, {}), SETTLED);
  }

  /**
   * @param {Reply.View} view
   * @param {Page.State} state
   * @param {{retrained?: boolean}} how
   */
  async find(view, state, how) {
    const { signal } = this.control;
    try {
      const more = await judge(view, state, { ...how, signal });
      if (signal.aborted) return;
      this.onFirm(view);
      const next = how.retrained ? more : this.retrained;
      if (next) this.timer = setTimeout(() => this.find(view, state, { retrained: true }), how.retrained ? AGAIN : 0);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      if (!view.firmness) view.firmness = "how firm it is could not be worked out";
      this.onFirm(view);
    }
  }
}
