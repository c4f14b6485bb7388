// The three stages of the search on a map, played one after the other: explore, exploit, enhance.
import { h, svg } from "./dom.js";

/** @typedef {"explore"|"exploit"|"enhance"} Stage */

/** @type {Stage[]} */
const ORDER = ["explore", "exploit", "enhance"];
const STAGES = {
  explore: "Explore: from neighbour to neighbour towards better scores, until somebody reaches the target (dashed)",
  exploit: "Exploit: more people are looked at around the way that was found, and for values to take over (small)",
  enhance: "Enhance: the best way through everyone seen, every step over common ground",
};
const PACE = { explore: 2600, exploit: 1400, enhance: 1400 }; // milliseconds

/**
 * @param {SVGGElement} group where to draw
 * @param {Page.Frame} frame
 */
export function stagePlayer(group, frame) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const label = h("output", { class: "stage-label small" });
  const scrub = h("input", {
    type: "range",
    min: 0,
    max: 300,
    step: 1,
    value: 300,
    "aria-label": "Place in the search",
  });
  const play = h("button", { type: "button", class: "plain", "data-key": "play" }, "Play");
  const back = h("button", { type: "button", class: "plain", "aria-label": "One stage back" }, "‹");
  const next = h("button", { type: "button", class: "plain", "aria-label": "One stage on" }, "›");
  const node = h(
    "div",
    { class: "player", role: "group", "aria-label": "The search, stage by stage" },
    play,
    back,
    next,
    scrub,
    label,
  );
  /** @type {ReturnType<typeof drawn>|null} */
  let drawing = null;
  let running = 0;

  const go = (/** @type {number} */ place) => {
    scrub.value = String(place);
    const stage = drawing?.to(place);
    label.textContent = stage ? STAGES[stage] : "";
    scrub.setAttribute("aria-valuetext", label.textContent);
  };
  const halt = () => {
    cancelAnimationFrame(running);
    running = 0;
    play.textContent = "Play";
  };
  const run = () => {
    const start = Number(scrub.value) >= 300 ? 0 : Number(scrub.value);
    if (still.matches) {
      go(Math.min(300, (Math.floor(start / 100) + 1) * 100));
      return;
    }
    play.textContent = "Pause";
    let place = start;
    let before = performance.now();
    const tick = (/** @type {number} */ now) => {
      const stage = ORDER[Math.min(2, Math.floor(place / 100))];
      place += (100 * (now - before)) / PACE[stage];
      before = now;
      go(Math.min(300, place));
      running = place < 300 ? requestAnimationFrame(tick) : 0;
      if (!running) halt();
    };
    running = requestAnimationFrame(tick);
  };
  play.addEventListener("click", () => (running ? halt() : run()));
  back.addEventListener("click", () => (halt(), go(Math.max(0, (Math.ceil(Number(scrub.value) / 100) - 1) * 100))));
  next.addEventListener("click", () => (halt(), go(Math.min(300, (Math.floor(Number(scrub.value) / 100) + 1) * 100))));
  scrub.addEventListener("input", () => (halt(), go(Number(scrub.value))));
  return {
    node,
    forget() {
      halt();
      drawing = null;
      group.replaceChildren();
      label.textContent = "";
    },
    /**
     * @param {Reply.Recourse} answer
     * @param {string[]} names of the two features
     */
    show(answer, names) {
      halt();
      drawing = drawn(group, frame, answer, names);
      go(300);
    },
  };
}

/**
 * Lay out every mark once; `to(place)` shows those that the search has come to: 100 a stage.
 * @param {SVGGElement} group
 * @param {Page.Frame} frame
 * @param {Reply.Recourse} answer
 * @param {string[]} names
 */
function drawn(group, frame, answer, names) {
  const { view, stages } = answer;
  const values = (/** @type {Reply.State} */ state) => names.map((name) => Number(state.record[name]));
  const fine = view.path.map((state) => frame.at(values(state)));
  const fineWay = frame.way(view.path.map(values));
  const trail = frame.way(stages?.trail ?? []);
  const seenFor = (/** @type {"explore"|"actions"|"exploit"} */ purpose) =>
    (stages?.[purpose] ?? []).map((row) => seenDot(frame.at(row), purpose));
  const dots = [seenFor("explore"), [...seenFor("actions"), ...seenFor("exploit")]];
  const start = fine[0] ?? frame.at(values(view.states[0]));
  const roughLine = svg("polyline", { class: "rough" });
  const fineLine = svg("polyline", { class: "fine" });
  const stops = fine.slice(1).map(([cx, cy]) => svg("circle", { class: "stop", cx, cy, r: 4 }));
  const here = svg("circle", { class: "here", cx: start[0], cy: start[1], r: 6 });
  group.replaceChildren(...dots.flat(), roughLine, fineLine, ...stops, here);
  return {
    /**
     * @param {number} place
     * @returns {Stage}
     */
    to(place) {
      const share = (/** @type {number} */ stage) => Math.max(0, Math.min(1, place / 100 - stage));
      dots.forEach((some, stage) => some.forEach((one, i) => shown(one, i < share(stage) * some.length)));
      roughLine.setAttribute("points", partOf(trail, share(0)));
      roughLine.classList.toggle("past", place > 200);
      fineLine.setAttribute("points", partOf(fineWay, share(2)));
      stops.forEach((one, i) => shown(one, share(2) * (fine.length - 1) >= i + 1 - 1e-9));
      return ORDER[Math.min(2, Math.max(0, Math.ceil(place / 100) - 1))];
    },
  };
}

/**
 * @param {Page.Point} point
 * @param {string} purpose
 */
function seenDot([cx, cy], purpose) {
  return svg("circle", { class: `seen ${purpose}`, cx, cy, r: purpose === "explore" ? 3.4 : 2.6 });
}

/**
 * @param {SVGElement} mark
 * @param {boolean} yes
 */
function shown(mark, yes) {
  mark.setAttribute("visibility", yes ? "visible" : "hidden");
}

/**
 * The first part of a line, by its number of pieces.
 * @param {Page.Point[]} points
 * @param {number} share
 */
function partOf(points, share) {
  if (points.length < 2 || share <= 0) return "";
  const far = share * (points.length - 1);
  const whole = points.slice(0, Math.floor(far) + 1);
  const [a, b] = [points[Math.floor(far)], points[Math.min(points.length - 1, Math.floor(far) + 1)]];
  const last = [a[0] + (far % 1) * (b[0] - a[0]), a[1] + (far % 1) * (b[1] - a[1])];
  return [...whole, last].map((one) => one.map((value) => value.toFixed(1)).join(",")).join(" ");
}
