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
 * @param {string} tag
 * @param {Record<string, any>} [given] attributes; `onclick` and its like take functions
 * @param {...(Node|string|number|null|undefined|false|Array<any>)} children
 * @returns {any}
 */
export function h(tag, given = {}, ...children) {
  return filled(document.createElement(tag), given, children);
}

/** Make an SVG element, the same way. */
export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

function filled(element, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name) && element.namespaceURI !== SVG) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children
      .flat(3)
      .filter((one) => one || one === 0)
      .map((one) => (one instanceof Node ? one : String(one))),
  );
  return element;
}

/** Set custom properties of an element's style; style attributes are forbidden here, this is not. */
export function styled(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
  return element;
}

/** How a feature is called before people. */
export function called(feature) {
  return feature?.text || feature?.name || "";
}

/** A count with its noun: `counted(1, "action")`. */
export function counted(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
