// One field of the form: a number with its unit and range, a choice, or the reason why there is no value.
import { called, h, inRowWords } from "./dom.js";
import { isUnknown, readValue } from "./reading.js";

/**
 * One labelled field with its message; empty fields are not scolded, only counted.
 * @param {Reply.Feature} feature
 */
export function fieldOf(feature) {
  const id = `entry-${feature.name}`;
  const message = h("span", { class: "message", id: `${id}-message` });
  const choices = feature.categories?.map((one, i) =>
    h("option", { value: String(one) }, String(feature.labels?.[i] ?? one)),
  );
  const input = choices
    ? h(
        "select",
        { id, "aria-describedby": message.id },
        h("option", { value: "" }, "–"),
        choices,
        feature.may_be_missing && h("option", { value: "?" }, "not known"),
      )
    : h("input", {
        id,
        type: "text",
        inputmode: feature.may_be_missing ? "text" : "decimal",
        autocomplete: "off",
        "aria-describedby": message.id,
      });
  const reason = input instanceof HTMLInputElement ? reasonChoice(feature, input) : null;
  const note = rangeNote(feature);
  const label = h(
    "label",
    { htmlFor: id },
    called(feature),
    feature.text && feature.text !== feature.name && h("span", { class: "code" }, feature.name),
  );
  const node = h(
    "div",
    { class: "entry-field" },
    label,
    h("span", { class: "input" }, input, feature.unit && h("span", { class: "unit" }, feature.unit)),
    reason && h("span", { class: "reason-choice" }, reason),
    note && h("span", { class: "reference-note" }, note),
    message,
  );
  /** @type {(words: string|null, bad: boolean) => void} */
  const say = (words, bad) => {
    message.textContent = words ?? "";
    node.classList.toggle("bad", Boolean(words) && bad);
    if (bad && words) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  const show = () => reason?.dispatchEvent(new Event("shown"));
  /** @param {Page.Value|null|undefined} value */
  const set = (value) => {
    if (feature.may_be_missing && (value === null || (value !== undefined && isUnknown(String(value))))) {
      input.value = "?";
      show();
      return;
    }
    const read = value === undefined || value === null ? null : readValue(feature, value);
    input.value = read === null ? "" : String(choices ? (read.value ?? "") : (read.value ?? value));
    show();
  };
  return {
    node,
    feature,
    read: () => readValue(feature, input.value),
    empty: () => input.value.trim() === "",
    say,
    set,
    /** @param {string} words */
    refuse: (words) => say(words, true),
    focus: () => (input.focus(), input instanceof HTMLInputElement && input.select()),
  };
}


/**
 * A choice beside a number that may stand for no value: not measured, or a code with its reason.
 * @param {Reply.Feature} feature
 * @param {HTMLInputElement} input
 */
function reasonChoice(feature, input) {
  const reasons = feature.codes.map((one) => ({ value: String(one.value), text: one.text }));
  if (feature.may_be_missing) reasons.unshift({ value: "?", text: "not known" });
  if (!reasons.length) return null;
  const options = [h("option", { value: "" }, "has a value"), ...reasons.map((one) => h("option", { value: one.value }, one.text))];
  const select = h("select", { "aria-label": `${called(feature)}: whether there is a value` }, options);
  const show = () => {
    const chosen = reasons.find((one) => one.value === input.value.trim() || (one.value === "?" && isUnknown(input.value)));
    select.value = chosen?.value ?? "";
    input.classList.toggle("absent", Boolean(chosen));
  };
  select.addEventListener("input", () => {
    input.value = select.value;
    show();
    if (select.value === "") input.focus();
  });
  select.addEventListener("shown", show);
  input.addEventListener("input", show);
  return select;
}

/**
 * The reference range where there is one, else where most people are.
 * @param {Reply.Feature} feature
 */
function rangeNote(feature) {
  if (feature.reference_text) return `reference ${feature.reference_text}`;
  if (feature.categories || feature.low === null || feature.high === null) return null;
  return `${inRowWords("most people")} ${feature.low} to ${feature.high}${feature.unit ? ` ${feature.unit}` : ""}`;
}
