// Puts the page together: one state, one question at a time, and every part told of the answer.
import { alternativesPane } from "./alternatives.js";
import { ask, Refusal } from "./api.js";
import { Asker } from "./asking.js";
import { Branches } from "./branches.js";
import { Carried, carryOf } from "./carry.js";
import { Confirmed, confirmationOf, correctionOf, spokenQuestion } from "./confirm.js";
import { constraintsPanel } from "./constraints.js";
import { called, capital, h, styled } from "./dom.js";
import { entryForm } from "./entry.js";
import { Firmness } from "./firmness.js";
import { forceOf } from "./force.js";
import { mapPane } from "./map.js";
import { offersOf } from "./offers.js";
import { peopleList } from "./people.js";
import { copyLink, dressReport, linkOf, printReport, saveDocument } from "./report.js";
import { checkOf, emptyState, nameOf, personOf, questionOf, readState, samePerson, someone, written } from "./state.js";
import { promiseButton } from "./promise.js";
import { reminderLine } from "./reminder.js";
import { severalPane } from "./several.js";
import { tabs } from "./tabs.js";
import { themeButton } from "./theme.js";
import { todayOf } from "./today.js";
import { startTour, tourInvitation } from "./tour.js";
import { answerOf, cautionsOf, decisionOf, drawFigures, spoken, tellFirmness } from "./view.js";
import { planOf, takeawayPane, wordsOf } from "./takeaway.js";
import { nobodyShown, skeleton, waitingDecision } from "./waiting.js";
import { whyNotPane } from "./whynot.js";

/**
 * The element of the page with this id.
 * @param {string} id
 */
function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Let some buttons be pressed, or not.
 * @param {string[]} ids
 * @param {boolean} enabled
 */
function enable(ids, enabled) {
  for (const id of ids) at(id).toggleAttribute("disabled", !enabled);
}

const RESTING = 120; // milliseconds without another answer before table and picture are drawn
const SETTLED = 350; // milliseconds without a change before address and screen readers are told

