// Asks whether doubtful values of a record are right, before anything is said about the person.
import { called, h, sentence } from "./dom.js";

/**
 * @typedef {object} Choices
 * @property {(feature: string) => void} onCorrect
 * @property {(feature: string, value: Page.Value) => void} onTake takes the suggested value
 * @property {() => void} onConfirm
 */

/** The records whose doubtful values somebody has called right; any other record is asked about. */
export class Confirmed {
  constructor() {
    /** @type {Set<string>} */
    this.records = new Set();
  }

  /**
   * Whether the answer may be shown: nothing is doubtful, or somebody has said that it is right.
   * @param {Reply.View} view
   */
  allows(view) {
    return !view.doubts?.length || this.records.has(JSON.stringify(view.person));
  }

  /** @param {Reply.View} view */
  add(view) {
    this.records.add(JSON.stringify(view.person));
  }
}

/**
 * The question: each doubtful value with what may be done about it, and one button to go on.
 * @param {Reply.View} view
 * @param {Reply.Schema} schema
 * @param {Choices} choices
 */
export function confirmationOf(view, schema, choices) {
  const doubts = view.doubts ?? [];
  const one = doubts.length === 1;
  const title = one ? "Is this value right?" : "Are these values right?";
  return h(
    "div",
    { class: "confirm", role: "group", "aria-labelledby": "confirm-title" },
    h("h2", { id: "confirm-title" }, title),
    h(
      "ul",
      { class: "doubts" },
      doubts.map((doubt) => doubtLine(doubt, schema, choices)),
    ),
    h("p", { class: "quiet small" }, "The decision and what would change it are shown once this is settled."),
    h(
      "button",
      { type: "button", class: "plain", "data-key": "confirm", onclick: choices.onConfirm },
      one ? "It is right, go on" : "They are right, go on",
    ),
  );
}

/**
 * @param {Reply.Doubt} doubt
 * @param {Reply.Schema} schema
 * @param {Choices} choices
 */
function doubtLine(doubt, schema, choices) {
  const described = schema.features.find((one) => one.name === doubt.feature);
  const words = described?.text && h("strong", {}, `${sentence(described.text).slice(0, -1)}: `);
  return h("li", {}, h("p", {}, words, words ? doubt.text : sentence(doubt.text)), correctionOf(doubt, schema, choices));
}

/**
 * The buttons that mend one value: the suggestion, where there is one, and the field itself.
 * @param {{feature: string, suggestion?: Page.Value|null, suggestion_text?: string|null}} doubt
 * @param {Reply.Schema} schema
 * @param {Pick<Choices, "onCorrect"|"onTake">} choices
 */
export function correctionOf({ feature, suggestion, suggestion_text: text }, schema, { onCorrect, onTake }) {
  const described = schema.features.find((one) => one.name === feature);
  const unit = described?.unit ? ` ${described.unit}` : "";
  const known = suggestion !== null && suggestion !== undefined;
  const label = called(described ?? { name: feature });
  const take =
    known &&
    h(
      "button",
      { type: "button", class: "main-button", "data-key": `take-${feature}`, onclick: () => onTake(feature, suggestion) },
      `Make it ${text ?? suggestion}${unit}`,
      h("span", { class: "unseen" }, `: ${label}`),
    );
  const correct = h(
    "button",
    {
      type: "button",
      class: known ? "plain" : "main-button",
      "data-key": `correct-${feature}`,
      onclick: () => onCorrect(feature),
    },
    "Correct it",
    h("span", { class: "unseen" }, `: ${label}`),
  );
  return h("div", { class: "row" }, take, correct);
}

/**
 * The question in a breath, for screen readers.
 * @param {Reply.View} view
 */
export function spokenQuestion(view) {
  return (view.doubts ?? []).map((one) => sentence(one.text)).join(" ");
}
