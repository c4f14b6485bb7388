// Steps as the curves that they are in the units of the data: straight in another space.

const PIECES = 40; // lines that a step is drawn with

/**
 * The way through points, PIECES lines a step.
 * @param {readonly (readonly number[])[]} points
 * @param {Reply.StraightAxis[]} axes
 * @returns {number[][]}
 */
export function bent(points, axes) {
  if (points.length < 2) return points.map((one) => [...one]);
  const places = points.map((one) => one.map((value, k) => interpolated(value, axes[k].values, axes[k].at)));
  const way = [];
  for (let i = 0; i + 1 < points.length; i += 1) {
    way.push([...points[i]]);
    for (let piece = 1; piece < PIECES; piece += 1) {
      const t = piece / PIECES;
      const place = places[i].map((from, k) => from + t * (places[i + 1][k] - from));
      way.push(place.map((at, k) => interpolated(at, axes[k].at, axes[k].values)));
    }
  }
  return [...way, [...points[points.length - 1]]];
}

/**
 * The value of a rising line through knots, which goes on beyond them.
 * @param {number} x
 * @param {number[]} knots
 * @param {number[]} heights
 */
function interpolated(x, knots, heights) {
  let low = 0;
  let high = knots.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (knots[middle] <= x) low = middle;
    else high = middle;
  }
  const share = (x - knots[low]) / (knots[high] - knots[low] || 1);
  return heights[low] + share * (heights[high] - heights[low]);
}
