// Which samples lie within an outline that was drawn by hand.

/** Samples inside the outline, ascending: a ray from each crosses it an odd number of times. */
export function samplesWithin(place: Float32Array, outline: [number, number][]): Int32Array {
  const [left, right] = ends(outline.map(([x]) => x));
  const [bottom, top] = ends(outline.map(([, y]) => y));
  const found: number[] = [];
  for (let i = 0; 2 * i < place.length; i++) {
    const [x, y] = [place[2 * i], place[2 * i + 1]];
    if (x < left || x > right || y < bottom || y > top) continue;
    let inside = false;
    for (let a = 0, b = outline.length - 1; a < outline.length; b = a++) {
      const [[ax, ay], [bx, by]] = [outline[a], outline[b]];
      if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) inside = !inside;
    }
    if (inside) found.push(i);
  }
  return Int32Array.from(found);
}

function ends(values: number[]): [number, number] {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
