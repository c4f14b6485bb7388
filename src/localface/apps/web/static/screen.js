// The answer on the page: drawn from one view, told in parts as more becomes known, and wiped before anybody else's.
import { capital, h, inRowWords, styled } from "./dom.js";
import { Firmness } from "./firmness.js";
import { forceOf } from "./force.js";
import { offersOf } from "./offers.js";
import { at, enable, tell, tellNothing } from "./page.js";
import { promiseButton } from "./promise.js";
import { reminderLine } from "./reminder.js";
import { dressReport } from "./report.js";
import { nameOf } from "./state.js";
import { todayOf } from "./today.js";
import { answerOf, cautionsOf, decisionOf, drawFigures, spoken, tellFirmness } from "./view.js";
import { waitingDecision, nobodyShown, skeleton } from "./waiting.js";

const RESTING = 120; // milliseconds without another answer before table and picture are drawn
const TAKEN_ALONG = ["print", "json", "keep"];
const WIPED = ["cautions", "decision", "refusal", "today", "view", "force", "report-head", "report-foot"];

export class Screen {
  /**
   * @param {Reply.Schema} schema
   * @param {{change: Page.Change, onFirm: () => void}} given
   */
  constructor(schema, { change, onFirm }) {
    this.schema = schema;
    this.change = change;
    /** @type {Reply.View|null} */
    this.view = null;
    /** @type {Page.State|null} what the answer on the page was asked with */
    this.about = null;
    /** @type {Reply.Effects|null} */
    this.effects = null;
    this.drawing = 0; // a timer
    this.stepsHeight = 0; // what is kept free for table and picture until they are drawn
    this.todayFold = { open: true };
    /** @type {Page.ViewOptions} */
    this.options = {
      along: "actions",
      firmnessComes: true,
      onLeave: (name) => change((state) => ({ ...state, forbidden: [...new Set([...state.forbidden, name])] })),
    };
    this.firmness = new Firmness({
      retrained: schema.retrained,
      onFirm: (view) => {
        if (view === this.view) tellFirmness(view, at("decision"), at("view"));
        onFirm();
      },
    });
    this.promise = promiseButton(at("promising"), { enabled: schema.promises, onPromised: tell });
    this.reminder = reminderLine(at("reminder"), at("decision"));
  }

  /**
   * Leave nothing on the page but the name of the person who is asked about.
   * @param {Page.State} state
   */
  blank(state) {
    this.view = null;
    this.about = null;
    this.effects = null;
    this.firmness.stop();
    this.promise.forget();
    this.reminder.forget();
    tellNothing();
    at("who").textContent = capital(nameOf(state));
    at("people-chosen").textContent = nameOf(state);
    for (const id of WIPED) at(id).replaceChildren();
    at("view").classList.remove("former");
    enable(["print", "json"], false);
    for (const id of ["answer-tabs", "edit", "keep", "force", "refusal"]) at(id).hidden = true;
  }

  /**
   * The decision before it is known.
   * @param {Page.State} state
   * @param {{score_text?: string|null}} [known]
   */
  wait(state, known) {
    at("decision").replaceChildren(waitingDecision(capital(nameOf(state)), known));
    if (!at("view").childElementCount) at("view").replaceChildren(skeleton());
  }

  /**
   * Show nobody, and say why.
   * @param {string} [words]
   */
  nobody(words) {
    at("who").textContent = words ? "Nobody is shown" : inRowWords("Choose a person");
    at("people-chosen").textContent = "";
    at("decision").replaceChildren(nobodyShown(words));
  }

  /** @param {boolean} busy */
  busy(busy) {
    at("updating").hidden = !busy;
    at("answer").classList.toggle("updating", busy);
    at("answer").setAttribute("aria-busy", String(busy));
  }

