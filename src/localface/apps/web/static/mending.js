// Values that are doubtful or refused: nothing is said of a decision before somebody has mended or confirmed them.
import { confirmationOf, correctionOf, spokenQuestion } from "./confirm.js";
import { called, h } from "./dom.js";
import { at, tell } from "./page.js";
import { nameOf, recordOf } from "./state.js";

/** @typedef {import("./workbench.js").Workbench} Workbench */

export class Mending {
  /** @param {Workbench} bench */
  constructor(bench) {
    this.bench = bench;
    this.choices = {
      onCorrect: (/** @type {string} */ feature) => this.correct(feature),
      onTake: (/** @type {string} */ feature, /** @type {Page.Value} */ value) => this.take(feature, value),
    };
  }

  /**
   * Show nothing of an answer but what is doubtful in the record, until somebody has said that it is right.
   * @param {Reply.Recourse} answer
   * @param {Page.State} about
   */
  askFirst(answer, about) {
    const { bench } = this;
    const { view } = answer;
    bench.blank();
    bench.answer = answer;
    bench.screen.view = view;
    bench.limits.sync(bench.state, recordOf(view));
    bench.limits.mark([]);
    at("map").hidden = true;
    const onConfirm = () => {
      bench.confirmed.add(view);
      bench.show(answer, about);
      at("answer").focus();
    };
    at("cautions").replaceChildren(confirmationOf(view, bench.schema, { ...this.choices, onConfirm }));
    tell(spokenQuestion(view));
  }

  /**
   * Say what the service refuses, in its own sentence.
   * @param {import("./api.js").Refusal} error
   */
  refuse(error) {
    const { bench } = this;
    const feature = bench.schema.features.find((one) => one.name === error.feature);
    at("refusal").replaceChildren(
      h("p", { class: "notice" }, feature && h("strong", {}, `${called(feature)}: `), error.message),
      ...this.buttonsFor(error),
    );
    at("refusal").hidden = false;
    if (error.feature && bench.state.record) bench.entry.refuse(error.feature, error.message);
    if (bench.screen.view) {
      at("refusal").append(h("p", { class: "quiet small" }, "What stands below is the answer before this change."));
    } else for (const id of ["decision", "view"]) at(id).replaceChildren();
    bench.limits.sync(bench.state, recordOf(bench.screen.view));
  }

  /**
   * The buttons that mend a value which the service refuses.
   * @param {import("./api.js").Refusal} error
   */
  buttonsFor({ feature, suggestion }) {
    const { bench } = this;
    if (!feature || !(feature in (bench.state.record ?? {}))) return [];
    return [correctionOf({ feature, suggestion }, bench.schema, this.choices)];
  }

  /** Begin a record of one's own with the values of the person on the page. */
  editCopy() {
    const { bench } = this;
    bench.entry.fill(recordOf(bench.screen.view) ?? bench.state.record ?? {});
    bench.entry.beside(bench.state.record === null ? nameOf(bench.state) : null);
    this.openEntry();
    at("tab-entry").focus();
  }

  openEntry() {
    at("people-fold").setAttribute("open", "");
    this.bench.sources.show("entry");
  }

  /**
   * Let somebody mend one value of the record that is asked about.
   * @param {string} feature
   */
  correct(feature) {
    if (this.bench.state.record === null) this.editCopy();
    this.openEntry();
    this.bench.entry.focus(feature);
  }

  /**
   * Ask about the same record with one value changed.
   * @param {string} feature
   * @param {Page.Value} value
   */
  take(feature, value) {
    const { bench } = this;
    const record = { ...(bench.state.record ?? recordOf(bench.screen.view)), [feature]: value };
    bench.entry.fill(record);
    bench.turning.enter(record);
    at("answer").focus();
  }
}
