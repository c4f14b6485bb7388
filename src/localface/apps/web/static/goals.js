// The score to reach, and the floor: how unusual a place on the way may be.
import { h, inRowWords } from "./dom.js";
import { help } from "./help.js";

/**
 * @param {Reply.Schema} schema
 * @param {Page.Change} change
 */
export function goalSlider(schema, change) {
  const { target } = schema;
  const low = target.low ?? 0;
  const high = target.high ?? 1;
  const step = target.kind === "probability" ? 0.01 : (high - low) / 100;
  const output = h("output", { class: "value", for: "goal" });
  const input = h("input", { type: "range", id: "goal", min: low, max: high, step });
  input.addEventListener("input", () => change((state) => ({ ...state, minScore: Number(input.value) })));
  const noun = target.kind === "value" ? "Value" : "Score";
  return {
    node: h(
      "div",
      { class: "goal" },
      h(
        "div",
        { class: "bar" },
        h("label", { htmlFor: "goal" }, `${noun} to ${target.at_most ? "come down to" : "reach"}`),
        output,
      ),
      input,
    ),
    /** @param {Page.State} state */
    sync(state) {
      const wanted = state.minScore ?? target.min_score;
      input.value = String(wanted);
      const rounded = Number(wanted.toFixed(4));
      output.textContent = Math.abs(rounded) >= 10000 ? rounded.toLocaleString("en-GB") : String(rounded);
    },
  };
}

/**
 * @param {Reply.Schema} schema
 * @param {Page.Change} change
 */
export function floorSlider(schema, change) {
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
      h("div", { class: "bar" }, h("span", {}, h("label", { htmlFor: "floor" }, "Floor: how usual"), help("floor")), output),
      input,
      note,
    ),
    /**
     * @param {Page.State} state
     * @param {string|null} kept why the answer keeps another floor
     */
    sync(state, kept) {
      const share = state.minDensity ?? schema.min_density;
      input.value = String(share);
      const shown = `${Number((100 * share).toFixed(1))} %`;
      output.textContent = shown;
      note.textContent =
        share > 0
          ? inRowWords(`Every step stays more usual than ${shown} of people`)
          : "No floor: a step may lead through records that nobody has";
      if (kept) note.textContent = `Not kept as set: ${kept}`;
      note.classList.toggle("loud", Boolean(kept));
    },
  };
}
