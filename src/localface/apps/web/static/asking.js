// Asks again on every change, and never shows an older answer after a newer one.
import { Refusal } from "./api.js";

const PATIENCE = 1000; // milliseconds after which a request gives way to a newer one
const MEASURES = ["localface:answer", "localface:frame"]; // see the browser's performance tools
const MEASURED = 1000; // questions after which the measures so far are forgotten

/**
 * One question in flight at a time; of those that wait, only the newest is asked. So answers keep coming while
 * a slider is dragged, each for a later place than the one before, and the last is for where the slider was left.
 */
export class Asker {
  /**
   * @param {(body: any, signal: AbortSignal) => Promise<any>} send
   * @param {{onBusy: (busy: boolean) => void, onAnswer: (answer: any, about: any) => void, onRefusal: (error: Error) => void}} then
   */
  constructor(send, then) {
    Object.assign(this, { send, then, asked: 0, shown: 0, flying: null, waiting: null, begun: new Map() });
  }

  /**
   * Ask; `fresh` gives up whatever is in flight, for it is about someone else. `about` comes back with the answer.
   * @param {any} body
   * @param {{fresh?: boolean, about?: any}} [options]
   */
  ask(body, { fresh = false, about = null } = {}) {
    const number = ++this.asked;
    this.begun.set(number, performance.now());
    this.waiting = { body, number, about };
    this.then.onBusy(true);
    const late = this.flying && performance.now() - this.flying.since > PATIENCE;
    if (this.flying && (fresh || late)) this.flying.control.abort();
    if (!this.flying || fresh || late) this.next();
  }

  /** Forget what is in flight or waiting. */
  stop() {
    this.flying?.control.abort();
    Object.assign(this, { flying: null, waiting: null, shown: this.asked });
    this.begun.clear();
    this.then.onBusy(false);
  }

  async next() {
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
      this.settle(number, () => this.then.onRefusal(error));
    } finally {
      if (this.flying === flight) {
        this.flying = null;
        if (this.waiting) this.next();
      }
    }
  }

  /** Show what came, unless something newer is on the page already. */
  settle(number, show) {
    if (number <= this.shown) return;
    this.shown = number;
    show();
    this.then.onBusy(number < this.asked);
    this.measure(number);
  }

  /** How long every change up to this one waited until its answer stood on the page, and until the next frame. */
  measure(number) {
    const done = performance.now();
    const starts = [...this.begun].filter(([earlier]) => earlier <= number);
    for (const [earlier] of starts) this.begun.delete(earlier);
    if (number % MEASURED === 0) for (const name of MEASURES) performance.clearMeasures(name);
    for (const [, start] of starts) performance.measure(MEASURES[0], { start, end: done });
    requestAnimationFrame((frame) => {
      for (const [, start] of starts) performance.measure(MEASURES[1], { start, end: Math.max(frame, done) });
    });
  }
}
