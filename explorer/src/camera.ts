// What part of the plane both panels show, and the gestures that move it.

export interface Size {
  width: number;
  height: number;
}

const LEAST = 0.2;
const MOST = 2000;
const limited = (zoom: number): number => Math.min(Math.max(zoom, LEAST), MOST);

const MARGIN = 26;
/** By how much an axis may be stretched to fill a panel, where the two have no common scale. */
const STRETCH = 1.7;

/** Pixels of one unit of the plane where all of it is shown. */
export function fittedScale(size: Size, extent: [number, number], oneScale: boolean): [number, number] {
  const inner = [size.width, size.height].map((length) => Math.max(length - 2 * MARGIN, length / 2) / 2);
  const full = [inner[0] / extent[0], inner[1] / extent[1]];
  const most = Math.min(full[0], full[1]) * (oneScale ? 1 : STRETCH);
  return [Math.min(full[0], most), Math.min(full[1], most)];
}

export class Camera {
  x = 0;
  y = 0;
  zoom = 1;
  /** How far the samples reach, and whether both axes have one scale. */
  extent: [number, number] = [1, 1];
  oneScale = true;

  constructor(private readonly moved: () => void) {}

  /** Pixels of one unit of the plane, along either axis. */
  scale(size: Size): [number, number] {
    const [x, y] = fittedScale(size, this.extent, this.oneScale);
    return [x * this.zoom, y * this.zoom];
  }

  toScreen(size: Size, x: number, y: number): [number, number] {
    const scale = this.scale(size);
    return [size.width / 2 + (x - this.x) * scale[0], size.height / 2 - (y - this.y) * scale[1]];
  }

  toPlane(size: Size, left: number, top: number): [number, number] {
    const scale = this.scale(size);
    return [this.x + (left - size.width / 2) / scale[0], this.y - (top - size.height / 2) / scale[1]];
  }

  pan(size: Size, right: number, down: number): void {
    const scale = this.scale(size);
    this.x -= right / scale[0];
    this.y += down / scale[1];
    this.moved();
  }

  zoomAt(size: Size, factor: number, left = size.width / 2, top = size.height / 2): void {
    const [x, y] = this.toPlane(size, left, top);
    const zoom = limited(this.zoom * factor);
    const change = zoom / this.zoom;
    this.zoom = zoom;
    this.x = x + (this.x - x) / change;
    this.y = y + (this.y - y) / change;
    this.moved();
  }

  centreOn(x: number, y: number): void {
    this.x = x;
    this.y = y;
    this.moved();
  }

  lookAt(x: number, y: number, zoom: number): void {
    this.zoom = limited(zoom);
    this.centreOn(x, y);
  }

  home(): void {
    this.lookAt(0, 0, 1);
  }
}

export interface Gestures {
  hover(left: number, top: number): void;
  leave(): void;
  click(left: number, top: number, second: boolean): void;
  /** One sample or node further, by keyboard. */
  step(by: number): void;
  pick(second: boolean): void;
  /** Whether a drag draws a lasso now, and what it has drawn so far or in the end. */
  lassoing?(event: PointerEvent): boolean;
  lasso?(places: [number, number][], done: boolean): void;
}

const PAN_KEYS: Record<string, [number, number]> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};
const CLICK_DISTANCE = 5;

/** Whether an event belongs to a button that lies on the panel. */
const onButton = (event: Event): boolean => (event.target as Element).closest("button") !== null;

/** Mouse, wheel, touch and keys on a panel. */
export function listen(panel: HTMLElement, camera: Camera, size: () => Size, gestures: Gestures): void {
  const pointers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  let drawn: [number, number][] | null = null;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = panel.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  panel.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || onButton(event)) return;
    panel.focus({ preventScroll: true });
    panel.setPointerCapture(event.pointerId);
    const { x, y } = place(event);
    pointers.set(event.pointerId, { x, y });
    travelled = pointers.size === 1 ? 0 : Infinity;
    drawn = pointers.size === 1 && gestures.lassoing?.(event) ? [[x, y]] : null;
  });
  panel.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") gestures.hover(now.x, now.y);
      return;
    }
    pointers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (drawn) {
      drawn.push([now.x, now.y]);
      gestures.lasso?.(drawn, false);
    } else if (pointers.size === 2) pinch(event.pointerId, before, now);
    else if (travelled > CLICK_DISTANCE) camera.pan(size(), now.x - before.x, now.y - before.y);
  });
  const pinch = (id: number, before: { x: number; y: number }, now: { x: number; y: number }): void => {
    const [, other] = [...pointers].find(([key]) => key !== id)!;
    const ratio = Math.hypot(now.x - other.x, now.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
    if (Number.isFinite(ratio) && ratio > 0) camera.zoomAt(size(), ratio, (now.x + other.x) / 2, (now.y + other.y) / 2);
    camera.pan(size(), (now.x - before.x) / 2, (now.y - before.y) / 2);
  };
  const end = (event: PointerEvent): void => {
    const there = pointers.delete(event.pointerId);
    if (drawn && travelled > CLICK_DISTANCE) gestures.lasso?.(drawn, true);
    drawn = null;
    if (there && event.type === "pointerup" && travelled <= CLICK_DISTANCE) {
      const { x, y } = place(event);
      gestures.click(x, y, event.shiftKey);
    }
  };
  panel.addEventListener("pointerup", end);
  panel.addEventListener("pointercancel", end);
  panel.addEventListener("pointerleave", () => gestures.leave());
  panel.addEventListener("blur", () => gestures.leave());
  panel.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = place(event);
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      camera.zoomAt(size(), Math.exp(-Math.max(-300, Math.min(300, pixels)) / 400), x, y);
    },
    { passive: false },
  );
  panel.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || onButton(event)) return;
    if (event.key in PAN_KEYS) camera.pan(size(), ...PAN_KEYS[event.key]);
    else if (event.key === "+" || event.key === "=") camera.zoomAt(size(), 1.3);
    else if (event.key === "-") camera.zoomAt(size(), 1 / 1.3);
    else if (event.key === "0") camera.home();
    else if (event.key === "n") gestures.step(1);
    else if (event.key === "p") gestures.step(-1);
    else if (event.key === "Enter") gestures.pick(event.shiftKey);
    else return;
    event.preventDefault();
  });
}
