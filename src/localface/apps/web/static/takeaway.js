// Notes, a plan as a file and back, and a letter: no figure in it that is not in the answer.
import { capital, h, sentence } from "./dom.js";
import { saveText } from "./report.js";
import { verdictOf } from "./view.js";

const FORMAT = "localface-plan";
const KEY = "localface-letter";
const NO_LIST = "No short list of changes was found that would change it.";
const TEMPLATE = `{date}

About {name}. {wanted}: {decision}. The {noun} today is {score}.

{cautions}{actions}

{note}`;

/**
 * @param {HTMLElement} place
 * @param {{schema: Reply.Schema, onOpen: (plan: Page.Plan) => void, onSave: () => Page.Plan|null,
 *   say: (words: string) => void}} given
 */
export function takeawayPane(place, { schema, onOpen, onSave, say }) {
  const notes = h("textarea", { id: "notes", rows: 4, placeholder: "What was agreed, by whom, until when" });
  const file = h("input", { type: "file", id: "plan-file", accept: "application/json,.json", class: "unseen" });
  const template = h("textarea", { id: "letter-template", rows: 8, spellcheck: "false" });
  template.value = localStorage.getItem(KEY) ?? TEMPLATE;
  const letter = h("textarea", { id: "letter", rows: 10, readonly: true });
  const opened = h("p", { class: "picked", role: "status", hidden: true });
  /** @type {{view: Reply.View, name: string}|null} */
  let shown = null;
  const write = () => (letter.value = shown ? filled(template.value, shown, schema) : "");
  template.addEventListener("input", () => (localStorage.setItem(KEY, template.value), write()));
  file.addEventListener("change", async () => {
    const text = await file.files?.[0]?.text();
    file.value = "";
    const plan = text === undefined ? null : readPlan(text);
    if (plan) onOpen(plan);
    else if (text !== undefined) say("This file is no plan that was saved here.");
  });
  const save = () => {
    const plan = onSave();
    if (plan) saveText(JSON.stringify({ ...plan, notes: notes.value }, null, 2), `plan-${plan.who}`, "json");
  };
  const copy = () => navigator.clipboard.writeText(letter.value).then(() => say("The letter is in the clipboard."), () => letter.select());
  const button = (/** @type {string} */ words, /** @type {string} */ id, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: "plain", id, onclick }, words);
  place.replaceChildren(
    opened,
    h("div", { class: "field" }, h("label", { htmlFor: "notes" }, "Notes: they are saved with the plan and printed, and go nowhere else"), notes),
    h(
      "div",
      { class: "row" },
      button("Save the plan with its notes", "save-plan", save),
      button("Open a saved plan", "open-plan", () => file.click()),
      h("label", { htmlFor: file.id, class: "unseen" }, "A saved plan"),
      file,
    ),
    h("h2", { class: "spaced" }, "Letter"),
    h("div", { class: "field" }, h("label", { htmlFor: letter.id }, "The letter, from the template below"), letter),
    h("div", { class: "row" }, button("Copy the letter", "copy-letter", copy), button("Template as it was", "reset-letter", () => ((template.value = TEMPLATE), localStorage.removeItem(KEY), write()))),
    h(
      "div",
      { class: "field spaced" },
      h("label", { htmlFor: template.id }, "Template: {date} {name} {decision} {noun} {score} {wanted} {end} {actions} {cautions} {note}"),
      template,
    ),
  );
  return {
    notes: () => notes.value,
    /** @param {string} words */
    setNotes: (words) => (notes.value = words),
    /** @param {string} words about a plan that was opened */
    tell(words) {
      opened.textContent = words;
      opened.hidden = words === "";
    },
    /**
     * @param {Reply.View} view
     * @param {string} name
     */
    show(view, name) {
      shown = { view, name };
      write();
    },
    /** Nothing of the person before stays. */
    forget() {
      shown = null;
      notes.value = "";
      opened.hidden = true;
      opened.textContent = "";
      write();
    },
  };
}

/**
 * The plan that is on the page, for a file.
 * @param {{who: string, address: string, document: Reply.Document|null, view: Reply.View}} given
 * @returns {Page.Plan}
 */
export function planOf({ who, address, document, view }) {
  return { format: FORMAT, saved: new Date().toISOString(), who, address, actions: wordsOf(view), document, notes: "" };
}

/**
 * Whether a plan that was saved is still the answer, in words.
 * @param {Page.Plan} plan
 * @param {Reply.View} view
 */
export function comparison({ saved, actions }, view) {
  const same = JSON.stringify(wordsOf(view)) === JSON.stringify(actions);
  const day = new Date(saved).toLocaleDateString("en-GB", { dateStyle: "long" });
  const then = actions.join(" ") || "no action";
  return same ? `Saved on ${day}; it is the same today.` : `Saved on ${day}, when it was: ${then} Today it is otherwise.`;
}

/**
 * The actions in words, one each.
 * @param {Reply.View} view
 */
export function wordsOf(view) {
  return view.actions.map((action) => sentence(action.changes.map((one) => one.words ?? one.text).join(" and ")));
}

/**
 * @param {string} text
 * @returns {Page.Plan|null}
 */
function readPlan(text) {
  try {
    const plan = JSON.parse(text);
    const whole = plan?.format === FORMAT && typeof plan.address === "string" && Array.isArray(plan.actions);
    return whole ? { ...plan, notes: String(plan.notes ?? "") } : null;
  } catch {
    return null;
  }
}

/**
 * A template with the answer's own words in place of the names in braces.
 * @param {string} template
 * @param {{view: Reply.View, name: string}} shown
 * @param {Reply.Schema} schema
 */
function filled(template, { view, name }, schema) {
  const steps = wordsOf(view).map((words, i) => `${i + 1}. ${words}`);
  const onlyPath = view.status === "FOUND" && !steps.length;
  const none = onlyPath ? NO_LIST : sentence([view.sentence, view.reason].filter(Boolean).join(": "));
  const cautions = (view.cautions ?? []).map((one) => `Caution: ${sentence(one)}\n`).join("");
  /** @type {Record<string, string>} */
  const words = {
    date: new Date().toLocaleDateString("en-GB", { dateStyle: "long" }),
    name,
    decision: verdictOf(view),
    noun: view.score.noun,
    score: view.score.now_text,
    end: view.score.end_text,
    wanted: capital(view.score.wanted_text),
    actions: steps.length ? `What would change it, in this order (${view.score.noun} then ${view.score.end_text}):\n${steps.join("\n")}` : none,
    cautions: cautions && `${cautions}\n`,
    note: schema.note,
  };
  return template.replace(/\{(\w+)\}/g, (whole, key) => words[key] ?? whole);
}
