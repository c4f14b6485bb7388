// Sliders over a feature's range: one thumb for a wish, two for what is allowed; plain range inputs underneath.
import { h, styled } from "./dom.js";

/** The places a feature's slider has: from where to where, by what step, and how they read. */
export function trackOf(feature, own) {
  if (feature.categories) {
    const read = (place) => feature.categories[place];
    const place = (value) => feature.categories.indexOf(value);
    const show = (place_) => String(feature.labels?.[place_] ?? feature.categories[place_]);
    return { min: 0, max: feature.categories.length - 1, step: 1, read, place, show, own: place(own) };
  }
  const step = feature.resolution ?? stepFor(feature.high - feature.low);
  const [least, most] = feature.bounds ?? [null, null];
  let [min, max] = [Math.min(feature.low, own), Math.max(feature.high, own)];
  if (Number.isFinite(feature.within))
    [min, max] = [Math.max(min, own - feature.within), Math.min(max, own + feature.within)];
  if (feature.moves === "up") min = own;
  if (feature.moves === "down") max = own;
  min = Math.max(min, Math.min(least ?? min, own));
  max = Math.min(max, Math.max(most ?? max, own));
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));
  const round = (value) => Number(value.toFixed(digits));
  [min, max] = [round(Math.floor(min / step + 1e-9) * step), round(Math.ceil(max / step - 1e-9) * step)];
  return { min, max, step, read: round, place: (value) => value, show: (value) => String(round(Number(value))), own };
}

function stepFor(span) {
  return span > 0 ? 10 ** Math.floor(Math.log10(span / 100)) : 1;
}

/** Where a place lies on the track, from 0 to 1. */
function share(track, place) {
  return Math.max(0, Math.min(1, (place - track.min) / (track.max - track.min || 1)));
}

/**
 * A slider with two thumbs. At either end a thumb leaves that side open.
 * @param {{track: any, label: string, unit?: string, reference?: any, bounds: [any, any],
 *   onInput: (bounds: [any, any]|undefined) => void}} given
 */
export function rangeSlider({ track, label, unit, reference, bounds, onInput }) {
  const thumb = (side, value) =>
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
  const say = () => {
    for (const one of [low, high])
      one.setAttribute("aria-valuetext", `${track.show(Number(one.value))}${unit ? ` ${unit}` : ""}`);
    styled(node, { "--from": share(track, Number(low.value)), "--to": share(track, Number(high.value)) });
    low.classList.toggle("above", Number(low.value) > (track.min + track.max) / 2);
  };
  const read = () => {
    const open = [Number(low.value) <= track.min, Number(high.value) >= track.max];
    const ends = [low, high].map((one, i) => (open[i] ? null : track.read(Number(one.value))));
    return ends[0] === null && ends[1] === null ? undefined : ends;
  };
  const moved = (event) => {
    if (Number(low.value) > Number(high.value))
      (event.target === low ? low : high).value = (event.target === low ? high : low).value;
    say();
    onInput(read());
  };
  for (const one of [low, high]) one.addEventListener("input", moved);
  const set = (given) => {
    const [from, to] = given ?? [null, null];
    low.value = String(from === null ? track.min : track.place(from));
    high.value = String(to === null ? track.max : track.place(to));
    say();
  };
  set(bounds);
  return { node, set, disable: (off) => [low, high].forEach((one) => (one.disabled = off)) };
}

/**
 * A slider with one thumb, for a wish.
 * @param {{track: any, label: string, unit?: string, reference?: any, value: any, onInput: (value: any) => void}} given
 */
export function wishSlider({ track, label, unit, reference, value, onInput }) {
  const input = h("input", { type: "range", min: track.min, max: track.max, step: track.step, "aria-label": label });
  const node = h("div", { class: "range one" }, backdrop(track, reference), h("i", { class: "fill" }), input);
  const say = () => {
    input.setAttribute("aria-valuetext", `${track.show(Number(input.value))}${unit ? ` ${unit}` : ""}`);
    const [from, to] = [Number(input.value), track.own].sort((a, b) => a - b);
    styled(node, { "--from": share(track, from), "--to": share(track, to) });
  };
  input.addEventListener("input", () => {
    say();
    onInput(track.read(Number(input.value)));
  });
  const set = (given) => {
    input.value = String(track.place(given));
    say();
  };
  set(value);
  return { node, set, input };
}

/** The track itself, the reference range on it, and where the person stands now. */
function backdrop(track, reference) {
  const [low, high] = reference ?? [null, null];
  const band = reference && h("i", { class: "reference" });
  if (band)
    styled(band, {
      "--from": low === null ? 0 : share(track, track.place(low)),
      "--to": high === null ? 1 : share(track, track.place(high)),
    });
  const now = styled(h("i", { class: "own" }), { "--at": share(track, track.own) });
  return [h("i", { class: "track" }), band, now];
}
