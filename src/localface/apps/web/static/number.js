// A field for a number beside a slider: typed values, taken when they are whole.
import { h } from "./dom.js";

/**
 * @param {{label: string, track: Page.Track, onValue: (position: number) => void}} given
 */
export function numberField({ label, track, onValue }) {
  const input = h("input", { type: "text", class: "typed", inputmode: "decimal", "aria-label": label, autocomplete: "off" });
  const take = () => {
    const text = input.value.trim().replace(/^([+-]?\d+),(\d+)$/, "$1.$2");
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) {
      input.setAttribute("aria-invalid", "true");
      return;
    }
    input.removeAttribute("aria-invalid");
    onValue(Math.min(track.max, Math.max(track.min, value)));
  };
  input.addEventListener("change", take);
  return {
    node: input,
    /** @param {string} text */
    set(text) {
      if (document.activeElement !== input) input.value = text;
      input.removeAttribute("aria-invalid");
    },
    /** @param {boolean} off */
    disable: (off) => (input.disabled = off),
  };
}
