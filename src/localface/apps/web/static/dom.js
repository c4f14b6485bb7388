// Builds elements: text always goes in as text, so that nothing from the data is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set([
  "value",
  "checked",
  "disabled",
  "hidden",
  "open",
  "selected",
  "htmlFor",
  "min",
  "max",
  "step",
]);

/**
 * Make an HTML element: `h("p", {class: "note"}, "words", otherElement)`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Page.Attributes} [given] attributes; `onclick` and its like take functions
 * @param {...Page.Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, given = {}, ...children) {
  return filled(document.createElement(tag), given, children);
}

/**
 * Make an SVG element, the same way.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Page.Attributes} [given]
 * @param {...Page.Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

/**
 * @template {HTMLElement|SVGElement} Made
 * @param {Made} element
 * @param {Page.Attributes} given
 * @param {Page.Child[]} children
 * @returns {Made}
 */
function filled(element, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name) && element.namespaceURI !== SVG) Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of flattened(children)) element.append(child);
  return element;
}

/**
 * Children without their nesting, and without those that are not there.
 * @param {Page.Child[]} children
 * @returns {Array<Node|string>}
 */
function flattened(children) {
  return children.flatMap((one) => {
    if (Array.isArray(one)) return flattened(one);
    if (one instanceof Node) return [one];
    return one || one === 0 ? [String(one)] : [];
  });
}

/**
 * The elements of a list that has gaps.
 * @param {Array<HTMLElement|null|undefined|false|"">} elements
 * @returns {HTMLElement[]}
 */
export function present(elements) {
  return elements.filter((one) => one instanceof HTMLElement);
}

/**
 * Set custom properties of an element's style; style attributes are forbidden here, this is not.
 * @template {HTMLElement|SVGElement} Made
 * @param {Made} element
 * @param {Record<string, string|number>} properties
 * @returns {Made}
 */
export function styled(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
  return element;
}

/**
 * How a feature is called before people.
 * @param {{name: string, text?: string}|undefined} feature
 */
export function called(feature) {
  return feature?.text || feature?.name || "";
}

/**
 * Whether a feature stays a person's own: no action changes it.
 * @param {Reply.Feature} feature
 */
export function isOwn(feature) {
  return feature.moves === "never" || feature.moves === "grows";
}

/**
 * A capital at the start.
 * @param {string} words
 */
export function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * A capital at the start and a full stop at the end.
 * @param {string} words
 */
export function sentence(words) {
  const trimmed = capital(words.trim());
  return !trimmed || /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/**
 * A count with its noun: `counted(1, "action")`.
 * @param {number} n
 * @param {string} noun
 */
export function counted(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

let rowWords = { one: "person", many: "people" };

/**
 * Take over what rows are called, where they are no people.
 * @param {{one: string, many: string}|undefined} words
 */
export function callRows(words) {
  rowWords = words ?? { one: "person", many: "people" };
}

/**
 * Words of the page's own (never of the data) that speak of people, in the words for what rows are.
 * @param {string} words
 */
export function inRowWords(words) {
  if (rowWords.one === "person") return words;
  return words
    .replace(/\bpeople\b/g, rowWords.many)
    .replace(/\bPeople\b/g, capital(rowWords.many))
    .replace(/\bperson\b/g, rowWords.one)
    .replace(/\bPerson\b/g, capital(rowWords.one));
}
