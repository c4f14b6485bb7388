// "What if?": values of one's own by slider, the score at once, and what stands in their way.
import { called, counted, h, isOwn, present, sentence, styled } from "./dom.js";
import { valueOf } from "./reading.js";
import { trackOf, wishSelect, wishSlider } from "./slider.js";

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, onWish: (wish: Page.Values) => void}} given
 */
export function whyNotPane(place, { schema, onWish }) {
  const verdict = h("div", { class: "check", role: "status" });
  const strip = h("div", { class: "what-if" });
  const find = h("input", {
    type: "search",
    id: "wish-search",
    placeholder: "name of a feature",
    autocomplete: "off",
    spellcheck: "false",
  });
  const reset = h("button", { type: "button", class: "plain", onclick: () => give({}) }, "Clear");
  const list = h("ul", { class: "wishes" });
  place.replaceChildren(
    h("div", { class: "bar" }, h("h2", {}, "What if?"), reset),
    h(
      "p",
      { class: "quiet" },
      "Move values to where you wish they were: the score is said at once, then whether a way leads there.",
    ),
    strip,
    verdict,
    h("div", { class: "field" }, h("label", { htmlFor: find.id }, "Find a feature"), find),
    list,
  );
  /** @type {Page.Values} */
  let wish = {};
  /** @type {ReturnType<typeof wishRow>[]} */
  let rows = [];
  /** @type {string|null} */
  let whose = null;
  const idle = () => {
    strip.replaceChildren();
    verdict.replaceChildren(h("p", { class: "quiet" }, "Nothing is changed yet."));
  };
  const give = (/** @type {Page.Values} */ next) => {
    wish = next;
    for (const row of rows) row.sync(wish);
    onWish(wish);
  };
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of rows) row.node.hidden = wanted !== "" && !row.words.includes(wanted);
  });
  return {
    /**
     * Build the sliders for a person, with what is wished for them.
     * @param {Page.Values|null} person
     * @param {Page.Values} start
     */
    sync(person, start) {
      if (!person || JSON.stringify(person) === whose) return;
      wish = start;
      whose = JSON.stringify(person);
      rows = schema.features.flatMap((one) => {
        const own = isOwn(one) ? null : valueOf(one, person);
        return own === null ? [] : [wishRow(one, own, (value) => give(wished(wish, one.name, value, own)))];
      });
      list.replaceChildren(...rows.map((one) => one.node));
      for (const row of rows) row.sync(wish);
      if (!Object.keys(wish).length) idle();
    },
    idle,
    /**
     * The score with the values as they are wished, before anything else is known of them.
     * @param {Reply.ScoreLine} line
     * @param {Reply.View} view
     */
    score: (line, view) => strip.replaceChildren(...stripOf(line, view)),
    /** Nothing of the person before stays. */
    forget() {
      whose = null;
      wish = {};
      rows = [];
      list.replaceChildren();
      idle();
    },
    /** @param {Reply.Check} found */
    show: (found) => verdict.replaceChildren(...told(found)),
    /** @param {string} message */
    refuse: (message) => verdict.replaceChildren(h("p", { class: "verdict-line no" }, message)),
    /** @param {boolean} busy */
    busy: (busy) => verdict.classList.toggle("updating", busy),
  };
}

/**
 * @param {Page.Values} wish
 * @param {string} name
 * @param {Page.Value} value
 * @param {Page.Value} own
 */
function wished(wish, name, value, own) {
  const next = { ...wish, [name]: value };
  if (value === own) delete next[name];
  return next;
}

/**
 * @param {Reply.Feature} feature
 * @param {Page.Value} own
 * @param {(value: Page.Value) => void} give
 */
function wishRow(feature, own, give) {
  const track = trackOf({ ...feature, within: null, moves: "freely" }, own);
  const label = called(feature);
  const value = h("span", { class: "wish-value" });
  const make = feature.categories ? wishSelect : wishSlider;
  const slider = make({
    track,
    label: `Wished ${label}`,
    unit: feature.unit,
    reference: feature.reference,
    value: own,
    onInput: give,
  });
  const head = h("div", { class: "limit-head" }, h("span", { class: "name", title: feature.name }, label), value);
  const node = h("li", { class: "limit", "data-feature": feature.name }, head, slider.node);
  const sync = (/** @type {Page.Values} */ wish) => {
    const wanted = wish[feature.name] ?? null;
    const moved = wanted !== null;
    if (!moved) slider.set(own);
    else if (track.position(wanted) !== Number(slider.input.value)) slider.set(wanted);
    const unit = feature.unit ? ` ${feature.unit}` : "";
    const from = track.show(track.own);
    const to = moved ? ` → ${track.show(track.position(wanted))}` : "";
    value.textContent = `${from}${to}${unit}`;
    node.classList.toggle("moves", moved);
  };
  return { node, words: `${feature.name} ${label}`.toLowerCase(), sync };
}

/**
 * The score now, the score as wished, and the mark.
 * @param {Reply.ScoreLine} line
 * @param {Reply.View} view
 */
function stripOf(line, { score }) {
  const { low = 0, high = 1 } = score;
  const at = (/** @type {number} */ value) => `${Math.max(0, Math.min(100, (100 * (value - low)) / (high - low || 1)))}%`;
  const bar = h("div", { class: "gauge", "aria-hidden": "true" }, h("i", { class: "fill" }), h("i", { class: "gain" }), h("i", { class: "tick" }));
  styled(bar, { "--now": at(score.now), "--end": at(line.score), "--wanted": at(score.wanted ?? 0) });
  const verdict = line.reached ? "Yes" : "Not yet";
  return [
    h(
      "div",
      { class: "numbers" },
      h("span", { class: "label" }, "Score"),
      h("span", { class: "figure now" }, score.now_text),
      h("span", { class: "to" }, "→"),
      h("span", { class: "figure end" }, line.score_text),
      h("span", { class: line.reached ? "badge good" : "badge" }, verdict),
    ),
    bar,
  ];
}

/**
 * @param {Reply.Check} found
 */
function told(found) {
  const refused = found.refused_by ? found.refused_by.length > 0 : !found.reachable;
  const onlyScore = found.refused_by?.length === 1 && found.refused_by[0] === "score"; // nothing else stands against it
  const badge = h("span", { class: "badge" }, refused ? (onlyScore ? "Not enough" : "Refused") : "This is reachable");
  const facts = found.density_text ? ` Such a record is ${found.density_text}.` : ` ${found.sentence}`;
  const steps = found.view?.actions?.length || (found.view?.path?.length ?? 1) - 1;
  return present([
    h("p", { class: refused ? "verdict-line no" : "verdict-line yes" }, badge, facts),
    found.findings.length > 0 &&
      h(
        "ul",
        { class: "findings" },
        found.findings.map((one) => h("li", {}, sentence(one.text))),
      ),
    found.least &&
      !onlyScore &&
      h(
        "p",
        { class: "least" },
        h("strong", {}, "The least that would open it: "),
        found.least.replace(/^it opens if /, ""),
      ),
    !refused &&
      steps > 0 &&
      h("p", { class: "quiet" }, `${counted(steps, "step")} lead${steps === 1 ? "s" : ""} there.`),
  ]);
}
