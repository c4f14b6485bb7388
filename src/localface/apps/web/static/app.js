// Puts the page together: the schema first, then the workbench, the buttons around it, and what the address says.
import { ask, Refusal } from "./api.js";
import { callRows, h, inRowWords } from "./dom.js";
import { mapPane } from "./map.js";
import { at, say } from "./page.js";
import { copyLink, printReport, saveDocument } from "./report.js";
import { nameOf, someone } from "./state.js";
import { themeButton } from "./theme.js";
import { startTour, tourInvitation } from "./tour.js";
import { Workbench } from "./workbench.js";

/**
 * Say what the page is about.
 * @param {Workbench} bench
 */
function title({ schema, sources }) {
  at("people-title").textContent = inRowWords("Person");
  document.title = schema.title;
  at("title").textContent = schema.title;
  at("target").textContent = inRowWords(`${schema.rows.toLocaleString("en-GB")} people to learn from; nothing goes elsewhere`);
  at("caveat").textContent = inRowWords(at("caveat").textContent ?? "");
  if (schema.note) at("note").textContent = schema.note;
  if (!schema.people) {
    at("tab-data").hidden = true;
    sources.show("entry");
  }
}

/**
 * Answer to the buttons around the answer, and to the browser itself.
 * @param {Workbench} bench
 */
function listen(bench) {
  at("edit").addEventListener("click", () => bench.mending.editCopy());
  at("tour").addEventListener("click", startTour);
  at("keep").addEventListener("click", () => bench.screen.view && bench.several.add(bench.shown, bench.screen.view));
  at("print").addEventListener("click", printReport);
  at("json").addEventListener("click", () => saveDocument(bench.document, nameOf(bench.shown)));
  at("link").addEventListener("click", () => copyLink(bench.state, say));
  themeButton(at("theme"), () => requestAnimationFrame(() => bench.map?.paint()));
  addEventListener("hashchange", () => bench.turning.restore());
  addEventListener("popstate", () => bench.turning.restore());
  addEventListener("beforeprint", () => bench.dress());
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault(); // what follows # is the state
    at("answer").focus();
  });
  fit(bench);
}

/**
 * Fold what would push the plan off a narrow screen.
 * @param {Workbench} bench
 */
function fit(bench) {
  const narrow = matchMedia("(max-width: 60rem)");
  const fold = () => {
    at("constraints-fold").toggleAttribute("open", !narrow.matches); // a sheet at the foot
    bench.screen.todayFold.open = !narrow.matches;
  };
  narrow.addEventListener("change", fold);
  fold();
}

/** @param {Workbench} bench */
async function addMap(bench) {
  if (!bench.schema.plane) return;
  /** @type {Reply.Map} */
  const map = await ask("map");
  at("map").hidden = false;
  bench.map = mapPane(at("map"), {
    map,
    schema: bench.schema,
    onPlace: (record) => (bench.entry.fill(record), bench.turning.enter(record, { pasted: true })),
  });
}

async function begin() {
  try {
    const schema = await ask("schema");
    callRows(schema.each_row);
    const bench = new Workbench(schema);
    title(bench);
    listen(bench);
    await addMap(bench);
    bench.turning.restore();
    const invitation = tourInvitation();
    if (invitation && !someone(bench.state)) at("decision").after(invitation);
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    at("refusal").replaceChildren(h("p", { class: "notice" }, error.message));
    at("refusal").hidden = false;
  }
}

begin();
