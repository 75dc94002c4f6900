// One drawing a frame at most. Where frames come late while the view moves, fewer samples are drawn until it rests.

const LATE = 22;
const REST = 160;
const LEAST = 0.02;
/** So many samples are always drawn: where these come late, it is not for their number. */
const FEW = 4000;

export class Frames {
  /** Share of the samples that is drawn while the view moves. */
  share = 1;
  /** The smallest share; 1 draws everything, however late frames come. */
  least: number;
  private waiting = false;
  private moving = false;
  private last = 0;
  private resting = 0;

  constructor(
    private readonly draw: (share: number) => void,
    nSamples: number,
  ) {
    this.least = Math.min(1, Math.max(LEAST, FEW / nSamples));
  }

  ask(moving: boolean): void {
    this.moving = moving;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.waiting = false;
    const passed = now - this.last;
    this.last = now;
    if (!this.moving) return this.draw(1);
    if (passed < REST)
      this.share = passed > LATE ? Math.max(this.least, this.share * 0.75) : Math.min(1, this.share * 1.04);
    this.draw(this.share);
    clearTimeout(this.resting);
    if (this.share < 1) this.resting = setTimeout(() => this.ask(false), REST);
  }
}
