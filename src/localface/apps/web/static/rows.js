// A list of any length of which only the rows in sight are in the page; the others are fetched when they come in sight.
import { h, styled } from "./dom.js";

const SPARE = 12; // rows beyond those in sight, on either side
const AT_ONCE = 50; // rows that are fetched together

/**
 * @template Row
 * @param {{label: string, rowHeight: number, fetchRows: (offset: number, limit: number) => Promise<{total: number, rows: Row[]}|null>,
 *   draw: (row: Row) => HTMLElement}} given `fetchRows` gives null where what was asked for is no longer wanted
 */
export function longList({ label, rowHeight, fetchRows, draw }) {
  const list = h("ol", { class: "people", id: "people-list", "aria-label": label });
  const scroller = h("div", { class: "people-scroll" }, list);
  /** @type {Map<number, Row[]>} pages that are known */
  let pages = new Map();
  /** @type {Map<number, Promise<{total: number, rows: Row[]}|null>>} pages that are on their way */
  let coming = new Map();
  /** @type {Map<number, HTMLElement>} the rows in the page, by their place */
  const drawn = new Map();
  let total = 0;
  let edition = 0;

  /** @param {number} place */
  const rowAt = (place) => pages.get(Math.floor(place / AT_ONCE))?.[place % AT_ONCE];
  /** @param {number} page */
  const load = async (page) => {
    if (pages.has(page)) return;
    const sent = coming.get(page) ?? fetchRows(page * AT_ONCE, AT_ONCE);
    coming.set(page, sent);
    const mine = edition;
    const found = await sent;
    if (mine !== edition || pages.has(page)) return;
    coming.delete(page);
    if (!found) return;
    pages.set(page, found.rows);
    total = found.total;
    show();
  };
  const show = () => {
    const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - SPARE);
    const inSight = Math.ceil((scroller.clientHeight || 600) / rowHeight);
    const last = Math.min(total, first + inSight + 2 * SPARE);
    styled(list, { "--rows": String(total) });
    for (const [place, node] of drawn) {
      const focused = node.contains(document.activeElement);
      if ((place < first || place >= last) && !focused) (node.remove(), drawn.delete(place));
    }
    for (let place = first; place < last; place++) put(place);
    for (let page = Math.floor(first / AT_ONCE); page * AT_ONCE < last; page++) load(page);
  };
  /** @param {number} place */
  const put = (place) => {
    const row = rowAt(place);
    if (drawn.has(place) || !row) return;
    const node = h("li", { "aria-setsize": total, "aria-posinset": place + 1 }, draw(row));
    styled(node, { "--place": String(place) });
    drawn.set(place, node);
    const after = [...drawn.keys()].filter((one) => one > place).sort((one, other) => one - other)[0];
    list.insertBefore(node, after === undefined ? null : (drawn.get(after) ?? null));
  };
  scroller.addEventListener("scroll", show, { passive: true });
  new ResizeObserver(show).observe(scroller);
  return {
    node: scroller,
    list,
    /** Forget everything, and fetch the list anew from its beginning. */
    renew() {
      edition += 1;
      pages = new Map();
      coming = new Map();
      return load(0);
    },
    /** Take away what is shown; called once the first rows of another list have come. */
    clear() {
      for (const node of drawn.values()) node.remove();
      drawn.clear();
      total = 0;
      scroller.scrollTop = 0;
    },
    /**
     * Bring a place into sight; gives its row once it is in the page.
     * @param {number} place
     */
    async reach(place) {
      if (place < 0 || place >= total) return null;
      const top = place * rowHeight;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      const below = top + rowHeight - scroller.clientHeight;
      if (below > scroller.scrollTop) scroller.scrollTop = below;
      await load(Math.floor(place / AT_ONCE));
      show();
      return drawn.get(place) ?? null;
    },
  };
}
