// The map of data with two features: rows, score, floor, and the way through them.
import { contour } from "./contour.js";
import { bent } from "./curve.js";
import { h, inRowWords, svg } from "./dom.js";
import { stagePlayer } from "./stages.js";

const WIDE = 640;

/**
 * @param {HTMLElement} place
 * @param {{map: Reply.Map, schema: Reply.Schema, onPlace: (record: Record<string, number>) => void}} given
 */
export function mapPane(place, { map, schema, onPlace }) {
  const frame = frameOf(map);
  const canvas = h("canvas", { width: 2 * frame.width, height: 2 * frame.height, "aria-hidden": "true" });
  const layer = svg("svg", {
    viewBox: `0 0 ${frame.width} ${frame.height}`,
    role: "img",
    "aria-label": altOf(map, schema),
  });
  const floor = svg("path", { class: "floor-line" });
  const way = svg("g", {});
  layer.append(floor, way);
  const player = stagePlayer(way, frame);
  const stack = h("div", { class: "map-stack" }, canvas, layer);
  place.replaceChildren(h("figure", { class: "map" }, stack, player.node, legend(schema)));
  layer.addEventListener("click", (event) => {
    const box = layer.getBoundingClientRect();
    const [x, y] = frame.back(
      ((event.clientX - box.left) / box.width) * frame.width,
      ((event.clientY - box.top) / box.height) * frame.height,
    );
    onPlace({ [map.x]: rounded(x, frame.step[0]), [map.y]: rounded(y, frame.step[1]) });
  });
  const paint = () => drawGround(canvas, map, frame);
  requestAnimationFrame(paint);
  return {
    paint,
    /** Nothing of the person before stays. */
    forget: () => player.forget(),
    /**
     * Draw the way of an answer.
     * @param {Reply.Recourse} answer
     * @param {number} minDensity
     */
    show(answer, minDensity) {
      const lines = map.grid?.density ? contour(map.grid, map.grid.density, minDensity) : [];
      floor.setAttribute("d", lines.map(([a, b]) => `M${frame.at(a).join(",")}L${frame.at(b).join(",")}`).join(""));
      player.show(answer, [map.x, map.y]);
    },
  };
}

/**
 * @param {Reply.Map} map
 * @param {Reply.Schema} schema
 */
function altOf(map, schema) {
  const drawn = `Map of ${map.rows.length} ${inRowWords("people")} by ${map.x} and ${map.y}, coloured by score`;
  return `${drawn}, with the way to ${schema.target.sentence}. The table has the same in numbers.`;
}

/**
 * From the units of the data to the paper and back.
 * @param {Reply.Map} map
 * @returns {Page.Frame}
 */
function frameOf(map) {
  const xs = map.grid?.x ?? map.rows.map((row) => row[0]);
  const ys = map.grid?.y ?? map.rows.map((row) => row[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(WIDE / (right - left || 1), (0.75 * WIDE) / (high - low || 1));
  const width = Math.round(scale * (right - left));
  const height = Math.round(scale * (high - low));
  /** @type {Page.Frame["at"]} */
  const at = ([x, y]) => [tenths((x - left) * scale), tenths(height - (y - low) * scale)];
  return {
    width,
    height,
    step: [(right - left) / 1000, (high - low) / 1000],
    names: [map.x, map.y],
    at,
    way: (points) => bent(points, map.straight).map(at),
    back: (x, y) => [left + x / scale, low + (height - y) / scale],
  };
}

/** @param {number} value */
function tenths(value) {
  return Number(value.toFixed(1));
}

/**
 * @param {number} value
 * @param {number} step
 */
function rounded(value, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  return Number(value.toFixed(digits));
}

/**
 * Paint the score as a field and the people on it, in the colours of the theme.
 * @param {HTMLCanvasElement} canvas
 * @param {Reply.Map} map
 * @param {Page.Frame} frame
 */
function drawGround(canvas, map, frame) {
  const pen = penOf(canvas);
  const look = getComputedStyle(canvas);
  const ramp = ["--away-2", "--away-1", "--between", "--there-1", "--there-2"].map((name) =>
    rgb(look.getPropertyValue(name)),
  );
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (map.grid) {
    const small = fieldImage(map.grid, ramp);
    pen.imageSmoothingEnabled = true;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  }
  pen.fillStyle = look.getPropertyValue("--dot").trim();
  for (const row of map.rows) {
    const [x, y] = frame.at(row);
    pen.beginPath();
    pen.arc(2 * x, 2 * y, 3, 0, 2 * Math.PI);
    pen.fill();
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser does not draw on a canvas");
  return pen;
}

/**
 * @param {Reply.Grid} grid
 * @param {number[][]} ramp
 */
function fieldImage(grid, ramp) {
  const canvas = h("canvas", { width: grid.x.length, height: grid.y.length });
  const pen = penOf(canvas);
  const image = pen.createImageData(grid.x.length, grid.y.length);
  for (let j = 0; j < grid.y.length; j += 1) {
    for (let i = 0; i < grid.x.length; i += 1) {
      const colour = mixed(ramp, grid.score[grid.y.length - 1 - j][i]);
      image.data.set([...colour, 255], 4 * (j * grid.x.length + i));
    }
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

/**
 * @param {number[][]} ramp
 * @param {number} share
 */
function mixed(ramp, share) {
  const place = Math.max(0, Math.min(0.9999, share)) * (ramp.length - 1);
  const [low, rest] = [Math.floor(place), place % 1];
  return ramp[low].map((one, k) => Math.round(one + rest * (ramp[low + 1][k] - one)));
}

/**
 * @param {string} hex
 */
function rgb(hex) {
  const digits = hex.trim().slice(1);
  return [0, 2, 4].map((from) => parseInt(digits.slice(from, from + 2), 16));
}

/**
 * @param {Reply.Schema} schema
 */
function legend(schema) {
  const ramp = h("span", { class: "ramp", "aria-hidden": "true" });
  const outline = "dashed outline: the floor, outside it nobody is led";
  const words = `score, from low to high · ${outline} · wanted: ${schema.target.sentence}. `;
  return h("figcaption", { class: "quiet small" }, ramp, words, "Press on the map to ask about a place.");
}
