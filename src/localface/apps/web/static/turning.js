// Whom the page is about: chosen, entered, pasted or restored; the name changes at once, and nothing else stays.
import { carryOf } from "./carry.js";
import { at } from "./page.js";
import { linkOf } from "./report.js";
import { emptyState, nameOf, personOf, readState, samePerson, someone } from "./state.js";

/** @typedef {import("./workbench.js").Workbench} Workbench */

const NARROW = matchMedia("(max-width: 60rem)");

export class Turning {
  /** @param {Workbench} bench */
  constructor(bench) {
    this.bench = bench;
  }

  /** Take up what the address says. */
  restore() {
    const { bench } = this;
    const told = location.hash.includes("=");
    if (told ? linkOf(bench.state) === location.href : !someone(bench.state)) return;
    bench.state = readState(location.hash, bench.schema.features);
    bench.carried.forget();
    bench.people?.mark(bench.state.id);
    if (bench.state.record) bench.entry.fill(bench.state.record);
    if (!someone(bench.state)) {
      this.nobody();
      return;
    }
    this.fold();
    this.turn();
  }

  /** Where there is one column only, the list gives way to the answer. */
  fold() {
    if (NARROW.matches) at("people-fold").removeAttribute("open");
  }

  /** @param {Reply.PersonLine} person */
  choose({ id, label, score_text }) {
    const { bench } = this;
    bench.people?.mark(id);
    this.newcomer({ id, label, record: null }, bench.carried.next(bench.state, bench.schema), { score_text });
    this.fold();
  }

  /**
   * Ask about a record; another value in the form is the same person still, another record is not.
   * @param {Page.Values} record
   * @param {{pasted?: boolean}} [how]
   */
  enter(record, { pasted = false } = {}) {
    const { bench } = this;
    bench.people?.mark(null);
    const asked = pasted ? bench.carried.next(bench.state, bench.schema) : {};
    this.newcomer({ id: null, label: "the record entered", record }, asked);
  }

  /**
   * Several records at once go into the table, each asked about by itself.
   * @param {Page.Values[]} records
   */
  enterSeveral(records) {
    const { bench } = this;
    this.unfinished(`${records.length} records were read: they are in the table of several people.`, { pasted: true });
    const states = records.map((record, i) => ({ ...emptyState(), record, label: `row ${i + 1} of what was pasted` }));
    bench.several.addAll(states);
    at("several").scrollIntoView({ block: "nearest" });
  }

  /**
   * What was pasted or typed is no record: whatever stands on the page is not about it.
   * @param {string} words
   * @param {{pasted?: boolean}} how
   */
  unfinished(words, { pasted = false }) {
    const { bench } = this;
    if (!pasted && bench.state.record === null) return; // a copy is being edited: the page says whose answer it shows
    bench.state = { ...bench.state, id: null, record: null, label: "", relax: false, wish: {} };
    bench.people?.mark(null);
    this.nobody(words);
    history.replaceState(null, "", linkOf(bench.state));
  }

  /**
   * @param {{id: number|null, label: string, record: Page.Values|null}} given
   * @param {Partial<Page.State>} asked
   * @param {{score_text?: string|null}} [known]
   */
  newcomer(given, asked, known) {
    const { bench } = this;
    const again = samePerson({ ...bench.state, ...given }, bench.state);
    bench.state = { ...bench.state, ...given, ...asked, relax: false, wish: {} };
    const keep = again || (bench.state.record !== null && location.hash.includes("record="));
    history[keep ? "replaceState" : "pushState"](null, "", linkOf(bench.state));
    this.turn(known);
  }

  /**
   * Turn to a person with limits of their own.
   * @param {Page.State} state
   */
  open(state) {
    const { bench } = this;
    bench.carried.forget();
    bench.people?.mark(state.id);
    if (state.record) bench.entry.fill(state.record);
    bench.state = state;
    history.pushState(null, "", linkOf(state));
    this.turn();
    at("answer").focus();
  }

  /**
   * Turn to the person of the state: the name changes at once, and nothing of anybody else's stays.
   * @param {{score_text?: string|null}} [known]
   */
  turn(known) {
    const { bench } = this;
    bench.blank();
    document.querySelector(".invitation")?.remove();
    bench.screen.wait(bench.state, known);
    at("updating").hidden = false;
    this.offerLimits();
    const { id } = bench.state;
    if (id !== null) bench.questions.records.ask({ id }, bench.state, { fresh: true });
    bench.again({ fresh: true });
    bench.questions.effects.ask(personOf(bench.state), bench.state, { fresh: true });
  }

  /**
   * Show nobody, and say why.
   * @param {string} [words]
   */
  nobody(words) {
    const { bench } = this;
    bench.questions.answer.stop();
    clearTimeout(bench.settling);
    bench.carried.forget();
    bench.blank();
    this.offerLimits();
    bench.screen.nobody(words);
    bench.limits.sync(bench.state, null);
  }

  /**
   * What is known of a listed person before the answer comes.
   * @param {{record: Page.Values, score_text: string}} found
   */
  preview({ record, score_text }) {
    const { bench } = this;
    if (bench.screen.view) return;
    bench.screen.wait(bench.state, { score_text });
    bench.limits.sync(bench.state, record);
  }

  /** Ask whether the limits of the person before go along. */
  offerLimits() {
    const { bench } = this;
    /** @type {(asked: Partial<Page.State>) => void} */
    const keep = (asked) => (bench.carried.forget(), this.offerLimits(), bench.change((state) => ({ ...state, ...asked })));
    const offer = carryOf(bench.carried, nameOf(bench.state), {
      onKeep: keep,
      onAlways: (asked) => ((bench.carried.always = true), keep(asked)),
      onLeave: () => (bench.carried.forget(), this.offerLimits()),
    });
    at("carry").replaceChildren(...offer);
    at("carry").hidden = !offer.length;
  }
}
