// One feature's limits: its range, its direction, pinned or forbidden, and how hard it is to change.
import { called, h, isOwn } from "./dom.js";
import { rangeSlider, trackOf } from "./slider.js";
import { limited } from "./state.js";

/** @typedef {(change: Page.Limit) => void} EditLimit */

/**
 * @param {Reply.Feature} feature
 * @param {Page.Value} own
 * @param {Page.Change} change
 */
export function limitRow(feature, own, change) {
  const { name } = feature;
  const label = called(feature);
  const words = `${name} ${label}`.toLowerCase();
  const track = trackOf(feature, own);
  const now = h(
    "span",
    { class: "own-value" },
    track.show(track.own),
    feature.unit && h("span", { class: "unit" }, feature.unit),
  );
  const title = h("div", { class: "limit-head" }, h("span", { class: "name", title: name }, label), now);
  if (isOwn(feature)) {
    const why = feature.moves === "grows" ? "Grows by itself: no action changes it" : "Never changes, by the schema";
    const node = h(
      "li",
      { class: "limit fixed", "data-words": words },
      title,
      h("p", { class: "quiet small" }, why),
    );
    return { node, name, sync: () => {} };
  }
  /** @type {EditLimit} */
  const edit = (given) => change((state) => limited(state, name, given));
  const body = bodyOf(feature, track, label, edit);
  const buttons = buttonsOf(feature, label, edit, change);
  const told = h("p", { class: "told small" });
  const node = h(
    "li",
    { class: "limit", "data-words": words, "data-feature": name },
    title,
    h("div", { class: "limit-body" }, body.node, buttons.node),
    told,
  );
  const sync = (/** @type {Page.State} */ state) => {
    const limit = state.limits[name] ?? {};
    const still = Boolean(limit.pinned) || state.forbidden.includes(name);
    body.sync(limit, still);
    buttons.sync(limit, state.forbidden.includes(name) ? "never" : (state.effort[name] ?? ""));
    node.classList.toggle("still", still);
    told.textContent = tellOf(limit, state.forbidden.includes(name), track, feature);
    told.hidden = told.textContent === "";
  };
  return { node, name, sync };
}

/**
 * @param {Reply.Feature} feature
 * @param {Page.Track} track
 * @param {string} label
 * @param {EditLimit} edit
 */
function bodyOf(feature, track, label, edit) {
  if (feature.kind === "binary") {
    const words = (feature.categories ?? []).map((_, i) => track.show(i)).join(" or ");
    return { node: h("span", { class: "quiet small grow" }, words), sync: () => {} };
  }
  if (feature.kind === "categorical") return choicesOf(feature.categories ?? [], track, label, edit);
  const slider = rangeSlider({
    track,
    label,
    unit: feature.unit,
    reference: feature.reference,
    bounds: [null, null],
    onInput: (bounds) => edit({ bounds }),
  });
  return {
    node: slider.node,
    /**
     * @param {Page.Limit} limit
     * @param {boolean} still whether it may not change at all
     */
    sync(limit, still) {
      slider.set(limit.bounds);
      slider.disable(still);
    },
  };
}

/**
 * A tick box for each category that the feature may take.
 * @param {Page.Value[]} categories
 * @param {Page.Track} track
 * @param {string} label
 * @param {EditLimit} edit
 */
function choicesOf(categories, track, label, edit) {
  const boxes = categories.map(() => h("input", { type: "checkbox", checked: true }));
  const read = () => categories.filter((_, i) => boxes[i].checked);
  for (const one of boxes) {
    one.addEventListener("change", () => {
      if (!read().length) one.checked = true;
      edit({ categories: read().length === boxes.length ? undefined : read() });
    });
  }
  const node = h(
    "fieldset",
    { class: "boxes" },
    h("legend", { class: "unseen" }, `${label} may become`),
    boxes.map((one, i) => h("label", {}, one, track.show(i))),
  );
  return {
    node,
    /**
     * @param {Page.Limit} limit
     * @param {boolean} still whether it may not change at all
     */
    sync(limit, still) {
      boxes.forEach((one, i) => {
        one.checked = limit.categories?.includes(categories[i]) ?? true;
        one.disabled = still;
      });
    },
  };
}

