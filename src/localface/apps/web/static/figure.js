// Draws the way: the score above, the features that change most below it, and a slider that reads out each step.
import { called, capital, h, styled, svg } from "./dom.js";

const MOST = 6; // features drawn
const SCORE_HEIGHT = 168;
const PANEL_HEIGHT = 118;
const NARROWEST = 232; // of a panel, in pixels

/**
 * @param {Reply.View} view what the service answered
 * @param {Reply.State[]} states along the actions, or along the path
 * @param {number} width in pixels
 * @param {string[]} moved the features that change, the largest change first
 * @returns {HTMLElement}
 */
export function wayFigure(view, states, width, moved) {
  const features = moved.slice(0, MOST).map((name) => featureOf(view, name));
  const columns = Math.max(1, Math.min(features.length, Math.floor(width / NARROWEST)));
  const gap = 16;
  const each = Math.floor((width - gap * (columns - 1)) / Math.max(1, columns));
  const panels = [scorePanel(view, states, width), ...features.map((one) => featurePanel(one, states, each))];
  const grid = styled(
    h(
      "div",
      { class: "panels" },
      panels.map((one) => one.node),
    ),
    { "--columns": columns },
  );
  const readout = h("output", { class: "readout" });
  const noun = view.score.noun ?? "score";
  const pick = stepSlider(features, states, noun, (place) => {
    for (const panel of panels) panel.point(place);
    readout.textContent = reading(features, states[place], noun);
  });
  for (const panel of panels) panel.node.addEventListener("pointermove", (event) => pick.to(panel.nearest(event)));
  const left = moved.length - features.length;
  const rest = left > 0 ? h("p", { class: "quiet small" }, `${left} more with smaller changes: see the table.`) : null;
  return h("figure", { class: "way" }, grid, h("div", { class: "stepper" }, pick.node, readout), rest);
}

/**
 * @param {Reply.FeatureName[]} features
 * @param {Reply.State[]} states
 * @param {string} noun what is to be reached, in a word
 * @param {(step: number) => void} show
 */
function stepSlider(features, states, noun, show) {
  const last = states.length - 1;
  const input = h("input", { type: "range", min: 0, max: last, step: 1, value: last, "aria-label": "Step of the way" });
  const to = (/** @type {number} */ place) => {
    input.value = String(place);
    show(place);
    const state = states[place];
    const moved = features.map((one) => `${called(one)} ${state.text[one.name]}`);
    input.setAttribute(
      "aria-valuetext",
      [state.label, `${noun} ${state.score_text ?? plainNumber(state.score)}`, ...moved].join(", "),
    );
  };
  input.addEventListener("input", () => to(Number(input.value)));
  to(last);
  return { node: input, to };
}

/**
 * @param {Reply.FeatureName[]} features
 * @param {Reply.State} state
 * @param {string} noun
 */
function reading(features, state, noun) {
  const values = features.map((one) => `${called(one)} ${state.text[one.name]}${one.unit ? ` ${one.unit}` : ""}`);
  const label = state.label.charAt(0).toUpperCase() + state.label.slice(1);
  return [`${label}: ${noun} ${state.score_text ?? plainNumber(state.score)}`, ...values].join(" · ");
}

/**
 * @param {Reply.View} view
 * @param {Reply.State[]} states
 * @param {number} width
 */
