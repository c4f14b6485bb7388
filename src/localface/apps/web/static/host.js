// Light or dark as the notebook around a view is, and as the system is where there is no notebook.

/**
 * What the page around says: JupyterLab and VS Code mark their body; null where nothing is said.
 * @returns {"light"|"dark"|null}
 */
function hostTheme() {
  const { body } = document;
  const lab = body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false" ? "dark" : "light";
  const code = body.dataset.vscodeThemeKind ?? body.className;
  if (/vscode-(dark|high-contrast(?!-light))/.test(code)) return "dark";
  return /vscode-/.test(code) ? "light" : null;
}

/**
 * Let what is in an element be light or dark with the host, also when that changes.
 * @param {HTMLElement} element
 * @returns {() => void} ends it
 */
export function followHost(element) {
  const follow = () => {
    const theme = hostTheme();
    if (theme) element.dataset.theme = theme;
    else delete element.dataset.theme;
  };
  follow();
  const watcher = new MutationObserver(follow);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-vscode-theme-kind"] });
  return () => watcher.disconnect();
}
