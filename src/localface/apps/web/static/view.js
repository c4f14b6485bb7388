// Draws an answer to read: cautions, decision, notices, action cards, table, figure. The page and the notebook share it.
import { card, FIRM_LATER, percentage } from "./cards.js";
import { callRows, capital, counted, h, present, inRowWords, sentence, styled } from "./dom.js";
import { wayFigure } from "./figure.js";
import { help } from "./help.js";
import { stepTable } from "./table.js";

/**
 * Draw the whole view into an element, in place of what was there.
 * @param {Reply.View} view
 * @param {HTMLElement} element
 * @param {Page.ViewOptions} [options]
 */
export function render(view, element, options = {}) {
  callRows(view.each_row);
  const place = h("div", { class: "localface" });
  element.replaceChildren(place);
  place.append(...cautionsOf(view), decisionOf(view), ...answerOf(view, options));
  drawFigures(view, place, options);
}

/**
 * What may be mistaken in the record or weak in the answer; it stands before everything else.
 * @param {Reply.View} view
 */
export function cautionsOf(view) {
  const lines = view.cautions ?? []; // answers from earlier days have none
  return lines.map((one) => h("p", { class: "notice", role: "note" }, h("strong", {}, "Caution: "), sentence(one)));
}

/**
 * The decision: the score beside what is wanted, and how usual the person is.
 * @param {Reply.View} view
 * @param {Page.ViewOptions} [options]
 */
export function decisionOf(view, options = {}) {
  const { score, density } = view;
  const { half } = options;
  const found = view.status === "FOUND" && !half;
  const state = view.status === "ALREADY_THERE" ? "reached" : found || half ? "can" : "cannot";
  const numbers = [h("span", { class: "figure now" }, score.now_text)];
  if (found || half)
    numbers.push(
      h("span", { class: "to", "aria-hidden": "true" }, "→"),
      h("span", { class: "unseen" }, " then "),
      h("span", { class: "figure end" }, half ? "…" : score.end_text),
    );
  return h(
    "div",
    { class: `decision is-${state}` },
    h(
      "div",
      { class: "verdict" },
      h("span", { class: "wanted-text" }, `${capital(score.wanted_text)}:`),
      h("span", { class: "badge" }, half ? "Working it out" : capital(verdictOf(view))),
    ),
    h("div", { class: "numbers" }, h("span", { class: "label" }, capital(score.noun ?? "score"), help("score")), numbers),
    gauge(score, found),
    h(
      "div",
      { class: "usual" },
      h("span", { class: "label" }, "How usual", help("usual")),
      usualBar(density),
      h("span", { class: "words" }, sentence(density.text)),
    ),
    firmness(view, options),
  );
}

/**
 * Whether what is wanted is so today, in a word or two.
 * @param {Reply.View} view
 */
export function verdictOf({ status }) {
  if (status === "ALREADY_THERE") return "yes";
  return status === "FOUND" ? "not yet" : "no";
}

/**
 * How firmly the plan stands, where that is known or will be.
 * @param {Reply.View} view
 * @param {Page.ViewOptions} options
 */
function firmness({ firmness: words, status, actions }, { firmnessComes, half }) {
  const comes = half || (firmnessComes && status === "FOUND" && actions.length > 0);
  if (!words && !comes) return null;
  return h(
    "div",
    { class: "firm" },
    h("span", { class: "label" }, "How firm", help("robustness")),
    h("span", { class: "firm-words" }, sentence(words ?? FIRM_LATER)),
  );
}

/**
 * Say how firm the plan is where its place was kept, and touch nothing else.
 * @param {Reply.View} view
 * @param {HTMLElement} decision
 * @param {HTMLElement} answer
 */
export function tellFirmness(view, decision, answer) {
  const whole = decision.querySelector(".firm-words");
  if (whole && view.firmness) whole.textContent = sentence(view.firmness);
  const places = answer.querySelectorAll(".card .firm-action");
  places.forEach((one, i) => (one.textContent = sentence(view.actions[i]?.firm ?? "")));
}

/**
 * @param {Reply.Score} score
 * @param {boolean} found
 */
function gauge(score, found) {
  const low = score.low ?? 0;
  const high = score.high ?? 1;
  const at = (/** @type {number} */ value) => percentage(value, low, high);
  const said = `score ${score.now_text}, ${score.wanted_text}${found ? `, after the way ${score.end_text}` : ""}`;
  const bar = h(
    "div",
    { class: "gauge", role: "img", "aria-label": said },
    h("i", { class: "fill" }),
    found && h("i", { class: "gain" }),
    h("i", { class: "tick" }),
  );
  return styled(bar, { "--now": at(score.now), "--end": at(score.end), "--wanted": at(score.wanted ?? 0) });
}

/**
 * @param {Reply.Density} density
 */
function usualBar(density) {
  const bar = h("span", { class: "rank", "aria-hidden": "true" }, h("i"));
  return styled(bar, { "--share": `${100 * density.now}%` });
}

/**
 * Everything below the decision, in reading order: notices, headline, cards, table, and a place for the figure.
 * @param {Reply.View} view
 * @param {Page.ViewOptions} [options]
 */
