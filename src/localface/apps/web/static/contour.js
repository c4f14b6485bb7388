// A level line through a field on a grid, by marching squares.

/** The corners of a cell, counted once around, and the edges that join them. */
const EDGES = [
  [0, 1],
  [1, 2],
  [2, 3],
  [3, 0],
];

/**
 * @param {{x: number[], y: number[]}} grid
 * @param {number[][]} field rows by y
 * @param {number} level
 * @returns {Array<[Page.Point, Page.Point]>} pieces of the line, in the units of the grid
 */
export function contour(grid, field, level) {
  /** @type {Array<[Page.Point, Page.Point]>} */
  const pieces = [];
  for (let j = 0; j + 1 < grid.y.length; j += 1) {
    for (let i = 0; i + 1 < grid.x.length; i += 1) {
      const corners = [
        [grid.x[i], grid.y[j], field[j][i]],
        [grid.x[i + 1], grid.y[j], field[j][i + 1]],
        [grid.x[i + 1], grid.y[j + 1], field[j + 1][i + 1]],
        [grid.x[i], grid.y[j + 1], field[j + 1][i]],
      ];
      const cut = EDGES.map(([a, b]) => crossing(corners[a], corners[b], level)).filter((one) => one !== null);
      for (let k = 0; k + 1 < cut.length; k += 2) pieces.push([cut[k], cut[k + 1]]);
    }
  }
  return pieces;
}

/**
 * @param {number[]} start x, y and the value there
 * @param {number[]} end likewise
 * @param {number} level
 * @returns {Page.Point|null}
 */
function crossing([ax, ay, a], [bx, by, b], level) {
  if (a < level === b < level) return null;
  const share = (level - a) / (b - a);
  return [ax + share * (bx - ax), ay + share * (by - ay)];
}
