// The workbench: one state, the questions that follow from it, and every part told of the answers.
import { alternativesPane } from "./alternatives.js";
import { Branches } from "./branches.js";
import { Carried } from "./carry.js";
import { Confirmed } from "./confirm.js";
import { constraintsPanel } from "./constraints.js";
import { h } from "./dom.js";
import { entryForm } from "./entry.js";
import { Mending } from "./mending.js";
import { at, say } from "./page.js";
import { peopleList } from "./people.js";
import { questions } from "./questions.js";
import { linkOf } from "./report.js";
import { Screen } from "./screen.js";
import { checkOf, emptyState, nameOf, personOf, questionOf, readState, recordOf, samePerson, someone, written } from "./state.js";
import { severalPane } from "./several.js";
import { tabs } from "./tabs.js";
import { comparison, planOf, takeawayPane } from "./takeaway.js";
import { Turning } from "./turning.js";
import { whyNotPane } from "./whynot.js";

const SETTLED = 350; // milliseconds without a change before the address is written and relaxing is tried
const QUICK = 0.08; // seconds that a search may take while something moves; what is cut short is then made whole

export class Workbench {
  /** @param {Reply.Schema} schema */
  constructor(schema) {
    this.schema = schema;
    this.state = emptyState();
    /** @type {Reply.Recourse|null} */
    this.answer = null;
    this.shown = this.state; // what the answer on the page was asked with
    /** @type {Reply.Document|null} */
    this.document = null;
    /** @type {Page.Plan|null} */
    this.opened = null;
    this.confirmed = new Confirmed();
    this.carried = new Carried();
    /** @type {ReturnType<typeof import("./map.js").mapPane>|null} */
    this.map = null;
    this.mending = new Mending(this);
    this.turning = new Turning(this);
    this.settling = 0; // timers
    this.trying = 0;
    this.questions = questions(this.receivers(), (about) => samePerson(about, this.state));
    this.branches = new Branches({
      onFound: (views, about) => about === this.shown && samePerson(about, this.state) && this.waysPane.showSoFar(views),
    });
    /** @type {Page.Change} */
    const change = (edit) => this.change(edit);
    this.screen = new Screen(schema, { change, onFirm: () => this.several.redraw() });
    this.sources = tabs(at("source-tabs"));
    this.views = tabs(at("answer-tabs"), () => this.askBeside());
    this.people = schema.people
      ? peopleList(at("panel-data"), { schema, onChoose: (person) => this.turning.choose(person) })
      : null;
    this.entry = entryForm(at("panel-entry"), {
      schema,
      onRecord: (record, how) => this.turning.enter(record, how),
      onUnfinished: (words, how) => this.turning.unfinished(words, how),
      onSeveral: (records) => this.turning.enterSeveral(records),
    });
    this.limits = constraintsPanel(at("limits"), { schema, change });
    this.waysPane = alternativesPane(at("panel-ways"), {
      schema,
      onCount: () => this.askBeside(),
      onUse: (...way) => this.use(...way),
    });
    this.wishPane = whyNotPane(at("panel-whynot"), { schema, onWish: (wish) => this.wishFor(wish) });
    this.takeaway = takeawayPane(at("panel-takeaway"), {
      schema,
      say,
      onOpen: (plan) => this.openPlan(plan),
      onSave: () => this.planShown(),
    });
    this.several = severalPane(at("several"), { onOpen: (state) => this.turning.open(state) });
    this.limits.sync(this.state, null);
  }

