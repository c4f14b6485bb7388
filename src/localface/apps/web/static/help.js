// The glossary: a "?" beside a figure opens what it means, in a sentence or two.
import { h, inRowWords } from "./dom.js";

/** @type {Record<string, [string, string]>} the term as it is asked about, and what it means */
const GLOSSARY = {
  score: ["score", "What the model gives this record. The decision changes where the score passes the mark on the bar."],
  usual: [
    "how usual",
    "How common this combination of values is among comparable people in the data: the share of them whose combination is rarer.",
  ],
  floor: [
    "the floor",
    "No step of a plan may lead through combinations of values rarer than this. It keeps plans away from records that nobody has.",
  ],
  comparable: [
    "comparable people",
    "People in the data who are alike in what never changes, such as age and sex. How usual something is, is judged among them.",
  ],
  action: [
    "an action",
    "One change, in the order in which it can be made. After each, the record is still one that people like this person have.",
  ],
  order: ["the order", "Some changes are only possible after others: earlier they would lead through combinations that are too rare."],
  path: [
    "the path",
    "A way through states that people in the data are in, from this person to one who has the wanted decision. It changes everything in which they differ; the actions keep only what is needed.",
  ],
  proof: ["the proof", "All the data was ruled out by bounds, not only what was looked at."],
  effort: [
    "ordinary differences",
    "One ordinary difference is a standard deviation: about how far two people differ in a feature.",
  ],
  disclosure: ["what was looked at", "How many records of other people the search had to see to find this answer."],
  robustness: [
    "how firm",
    "How likely the plan still reaches the target when values turn out slightly differently or the model is fitted anew.",
  ],
  reference: ["reference range", "The range that is thought ordinary. Values outside are marked ▾ (below) or ▴ (above)."],
  missing: ["missing values", "What is not known of this person stays so: no plan counts on it."],
  waiting: ["waiting", "Time passes by itself: it is never an action, but its effect on the score is said."],
  evidence: ["the evidence", "What became of similar people who changed in this way. It is a count, not a promise."],
  "cut short": ["cut short", "The search stopped at its limit of time and shows the best that it has found so far."],
  outcome: [
    "the outcome",
    "Positive and negative are the model's verdict; true and false say whether what became of the person agrees with it.",
  ],
};

let count = 0;

/**
 * A small button that explains a term.
 * @param {string} term of the glossary
 */
export function help(term) {
  const entry = GLOSSARY[term];
  if (!entry) return null;
  const [called, words] = [inRowWords(entry[0]), entry[1]];
  const button = h("button", { type: "button", class: "help", "aria-label": `What does “${called}” mean?` }, "?");
  button.addEventListener("click", () => {
    const open = document.querySelector(".help-text");
    const mine = open?.id === button.getAttribute("aria-controls");
    open?.remove();
    button.removeAttribute("aria-controls");
    if (mine) return;
    const text = h("span", { class: "help-text", role: "note", id: `help-${++count}` }, inRowWords(words));
    button.setAttribute("aria-controls", text.id);
    button.after(text);
    const close = (/** @type {Event} */ event) => {
      if (event instanceof KeyboardEvent ? event.key !== "Escape" : event.target === button) return;
      text.remove();
      button.removeAttribute("aria-controls");
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
  });
  return button;
}