  /**
   * Draw one view, keeping the focus where it was.
   * @param {Reply.View} view
   * @param {Page.State} about
   * @param {{notice?: HTMLElement|null, later?: boolean, nPlans?: number}} [how] `later`: another answer is on its way,
   *   so that table and picture wait; `nPlans`: how many were asked for
   */
  draw(view, about, { notice = null, later = false, nPlans = 1 } = {}) {
    this.view = view;
    this.about = about;
    const key = document.activeElement?.getAttribute("data-key");
    at("who").textContent = capital(nameOf(about));
    at("people-chosen").textContent = nameOf(about);
    this.reminder.show(nameOf(about), view);
    at("cautions").replaceChildren(...cautionsOf(view));
    at("decision").replaceChildren(decisionOf(view, this.options));
    at("view").classList.remove("former");
    this.drawToday();
    at("view").replaceChildren(...(notice ? [notice] : []), ...answerOf(view, this.options));
    this.showButtons();
    this.firmness.about(view, about);
    this.promise.about(view, about, nPlans);
    tell(spoken(view));
    this.drawSteps(view, later);
    const focused = key ? document.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
    if (focused instanceof HTMLElement) focused.focus();
  }

  /**
   * What is known of an answer whose plan is still being worked out: the decision is the new one, and the plan on the
   * page is said to be the one before. It is not to be taken along.
   * @param {Reply.View} view
   * @param {Page.State} about
   */
  drawHalf(view, about) {
    this.reminder.show(nameOf(about), view, { half: true });
    at("decision").replaceChildren(decisionOf(view, { ...this.options, half: true }));
    at("view").classList.add("former");
    const headline = at("view").querySelector(".headline h2");
    if (headline) headline.textContent = "The plan before this change";
    this.firmness.stop();
    this.promise.hold();
    enable(TAKEN_ALONG, false);
  }

  showButtons() {
    at("answer-tabs").hidden = false;
    enable([...TAKEN_ALONG, "link"], true);
    for (const id of ["edit", "keep"]) at(id).hidden = false;
  }

  /**
   * Draw table and picture: at once where nothing else is under way, else once the hand rests.
   * @param {Reply.View} view
   * @param {boolean} later
   */
  drawSteps(view, later) {
    clearTimeout(this.drawing);
    const place = at("view").querySelector(".steps");
    const before = this.stepsHeight;
    const draw = () => {
      if (view !== this.view) return;
      drawFigures(view, at("view"), this.options);
      this.stepsHeight = place instanceof HTMLElement ? place.offsetHeight : 0;
    };
    if (!later) {
      draw();
      return;
    }
    if (place instanceof HTMLElement) styled(place, { "min-height": `${before}px` });
    this.drawing = setTimeout(() => (draw(), place instanceof HTMLElement && place.style.removeProperty("min-height")), RESTING);
  }

  /** What speaks for and against the person today, once both it and the answer have come. */
  drawToday() {
    const { effects, view } = this;
    if (!effects || !view || !this.about) return;
    if (at("today").childElementCount) return; // it is the same whatever is asked for
    at("today").replaceChildren(todayOf(effects, view, this.todayFold));
  }

  /**
   * The limits in force, and whether they go along to the next person.
   * @param {Page.State} state
   * @param {{always: boolean}} carried
   */
  drawForce(state, carried) {
    const force = forceOf(state, this.schema, this.change, {
      carries: carried.always,
      onStay: () => ((carried.always = false), this.drawForce(state, carried)),
    });
    at("force").replaceChildren(...force);
    at("force").hidden = !force.length;
  }

  /**
   * Where the answer is no, say what would help.
   * @param {Reply.View} view
   * @param {Page.State} state
   * @param {Reply.View|null} tried the answer with relaxing, which is tried before it is offered
   * @returns {boolean} whether there is anything to offer
   */
  offer(view, state, tried) {
    at("view").querySelector(".offers")?.remove();
    const offers = offersOf(view, state, this.schema, { change: this.change, tried });
    if (offers.length) at("view").querySelector(".headline")?.after(h("div", { class: "offers" }, offers));
    return offers.length > 0;
  }

  /**
   * Bring what is printed around the answer up to date.
   * @param {Page.State} state
   * @param {string} notes
   */
  dress(state, notes) {
    at("today").querySelector("details")?.setAttribute("open", "");
    const view = this.about ? this.view : null; // nothing of what is still asked about
    const given = { schema: this.schema, state: this.about ?? state, view, notes, promise: this.promise.kept() };
    dressReport(at("report-head"), at("report-foot"), given);
  }
}
