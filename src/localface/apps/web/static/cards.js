// One card an action: what changes, in which order, how usual and how firm it is, and the score after it.
import { called, capital, counted, h, sentence, styled } from "./dom.js";
import { featureOf } from "./figure.js";

const MOST_CHANGES = 12; // changes shown on one card, the largest first; the others are counted

export const FIRM_LATER = "how firm it is, is being worked out";

/**
 * How far a value lies from low to high, for a style.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function percentage(value, low, high) {
  return `${Math.max(0, Math.min(100, (100 * (value - low)) / (high - low || 1)))}%`;
}

/**
 * @param {Reply.View} view
 * @param {Reply.Action} action
 * @param {Page.ViewOptions} options
 */
export function card(view, action, options) {
  const left = action.changes.length - MOST_CHANGES;
  const chips = [];
  if (action.needs.length)
    chips.push(h("span", { class: "chip", title: action.order ?? "" }, `needs ${action.needs.join(" and ")} first`));
  if (action.together) chips.push(h("span", { class: "chip" }, "together"));
  const usual = [action.density_text, action.on_the_way].filter(Boolean).join(", ");
  chips.push(h("span", { class: "fact" }, sentence(usual)));
  if (action.purpose) chips.push(h("span", { class: "fact" }, sentence(action.purpose)));
  if (action.firm || (options.firmnessComes && !view.firmness))
    chips.push(h("span", { class: "fact firm-action" }, sentence(action.firm ?? FIRM_LATER)));
  if (action.below_floor) chips.push(h("span", { class: "fact below" }, belowFloor(view)));
  return h(
    "li",
    { class: action.entry ? "card entry" : "card" },
    h("span", { class: "number", "aria-hidden": "true" }, action.number),
    h(
      "div",
      { class: "changes" },
      action.changes.slice(0, MOST_CHANGES).map((one) => changeLine(view, one, options)),
      left > 0 && h("p", { class: "quiet small" }, `and ${counted(left, "more change")}: see the table`),
    ),
    scoreAfter(view, action),
    h("div", { class: "meta" }, chips),
    action.evidence && h("p", { class: "certificate" }, sentence(action.evidence)),
    action.entry && h("p", { class: "certificate loud" }, sentence(action.step)),
  );
}

/**
 * Why a card leads below the floor that is set.
 * @param {Reply.View} view
 */
function belowFloor({ density }) {
  const asked = `${Number((100 * density.floor).toFixed(2))} %`;
  return `Below the floor of ${asked} that is set: see above.`;
}

/**
 * @param {Reply.View} view
 * @param {Reply.Change} change
 * @param {Page.ViewOptions} options
 */
function changeLine(view, change, options) {
  const feature = featureOf(view, change.feature);
  const leave = options.onLeave;
  return h(
    "div",
    { class: "change" },
    h(
      "span",
      { class: "what" },
      h("span", { class: "verb" }, `${verbOf(change)} `),
      h("span", { class: "name", title: change.feature }, called(feature)),
    ),
    h(
      "span",
      { class: "move" },
      h("span", { class: "from" }, "from "),
      h("span", { class: "before" }, change.before_text),
      h("span", { class: "from" }, " to "),
      h("strong", {}, change.after_text),
      change.unit && h("span", { class: "unit" }, change.unit),
    ),
    leave &&
      h(
        "button",
        { type: "button", class: "leave", "data-key": `leave-${change.feature}`, onclick: () => leave(change.feature) },
        "leave alone",
        h("span", { class: "unseen" }, `: ${called(feature)}`),
      ),
  );
}

/**
 * Raise, lower or change.
 * @param {Reply.Change} change
 */
function verbOf({ words }) {
  const [verb] = (words ?? "change").split(" ");
  return capital(verb);
}

/**
 * @param {Reply.View} view
 * @param {Reply.Action} action
 */
function scoreAfter(view, action) {
  const { low = 0, high = 1, wanted = 0 } = view.score;
  const at = (/** @type {number} */ value) => percentage(value, low, high);
  const bar = styled(h("span", { class: "mini", "aria-hidden": "true" }, h("i")), {
    "--now": at(action.score),
    "--wanted": at(wanted),
  });
  return h(
    "div",
    { class: "after" },
    h("span", { class: "label" }, view.score.noun ?? "score"),
    h("span", { class: "value" }, action.score_text),
    bar,
  );
}