export function answerOf(view, options = {}) {
  /** @type {HTMLElement[]} */
  const parts = [
    ...view.notices.map((one) => h("p", { class: "notice", role: "note" }, sentence(one))),
    headline(view),
  ];
  const { kept_text: kept } = view.density;
  if (kept && view.actions.length) parts.push(h("p", { class: "floor-kept", role: "note" }, `Floor: ${kept}.`, help("floor")));
  if (view.actions.length)
    parts.push(
      h(
        "ol",
        { class: "cards" },
        view.actions.map((one) => card(view, one, options)),
      ),
    );
  if (view.states.length > 1) parts.push(h("div", { class: "steps" }));
  parts.push(closing(view));
  return parts;
}

/** @type {WeakMap<HTMLElement, ResizeObserver>} what redraws each figure when its width changes */
const watchers = new WeakMap();

/**
 * Draw table and figure, once the element has a width; again whenever it changes.
 * @param {Reply.View} view
 * @param {HTMLElement} element
 * @param {Page.ViewOptions} [options]
 */
export function drawFigures(view, element, options = {}) {
  const place = element.querySelector(".steps");
  if (!(place instanceof HTMLElement)) return;
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(place.clientWidth || 640);
    if (Math.abs(width - drawn) < 4) return;
    drawn = width;
    place.replaceChildren(...stepsOf(view, width, options, () => ((drawn = 0), draw())));
  };
  draw();
  watchers.get(place)?.disconnect();
  const watcher = new ResizeObserver(() => (place.isConnected ? draw() : watcher.disconnect()));
  watchers.set(place, watcher);
  watcher.observe(place);
}

/**
 * @param {Reply.View} view
 * @param {number} width
 * @param {Page.ViewOptions} options
 * @param {() => void} redraw
 */
function stepsOf(view, width, options, redraw) {
  const both = view.actions.length > 0 && view.path.length > 1;
  const along = both && options.along === "path" ? "path" : "actions";
  const states = along === "path" ? view.path : view.states;
  const choose = (/** @type {Page.Along} */ value) => {
    options.along = value;
    options.onAlong?.(value);
    redraw();
  };
  const titled = h("div", { class: "bar" }, h("h3", {}, "Step by step"), both && alongChoice(along, choose));
  const moved = movedAlong(view, along);
  const hint = along === "path" && h("p", { class: "quiet small" }, pathHint(view, moved), help("path"));
  return present([titled, hint, stepTable(view, states, along, moved), wayFigure(view, states, width, moved)]);
}

/**
 * Every feature that a state has otherwise than the person now.
 * @param {Reply.View} view
 * @param {Page.Along} along
 */
function movedAlong(view, along) {
  return along === "path" ? (view.path_moved ?? view.moved) : view.moved;
}

/**
 * What the columns of the path are, and what its scores belong to.
 * @param {Reply.View} view
 * @param {string[]} moved
 */
function pathHint(view, moved) {
  const kind = inRowWords(
    view.composed
      ? "Each column is this person with values that comparable people have; no row has all those of the last."
      : "Each column is a real person of the data, or a state between two.",
  );
  return `${kind} All ${counted(moved.length, "feature")} that differ are shown, and the scores belong to all of them.`;
}

/**
 * @param {Page.Along} along
 * @param {(along: Page.Along) => void} choose
 */
function alongChoice(along, choose) {
  const option = (/** @type {Page.Along} */ value, /** @type {string} */ words) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(along === value),
        "data-key": `along-${value}`,
        onclick: () => choose(value),
      },
      words,
    );
  return h(
    "div",
    { class: "choice", role: "group", "aria-label": "Show" },
    option("actions", "Actions"),
    option("path", inRowWords("Path through people")),
  );
}

/**
 * @param {Reply.View} view
 */
function headline(view) {
  /** @type {Partial<Record<Reply.View["status"], string>>} */
  const titles = { FOUND: found(view), ALREADY_THERE: "Nothing needs to change" };
  const words = titles[view.status] ?? "No plan reaches it as asked";
  const why = view.status === "FOUND" ? view.reason : [view.sentence, view.reason].filter(Boolean).join(": ");
  return h("div", { class: "headline" }, h("h2", {}, words), why && h("p", { class: "why" }, sentence(why)));
}

/**
 * @param {Reply.View} view
 */
function found(view) {
  const n = view.actions.length;
  if (!n) return `A path of ${counted(view.states.length - 1, "step")} reaches it`;
  return `${counted(n, "action")} would change the decision`;
}

/**
 * The answer in a breath, for screen readers.
 * @param {Reply.View} view
 */
export function spoken(view) {
  const first = (view.cautions ?? []).map((one) => `Caution: ${sentence(one)} `).join("");
  if (view.status !== "FOUND") return first + [view.sentence, view.reason].filter(Boolean).join(": ");
  const steps = counted(view.actions.length || view.states.length - 1, "action");
  return `${first}${steps}, score ${view.score.now_text} to ${view.score.end_text}. ${view.notices.join(". ")}`;
}

/**
 * What holds for the answer as a whole, and what was disclosed.
 * @param {Reply.View} view
 */
function closing(view) {
  const facts = view.facts ?? view.closing.map((text) => ({ term: "", text })); // earlier answers have none
  return h(
    "div",
    { class: "closing" },
    facts.map((one) => h("p", {}, sentence(one.text), help(one.term))),
  );
}
