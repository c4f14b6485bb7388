// Light or dark: as the system says, until somebody says otherwise.

const KEY = "localface-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/**
 * Let a button switch between light and dark.
 * @param {HTMLElement} button
 * @param {() => void} [onChange]
 */
export function themeButton(button, onChange) {
  const current = () => localStorage.getItem(KEY) ?? (dark.matches ? "dark" : "light");
  const apply = () => {
    document.documentElement.dataset.theme = current();
    button.setAttribute("aria-pressed", String(current() === "dark"));
    onChange?.();
  };
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