  /**
   * What takes the answers to each kind of question.
   * @returns {import("./questions.js").Gets}
   */
  receivers() {
    return {
      busy: (busy) => this.screen.busy(busy),
      quick: (answer, about) => this.showQuick(answer, about),
      whole: (answer, { state }) => (this.show(answer, state), this.questions.answer.measure()),
      refusal: (error) => this.mending.refuse(error),
      record: (found) => this.turning.preview(found),
      waysBusy: (busy) => at("panel-ways").setAttribute("aria-busy", String(busy)),
      ways: (answer) => (this.branches.stop(), this.waysPane.show(answer)),
      waysRefusal: (words) => this.waysPane.refuse(words),
      checkBusy: (busy) => this.wishPane.busy(busy),
      check: (answer) => this.wishPane.show(answer),
      checkRefusal: (words) => this.wishPane.refuse(words),
      tale: (answer) => this.confirmed.allows(answer.view) && this.map?.show(answer, this.floor()),
      effects: (found) => ((this.screen.effects = found), this.screen.drawToday()),
      whatIf: ({ scores }) =>
        this.screen.view && this.hasWish() && this.wishPane.score(scores[0], this.screen.view),
      trial: (tried, about) => about === this.state && this.screen.view && this.screen.offer(this.screen.view, about, tried.view),
      trialRefusal: () => at("view").querySelector("[data-key='trying']")?.remove(),
    };
  }

  /** Leave nothing on the page but the name of the person who is asked about. */
  blank() {
    this.answer = null;
    this.document = null;
    this.opened = null;
    this.shown = this.state;
    for (const one of this.questions.others) one.stop();
    this.branches.stop();
    clearTimeout(this.trying);
    this.views.show("way");
    this.screen.blank(this.state);
    this.entry.beside(this.state.record === null && someone(this.state) ? nameOf(this.state) : null);
    this.limits.forget();
    this.wishPane.forget();
    this.waysPane.clear();
    this.takeaway.forget();
    this.map?.forget();
  }

  // what is asked

  /**
   * Change what is asked, and ask again.
   * @param {Page.Edit} edit
   */
  change(edit) {
    this.state = { ...edit(this.state) };
    this.again({ quick: true });
  }

  /** @param {{fresh?: boolean, quick?: boolean}} [how] `quick`: something moves, and an answer so far will do */
  again({ fresh = false, quick = false } = {}) {
    this.limits.sync(this.state, recordOf(this.screen.view));
    clearTimeout(this.trying);
    if (someone(this.state)) {
      const body = questionOf(this.state, quick ? { max_seconds: QUICK } : {});
      this.questions.whole.stop();
      this.questions.answer.ask(body, { state: this.state, quick }, { fresh });
      this.askBeside({ fresh });
    }
    this.settle({ tell: Boolean(this.map) && someone(this.state) });
  }

