// Taking the answer along: a printed page, the JSON document, a link that restores the state.
import { called, h, inRowWords } from "./dom.js";
import { inForce, nameOf, written } from "./state.js";

const CAVEAT = "It shows which people the model scores differently, not what would happen if one were made to resemble another.";

/** Print the page; the print style sheet leaves the answer, its limits and the caveats. */
export function printReport() {
  window.print();
}

/**
 * Bring the head and the foot of the printed page up to date.
 * @param {HTMLElement} head
 * @param {HTMLElement} foot
 * @param {{schema: Reply.Schema, state: Page.State, view: Reply.View|null, notes: string, promise: string}} given
 */
export function dressReport(head, foot, { schema, state, view, notes, promise }) {
  const limits = inForce(state, schema.features).map((one) => one.text);
  const asked = [
    `score ${state.minScore ?? schema.target.min_score}`,
    `floor ${Number((100 * (state.minDensity ?? schema.min_density)).toFixed(2))} %`,
  ];
  const day = new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
  head.replaceChildren(
    h("p", { class: "report-title" }, `${schema.title}: ${nameOf(state)}`),
    h("p", {}, `${day} · asked with ${asked.join(", ")}`),
    h("p", {}, limits.length ? `Limits: ${limits.join("; ")}` : "Limits: none beyond those that hold for everybody"),
    h("p", {}, h("strong", {}, schema.note), " ", inRowWords(CAVEAT)),
  );
  const now = view?.states[0].text ?? {};
  const values = schema.features.map((one) => `${called(one)} ${now[one.name] ?? "–"}${one.unit ? ` ${one.unit}` : ""}`);
  foot.replaceChildren(
    ...(notes ? [h("p", {}, h("strong", {}, "Notes: "), notes)] : []),
    ...(view ? [h("p", {}, h("strong", {}, "The whole record: "), values.join("; "))] : []),
    ...(promise ? [h("p", {}, `Promise ${promise}`)] : []),
    h("p", {}, `Made with localface ${schema.version}; ${schema.rows.toLocaleString("en-GB")} rows.`),
  );
}

/**
 * Save the answer as the JSON document that `Recourse.from_json` reads.
 * @param {Reply.Document|null} found
 * @param {string} who
 */
export function saveDocument(found, who) {
  saveText(JSON.stringify(found, null, 2), `recourse-${who}`, "json");
}

/**
 * Save some text as a file.
 * @param {string} text
 * @param {string} name
 * @param {"json"|"csv"} ending
 */
export function saveText(text, name, ending) {
  const kind = { json: "application/json", csv: "text/csv" }[ending];
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = h("a", { href: address, download: `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.${ending}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * The address that brings everything back: what follows # stays in the browser.
 * @param {Page.State} state
 */
export function linkOf(state) {
  const address = new URL(location.href);
  address.hash = written(state);
  return address.href;
}

/**
 * Copy the link; where the clipboard is not to be had, it is shown to be copied by hand.
 * @param {Page.State} state
 * @param {(words: string) => void} say
 */
export async function copyLink(state, say) {
  const link = linkOf(state);
  try {
    await navigator.clipboard.writeText(link);
    say("The link is in the clipboard.");
  } catch {
    say("Copy the address of this page: it restores what you see.");
  }
  history.replaceState(null, "", link);
}