function scorePanel(view, states, width) {
  const { low = 0, high = 1, wanted, at_most: atMost } = view.score;
  const ends = [low, high, wanted, ...states.map((one) => one.score)].filter((one) => Number.isFinite(one));
  const longest = Math.max(...ends.map((one) => plainNumber(one).length));
  const area = { left: Math.max(34, 10 + 7 * longest), right: width - 12, top: 30, bottom: SCORE_HEIGHT - 26 };
  const x = scaled(0, Math.max(1, states.length - 1), area.left + 14, area.right - 14);
  const y = scaled(Math.min(...ends), Math.max(...ends), area.bottom, area.top);
  const marks = [0, 0.5, 1].map((share) => y.from + share * (y.to - y.from));
  /** @type {SVGElement[]} */
  const body = marks.flatMap((one) => [
    svg("line", { class: "rule", x1: area.left, x2: area.right, y1: y(one), y2: y(one) }),
    words(area.left - 8, y(one) + 4, plainNumber(one), "quiet", "end"),
  ]);
  if (Number.isFinite(wanted)) {
    body.push(svg("line", { class: "wanted", x1: area.left, x2: area.right, y1: y(wanted), y2: y(wanted) }));
    body.push(
      words(area.right, 14, `wanted: at ${atMost ? "most" : "least"} ${plainNumber(wanted)}`, "mark-text", "end"),
    );
  }
  body.push(words(0, 14, capital(view.score.noun ?? "score"), "title"), drawnLine(states.map((one, i) => [x(i), y(one.score)])));
  states.forEach((one, i) => {
    body.push(svg("circle", { class: "dot", cx: x(i), cy: y(one.score), r: 4 }));
    if (states.length > 9 && i > 0 && i < states.length - 1) return;
    const struck = Number.isFinite(wanted) && Math.abs(y(wanted) - y(one.score) + 13) < 9; // by the line of what is wanted
    const below = struck || y(one.score) < area.top + 16;
    body.push(words(x(i), y(one.score) + (below ? 18 : -9), one.score_text ?? plainNumber(one.score), "", "middle"));
  });
  body.push(...stepNames(states, x, SCORE_HEIGHT - 6));
  const said = states.map((one) => `${one.label}: ${one.score_text ?? plainNumber(one.score)}`).join(", ");
  return panelOf({ width, height: SCORE_HEIGHT, body, x, area, alt: `Score along the way. ${said}.`, wide: true });
}

/**
 * @param {Reply.FeatureName} feature
 * @param {Reply.State[]} states
 * @param {number} width
 */
function featurePanel(feature, states, width) {
  const codes = states.map((one) => codeOf(feature, /** @type {Reply.Value} */ (one.record[feature.name])));
  const area = { left: 6, right: width - 6, top: 50, bottom: PANEL_HEIGHT - 22 };
  const [low, high] = spread(feature, codes);
  const x = scaled(0, Math.max(1, states.length - 1), area.left + 16, area.right - 16);
  const y = scaled(low, high, area.bottom, area.top);
  const body = band(feature, y, area);
  body.push(words(0, 13, called(feature), "title"), words(0, 28, underTitle(feature), "quiet"));
  body.push(svg("line", { class: "rule", x1: area.left, x2: area.right, y1: area.bottom + 4, y2: area.bottom + 4 }));
  /** @type {Page.Point[]} */
  const points = codes.map((code, i) => [x(i), y(code)]);
  body.push(drawnLine(feature.categories ? stairs(points) : points));
  codes.forEach((code, i) => {
    body.push(svg("circle", { class: "dot", cx: points[i][0], cy: points[i][1], r: 3.5 }));
    const told = i === 0 || i === codes.length - 1 || (code !== codes[i - 1] && states.length < 8);
    if (told) body.push(words(points[i][0], points[i][1] - 8, states[i].text[feature.name], "", edge(i, codes.length)));
  });
  body.push(...stepNames(states, x, PANEL_HEIGHT - 3));
  const said = states.map((one) => `${one.label}: ${one.text[feature.name]}`).join(", ");
  return panelOf({ width, height: PANEL_HEIGHT, body, x, area, alt: `${called(feature)}. ${said}.` });
}

/**
 * @param {number} place
 * @param {number} count
 */
function edge(place, count) {
  if (count > 2) return place === 0 ? "start" : place === count - 1 ? "end" : "middle";
  return "middle";
}

/**
 * @param {Reply.FeatureName} feature
 */
function underTitle(feature) {
  const told = referenceText(feature);
  return told ? `reference ${told}` : (feature.unit ?? "");
}

/**
 * The reference range in words, where there is one.
 * @param {Reply.FeatureName} feature
 */
export function referenceText(feature) {
  const [low, high] = feature.reference ?? [null, null];
  if (feature.reference_text) return feature.reference_text;
  const unit = feature.unit ? ` ${feature.unit}` : "";
  if (low !== null && high !== null) return `${low} to ${high}${unit}`;
  if (low === null && high === null) return "";
  return low !== null ? `at least ${low}${unit}` : `at most ${high}${unit}`;
}

/**
 * The values, and the nearest end of the reference range where they lie outside it.
 * @param {Reply.FeatureName} feature
 * @param {number[]} codes
 */
function spread(feature, codes) {
  let [low, high] = [Math.min(...codes), Math.max(...codes)];
  if (feature.categories) return [0, Math.max(1, feature.categories.length - 1)];
  const [from, to] = referenceOf(feature);
  if (from !== null && low < from) high = Math.max(high, from);
  if (to !== null && high > to) low = Math.min(low, to);
  const room = 0.12 * (high - low || 1);
  return [low - room, high + room];
}

