// The table of a way: a row a feature, a column a state, and a mark where a value lies outside its reference range.
import { called, capital, h, inRowWords } from "./dom.js";
import { codeOf, featureOf, plainNumber, referenceOf, referenceText } from "./figure.js";

/**
 * The table that the figure draws: a row a feature, a column a state.
 * @param {Reply.View} view
 * @param {Reply.State[]} states
 * @param {Page.Along} along
 * @param {string[]} moved the features to show
 */
export function stepTable(view, states, along, moved) {
  const caption =
    along === "path" || !view.actions.length
      ? inRowWords("What changes from person to person along the path")
      : "What changes after each action";
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Feature"),
    states.map((_, i) => h("th", { scope: "col", class: "n" }, i === 0 ? "now" : String(i))),
  );
  const wanted = h(
    "span",
    { class: "reference-text" },
    `wanted: at ${view.score.at_most ? "most" : "least"} ${plainNumber(view.score.wanted)}`,
  );
  const scores = h(
    "tr",
    { class: "scores" },
    h("th", { scope: "row" }, capital(view.score.noun ?? "score"), wanted),
    states.map((one) => h("td", { class: "n" }, one.score_text ?? plainNumber(one.score))),
  );
  const rows = moved.map((name) => featureRow(featureOf(view, name), states));
  const table = h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, scores, rows));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

/**
 * @param {Reply.FeatureName} feature
 * @param {Reply.State[]} states
 */
function featureRow(feature, states) {
  const cells = states.map((state, i) => {
    const text = state.text[feature.name];
    const changed = i > 0 && state.record[feature.name] !== states[i - 1].record[feature.name];
    const value = state.record[feature.name];
    const out = value !== null && outside(feature, value);
    const mark = out && [
      h("span", { class: "out", "aria-hidden": "true", title: "outside the reference range" }, out),
      h("span", { class: "unseen" }, " outside the reference range"),
    ];
    return h("td", { class: changed ? "n changed" : "n" }, text, mark);
  });
  const unit = feature.unit && h("span", { class: "unit" }, feature.unit);
  const told = referenceText(feature);
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row" },
      called(feature),
      " ",
      unit,
      told && h("span", { class: "reference-text" }, `reference: ${told}`),
    ),
    cells,
  );
}

/**
 * An arrow where a value lies below or above the reference range.
 * @param {Reply.FeatureName} feature
 * @param {Page.Value} value
 */
function outside(feature, value) {
  const [low, high] = referenceOf(feature);
  const code = codeOf(feature, value);
  if (low !== null && code < low) return "▾";
  return high !== null && code > high ? "▴" : null;
}