class Workbench {
  /** @param {Reply.Schema} schema */
  constructor(schema) {
    this.schema = schema;
    this.state = emptyState();
    /** @type {Reply.Recourse|null} */
    this.answer = null;
    this.shown = this.state; // what the answer on the page was asked with
    /** @type {Reply.View|null} */
    this.shownView = null;
    /** @type {Reply.Document|null} */
    this.document = null;
    /** @type {Reply.Effects|null} */
    this.effects = null;
    /** @type {Page.Plan|null} */
    this.opened = null;
    this.confirmed = new Confirmed();
    this.carried = new Carried();
    /** @type {ReturnType<typeof mapPane>|null} */
    this.map = null;
    this.settling = 0; // timers
    this.telling = 0;
    this.trying = 0;
    this.drawing = 0;
    this.todayFold = { open: true };
    this.stepsHeight = 0; // what is kept free for table and picture until they are drawn
    /** @type {Page.ViewOptions} */
    this.options = {
      along: "actions",
      firmnessComes: true,
      onLeave: (name) => this.change((state) => ({ ...state, forbidden: [...new Set([...state.forbidden, name])] })),
    };
    /** @type {Asker<Reply.Recourse, Page.State>} */
    this.asker = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: (busy) => this.busy(busy),
      onAnswer: (answer, about) => this.isShown(about) && this.show(answer, about),
      onRefusal: (error, about) => this.isShown(about) && this.refuse(error),
    });
    /** @type {Asker<{record: Page.Values, score_text: string}, Page.State>} */
    this.records = new Asker((body, signal) => ask(`people/${body.id}`, { signal }), {
      onBusy: () => {},
      onAnswer: (found, about) => this.isShown(about) && this.preview(found),
      onRefusal: () => {}, // the answer will say what is wrong
    });
    /** @type {Asker<Reply.Recourse, Page.State>} */
    this.ways = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: (busy) => at("panel-ways").setAttribute("aria-busy", String(busy)),
      onAnswer: (answer, about) => this.isShown(about) && (this.branches.stop(), this.waysPane.show(answer)),
      onRefusal: (error, about) => this.isShown(about) && this.waysPane.refuse(error.message),
    });
    this.branches = new Branches({
      onFound: (views, about) => about === this.shown && this.isShown(about) && this.waysPane.showSoFar(views),
    });
    /** @type {Asker<Reply.Check, Page.State>} */
    this.checks = new Asker((body, signal) => ask("check", { body, signal }), {
      onBusy: (busy) => this.wishPane.busy(busy),
      onAnswer: (answer, about) => this.isShown(about) && this.wishPane.show(answer),
      onRefusal: (error, about) => this.isShown(about) && this.wishPane.refuse(error.message),
    });
    /** @type {Asker<Reply.Recourse, Page.State>} */
    this.tales = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: () => {},
      onAnswer: (answer, about) =>
        this.isShown(about) && this.confirmed.allows(answer.view) && this.map?.show(answer, this.floor()),
      onRefusal: () => {},
    });
    /** @type {Asker<Reply.Effects, Page.State>} */
    this.reasons = new Asker((body, signal) => ask("effects", { body, signal }), {
      onBusy: () => {},
      onAnswer: (found, about) => this.isShown(about) && ((this.effects = found), this.drawToday()),
      onRefusal: () => {}, // the answer says what is wrong
    });
    /** @type {Asker<{scores: Reply.ScoreLine[]}, Page.State>} */
    this.whatIfs = new Asker((body, signal) => ask("scores", { body, signal }), {
      onBusy: () => {},
      onAnswer: ({ scores }, about) =>
        this.isShown(about) && this.shownView && this.hasWish() && this.wishPane.score(scores[0], this.shownView),
      onRefusal: () => {},
    });
    /** @type {Asker<Reply.Recourse, Page.State>} */
    this.trials = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: () => {},
      onAnswer: (tried, about) => about === this.state && this.shownView && this.offer(this.shownView, tried.view),
      onRefusal: () => at("view").querySelector("[data-key='trying']")?.remove(),
    });
    this.firmness = new Firmness({
      retrained: schema.retrained,
      onFirm: (view) => {
        if (view === this.shownView) tellFirmness(view, at("decision"), at("view"));
        this.several.redraw();
      },
    });
    this.sources = tabs(at("source-tabs"));
    this.views = tabs(at("answer-tabs"), () => this.askBeside());
    this.people = schema.people
      ? peopleList(at("panel-data"), { schema, onChoose: (person) => this.choose(person) })
      : null;
    this.entry = entryForm(at("panel-entry"), {
      schema,
      onRecord: (record, how) => this.enter(record, how),
      onUnfinished: (words, how) => this.unfinished(words, how),
      onSeveral: (records) => this.enterSeveral(records),
    });
    this.limits = constraintsPanel(at("limits"), { schema, change: (edit) => this.change(edit) });
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
    this.promise = promiseButton(at("promising"), { enabled: schema.promises, onPromised: (words) => this.tell(words) });
    this.reminder = reminderLine(at("reminder"), at("decision"));
    this.several = severalPane(at("several"), { onOpen: (state) => this.open(state) });
    this.limits.sync(this.state, null);
    this.title();
    this.listen();
  }

  /** Say what the page is about. */
  title() {
    const { schema } = this;
    document.title = schema.title;
    at("title").textContent = schema.title;
    at("target").textContent =
      `${schema.rows.toLocaleString("en-GB")} people to learn from; nothing goes elsewhere`;
    if (schema.note) at("note").textContent = schema.note;
    if (!schema.people) {
      at("tab-data").hidden = true;
      this.sources.show("entry");
    }
  }

  /** Answer to the buttons around the answer, and to the browser itself. */
  listen() {
    at("edit").addEventListener("click", () => this.editCopy());
    at("tour").addEventListener("click", startTour);
    at("keep").addEventListener("click", () => this.shownView && this.several.add(this.shown, this.shownView));
    at("print").addEventListener("click", printReport);
    at("json").addEventListener("click", () => saveDocument(this.document, nameOf(this.shown)));
    at("link").addEventListener("click", () => copyLink(this.state, say));
    themeButton(at("theme"), () => requestAnimationFrame(() => this.map?.paint()));
    addEventListener("hashchange", () => this.restore());
    addEventListener("popstate", () => this.restore());
    document.querySelector(".skip")?.addEventListener("click", (event) => {
      event.preventDefault(); // what follows # is the state
      at("answer").focus();
    });
    addEventListener("beforeprint", () => this.dress());
    const narrow = matchMedia("(max-width: 60rem)");
    const fit = () => {
      at("constraints-fold").toggleAttribute("open", !narrow.matches); // a sheet at the foot
      this.todayFold.open = !narrow.matches; // the plan is to be seen first
    };
    narrow.addEventListener("change", fit);
    fit();
  }

  /** Take up what the address says. */
  restore() {
    const told = location.hash.includes("=");
    if (told ? linkOf(this.state) === location.href : !someone(this.state)) return;
    this.state = readState(location.hash, this.schema.features);
    this.carried.forget();
    this.people?.mark(this.state.id);
    if (this.state.record) this.entry.fill(this.state.record);
    if (!someone(this.state)) {
      this.nobody();
      return;
    }
    this.fold();
    this.turn();
  }

  /** Where there is one column only, the list gives way to the answer. */
  fold() {
    if (matchMedia("(max-width: 60rem)").matches) at("people-fold").removeAttribute("open");
  }

  /** @param {Reply.PersonLine} person */
  choose({ id, label, score_text }) {
    this.people?.mark(id);
    this.newcomer({ id, label, record: null }, this.carried.next(this.state, this.schema), { score_text });
    this.fold();
  }

  /**
   * Ask about a record; another value in the form is the same person still, another record is not.
   * @param {Page.Values} record
   * @param {{pasted?: boolean}} [how]
   */
  enter(record, { pasted = false } = {}) {
    this.people?.mark(null);
    const asked = pasted ? this.carried.next(this.state, this.schema) : {};
    this.newcomer({ id: null, label: "the record entered", record }, asked);
  }

  /**
   * Several records at once go into the table, each asked about by itself.
   * @param {Page.Values[]} records
   */
  enterSeveral(records) {
    this.unfinished(`${records.length} records were read: they are in the table of several people.`, { pasted: true });
    const states = records.map((record, i) => ({ ...emptyState(), record, label: `row ${i + 1} of what was pasted` }));
    this.several.addAll(states);
    at("several").scrollIntoView({ block: "nearest" });
  }

  /**
   * What was pasted or typed is no record: whatever stands on the page is not about it.
   * @param {string} words
   * @param {{pasted?: boolean}} how
   */
  unfinished(words, { pasted = false }) {
    if (!pasted && this.state.record === null) return; // a copy is being edited: the page says whose answer it shows
    this.state = { ...this.state, id: null, record: null, label: "", relax: false, wish: {} };
    this.people?.mark(null);
    this.nobody(words);
    history.replaceState(null, "", linkOf(this.state));
  }

  /**
   * @param {{id: number|null, label: string, record: Page.Values|null}} given
   * @param {Partial<Page.State>} asked
   * @param {{score_text?: string|null}} [known]
   */
  newcomer(given, asked, known) {
    const again = samePerson({ ...this.state, ...given }, this.state);
    this.state = { ...this.state, ...given, ...asked, relax: false, wish: {} };
    const keep = again || (this.state.record !== null && location.hash.includes("record="));
    history[keep ? "replaceState" : "pushState"](null, "", linkOf(this.state));
    this.turn(known);
  }

  /**
   * Turn to the person of the state: the name changes at once, and nothing of anybody else's stays.
   * @param {{score_text?: string|null}} [known]
   */
  turn(known) {
    this.blank();
    at("refusal").hidden = true;
    document.querySelector(".invitation")?.remove();
    at("decision").replaceChildren(waitingDecision(capital(nameOf(this.state)), known));
    at("view").replaceChildren(skeleton());
    at("updating").hidden = false;
    this.offerLimits();
    const { id } = this.state;
    if (id !== null) this.records.ask({ id }, this.state, { fresh: true });
    this.again({ fresh: true });
    this.reasons.ask(personOf(this.state), this.state, { fresh: true });
  }

  /**
   * Show nobody, and say why.
   * @param {string} [words]
   */
  nobody(words) {
    for (const one of [this.asker, this.records, this.ways, this.checks, this.tales]) one.stop();
    clearTimeout(this.settling);
    this.carried.forget();
    this.blank();
    this.offerLimits();
    at("refusal").hidden = true;
    at("who").textContent = words ? "Nobody is shown" : "Choose a person";
    at("people-chosen").textContent = "";
    at("decision").replaceChildren(nobodyShown(words));
    this.limits.sync(this.state, null);
  }

  /**
   * What is known of a listed person before the answer comes.
   * @param {{record: Page.Values, score_text: string}} found
   */
  preview({ record, score_text }) {
    if (this.shownView) return;
    at("decision").replaceChildren(waitingDecision(capital(nameOf(this.state)), { score_text }));
    this.limits.sync(this.state, record);
  }

  /**
   * Whether the page is about the person whom something that came is about.
   * @param {Page.State} about
   */
  isShown(about) {
    return samePerson(about, this.state);
  }

  /** Ask whether the limits of the person before go along. */
  offerLimits() {
    /** @type {(asked: Partial<Page.State>) => void} */
    const keep = (asked) => (this.carried.forget(), this.offerLimits(), this.change((state) => ({ ...state, ...asked })));
    const offer = carryOf(this.carried, nameOf(this.state), {
      onKeep: keep,
      onAlways: (asked) => ((this.carried.always = true), keep(asked)),
      onLeave: () => (this.carried.forget(), this.offerLimits()),
    });
    at("carry").replaceChildren(...offer);
    at("carry").hidden = !offer.length;
  }

  editCopy() {
    this.entry.fill(recordOf(this.shownView) ?? this.state.record ?? {});
    this.entry.beside(this.state.record === null ? nameOf(this.state) : null);
    this.openEntry();
    at("tab-entry").focus();
  }

  openEntry() {
    at("people-fold").setAttribute("open", "");
    this.sources.show("entry");
  }

  /**
   * Let somebody mend one value of the record that is asked about.
   * @param {string} feature
   */
  correct(feature) {
    if (this.state.record === null) this.editCopy();
    this.openEntry();
    this.entry.focus(feature);
  }

  /**
   * Ask about the same record with one value changed.
   * @param {string} feature
   * @param {Page.Value} value
   */
  take(feature, value) {
    const record = { ...(this.state.record ?? recordOf(this.shownView)), [feature]: value };
    this.entry.fill(record);
    this.enter(record);
    at("answer").focus();
  }

  /**
   * Change what is asked, and ask again.
   * @param {Page.Edit} edit
   */
  change(edit) {
    this.state = { ...edit(this.state) };
    this.again();
  }

  again({ fresh = false } = {}) {
    this.limits.sync(this.state, recordOf(this.shownView));
    clearTimeout(this.trying);
    if (someone(this.state)) {
      this.asker.ask(questionOf(this.state), this.state, { fresh });
      this.askBeside({ fresh });
    }
    this.settle({ tell: Boolean(this.map) && someone(this.state) });
  }

  /** Once nothing has changed for a moment: write the address, and on a map ask how the search went. */
  settle({ tell = false } = {}) {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      history.replaceState(null, "", linkOf(this.state));
      if (tell) this.tales.ask(questionOf(this.state, { stages: true }), this.state, { fresh: true });
    }, SETTLED);
  }

  floor() {
    return this.state.minDensity ?? this.schema.min_density;
  }

  /** Ask for what stands in the other tabs, while one of them is open. */
  askBeside({ fresh = false } = {}) {
    if (!someone(this.state)) return;
    const open = this.views.current();
    if (open === "ways") {
      this.ways.ask(questionOf(this.state, { n_paths: this.waysPane.count() }), this.state, { fresh });
      if (this.answer && this.shown === this.state) this.branches.about(this.answer.view, this.shown);
    }
    if (open === "whynot" && this.hasWish()) {
      this.whatIfs.ask({ ...personOf(this.state), changes: [this.state.wish] }, this.state, { fresh });
      this.checks.ask(checkOf(this.state, this.state.wish), this.state, { fresh });
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
      this.checks.stop();
      this.whatIfs.stop();
      this.wishPane.idle();
    }
    this.settle();
  }

  /** @param {boolean} busy */
  busy(busy) {
    at("updating").hidden = !busy;
    at("answer").classList.toggle("updating", busy);
    at("answer").setAttribute("aria-busy", String(busy));
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
      this.askFirst(answer, about);
      return;
    }
    at("answer-tabs").hidden = false;
    at("map").hidden = !this.map;
    enable(["print", "json", "link"], true);
    for (const id of ["edit", "keep"]) at(id).hidden = false;
    this.limits.sync(this.state, recordOf(answer.view));
    this.wishPane.sync(recordOf(answer.view) ?? null, this.state.wish);
    this.draw(answer.view, answer.document);
    if (this.views.current() === "ways" && this.ways.flying) this.branches.about(answer.view, about);
    this.map?.show(answer, this.floor());
  }

  /**
   * Show nothing of an answer but what is doubtful in the record, until somebody has said that it is right.
   * @param {Reply.Recourse} answer
   * @param {Page.State} about
   */
  askFirst(answer, about) {
    const { view } = answer;
    this.blank();
    this.answer = answer;
    this.shownView = view;
    this.limits.sync(this.state, recordOf(view));
    this.limits.mark([]);
    at("map").hidden = true;
    const question = confirmationOf(view, this.schema, {
      onCorrect: (feature) => this.correct(feature),
      onTake: (feature, value) => this.take(feature, value),
      onConfirm: () => {
        this.confirmed.add(view);
        this.show(answer, about);
        at("answer").focus();
      },
    });
    at("cautions").replaceChildren(question);
    this.tell(spokenQuestion(view));
  }

  /**
   * Tell those who do not see the page, once nothing has changed for a moment.
   * @param {string} words
   */
  tell(words) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => (at("live").textContent = words), SETTLED);
  }

  /**
   * Draw one view, keeping the focus where it was.
   * @param {Reply.View} view
   * @param {Reply.Document|null} document_
   * @param {HTMLElement|null} [notice]
   */
  draw(view, document_, notice = null) {
    this.shownView = view;
    this.document = document_;
    const key = document.activeElement?.getAttribute("data-key");
    at("who").textContent = capital(nameOf(this.shown));
    at("people-chosen").textContent = nameOf(this.shown);
    this.reminder.show(nameOf(this.shown), view);
    at("cautions").replaceChildren(...cautionsOf(view));
    at("decision").replaceChildren(decisionOf(view, this.options));
    this.drawForce();
    this.drawToday();
    this.takeaway.show(view, nameOf(this.shown));
    this.compareOpened(view);
    at("view").replaceChildren(...(notice ? [notice] : []), ...answerOf(view, this.options));
    this.offer(view, null);
    this.firmness.about(view, this.shown);
    this.promise.about(view, this.shown, notice ? this.waysPane.count() : 1);
    this.drawLater(view);
    this.limits.keptFloor(this.state, view.density.kept_text ?? null);
    this.limits.mark(view.actions.flatMap((one) => one.changes.map((change) => change.feature)));
    const focused = key ? document.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
    if (focused instanceof HTMLElement) focused.focus();
    this.tell(spoken(view));
  }

  /**
   * Draw table and picture: at once where nothing else is under way, else once the hand rests.
   * @param {Reply.View} view
   */
  drawLater(view) {
    clearTimeout(this.drawing);
    const place = at("view").querySelector(".steps");
    const before = this.stepsHeight;
    const draw = () => {
      if (view !== this.shownView) return;
      drawFigures(view, at("view"), this.options);
      this.stepsHeight = place instanceof HTMLElement ? place.offsetHeight : 0;
    };
    if (!this.asker.waiting) {
      draw();
      return;
    }
    if (place instanceof HTMLElement) styled(place, { "min-height": `${before}px` });
    this.drawing = setTimeout(() => (draw(), place instanceof HTMLElement && place.style.removeProperty("min-height")), RESTING);
  }

  /** The plan on the page, for a file. */
  planShown() {
    const { shownView: view, document: found } = this;
    return view && planOf({ who: nameOf(this.shown), address: written(this.shown), document: found, view });
  }

  /**
   * Take up a plan from a file: it is asked for anew, and compared with what was saved.
   * @param {Page.Plan} plan
   */
  openPlan(plan) {
    this.open({ ...readState(plan.address, this.schema.features), label: "" });
    this.takeaway.setNotes(plan.notes);
    this.opened = plan;
  }

  /**
   * Say whether a plan that was opened is still the answer.
   * @param {Reply.View} view
   */
  compareOpened(view) {
    if (!this.opened) return;
    const { saved, actions } = this.opened;
    const same = JSON.stringify(wordsOf(view)) === JSON.stringify(actions);
    const day = new Date(saved).toLocaleDateString("en-GB", { dateStyle: "long" });
    const then = actions.join(" ") || "no action";
    this.takeaway.tell(same ? `Saved on ${day}; it is the same today.` : `Saved on ${day}, when it was: ${then} Today it is otherwise.`);
  }

  /**
   * Turn to a person with limits of their own.
   * @param {Page.State} state
   */
  open(state) {
    this.carried.forget();
    this.people?.mark(state.id);
    if (state.record) this.entry.fill(state.record);
    this.state = state;
    history.pushState(null, "", linkOf(state));
    this.turn();
    at("answer").focus();
  }

  /**
   * Where the answer is no, say what would help; relaxing is tried before it is offered.
   * @param {Reply.View} view
   * @param {Reply.View|null} tried
   */
  offer(view, tried) {
    at("view").querySelector(".offers")?.remove();
    const change = (/** @type {Page.Edit} */ edit) => this.change(edit);
    const offers = offersOf(view, this.state, this.schema, { change, tried });
    if (!offers.length) return;
    at("view").querySelector(".headline")?.after(h("div", { class: "offers" }, offers));
    if (tried || this.state.relax) return;
    const tryRelaxing = () => this.trials.ask(questionOf(this.state, { relax: true }), this.state, { fresh: true });
    clearTimeout(this.trying);
    this.trying = setTimeout(tryRelaxing, SETTLED); // not while something is being dragged
  }

  /**
   * Show another way than the first.
   * @param {Reply.View} view
   * @param {number} number
   * @param {Reply.Document|null} document_
   */
  use(view, number, document_) {
    this.views.show("way");
    const { answer } = this;
    const first = () => answer && this.draw(answer.view, answer.document);
    const back = h("button", { type: "button", class: "plain", onclick: first }, "Back to the first");
    const picked = h("p", { class: "picked" }, `This is plan ${number} of those side by side. `, number > 1 && back);
    this.draw(view, document_, picked);
    at("tab-way").focus();
  }

  /** @param {Refusal} error */
  refuse(error) {
    const feature = this.schema.features.find((one) => one.name === error.feature);
    at("refusal").replaceChildren(
      h("p", { class: "notice" }, feature && h("strong", {}, `${called(feature)}: `), error.message),
      ...this.mend(error),
    );
    at("refusal").hidden = false;
    if (error.feature && this.state.record) this.entry.refuse(error.feature, error.message);
    if (this.shownView) {
      at("refusal").append(h("p", { class: "quiet small" }, "What stands below is the answer before this change."));
    } else for (const id of ["decision", "view"]) at(id).replaceChildren();
    this.limits.sync(this.state, recordOf(this.shownView));
  }

  /**
   * The buttons that mend a value which the service refuses.
   * @param {Refusal} error
   */
  mend({ feature, suggestion }) {
    if (!feature || !(feature in (this.state.record ?? {}))) return [];
    const choices = {
      onCorrect: (/** @type {string} */ name) => this.correct(name),
      onTake: (/** @type {string} */ name, /** @type {Page.Value} */ value) => this.take(name, value),
    };
    return [correctionOf({ feature, suggestion }, this.schema, choices)];
  }

  /** What speaks for and against the person today, once both it and the answer have come. */
  drawToday() {
    const { effects, shownView: view } = this;
    if (!effects || !view || !this.confirmed.allows(view)) return;
    if (at("today").childElementCount) return; // it is the same whatever is asked for
    at("today").replaceChildren(todayOf(effects, view, this.todayFold));
  }

  /** The limits in force, and whether they go along to the next person. */
  drawForce() {
    const force = forceOf(this.state, this.schema, (edit) => this.change(edit), {
      carries: this.carried.always,
      onStay: () => ((this.carried.always = false), this.drawForce()),
    });
    at("force").replaceChildren(...force);
    at("force").hidden = !force.length;
  }

  /** Leave nothing on the page but the name of the person who is asked about. */
  blank() {
    this.answer = null;
    this.shownView = null;
    this.document = null;
    this.opened = null;
    this.shown = this.state;
    const asked = [this.records, this.ways, this.checks, this.tales, this.trials, this.reasons, this.whatIfs];
    for (const one of asked) one.stop();
    this.firmness.stop();
    this.branches.stop();
    this.promise.forget();
    this.reminder.forget();
    this.effects = null;
    clearTimeout(this.telling);
    clearTimeout(this.trying);
    this.views.show("way");
    at("who").textContent = capital(nameOf(this.state));
    at("people-chosen").textContent = nameOf(this.state);
    for (const id of ["cautions", "decision", "refusal", "today", "view", "force", "live", "report-head", "report-foot"]) {
      at(id).replaceChildren();
    }
    this.entry.beside(this.state.record === null && someone(this.state) ? nameOf(this.state) : null);
    this.limits.forget();
    this.wishPane.forget();
    this.waysPane.clear();
    this.takeaway.forget();
    this.map?.forget();
    enable(["print", "json"], false);
    for (const id of ["answer-tabs", "edit", "keep", "force"]) at(id).hidden = true;
  }

  dress() {
    at("today").querySelector("details")?.setAttribute("open", "");
    const view = this.shownView && this.confirmed.allows(this.shownView) ? this.shownView : null;
    const notes = this.takeaway.notes();
    dressReport(at("report-head"), at("report-foot"), { schema: this.schema, state: this.shown, view, notes, promise: this.promise.kept() });
  }
}

/**
 * The person of a view as the controls take them: dates are days here, not words.
 * @param {Reply.View|null|undefined} view
 */
function recordOf(view) {
  return view?.states[0].record;
}

let toastTimer = 0;

/**
 * Say something for a moment.
 * @param {string} words
 */
function say(words) {
  at("toast").textContent = words;
  at("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (at("toast").hidden = true), 4000);
}

async function begin() {
  try {
    /** @type {Reply.Schema} */
    const schema = await ask("schema");
    const bench = new Workbench(schema);
    if (schema.plane) {
      /** @type {Reply.Map} */
      const map = await ask("map");
      at("map").hidden = false;
      bench.map = mapPane(at("map"), {
        map,
        schema,
        onPlace: (record) => (bench.entry.fill(record), bench.enter(record, { pasted: true })),
      });
    }
    bench.restore();
    const invitation = tourInvitation();
    if (invitation && !someone(bench.state)) at("decision").after(invitation);
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    at("refusal").replaceChildren(h("p", { class: "notice" }, error.message));
    at("refusal").hidden = false;
  }
}

begin();
