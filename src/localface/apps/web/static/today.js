// The decision, explained: what speaks for and against today, and the whole record beside comparable people.
import { called, counted, h, inRowWords, styled, svg } from "./dom.js";
import { codeOf, referenceOf, referenceText } from "./figure.js";

const MOST = 3; // features on each side; what the others do is in the whole record
const LEAST = 0.005; // of the axis of scores: less is not worth a line
const WIDE = 132; // of a small distribution, in pixels
const HIGH = 30;

/**
 * @param {Reply.Effects} effects
 * @param {Reply.View} view
 * @param {{open: boolean}} fold whether it is to be seen at once; what somebody chooses is kept there
 */
export function todayOf(effects, view, fold) {
  const span = (view.score.high ?? 1) - (view.score.low ?? 0) || 1;
  const told = effects.features.filter((one) => Math.abs(one.effect) >= LEAST * span);
  const largest = Math.max(...told.map((one) => Math.abs(one.effect)), LEAST * span);
  const side = (/** @type {number} */ sign) =>
    told
      .filter((one) => Math.sign(one.effect) === sign)
      .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
      .slice(0, MOST);
  const people = inRowWords(`about ${effects.n_people.toLocaleString("en-GB")} comparable people`);
  const whole = h(
    "details",
    { open: fold.open },
    h("summary", {}, h("h3", {}, "What speaks for and against, today")),
    h(
      "div",
      { class: "sides" },
      sideOf("Against", side(-1), largest, "against"),
      sideOf("For", side(1), largest, "for"),
    ),
    h(
      "p",
      { class: "quiet small" },
      `Each beside the ordinary value among ${people}. Effects do not add up.`,
    ),
    recordOf(effects, LEAST * span),
  );
  whole.addEventListener("toggle", () => (fold.open = whole.open));
  return whole;
}

/**
 * @param {string} title
 * @param {Reply.Effect[]} some
 * @param {number} largest
 * @param {string} look
 */
function sideOf(title, some, largest, look) {
  const lines = some.map((one) =>
    h(
      "li",
      {},
      h("span", { class: "name", title: one.name }, called(one)),
      h("span", { class: "effect" }, one.effect_text),
      styled(h("span", { class: `effect-bar ${look}`, "aria-hidden": "true" }, h("i")), {
        "--share": `${(100 * Math.abs(one.effect)) / largest}%`,
      }),
      h("span", { class: "quiet small" }, `${withUnit(one, one.value_text)}; ordinary: ${withUnit(one, one.ordinary_text)}`),
    ),
  );
  const nothing = h("p", { class: "quiet small" }, "No single value stands out.");
  return h("div", { class: "side-of" }, h("h4", {}, title), lines.length ? h("ul", {}, lines) : nothing);
}

/**
 * @param {Reply.Effect} one
 * @param {string} text
 */
function withUnit(one, text) {
  return one.unit ? `${text} ${one.unit}` : text;
}

/**
 * Every value of the record with its reference range, and where it lies among comparable people.
 * @param {Reply.Effects} effects
 * @param {number} least effect that is worth a word
 */
function recordOf({ features }, least) {
  const cells = features.map((one) =>
    h(
      "li",
      { class: one.missing ? "value-cell missing" : "value-cell" },
      h("span", { class: "name", title: one.name }, called(one), one.own && h("span", { class: "chip" }, "stays")),
      h("span", { class: "value" }, withUnit(one, one.missing ? one.value_text || "not known" : one.value_text), outsideMark(one)),
      spreadOf(one),
      h("span", { class: "quiet small" }, placeText(one), referenceNote(one)),
      Math.abs(one.effect) >= least && h("span", { class: "quiet small" }, `because of it, score ${one.effect_text}`),
    ),
  );
  return h(
    "details",
    { class: "whole-record" },
    h("summary", {}, `The whole record: ${counted(features.length, "value")} beside ${inRowWords("comparable people")}`),
    h("ul", { class: "value-cells" }, cells),
  );
}

/**
 * @param {Reply.Effect} one
 */
function referenceNote(one) {
  const told = referenceText(one);
  return told ? ` · reference ${told}` : "";
}

/**
 * @param {Reply.Effect} one
 */
function outsideMark(one) {
  if (one.missing || one.value === null) return null;
  const [low, high] = referenceOf(one);
  const code = codeOf(one, one.value);
  const sign = low !== null && code < low ? "▾" : high !== null && code > high ? "▴" : null;
  return sign && [h("span", { class: "out", "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, " outside the reference range")];
}

/**
 * Where somebody stands, in words.
 * @param {Reply.Effect} one
 */
function placeText(one) {
  if (one.missing) return "not known";
  if (one.categories) {
    const share = one.value === null ? 0 : one.bins[codeOf(one, one.value)];
    return `${percent(share ?? 0)} have the same`;
  }
  return one.below === null ? "" : `${percent(one.below)} have less`;
}

/** @param {number} share */
function percent(share) {
  if (share > 0 && share < 0.01) return "less than 1 %";
  if (share < 1 && share > 0.99) return "more than 99 %";
  return `${Math.round(100 * share)} %`;
}

/**
 * A small distribution of comparable people with the person's mark.
 * @param {Reply.Effect} one
 */
function spreadOf(one) {
  const highest = Math.max(...one.bins, 1e-9);
  const each = WIDE / Math.max(1, one.bins.length);
  const own = one.categories && one.value !== null ? codeOf(one, one.value) : -1;
  const bars = one.bins.map((share, i) => {
    const height = share > 0 ? Math.max(1, (share / highest) * (HIGH - 6)) : 0;
    const look = i === own ? "people mine" : "people";
    return svg("rect", { class: look, x: i * each + 0.5, y: HIGH - height, width: Math.max(0.5, each - 1), height });
  });
  const at = markAt(one);
  const mark = at === null ? [] : [svg("line", { class: "me", x1: at, x2: at, y1: 0, y2: HIGH })];
  const said = `${called(one)}: ${placeText(one)}`;
  return svg("svg", { class: "spread", viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: "img", "aria-label": said }, bars, mark);
}

/**
 * Where the person's mark is, in pixels.
 * @param {Reply.Effect} one
 */
function markAt({ categories, value, low, high, missing }) {
  if (missing || categories || low === null || high === null || value === null) return null;
  const share = (Number(value) - low) / (high - low || 1);
  return Math.max(1.5, Math.min(WIDE - 1.5, share * WIDE));
}
