// A short tour for who is here for the first time: five places of the page, one sentence each.
import { h } from "./dom.js";

const KEY = "localface-tour";
const STOPS = [
  ["#people", "Choose somebody from the list, or enter a record. The list begins with people just below the mark."],
  ["#decision", "The decision: the score today, the score that is wanted (the mark), and how usual this person is."],
  ["#answer-tabs", "The plan, other plans side by side, and a place to try values of your own."],
  ["#constraints", "Say what may change, and how far. Every change is answered at once."],
  [".tools", "Print, save or share. Nothing leaves this machine unless you take it along."],
];

/**
 * An invitation, until it was taken or declined once.
 * @returns {HTMLElement|null}
 */
export function tourInvitation() {
  if (localStorage.getItem(KEY)) return null;
  const done = () => (localStorage.setItem(KEY, "seen"), invitation.remove());
  const invitation = h(
    "div",
    { class: "invitation" },
    h("span", {}, "First time here?"),
    h("button", { type: "button", class: "plain", onclick: () => (done(), startTour()) }, "Show me around"),
    h("button", { type: "button", class: "plain", onclick: done }, "No, thank you"),
  );
  return invitation;
}

/** Walk through the places; Escape or the last step ends it. */
export function startTour() {
  let place = 0;
  const words = h("p", {});
  const next = h("button", { type: "button", class: "main-button" }, "Next");
  const end = h("button", { type: "button", class: "plain" }, "Close");
  const card = h(
    "div",
    { class: "tour", role: "dialog", "aria-label": "A short tour" },
    words,
    h("div", { class: "row" }, next, end),
  );
  const before = document.activeElement;
  const light = (/** @type {number} */ at) => {
    document.querySelector(".lit")?.classList.remove("lit");
    const stops = STOPS.filter(([selector]) => document.querySelector(selector)?.checkVisibility());
    if (at >= stops.length) return finish();
    const shown = document.querySelector(stops[at][0]);
    shown?.classList.add("lit");
    shown?.scrollIntoView({ block: "nearest" });
    words.textContent = `${at + 1} of ${stops.length}: ${stops[at][1]}`;
    next.textContent = at === stops.length - 1 ? "Done" : "Next";
  };
  const finish = () => {
    document.querySelector(".lit")?.classList.remove("lit");
    document.removeEventListener("keydown", escape);
    card.remove();
    if (before instanceof HTMLElement) before.focus();
  };
  const escape = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && finish();
  next.addEventListener("click", () => light(++place));
  end.addEventListener("click", finish);
  document.addEventListener("keydown", escape);
  document.body.append(card);
  light(0);
  next.focus();
}
