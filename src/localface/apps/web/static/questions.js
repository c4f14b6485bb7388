// The questions that the page puts to the service: one asker a kind, each told who gets its answers.
import { ask } from "./api.js";
import { Asker } from "./asking.js";

const nothing = () => {}; // the answer itself says what is wrong

/**
 * @typedef {object} Gets what takes the answers; each is about the person on the page
 * @property {(busy: boolean) => void} busy
 * @property {(answer: Reply.Recourse, about: Page.Asked) => boolean} quick whether it is shown
 * @property {(answer: Reply.Recourse, about: Page.Asked) => void} whole
 * @property {(error: import("./api.js").Refusal) => void} refusal
 * @property {(found: {record: Page.Values, score_text: string}) => void} record
 * @property {(busy: boolean) => void} waysBusy
 * @property {(answer: Reply.Recourse) => void} ways
 * @property {(words: string) => void} waysRefusal
 * @property {(busy: boolean) => void} checkBusy
 * @property {(answer: Reply.Check) => void} check
 * @property {(words: string) => void} checkRefusal
 * @property {(answer: Reply.Recourse) => void} tale
 * @property {(found: Reply.Effects) => void} effects
 * @property {(found: {scores: Reply.ScoreLine[]}) => void} whatIf
 * @property {(answer: Reply.Recourse, about: Page.State) => void} trial
 * @property {() => void} trialRefusal
 */

/**
 * @param {Gets} gets
 * @param {(about: Page.State) => boolean} isShown whether the page is about the person whom an answer is about
 */
export function questions(gets, isShown) {
  const recourse = (/** @type {Page.Body} */ body, /** @type {AbortSignal} */ signal) => ask("recourse", { body, signal });
  const posted = (/** @type {string} */ path) => (/** @type {Page.Body} */ body, /** @type {AbortSignal} */ signal) =>
    ask(path, { body, signal });
  const flights = { answer: false, whole: false };
  const busy = (/** @type {"answer"|"whole"} */ which) => (/** @type {boolean} */ now) => {
    flights[which] = now;
    gets.busy(flights.answer || flights.whole);
  };
  /** @type {Asker<Reply.Recourse, Page.Asked>} */
  const answer = new Asker(recourse, {
    onBusy: busy("answer"),
    onAnswer: (found, about) => isShown(about.state) && gets.quick(found, about),
    onRefusal: (error, about) => isShown(about.state) && gets.refusal(error),
  });
  /** @type {Asker<Reply.Recourse, Page.Asked>} what an answer that was cut short while something moved is made whole by */
  const whole = new Asker(recourse, {
    name: "whole",
    onBusy: busy("whole"),
    onAnswer: (found, about) => isShown(about.state) && gets.whole(found, about),
    onRefusal: (error, about) => isShown(about.state) && gets.refusal(error),
  });
  /** @type {Asker<{record: Page.Values, score_text: string}, Page.State>} */
  const records = new Asker((body, signal) => ask(`people/${body.id}`, { signal }), {
    name: "record",
    onBusy: nothing,
    onAnswer: (found, about) => isShown(about) && gets.record(found),
    onRefusal: nothing,
  });
  /** @type {Asker<Reply.Recourse, Page.State>} */
  const ways = new Asker(recourse, {
    name: "ways",
    onBusy: gets.waysBusy,
    onAnswer: (found, about) => isShown(about) && gets.ways(found),
    onRefusal: (error, about) => isShown(about) && gets.waysRefusal(error.message),
  });
  /** @type {Asker<Reply.Check, Page.State>} */
  const checks = new Asker(posted("check"), {
    name: "check",
    onBusy: gets.checkBusy,
    onAnswer: (found, about) => isShown(about) && gets.check(found),
    onRefusal: (error, about) => isShown(about) && gets.checkRefusal(error.message),
  });
  /** @type {Asker<Reply.Recourse, Page.State>} how a search went, for the map */
  const tales = new Asker(recourse, {
    name: "tale",
    onBusy: nothing,
    onAnswer: (found, about) => isShown(about) && gets.tale(found),
    onRefusal: nothing,
  });
  /** @type {Asker<Reply.Effects, Page.State>} */
  const effects = new Asker(posted("effects"), {
    name: "effects",
    onBusy: nothing,
    onAnswer: (found, about) => isShown(about) && gets.effects(found),
    onRefusal: nothing,
  });
  /** @type {Asker<{scores: Reply.ScoreLine[]}, Page.State>} */
  const whatIfs = new Asker(posted("scores"), {
    name: "scores",
    onBusy: nothing,
    onAnswer: (found, about) => isShown(about) && gets.whatIf(found),
    onRefusal: nothing,
  });
  /** @type {Asker<Reply.Recourse, Page.State>} whether relaxing opens a way */
  const trials = new Asker(recourse, {
    name: "trial",
    onBusy: nothing,
    onAnswer: (found, about) => gets.trial(found, about),
    onRefusal: () => gets.trialRefusal(),
  });
  const others = [whole, records, ways, checks, tales, effects, whatIfs, trials];
  return { answer, whole, records, ways, checks, tales, effects, whatIfs, trials, others };
}
