// What this person may change: target, floor, and for every feature its range, its direction, pinned or forbidden.
import { called, h } from "./dom.js";
import { rangeSlider, trackOf } from "./slider.js";
import { limited } from "./state.js";

/**
 * @param {HTMLElement} place
 * @param {{schema: any, change: (edit: (state: any) => any) => void}} given
 */
export function constraintsPanel(place, { schema, change }) {
  const goal = goalSlider(schema, change);
  const floor = floorSlider(schema, change);
  const find = h("input", {
    type: "search",
    id: "feature-search",
    placeholder: "name of a feature",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = h("ul", { class: "limits" });
  const clear = h(
    "button",
    { type: "button", class: "plain", onclick: () => change((state) => ({ ...state, limits: {}, forbidden: [] })) },
    "Lift all limits",
  );
  const head = h(
    "div",
    { class: "bar" },
    h("label", { htmlFor: find.id, class: "over" }, "Limits for each feature"),
    clear,
  );
  place.replaceChildren(goal.node, floor.node, head, find, list);
  find.addEventListener("input", () => filterRows(list, find.value));
  let rows = [];
  let whose = null;
  return {
    /** Build the rows anew for another person, else only bring them up to date. */
    sync(state, person) {
      goal.sync(state);
      floor.sync(state);
      clear.hidden = !Object.keys(state.limits).length && !state.forbidden.length;
      if (person && JSON.stringify(person) !== whose) {
        whose = JSON.stringify(person);
        rows = schema.features.map((one) => limitRow(one, person[one.name], change));
        list.replaceChildren(...rows.map((one) => one.node));
        filterRows(list, find.value);
      }
      for (const row of rows) row.sync(state);
    },
    /** Mark the features that the answer changes. */
    mark(names) {
      for (const row of rows) row.node.classList.toggle("moves", names.includes(row.name));
    },
  };
}

function filterRows(list, text) {
  const wanted = text.trim().toLowerCase();
  for (const row of list.children) row.hidden = wanted !== "" && !row.dataset.words.includes(wanted);
}

function goalSlider(schema, change) {
  const { target } = schema;
  const low = target.low ?? 0;
  const high = target.high ?? 1;
  const step = target.kind === "probability" ? 0.01 : (high - low) / 100;
  const output = h("output", { class: "value", for: "goal" });
  const input = h("input", { type: "range", id: "goal", min: low, max: high, step });
  input.addEventListener("input", () => change((state) => ({ ...state, minScore: Number(input.value) })));
  return {
    node: h(
      "div",
      { class: "goal" },
      h(
        "div",
        { class: "bar" },
        h("label", { htmlFor: "goal" }, target.at_most ? "Score to come down to" : "Score to reach"),
        output,
      ),
      input,
    ),
    sync(state) {
      const wanted = state.minScore ?? target.min_score;
      input.value = String(wanted);
      output.textContent = String(Number(wanted.toFixed(4)));
    },
  };
}

function floorSlider(schema, change) {
  const output = h("output", { class: "value", for: "floor" });
  const input = h("input", {
    type: "range",
    id: "floor",
    min: 0,
    max: 0.5,
    step: 0.005,
    "aria-describedby": "floor-note",
  });
  input.addEventListener("input", () => change((state) => ({ ...state, minDensity: Number(input.value) })));
  const note = h("p", { class: "quiet small", id: "floor-note" });
  return {
    node: h(
      "div",
      { class: "goal" },
      h("div", { class: "bar" }, h("label", { htmlFor: "floor" }, "Floor: how usual each step must be"), output),
      input,
      note,
    ),
    sync(state) {
      const share = state.minDensity ?? schema.min_density;
      input.value = String(share);
      const shown = `${Number((100 * share).toFixed(1))} %`;
      output.textContent = shown;
      note.textContent =
        share > 0
          ? `No place more unusual than where the loneliest ${shown} of people stand`
          : "No floor: a step may cross any ground";
    },
  };
}

function limitRow(feature, own, change) {
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
  if (feature.moves === "never") {
    const node = h(
      "li",
      { class: "limit fixed", "data-words": words },
      title,
      h("p", { class: "quiet small" }, "Never changes, by the schema"),
    );
    return { node, name, sync: () => {} };
  }
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
  const sync = (state) => {
    const limit = state.limits[name] ?? {};
    const still = Boolean(limit.pinned) || state.forbidden.includes(name);
    body.sync(limit, still);
    buttons.sync(limit, state.forbidden.includes(name));
    node.classList.toggle("still", still);
    told.textContent = tellOf(limit, state.forbidden.includes(name), track, feature);
    told.hidden = told.textContent === "";
  };
  return { node, name, sync };
}

function bodyOf(feature, track, label, edit) {
  if (feature.kind === "binary") {
    const words = feature.categories.map((_, i) => track.show(i)).join(" or ");
    return { node: h("span", { class: "quiet small grow" }, words), sync: () => {} };
  }
  if (feature.kind === "categorical") return choicesOf(feature, track, label, edit);
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
    sync(limit, still) {
      slider.set(limit.bounds);
      slider.disable(still);
    },
  };
}

/** A tick box for each category that the feature may take. */
function choicesOf(feature, track, label, edit) {
  const boxes = feature.categories.map((_, i) => h("input", { type: "checkbox", checked: true }));
  const read = () => feature.categories.filter((_, i) => boxes[i].checked);
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
    sync(limit, still) {
      boxes.forEach((one, i) => {
        one.checked = limit.categories?.includes(feature.categories[i]) ?? true;
        one.disabled = still;
      });
    },
  };
}

function buttonsOf(feature, label, edit, change) {
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
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const ways = feature.kind === "categorical" || feature.moves !== "freely" ? [] : ["up", "down"];
  const arrows = ways.map((way) => {
    const button = toggle(way === "up" ? "↑" : "↓", way === "up" ? "may only rise" : "may only fall", () =>
      edit({ moves: pressed(button) ? undefined : way }),
    );
    return [way, button];
  });
  const pin = toggle("pin", "keep as it is", () => edit({ pinned: !pressed(pin) }));
  const forbid = toggle("✕", "forbid: no action may touch it", () =>
    change((state) => ({
      ...state,
      forbidden: pressed(forbid)
        ? state.forbidden.filter((one) => one !== feature.name)
        : [...state.forbidden, feature.name],
    })),
  );
  return {
    node: h(
      "div",
      { class: "toggles" },
      arrows.map(([, button]) => button),
      pin,
      forbid,
    ),
    sync(limit, forbidden) {
      for (const [way, button] of arrows) button.setAttribute("aria-pressed", String(limit.moves === way));
      pin.setAttribute("aria-pressed", String(Boolean(limit.pinned)));
      forbid.setAttribute("aria-pressed", String(forbidden));
    },
  };
}

function tellOf(limit, forbidden, track, feature) {
  const declared = { up: "Only rises, by the schema", down: "Only falls, by the schema" }[feature.moves] ?? "";
  if (forbidden) return "Forbidden: no action touches it";
  if (limit.pinned) return "Pinned: stays as it is";
  const unit = feature.unit ? ` ${feature.unit}` : "";
  const [low, high] = (limit.bounds ?? [null, null]).map((one) => (one === null ? null : track.show(track.place(one))));
  const range =
    low !== null && high !== null
      ? `${low} to ${high}${unit}`
      : low !== null
        ? `at least ${low}${unit}`
        : high !== null
          ? `at most ${high}${unit}`
          : "";
  const way = { up: "only up", down: "only down" }[limit.moves] ?? "";
  const words = [range, way].filter(Boolean).join(", ");
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : declared;
}
