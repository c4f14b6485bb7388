// The page's own elements: found by their ids, pressed or not, and what is said for a moment or to screen readers.

const SAID = 4000; // milliseconds that a passing word stands
const SETTLED = 350; // milliseconds without a change before screen readers are told

/**
 * The element of the page with this id.
 * @param {string} id
 */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Let some buttons be pressed, or not.
 * @param {string[]} ids
 * @param {boolean} enabled
 */
export function enable(ids, enabled) {
  for (const id of ids) at(id).toggleAttribute("disabled", !enabled);
}

let saying = 0;

/**
 * Say something for a moment.
 * @param {string} words
 */
export function say(words) {
  at("toast").textContent = words;
  at("toast").hidden = false;
  clearTimeout(saying);
  saying = setTimeout(() => (at("toast").hidden = true), SAID);
}

let telling = 0;

/**
 * Tell those who do not see the page, once nothing has changed for a moment.
 * @param {string} words
 */
export function tell(words) {
  clearTimeout(telling);
  telling = setTimeout(() => (at("live").textContent = words), SETTLED);
}

/** Tell nobody of what is on the page no more. */
export function tellNothing() {
  clearTimeout(telling);
  at("live").replaceChildren();
}
