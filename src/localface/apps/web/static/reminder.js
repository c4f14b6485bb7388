// The line that stays in sight once the decision has scrolled away: whose page this is, and what was decided.
import { capital, h } from "./dom.js";
import { verdictOf } from "./view.js";

/**
 * @param {HTMLElement} place which is hidden from screen readers: all of it is said in the decision
 * @param {HTMLElement} decision
 */
export function reminderLine(place, decision) {
  const line = h("div", {});
  place.replaceChildren(line);
  const watcher = new IntersectionObserver(([entry]) => {
    const above = entry.boundingClientRect.bottom <= 0;
    place.classList.toggle("needed", !entry.isIntersecting && above);
  });
  watcher.observe(decision);
  return {
    /**
     * @param {string} name
     * @param {Reply.View} view
     * @param {{half?: boolean}} [how] `half`: what comes of it is still being worked out
     */
    show(name, view, { half = false } = {}) {
      const then = view.status === "FOUND" && !half ? ` → ${view.score.end_text}` : "";
      const verdict = half ? "working it out" : verdictOf(view);
      line.replaceChildren(
        h("strong", {}, capital(name)),
        h("span", {}, `score ${view.score.now_text}${then}`),
        h("span", { class: "quiet" }, `${view.score.wanted_text}: ${verdict}`),
      );
      place.hidden = false;
    },
    /** Nothing of the person before stays. */
    forget() {
      line.replaceChildren();
      place.hidden = true;
    },
  };
}
