// Asks again on every change, and never shows an older answer after a newer one.
import { Refusal } from "./api.js";

const PATIENCE = 1000; // milliseconds after which a request gives way to a newer one
const MEASURED = 1000; // questions after which the measures so far are forgotten

/**
 * @template Answer, About
 * @typedef {object} Receivers
 * @property {(busy: boolean) => void} onBusy
 * @property {(answer: Answer, about: About) => unknown} onAnswer false where nothing of it is shown
 * @property {(error: Refusal, about: About) => void} onRefusal
 * @property {string} [name] by which its delays are measured: see the browser's performance tools
 */

/**
 * One question in flight at a time; of those that wait, only the newest is asked. So answers keep coming while
 * a slider is dragged, each for a later place than the one before, and the last is for where the slider was left.
 * @template Answer what comes back
 * @template [About=null] what a question is about, given back with its answer
 */
export class Asker {
  /**
   * @param {(body: Page.Body, signal: AbortSignal) => Promise<Answer>} send
   * @param {Receivers<Answer, About>} then
   */
  constructor(send, then) {
    this.send = send;
    this.then = then;
    const { name = "answer" } = then;
    this.measures = [`localface:${name}`, `localface:${name}-on-screen`];
    this.asked = 0;
    this.shown = 0;
    /** @type {{control: AbortController, since: number}|null} */
    this.flying = null;
    /** @type {{body: Page.Body, number: number, about: About}|null} */
    this.waiting = null;
    /** @type {Map<number, number>} when each question was put */
    this.begun = new Map();
  }

  /**
   * Ask; `fresh` gives up whatever is in flight, for it is about someone else. `about` comes back with the answer.
   * @param {Page.Body} body
   * @param {About} about
   * @param {{fresh?: boolean}} [options]
   */
  ask(body, about, { fresh = false } = {}) {
    const number = ++this.asked;
    this.begun.set(number, performance.now());
    this.waiting = { body, number, about };
    this.then.onBusy(true);
    const late = this.flying !== null && performance.now() - this.flying.since > PATIENCE;
    if (this.flying && (fresh || late)) this.flying.control.abort();
    if (!this.flying || fresh || late) this.next();
  }

  /** Forget what is in flight or waiting. */
  stop() {
    this.flying?.control.abort();
    this.flying = null;
    this.waiting = null;
    this.shown = this.asked;
    this.begun.clear();
    this.then.onBusy(false);
  }

  async next() {
    if (!this.waiting) return;
    const { body, number, about } = this.waiting;
    this.waiting = null;
    const flight = { control: new AbortController(), since: performance.now() };
    this.flying = flight;
    try {
      const answer = await this.send(body, flight.control.signal);
      if (!flight.control.signal.aborted) this.settle(number, () => this.then.onAnswer(answer, about));
    } catch (error) {
      if (flight.control.signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      this.settle(number, () => this.then.onRefusal(error, about));
    } finally {
      if (this.flying === flight) {
        this.flying = null;
        if (this.waiting) this.next();
      }
    }
  }

  /**
   * Show what came, unless something newer is on the page already.
   * @param {number} number
   * @param {() => unknown} show false where nothing is shown: whoever asked goes on waiting
   */
  settle(number, show) {
    if (number <= this.shown) return;
    this.shown = number;
    const painted = show() !== false;
    this.then.onBusy(number < this.asked);
    if (painted) this.measure(number);
  }

  /**
   * How long every change up to this one waited until its answer stood on the page, and until the next frame.
   * @param {number} [number]
   */
  measure(number = this.shown) {
    const done = performance.now();
    const starts = [...this.begun].filter(([earlier]) => earlier <= number);
    for (const [earlier] of starts) this.begun.delete(earlier);
    if (number % MEASURED === 0) for (const name of this.measures) performance.clearMeasures(name);
    for (const [, start] of starts) performance.measure(this.measures[0], { start, end: done });
    requestAnimationFrame((frame) => {
      for (const [, start] of starts) performance.measure(this.measures[1], { start, end: Math.max(frame, done) });
    });
  }
}
