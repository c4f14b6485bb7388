// Tabs that arrow keys walk through.

/**
 * @param {HTMLElement} list an element with role="tablist"
 * @param {(name: string) => void} [onShow]
 */
export function tabs(list, onShow) {
  const all = [...list.querySelectorAll("button")].filter((one) => one.role === "tab");
  const panelOf = (/** @type {HTMLElement} */ tab) => document.getElementById(tab.getAttribute("aria-controls") ?? "");
  const shown = () => all.filter((one) => !one.hidden);
  const show = (/** @type {HTMLElement|undefined} */ tab) => {
    if (!tab) return;
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      panelOf(one)?.toggleAttribute("hidden", one !== tab);
    }
    onShow?.(tab.dataset.name ?? "");
  };
  list.addEventListener("click", (event) => {
    show(all.find((one) => event.target instanceof Node && one.contains(event.target)));
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const open = shown();
    const current = open.findIndex((one) => one === document.activeElement);
    const next = open[(current + step + open.length) % open.length];
    event.preventDefault();
    next.focus();
    show(next);
  });
  return {
    /** @param {string} name */
    show: (name) => show(all.find((one) => one.dataset.name === name)),
    current: () => all.find((one) => one.getAttribute("aria-selected") === "true")?.dataset.name,
  };
}
