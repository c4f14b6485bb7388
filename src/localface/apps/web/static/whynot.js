// "Why not this?": wished values by slider, and what refuses them.
import { called, counted, h } from "./dom.js";
import { trackOf, wishSlider } from "./slider.js";

/**
 * @param {HTMLElement} place
 * @param {{schema: any, onWish: (wish: Record<string, any>) => void}} given
 */
export function whyNotPane(place, { schema, onWish }) {
  const verdict = h("div", { class: "check", role: "status" });
  const find = h("input", {
    type: "search",
    id: "wish-search",
    placeholder: "name of a feature",
    autocomplete: "off",
    spellcheck: "false",
  });
  const reset = h("button", { type: "button", class: "plain", onclick: () => give({}) }, "Wish for nothing");
  const list = h("ul", { class: "wishes" });
  place.replaceChildren(
    h("div", { class: "bar" }, h("h2", {}, "Why not this?"), reset),
    h(
      "p",
      { class: "quiet" },
      "Move a value to where you wish it were: what refuses it is said here, and the least that would open it.",
    ),
    verdict,
    h("div", { class: "field" }, h("label", { htmlFor: find.id }, "Find a feature"), find),
    list,
  );
  let wish = {};
  let rows = [];
  let whose = null;
  const idle = () => verdict.replaceChildren(h("p", { class: "quiet" }, "Nothing is wished for yet."));
  const give = (next) => {
    wish = next;
    for (const row of rows) row.sync(wish);
    onWish(wish);
  };
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of rows) row.node.hidden = wanted !== "" && !row.words.includes(wanted);
  });
  return {
    /** Build the sliders for a person, with what is wished for them. */
    sync(person, start) {
      if (!person || JSON.stringify(person) === whose) return;
      wish = start;
      whose = JSON.stringify(person);
      rows = schema.features.map((one) =>
        wishRow(one, person[one.name], (value) => give(wished(wish, one.name, value, person[one.name]))),
      );
      list.replaceChildren(...rows.map((one) => one.node));
      for (const row of rows) row.sync(wish);
      if (!Object.keys(wish).length) idle();
    },
    idle,
    show: (found) => verdict.replaceChildren(...told(found)),
    refuse: (message) => verdict.replaceChildren(h("p", { class: "verdict-line no" }, message)),
    busy: (busy) => verdict.classList.toggle("updating", busy),
  };
}

function wished(wish, name, value, own) {
  const next = { ...wish, [name]: value };
  if (value === own) delete next[name];
  return next;
}

function wishRow(feature, own, give) {
  const track = trackOf({ ...feature, within: null, moves: "freely" }, own);
  const label = called(feature);
  const value = h("span", { class: "wish-value" });
  const slider = wishSlider({
    track,
    label: `Wished ${label}`,
    unit: feature.unit,
    reference: feature.reference,
    value: own,
    onInput: give,
  });
  const head = h("div", { class: "limit-head" }, h("span", { class: "name", title: feature.name }, label), value);
  const node = h("li", { class: "limit", "data-feature": feature.name }, head, slider.node);
  const sync = (wish) => {
    const moved = feature.name in wish;
    if (!moved) slider.set(own);
    else if (track.place(wish[feature.name]) !== Number(slider.input.value)) slider.set(wish[feature.name]);
    const unit = feature.unit ? ` ${feature.unit}` : "";
    const from = track.show(track.own);
    value.textContent = moved ? `${from} → ${track.show(track.place(wish[feature.name]))}${unit}` : `${from}${unit}`;
    node.classList.toggle("moves", moved);
  };
  return { node, words: `${feature.name} ${label}`.toLowerCase(), sync };
}

function told(found) {
  const refused = found.refused_by ? found.refused_by.length > 0 : !found.reachable;
  const badge = h("span", { class: "badge" }, refused ? "Refused" : "Nothing refuses it");
  const facts = found.score_text
    ? ` The score would be ${found.score_text}; ${found.density_text} than there.`
    : ` ${found.sentence}`;
  const steps = found.view?.actions?.length || (found.view?.path?.length ?? 1) - 1;
  return [
    h("p", { class: refused ? "verdict-line no" : "verdict-line yes" }, badge, facts),
    found.findings.length > 0 &&
      h(
        "ul",
        { class: "findings" },
        found.findings.map((one) => h("li", {}, one.text)),
      ),
    found.least &&
      h(
        "p",
        { class: "least" },
        h("strong", {}, "The least that would open it: "),
        found.least.replace(/^it opens if /, ""),
      ),
    !refused &&
      steps > 0 &&
      h("p", { class: "quiet" }, `${counted(steps, "step")} over common ground lead${steps === 1 ? "s" : ""} there.`),
  ].filter(Boolean);
}