/**
 * @param {Reply.FeatureName} feature
 * @param {Page.Scale} y
 * @param {Page.Area} area
 * @returns {SVGElement[]}
 */
function band(feature, y, area) {
  if (!feature.reference) return [];
  const [from, to] = referenceOf(feature);
  const low = Math.max(y.from, from ?? y.from);
  const high = Math.min(y.to, to ?? y.to);
  if (low > high) return [];
  const top = Math.min(y(high), y(low) - 5);
  return [
    svg("rect", { class: "band", x: area.left, y: top, width: area.right - area.left, height: y(low) - top, rx: 2 }),
  ];
}

/**
 * @param {{width: number, height: number, body: SVGElement[], x: Page.Scale, area: Page.Area, alt: string,
 *   wide?: boolean}} given
 * @returns {Page.Panel}
 */
function panelOf({ width, height, body, x, area, alt, wide = false }) {
  const guide = svg("line", { class: "guide", y1: area.top - 6, y2: area.bottom + 4, visibility: "hidden" });
  const node = svg(
    "svg",
    {
      class: wide ? "panel wide" : "panel",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": alt,
    },
    guide,
    body,
  );
  const point = (/** @type {number} */ place) => {
    for (const end of ["x1", "x2"]) guide.setAttribute(end, String(x(place)));
    guide.setAttribute("visibility", "visible");
  };
  const nearest = (/** @type {PointerEvent} */ event) => {
    const box = node.getBoundingClientRect();
    const at = ((event.clientX - box.left) / Math.max(1, box.width)) * width;
    return Math.max(0, Math.min(x.to, Math.round(x.back(at))));
  };
  return { node, point, nearest };
}

/**
 * @param {Reply.State[]} states
 * @param {Page.Scale} x
 * @param {number} y
 */
function stepNames(states, x, y) {
  const every = Math.ceil(states.length / 14);
  return states.flatMap((_, i) => {
    if (i % every && i !== states.length - 1) return [];
    return [words(x(i), y, i === 0 ? "now" : String(i), "quiet", "middle")];
  });
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} start
 * @param {number} end
 * @returns {Page.Scale}
 */
function scaled(from, to, start, end) {
  const span = to - from || 1;
  const scale = (/** @type {number} */ value) => start + ((value - from) / span) * (end - start);
  const back = (/** @type {number} */ pixel) => from + ((pixel - start) / (end - start || 1)) * span;
  return Object.assign(scale, { from, to, back });
}

/**
 * What a view knows of a feature.
 * @param {Reply.View} view
 * @param {string} name
 * @returns {Reply.FeatureName}
 */
export function featureOf(view, name) {
  const unknown = { name, text: "", unit: null, categories: null, labels: null, reference: null, reference_text: null };
  return view.features.find((one) => one.name === name) ?? { ...unknown, kind: "numeric" };
}

/**
 * A value's place on an axis: the number itself, or its place among the categories.
 * @param {Reply.FeatureName} feature
 * @param {Page.Value} value
 */
export function codeOf(feature, value) {
  return feature.categories ? feature.categories.indexOf(value) : Number(value);
}

/**
 * The ends of the reference range on an axis, null where it is open.
 * @param {Reply.FeatureName} feature
 */
export function referenceOf(feature) {
  return (feature.reference ?? [null, null]).map((end) => (end === null ? null : codeOf(feature, end)));
}

/**
 * What has nothing between its values flips in the middle of a step.
 * @param {Page.Point[]} points
 * @returns {Page.Point[]}
 */
function stairs(points) {
  return points.flatMap(([x, y], i) => {
    if (i === 0) return [[x, y]];
    const [before, level] = points[i - 1];
    return [
      [(before + x) / 2, level],
      [(before + x) / 2, y],
      [x, y],
    ];
  });
}

/**
 * @param {Page.Point[]} points
 */
function drawnLine(points) {
  return svg("polyline", {
    class: "line",
    points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "),
  });
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} look
 * @param {string} [anchor]
 */
function words(x, y, text, look, anchor = "start") {
  return svg("text", { x, y, class: look || null, "text-anchor": anchor === "start" ? null : anchor }, text);
}

/**
 * A number without needless digits.
 * @param {number} value
 */
export function plainNumber(value) {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(Math.abs(value) >= 1000 ? 6 : 3));
  return Math.abs(rounded) >= 10000 ? rounded.toLocaleString("en-GB") : String(rounded);
}
