// Entering one record by hand, or pasting it; every field says what is wrong while one types.
import { called, counted, h, inRowWords } from "./dom.js";
import { fieldOf } from "./entryfield.js";
import { brokenRelation, readPasted, readSeveral, recordFrom, strangers, unusual } from "./reading.js";

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
    inRowWords("Average person"),
  );
  const groups = groupsOf([...fields.values()]);
  const rows = h("div", { class: "entry-fields" }, groups.map((one) => one.node));
  const file = h("input", { type: "file", id: "people-file", accept: ".csv,.tsv,.txt,.json,text/csv,application/json", class: "unseen" });
  const upload = h("button", { type: "button", class: "plain", id: "open-people", onclick: () => file.click() }, "Open a CSV file");
  file.addEventListener("change", async () => {
    const text = await file.files?.[0]?.text();
    file.value = "";
    if (text !== undefined) take(text);
  });
  const whose = h("p", { class: "small quiet", id: "entry-whose", hidden: true });
  place.replaceChildren(
    whose,
    h("div", { class: "field" }, h("label", { htmlFor: "paste" }, "Paste a record"), paste, note),
    h("div", { class: "row" }, upload, h("label", { htmlFor: file.id, class: "unseen" }, "A file with people"), file, middle, blank),
    summary,
    rows,
  );

  /** @param {{tell?: boolean, pasted?: boolean}} [options] */
  const check = ({ tell = true, pasted = false } = {}) => {
    const found = checked(schema, fields);
    const whole = !found.missing && !found.problems;
    const words = found.missing
      ? `${found.missing} of ${fields.size} values still to enter`
      : found.problems
        ? "Mend the values marked below"
        : "Complete";
    summary.textContent = words;
    for (const one of groups) one.tell();
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
      const value = byName.get(name.toLowerCase()) ?? byName.get(called(field.feature).toLowerCase());
      field.set(pasted && value === "" && field.feature.may_be_missing ? null : value); // an empty cell of a table
    }
    check({ tell, pasted });
  };
  rows.addEventListener("input", () => check());
  let taken = ""; // the table that was read last
  paste.addEventListener("input", () => {
    if (paste.value.trim() && paste.value !== taken) take(paste.value); // the same event may come more than once
  });
  /**
   * Read one record, or several, out of text.
   * @param {string} text
   */
  const take = (text) => {
    taken = "";
    const several = readSeveral(text);
    if (several) {
      taken = text;
      const read = several.map((one) => recordFrom(one, schema));
      const whole = read.flatMap((one) => (one.record ? [one.record] : []));
      const broken = read.flatMap((one, i) => (one.record ? [] : [`row ${i + 1}: ${one.problem}`]));
      note.textContent = [`${whole.length} of ${read.length} rows read.`, ...broken.slice(0, 3)].join(" ");
      fill({});
      if (whole.length) onSeveral(whole);
      else onUnfinished(`What was pasted holds no whole record: ${broken[0]}.`, { pasted: true });
      return;
    }
    const { values, problem } = readPasted(text);
    const unknown = strangers(values, schema.features);
    const read = Object.keys(values).length - unknown.length;
    const told = [
      problem,
      read > 0 && `${read} of ${fields.size} values read.`,
      unknown.length && `Not known here: ${unknown.slice(0, 5).join(", ")}${unknown.length > 5 ? " …" : ""}.`,
    ];
    note.textContent = told.filter(Boolean).join(" ");
    fill(read > 0 ? values : {}, { tell: true, pasted: true });
  };
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
 * The fields under the headings of their groups, in the order of the features; one group needs no heading.
 * @param {ReturnType<typeof fieldOf>[]} fields
 */
function groupsOf(fields) {
  const names = [...new Set(fields.map((one) => one.feature.group))];
  return names.map((name) => {
    const some = fields.filter((one) => one.feature.group === name);
    const left = h("span", { class: "quiet left" });
    const legend = names.length > 1 ? h("legend", {}, name, left) : h("legend", { class: "unseen" }, "Values");
    return {
      node: h("fieldset", {}, legend, some.map((one) => one.node)),
      tell() {
        const empty = some.filter((one) => one.empty()).length;
        left.textContent = empty ? `${counted(empty, "value")} still to enter` : "";
      },
    };
  });
}

/**
 * @param {Reply.Schema} schema
 */
function middleOf(schema) {
  return Object.fromEntries(schema.features.map((one) => [one.name, one.middle]));
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
