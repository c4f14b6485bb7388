// Sliders over a feature's range: one thumb for a wish, two for what is allowed; plain range inputs underneath.
import { h, styled } from "./dom.js";
import { numberField } from "./number.js";

/**
 * The positions a feature's slider has: from where to where, by what step, and how they read.
 * @param {Reply.Feature} feature
 * @param {Page.Value} own the person's own value
 * @returns {Page.Track}
 */
export function trackOf(feature, own) {
  return feature.categories
    ? categoryTrack(feature.categories, feature.labels, own)
    : numberTrack(feature, Number(own));
}

/**
 * @param {Page.Value[]} categories
 * @param {string[]|null} labels
 * @param {Page.Value} own
 * @returns {Page.Track}
 */
function categoryTrack(categories, labels, own) {
  return {
    min: 0,
    max: categories.length - 1,
    step: 1,
    own: categories.indexOf(own),
    read: (position) => categories[position],
    position: (value) => categories.indexOf(value),
    show: (position) => String(labels?.[position] ?? categories[position]),
  };
}

/**
 * @param {Reply.Feature} feature
 * @param {number} own
 * @returns {Page.Track}
 */
function numberTrack(feature, own) {
  const low = feature.low ?? own;
  const high = feature.high ?? own;
  const step = feature.resolution ?? stepFor(high - low);
  const [least, most] = feature.bounds ?? [null, null];
  let min = Math.min(low, own);
  let max = Math.max(high, own);
  if (feature.within !== null) {
    min = Math.max(min, own - feature.within);
    max = Math.min(max, own + feature.within);
  }
  if (feature.moves === "up") min = own;
  if (feature.moves === "down") max = own;
  min = Math.max(min, Math.min(least ?? min, own));
  max = Math.min(max, Math.max(most ?? max, own));
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));
  const round = (/** @type {number} */ value) => Number(value.toFixed(digits));
  return {
    min: round(Math.floor(min / step + 1e-9) * step),
    max: round(Math.ceil(max / step - 1e-9) * step),
    step,
    own,
    read: round,
    position: (value) => Number(value),
    show: (position) => String(round(position)),
  };
}

/**
 * @param {number} span
 */
function stepFor(span) {
  return span > 0 ? 10 ** Math.floor(Math.log10(span / 100)) : 1;
}

/**
 * Where a place lies on the track, from 0 to 1.
 * @param {Page.Track} track
 * @param {number} place
 */
function share(track, place) {
  return Math.max(0, Math.min(1, (place - track.min) / (track.max - track.min || 1)));
}

/**
 * A slider with two thumbs. At either end a thumb leaves that side open.
 * @param {{track: Page.Track, label: string, unit: string|null, reference: Page.Bounds|null, bounds: Page.Bounds,
 *   onInput: (bounds: Page.Bounds|undefined) => void}} given
 */
