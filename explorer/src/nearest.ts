// The sample nearest to a place, from a grid of cells over the window that nearly all samples lie in.

export class NearestGrid {
  private readonly side: number;
  private readonly starts: Int32Array;
  private readonly members: Int32Array;

  constructor(private readonly place: Float32Array) {
    const n = place.length / 2;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 2))));
    const cells = new Int32Array(n);
    for (let i = 0; i < n; i++) cells[i] = this.row(place[2 * i + 1]) * this.side + this.row(place[2 * i]);
    this.starts = new Int32Array(this.side * this.side + 1);
    for (const cell of cells) this.starts[cell + 1]++;
    for (let c = 0; c < this.side * this.side; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.members = new Int32Array(n);
    cells.forEach((cell, i) => (this.members[next[cell]++] = i));
  }

  /** Samples outside of the window are kept in its outermost cells. */
  private row(coordinate: number): number {
    return Math.max(0, Math.min(this.side - 1, Math.floor(((coordinate + 1) / 2) * this.side)));
  }

  /** The nearest sample within some pixels, of equally near ones the last, which is drawn on top; -1 if none. */
  find(x: number, y: number, reach: number, [right, up]: [number, number]): number {
    let best = -1;
    let bestDistance = reach * reach;
    for (let r = this.row(y - reach / up); r <= this.row(y + reach / up); r++) {
      for (let c = this.row(x - reach / right); c <= this.row(x + reach / right); c++) {
        const cell = r * this.side + c;
        for (let s = this.starts[cell]; s < this.starts[cell + 1]; s++) {
          const i = this.members[s];
          const dx = (this.place[2 * i] - x) * right;
          const dy = (this.place[2 * i + 1] - y) * up;
          const distance = dx * dx + dy * dy;
          if (distance <= bestDistance && (distance < bestDistance || i > best)) {
            best = i;
            bestDistance = distance;
          }
        }
      }
    }
    return best;
  }
}
