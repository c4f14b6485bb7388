// Tabs that arrow keys walk through.

/**
 * @param {HTMLElement} list an element with role="tablist"
 * @param {(name: string) => void} onShow
 */
export function tabs(list, onShow) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const shown = () => all.filter((one) => !one.hidden);
  const show = (tab) => {
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      panelOf(one).hidden = one !== tab;
    }
    onShow?.(tab.dataset.name);
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) show(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const open = shown();
    const next = open[(open.indexOf(document.activeElement) + step + open.length) % open.length];
    event.preventDefault();
    next.focus();
    show(next);
  });
  return {
    show: (name) => show(all.find((one) => one.dataset.name === name)),
    current: () => all.find((one) => one.getAttribute("aria-selected") === "true").dataset.name,
  };
}