export function rangeSlider({ track, label, unit, reference, bounds, onInput }) {
  const thumb = (/** @type {"low"|"high"} */ side, /** @type {number} */ value) =>
    h("input", {
      type: "range",
      class: side,
      min: track.min,
      max: track.max,
      step: track.step,
      value,
      "aria-label": `${label}, ${side === "low" ? "at least" : "at most"}`,
    });
  const low = thumb("low", track.min);
  const high = thumb("high", track.max);
  const node = h("div", { class: "range two" }, backdrop(track, reference), h("i", { class: "fill" }), low, high);
  const typedAt = (/** @type {HTMLInputElement} */ thumb, /** @type {string} */ words) =>
    numberField({
      label: `${label}, ${words}, typed`,
      track,
      onValue: (value) => ((thumb.value = String(value)), thumb.dispatchEvent(new Event("input", { bubbles: true }))),
    });
  const fields = [typedAt(low, "at least"), typedAt(high, "at most")];
  const both = h(
    "div",
    { class: "range-and-fields" },
    node,
    h("div", { class: "fields" }, fields[0].node, h("span", { class: "quiet", "aria-hidden": "true" }, "to"), fields[1].node),
  );
  const say = () => {
    for (const one of [low, high])
      one.setAttribute("aria-valuetext", `${track.show(Number(one.value))}${unit ? ` ${unit}` : ""}`);
    styled(node, { "--from": share(track, Number(low.value)), "--to": share(track, Number(high.value)) });
    low.classList.toggle("above", Number(low.value) > (track.min + track.max) / 2);
    [low, high].forEach((one, i) => fields[i].set(track.show(Number(one.value))));
  };
  /** @returns {Page.Bounds|undefined} */
  const read = () => {
    const from = Number(low.value) <= track.min ? null : track.read(Number(low.value));
    const to = Number(high.value) >= track.max ? null : track.read(Number(high.value));
    return from === null && to === null ? undefined : [from, to];
  };
  const moved = (/** @type {Event} */ event) => {
    if (Number(low.value) > Number(high.value))
      (event.target === low ? low : high).value = (event.target === low ? high : low).value;
    say();
    onInput(read());
  };
  for (const one of [low, high]) one.addEventListener("input", moved);
  const set = (/** @type {Page.Bounds|undefined} */ given) => {
    const [from, to] = given ?? [null, null];
    low.value = String(from === null ? track.min : track.position(from));
    high.value = String(to === null ? track.max : track.position(to));
    say();
  };
  set(bounds);
  const disable = (/** @type {boolean} */ off) => {
    for (const one of [low, high]) one.disabled = off;
    for (const one of fields) one.disable(off);
  };
  return { node: both, set, disable };
}

/**
 * A slider with one thumb, for a wish.
 * @param {{track: Page.Track, label: string, unit: string|null, reference: Page.Bounds|null, value: Page.Value,
 *   onInput: (value: Page.Value) => void}} given
 */
export function wishSlider({ track, label, unit, reference, value, onInput }) {
  const input = h("input", { type: "range", min: track.min, max: track.max, step: track.step, "aria-label": label });
  const node = h("div", { class: "range one" }, backdrop(track, reference), h("i", { class: "fill" }), input);
  const typed = numberField({
    label: `${label}, typed`,
    track,
    onValue: (place) => ((input.value = String(place)), input.dispatchEvent(new Event("input", { bubbles: true }))),
  });
  const say = () => {
    input.setAttribute("aria-valuetext", `${track.show(Number(input.value))}${unit ? ` ${unit}` : ""}`);
    typed.set(track.show(Number(input.value)));
    const [from, to] = [Number(input.value), track.own].sort((a, b) => a - b);
    styled(node, { "--from": share(track, from), "--to": share(track, to) });
  };
  input.addEventListener("input", () => {
    say();
    onInput(track.read(Number(input.value)));
  });
  const set = (/** @type {Page.Value} */ given) => {
    input.value = String(track.position(given));
    say();
  };
  set(value);
  return { node: h("div", { class: "range-and-field" }, node, typed.node), set, input };
}

/**
 * A choice among categories, for a wish.
 * @param {{track: Page.Track, label: string, value: Page.Value, onInput: (value: Page.Value) => void}} given
 */
export function wishSelect({ track, label, value, onInput }) {
  const places = Array.from({ length: track.max + 1 }, (_, i) => i);
  const input = h(
    "select",
    { "aria-label": label },
    places.map((i) => h("option", { value: i }, track.show(i))),
  );
  input.addEventListener("change", () => onInput(track.read(Number(input.value))));
  const set = (/** @type {Page.Value} */ given) => (input.value = String(track.position(given)));
  set(value);
  return { node: input, set, input };
}

/**
 * The track itself, the reference range on it, and where the person stands now.
 * @param {Page.Track} track
 * @param {Page.Bounds|null} reference
 */
function backdrop(track, reference) {
  const [low, high] = reference ?? [null, null];
  const band = reference && h("i", { class: "reference" });
  if (band)
    styled(band, {
      "--from": low === null ? 0 : share(track, track.position(low)),
      "--to": high === null ? 1 : share(track, track.position(high)),
    });
  const now = styled(h("i", { class: "own" }), { "--at": share(track, track.own) });
  return [h("i", { class: "track" }), band, now];
}