/**
 * @param {Reply.Feature} feature
 * @param {string} label
 * @param {EditLimit} edit
 * @param {Page.Change} change
 */
function buttonsOf(feature, label, edit, change) {
  const { name } = feature;
  /** @type {(sign: string, words: string, onclick: () => void) => HTMLButtonElement} */
  const toggle = (sign, words, onclick) =>
    h(
      "button",
      {
        type: "button",
        class: "toggle",
        "aria-pressed": "false",
        "aria-label": `${label}: ${words}`,
        title: words,
        onclick,
      },
      sign,
    );
  const pressed = (/** @type {HTMLElement} */ button) => button.getAttribute("aria-pressed") === "true";
  const free = feature.kind !== "categorical" && feature.moves === "freely";
  const arrow = (/** @type {"up"|"down"} */ way, /** @type {string} */ sign, /** @type {string} */ words) => {
    const button = toggle(sign, words, () => edit({ moves: pressed(button) ? undefined : way }));
    return { way, button };
  };
  const arrows = free ? [arrow("up", "↑", "may only rise"), arrow("down", "↓", "may only fall")] : [];
  const pin = toggle("pin", "keep as it is", () => edit({ pinned: !pressed(pin) }));
  const effort = h(
    "select",
    { class: "effort", "aria-label": `${label}: how hard to change` },
    [
      ["", "effort"],
      ["easy", "easy"],
      ["hard", "hard"],
      ["never", "never"],
    ].map(([value, words]) => h("option", { value }, words)),
  );
  effort.addEventListener("change", () => change((state) => withEffort(state, name, effort.value)));
  return {
    node: h(
      "div",
      { class: "toggles" },
      arrows.map((one) => one.button),
      pin,
      effort,
    ),
    /**
     * @param {Page.Limit} limit
     * @param {string} how
     */
    sync(limit, how) {
      for (const { way, button } of arrows) button.setAttribute("aria-pressed", String(limit.moves === way));
      pin.setAttribute("aria-pressed", String(Boolean(limit.pinned)));
      effort.value = how;
      effort.classList.toggle("set", how !== "");
    },
  };
}

/**
 * Say how hard a feature is to change: easy, hard, never, or nothing.
 * @param {Page.State} state
 * @param {string} name
 * @param {string} how
 * @returns {Page.State}
 */
function withEffort(state, name, how) {
  const effort = { ...state.effort };
  delete effort[name];
  if (how === "easy" || how === "hard") effort[name] = how;
  const forbidden = state.forbidden.filter((one) => one !== name);
  return { ...state, effort, forbidden: how === "never" ? [...forbidden, name] : forbidden };
}

/**
 * @param {Page.Limit} limit
 * @param {boolean} forbidden
 * @param {Page.Track} track
 * @param {Reply.Feature} feature
 */
function tellOf(limit, forbidden, track, feature) {
  const declared =
    { up: "Only rises, by the schema", down: "Only falls, by the schema", freely: "", never: "", grows: "" }[
      feature.moves
    ] ?? "";
  if (forbidden) return "Forbidden: no action touches it";
  if (limit.pinned) return "Pinned: stays as it is";
  const unit = feature.unit ? ` ${feature.unit}` : "";
  const end = (/** @type {Page.Value|null} */ one) => (one === null ? null : track.show(track.position(one)));
  const [low, high] = (limit.bounds ?? [null, null]).map(end);
  const range =
    low !== null && high !== null
      ? `${low} to ${high}${unit}`
      : low !== null
        ? `at least ${low}${unit}`
        : high !== null
          ? `at most ${high}${unit}`
          : "";
  const way = limit.moves ? { up: "only up", down: "only down" }[limit.moves] : "";
  const words = [range, way].filter(Boolean).join(", ");
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : declared;
}
