// Puts the page together: one state, one question at a time, and every part told of the answer.
import { alternativesPane } from "./alternatives.js";
import { ask, Refusal } from "./api.js";
import { Asker } from "./asking.js";
import { Confirmed, confirmationOf, correctionOf, spokenQuestion } from "./confirm.js";
import { constraintsPanel } from "./constraints.js";
import { called, h } from "./dom.js";
import { entryForm } from "./entry.js";
import { forceOf } from "./force.js";
import { mapPane } from "./map.js";
import { offersOf } from "./offers.js";
import { peopleList } from "./people.js";
import { copyLink, dressReport, linkOf, printReport, saveDocument } from "./report.js";
import { checkOf, emptyState, nameOf, questionOf, readState, samePerson, someone } from "./state.js";
import { tabs } from "./tabs.js";
import { themeButton } from "./theme.js";
import { answerOf, cautionsOf, decisionOf, drawFigures, spoken } from "./view.js";
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
    this.confirmed = new Confirmed();
    /** @type {ReturnType<typeof mapPane>|null} */
    this.map = null;
    this.settling = 0; // timers
    this.telling = 0;
    /** @type {Page.ViewOptions} */
    this.options = {
      along: "actions",
      onLeave: (name) => this.change((state) => ({ ...state, forbidden: [...new Set([...state.forbidden, name])] })),
    };
    /** @type {Asker<Reply.Recourse, Page.State>} */
    this.asker = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: (busy) => this.busy(busy),
      onAnswer: (answer, about) => this.show(answer, about),
      onRefusal: (error) => this.refuse(error),
    });
    /** @type {Asker<Reply.Recourse>} */
    this.ways = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: (busy) => at("panel-ways").classList.toggle("updating", busy),
      onAnswer: (answer) => this.waysPane.show(answer),
      onRefusal: (error) => this.waysPane.refuse(error.message),
    });
    /** @type {Asker<Reply.Check>} */
    this.checks = new Asker((body, signal) => ask("check", { body, signal }), {
      onBusy: (busy) => this.wishPane.busy(busy),
      onAnswer: (answer) => this.wishPane.show(answer),
      onRefusal: (error) => this.wishPane.refuse(error.message),
    });
    /** @type {Asker<Reply.Recourse>} */
    this.tales = new Asker((body, signal) => ask("recourse", { body, signal }), {
      onBusy: () => {},
      onAnswer: (answer) => this.confirmed.allows(answer.view) && this.map?.show(answer, this.floor()),
      onRefusal: () => {},
    });
    this.sources = tabs(at("source-tabs"));
    this.views = tabs(at("answer-tabs"), () => this.askBeside());
    this.people = schema.people
      ? peopleList(at("panel-data"), { schema, onChoose: (id, label) => this.choose(id, label) })
      : null;
    this.entry = entryForm(at("panel-entry"), { schema, onRecord: (record) => this.enter(record) });
    this.limits = constraintsPanel(at("limits"), { schema, change: (edit) => this.change(edit) });
    this.waysPane = alternativesPane(at("panel-ways"), {
      schema,
      onCount: () => this.askBeside(),
      onUse: (...way) => this.use(...way),
    });
    this.wishPane = whyNotPane(at("panel-whynot"), { schema, onWish: (wish) => this.wishFor(wish) });
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
    at("print").addEventListener("click", printReport);
    at("json").addEventListener("click", () => saveDocument(this.document, nameOf(this.shown)));
    at("link").addEventListener("click", () => copyLink(this.state, say));
    themeButton(at("theme"), () => requestAnimationFrame(() => this.map?.paint()));
    addEventListener("hashchange", () => this.restore());
    document.querySelector(".skip")?.addEventListener("click", (event) => {
      event.preventDefault(); // what follows # is the state
      at("answer").focus();
    });
    addEventListener("beforeprint", () => this.dress());
  }

  /** Take up what the address says. */
  restore() {
    const told = location.hash.includes("=");
    if (!told || (linkOf(this.state) === location.href && someone(this.state))) return;
    this.state = readState(location.hash, this.schema.features);
    this.people?.mark(this.state.id);
    if (this.state.record) this.entry.fill(this.state.record);
    if (!someone(this.state)) return;
    this.fold();
    this.again({ fresh: true });
  }

  /** Where there is one column only, the list gives way to the answer. */
  fold() {
    if (matchMedia("(max-width: 60rem)").matches) at("people-fold").removeAttribute("open");
  }

  /**
   * @param {number} id
   * @param {string} label
   */
  choose(id, label) {
    this.people?.mark(id);
    this.newcomer({ id, label, record: null });
    this.fold();
  }

  /** @param {Page.Values} record */
  enter(record) {
    this.people?.mark(null);
    this.newcomer({ id: null, label: "the record entered", record });
  }

  /** @param {{id: number|null, label: string, record: Page.Values|null}} given */
  newcomer(given) {
    this.state = { ...this.state, ...given, relax: false, wish: {} };
    this.again({ fresh: true });
  }

  editCopy() {
    this.entry.fill(recordOf(this.shownView) ?? this.state.record ?? {});
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
    if (fresh) this.forget();
    if (someone(this.state)) {
      this.asker.ask(questionOf(this.state), this.state, { fresh });
      this.askBeside({ fresh });
    }
    this.settle({ tell: Boolean(this.map) && someone(this.state) });
  }

  /** What stands in the other tabs is about someone else. */
  forget() {
    this.ways.stop();
    this.waysPane.clear();
    this.checks.stop();
    this.wishPane.idle();
  }

  /** Once nothing has changed for a moment: write the address, and on a map ask how the search went. */
  settle({ tell = false } = {}) {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      history.replaceState(null, "", linkOf(this.state));
      if (tell) this.tales.ask(questionOf(this.state, { stages: true }), null, { fresh: true });
    }, SETTLED);
  }

  floor() {
    return this.state.minDensity ?? this.schema.min_density;
  }

  /** Ask for what stands in the other tabs, while one of them is open. */
  askBeside({ fresh = false } = {}) {
    if (!someone(this.state)) return;
    const open = this.views.current();
    if (open === "ways") this.ways.ask(questionOf(this.state, { n_paths: this.waysPane.count() }), null, { fresh });
    if (open === "whynot" && Object.keys(this.state.wish).length) {
      this.checks.ask(checkOf(this.state, this.state.wish), null, { fresh });
    }
  }

  /** @param {Page.Values} wish */
  wishFor(wish) {
    this.state = { ...this.state, wish };
    if (Object.keys(wish).length) this.askBeside();
    else {
      this.checks.stop();
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
    at("edit").hidden = false;
    this.limits.sync(this.state, recordOf(answer.view));
    this.wishPane.sync(recordOf(answer.view) ?? null, this.state.wish);
    this.draw(answer.view, answer.document);
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
    at("cautions").replaceChildren(...cautionsOf(view));
    at("decision").replaceChildren(decisionOf(view));
    const force = forceOf(this.state, this.schema, (edit) => this.change(edit));
    at("force").replaceChildren(...force);
    at("force").hidden = !force.length;
    const offers = offersOf(view, this.state, this.schema, (edit) => this.change(edit));
    at("view").replaceChildren(...(notice ? [notice] : []), ...answerOf(view, this.options));
    if (offers.length) {
      at("view")
        .querySelector(".headline")
        ?.after(h("div", { class: "offers" }, offers));
    }
    drawFigures(view, at("view"), this.options);
    this.limits.mark(view.actions.flatMap((one) => one.changes.map((change) => change.feature)));
    const focused = key ? document.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
    if (focused instanceof HTMLElement) focused.focus();
    this.tell(spoken(view));
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
    const picked = h("p", { class: "picked" }, `This is way ${number} of those side by side. `, number > 1 && back);
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
    if (!samePerson(this.shown, this.state)) this.blank();
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

  /** There is no answer for this person: leave nobody else's under their name. */
  blank() {
    this.shownView = null;
    this.views.show("way");
    at("who").textContent = capital(nameOf(this.state));
    at("people-chosen").textContent = nameOf(this.state);
    for (const id of ["cautions", "decision", "view", "force"]) at(id).replaceChildren();
    enable(["print", "json"], false);
    for (const id of ["answer-tabs", "edit", "force"]) at(id).hidden = true;
  }

  dress() {
    dressReport(at("report-head"), at("report-foot"), { schema: this.schema, state: this.shown });
  }
}

/**
 * The person of a view as the controls take them: dates are days here, not words.
 * @param {Reply.View|null|undefined} view
 */
function recordOf(view) {
  return view?.states[0].record;
}

/** @param {string} words */
function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
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
        onPlace: (record) => (bench.entry.fill(record), bench.enter(record)),
      });
    }
    bench.restore();
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    at("refusal").replaceChildren(h("p", { class: "notice" }, error.message));
    at("refusal").hidden = false;
  }
}

begin();
