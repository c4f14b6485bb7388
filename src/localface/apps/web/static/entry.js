// Entering one record by hand, or pasting it; every field says what is wrong while one types.
import { called, h } from "./dom.js";
import { brokenRelation, isUnknown, readPasted, readSeveral, readValue, recordFrom, strangers, unusual } from "./reading.js";

const EXAMPLE = "Paste JSON, a CSV or tab-separated row with its header, or lines of “name: value”";

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, onRecord: (record: Page.Values, how: {pasted: boolean}) => void,
 *   onUnfinished: (words: string, how: {pasted: boolean}) => void, onSeveral: (records: Page.Values[]) => void}} given
 */
export function entryForm(place, { schema, onRecord, onUnfinished, onSeveral }) {
  const paste = h("textarea", {
    id: "paste",
    rows: 3,
    placeholder: EXAMPLE,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": "paste-note",
  });
  const note = h("p", { id: "paste-note", class: "small quiet", role: "status" });
  const fields = new Map(schema.features.map((one) => [one.name, fieldOf(one)]));
  const summary = h("p", { class: "small", role: "status", id: "entry-summary" });
  const blank = h("button", { type: "button", class: "plain", onclick: () => fill({}, { tell: true }) }, "Clear");
  const middle = h(
    "button",
    { type: "button", class: "plain", onclick: () => fill(middleOf(schema), { tell: true, pasted: true }) },
    "Average person",
  );
  const rows = h(
    "div",
    { class: "entry-fields" },
    [...fields.values()].map((one) => one.node),
  );
  const whose = h("p", { class: "small quiet", id: "entry-whose", hidden: true });
  place.replaceChildren(
    whose,
    h("div", { class: "field" }, h("label", { htmlFor: "paste" }, "Paste a record"), paste, note),
    h("div", { class: "row" }, middle, blank),
    summary,
    rows,
  );

  /** @param {{tell?: boolean, pasted?: boolean}} [options] */
  const check = ({ tell = true, pasted = false } = {}) => {
    const found = checked(schema, fields);
    const whole = !found.missing && !found.problems;
    const words = found.missing
      ? `${found.missing} of ${fields.size} values to go`
      : found.problems
        ? "Mend the values marked below"
        : "Complete";
    summary.textContent = words;
    summary.classList.toggle("good", whole);
    if (tell && whole) onRecord(found.record, { pasted });
    else if (tell) {
      const what = pasted ? "What was pasted is not a whole record" : "The record is not whole";
      onUnfinished(`${what}: ${words.toLowerCase()}.`, { pasted });
    }
  };
  /**
   * @param {Page.Values} values
   * @param {{tell?: boolean, pasted?: boolean}} [options]
   */
  const fill = (values, { tell = false, pasted = false } = {}) => {
    const byName = new Map(Object.entries(values).map(([name, value]) => [name.trim().toLowerCase(), value]));
    for (const [name, field] of fields) {
      field.set(byName.get(name.toLowerCase()) ?? byName.get(called(field.feature).toLowerCase()));
    }
    check({ tell, pasted });
  };
  rows.addEventListener("input", () => check());
  let taken = ""; // the table that was read last
  paste.addEventListener("input", () => {
    if (!paste.value.trim()) return;
    const several = readSeveral(paste.value);
    if (several) {
      if (paste.value === taken) return; // the same event may come more than once
      taken = paste.value;
      const read = several.map((one) => recordFrom(one, schema));
      const whole = read.flatMap((one) => (one.record ? [one.record] : []));
      const broken = read.flatMap((one, i) => (one.record ? [] : [`row ${i + 1}: ${one.problem}`]));
      note.textContent = [`${whole.length} of ${read.length} rows read.`, ...broken.slice(0, 3)].join(" ");
      fill({});
      if (whole.length) onSeveral(whole);
      else onUnfinished(`What was pasted holds no whole record: ${broken[0]}.`, { pasted: true });
      return;
    }
    const { values, problem } = readPasted(paste.value);
    const unknown = strangers(values, schema.features);
    const read = Object.keys(values).length - unknown.length;
    const told = [
      problem,
      read > 0 && `${read} of ${fields.size} values read.`,
      unknown.length && `Not known here: ${unknown.slice(0, 5).join(", ")}${unknown.length > 5 ? " …" : ""}.`,
    ];
    note.textContent = told.filter(Boolean).join(" ");
    fill(read > 0 ? values : {}, { tell: true, pasted: true });
  });
  check({ tell: false });
  /** @type {(feature: string, message: string) => void} */
  const refuse = (feature, message) => fields.get(feature)?.refuse(message);
  return {
    fill: (/** @type {Page.Values} */ values) => fill(values, { tell: false }),
    refuse,
    /**
     * Say whose answer stands on the page, where it is not that of the record in the form.
     * @param {string|null} name
     */
    beside(name) {
      const empty = [...fields.values()].every((one) => one.empty());
      whose.hidden = name === null || empty;
      whose.textContent = name === null ? "" : `This form holds a record of its own; on the page stands ${name}.`;
    },
    /** @type {(feature: string) => void} */
    focus: (feature) => fields.get(feature)?.focus(),
  };
}

/**
 * @param {Reply.Schema} schema
 */
function middleOf(schema) {
  return Object.fromEntries(schema.features.map((one) => [one.name, one.middle]));
}

/**
 * One labelled field with its message; empty fields are not scolded, only counted.
 * @param {Reply.Feature} feature
 */
function fieldOf(feature) {
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
        placeholder: feature.may_be_missing ? "? if not known" : "",
        "aria-describedby": message.id,
      });
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
    feature.reference_text && h("span", { class: "reference-note" }, `reference ${feature.reference_text}`),
    message,
  );
  /** @type {(words: string|null, bad: boolean) => void} */
  const say = (words, bad) => {
    message.textContent = words ?? "";
    node.classList.toggle("bad", Boolean(words) && bad);
    if (bad && words) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  /** @param {Page.Value|null|undefined} value */
  const set = (value) => {
    if (feature.may_be_missing && (value === null || (value !== undefined && isUnknown(String(value))))) {
      input.value = "?";
      return;
    }
    const read = value === undefined || value === null ? null : readValue(feature, value);
    input.value = read === null ? "" : String(choices ? (read.value ?? "") : (read.value ?? value));
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
 * @param {Reply.Schema} schema
 * @param {Map<string, ReturnType<typeof fieldOf>>} fields
 */
function checked(schema, fields) {
  /** @type {{record: Page.Values, missing: number, problems: number}} */
  const found = { record: {}, missing: 0, problems: 0 };
  for (const [name, field] of fields) {
    const { value, problem } = field.read();
    if (value !== null || (!problem && !field.empty())) found.record[name] = value;
    if (field.empty()) {
      found.missing += 1;
      field.say(null, false);
    } else {
      found.problems += problem ? 1 : 0;
      field.say(problem ?? unusual(field.feature, value), Boolean(problem));
    }
  }
  const broken = brokenRelation(schema.relations, found.record);
  if (broken) {
    found.problems += 1;
    fields.get(broken.feature)?.refuse(broken.problem);
  }
  return found;
}