  /** Once nothing has changed for a moment: write the address, and on a map ask how the search went. */
  settle({ tell = false } = {}) {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      history.replaceState(null, "", linkOf(this.state));
      if (tell) this.questions.tales.ask(questionOf(this.state, { stages: true }), this.state, { fresh: true });
    }, SETTLED);
  }

  floor() {
    return this.state.minDensity ?? this.schema.min_density;
  }

  /** Ask for what stands in the other tabs, while one of them is open. */
  askBeside({ fresh = false } = {}) {
    if (!someone(this.state)) return;
    const { state } = this;
    const open = this.views.current();
    if (open === "ways") {
      this.questions.ways.ask(questionOf(state, { n_paths: this.waysPane.count() }), state, { fresh });
      if (this.answer && this.shown === state) this.branches.about(this.answer.view, this.shown);
    }
    if (open === "whynot" && this.hasWish()) {
      this.questions.whatIfs.ask({ ...personOf(state), changes: [state.wish] }, state, { fresh });
      this.questions.checks.ask(checkOf(state, state.wish), state, { fresh });
    }
  }

  hasWish() {
    return Object.keys(this.state.wish).length > 0;
  }

  /** @param {Page.Values} wish */
  wishFor(wish) {
    this.state = { ...this.state, wish };
    if (Object.keys(wish).length) this.askBeside();
    else {
      this.questions.checks.stop();
      this.questions.whatIfs.stop();
      this.wishPane.idle();
    }
    this.settle();
  }

  // what has come

  /**
   * Show what was found while something moves; of what was cut short only what is known, and the whole is asked for.
   * @param {Reply.Recourse} answer
   * @param {Page.Asked} about
   * @returns {boolean} whether anything is shown
   */
  showQuick(answer, { state, quick }) {
    const { view } = answer;
    if (!quick || !view.cut_short) {
      this.show(answer, state);
      return true;
    }
    if (!this.questions.answer.waiting) this.questions.whole.ask(questionOf(state), { state, quick: false }, { fresh: true });
    if (!this.screen.about || !this.confirmed.allows(view)) return false; // there is nothing yet to show it beside
    this.screen.drawHalf(view, state);
    return true;
  }

  /**
   * @param {Reply.Recourse} answer
   * @param {Page.State} about
   */
  show(answer, about) {
    this.answer = answer;
    this.shown = about;
    at("refusal").hidden = true;
    if (!this.confirmed.allows(answer.view)) {
      this.mending.askFirst(answer, about);
      return;
    }
    at("map").hidden = !this.map;
    this.limits.sync(this.state, recordOf(answer.view));
    this.wishPane.sync(recordOf(answer.view) ?? null, this.state.wish);
    this.draw(answer.view, answer.document);
    if (this.views.current() === "ways" && this.questions.ways.flying) this.branches.about(answer.view, about);
    this.map?.show(answer, this.floor());
  }

  /**
   * Draw one view, and bring every part up to date with it.
   * @param {Reply.View} view
   * @param {Reply.Document|null} document
   * @param {{notice?: HTMLElement|null}} [how]
   */
  draw(view, document, { notice = null } = {}) {
    this.document = document;
    this.screen.drawForce(this.state, this.carried);
    this.takeaway.show(view, nameOf(this.shown));
    if (this.opened) this.takeaway.tell(comparison(this.opened, view));
    const later = this.questions.answer.waiting !== null;
    this.screen.draw(view, this.shown, { notice, later, nPlans: notice ? this.waysPane.count() : 1 });
    this.offer(view);
    this.limits.keptFloor(this.state, view.density.kept_text ?? null);
    this.limits.mark(view.actions.flatMap((one) => one.changes.map((change) => change.feature)));
  }

  /**
   * Where the answer is no, say what would help; relaxing is tried before it is offered.
   * @param {Reply.View} view
   */
  offer(view) {
    if (!this.screen.offer(view, this.state, null) || this.state.relax) return;
    const tryRelaxing = () => this.questions.trials.ask(questionOf(this.state, { relax: true }), this.state, { fresh: true });
    clearTimeout(this.trying);
    this.trying = setTimeout(tryRelaxing, SETTLED); // not while something is being dragged
  }

  /**
   * Show another way than the first.
   * @param {Reply.View} view
   * @param {number} number
   * @param {Reply.Document|null} document
   */
  use(view, number, document) {
    this.views.show("way");
    const { answer } = this;
    const first = () => answer && this.draw(answer.view, answer.document);
    const back = h("button", { type: "button", class: "plain", onclick: first }, "Back to the first");
    const notice = h("p", { class: "picked" }, `This is plan ${number} of those side by side. `, number > 1 && back);
    this.draw(view, document, { notice });
    at("tab-way").focus();
  }

  /** The plan on the page, for a file. */
  planShown() {
    const { view } = this.screen;
    return view && planOf({ who: nameOf(this.shown), address: written(this.shown), document: this.document, view });
  }

  /**
   * Take up a plan from a file: it is asked for anew, and compared with what was saved.
   * @param {Page.Plan} plan
   */
  openPlan(plan) {
    this.turning.open({ ...readState(plan.address, this.schema.features), label: "" });
    this.takeaway.setNotes(plan.notes);
    this.opened = plan;
  }

  /** Bring what is printed around the answer up to date. */
  dress() {
    this.screen.dress(this.state, this.takeaway.notes());
  }
}
