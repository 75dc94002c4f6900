// The visible part of the plane, the same in both panels, and the gestures that move it.

import type { View } from "./model";

export interface Size {
  width: number;
  height: number;
}

const MIN_ZOOM = 0.2;
const MAX_ZOOM = 2000;
const MARGIN = 26;
/** How far an axis may be stretched to fill a panel if the axes have no common scale. */
const STRETCH = 1.7;

/** Pixels per unit of the plane if all of it is visible. */
export function fittedScale(size: Size, { extent, oneScale }: Pick<View, "extent" | "oneScale">): [number, number] {
  const inner = [size.width, size.height].map((length) => Math.max(length - 2 * MARGIN, length / 2) / 2);
  const full = [inner[0] / extent[0], inner[1] / extent[1]];
  const most = Math.min(full[0], full[1]) * (oneScale ? 1 : STRETCH);
  return [Math.min(full[0], most), Math.min(full[1], most)];
}

export class Camera {
  x = 0;
  y = 0;
  zoom = 1;
  private view: Pick<View, "extent" | "oneScale"> = { extent: [1, 1], oneScale: true };

  constructor(private readonly moved: () => void) {}

  fit(view: View): void {
    this.view = view;
  }

  /** Pixels per unit of the plane, along either axis. */
  scale(size: Size): [number, number] {
    const [x, y] = fittedScale(size, this.view);
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
    this.centreOn(this.x - right / scale[0], this.y + down / scale[1]);
  }

  /** Zoom around a point of the panel, by default its middle. */
  zoomAt(size: Size, factor: number, left = size.width / 2, top = size.height / 2): void {
    const [x, y] = this.toPlane(size, left, top);
    const before = this.zoom;
    this.zoom = Math.min(Math.max(before * factor, MIN_ZOOM), MAX_ZOOM);
    this.centreOn(x + ((this.x - x) * before) / this.zoom, y + ((this.y - y) * before) / this.zoom);
  }

  centreOn(x: number, y: number): void {
    this.x = x;
    this.y = y;
    this.moved();
  }

  /** Show everything. */
  home(): void {
    this.zoom = 1;
    this.centreOn(0, 0);
  }
}

export interface Gestures {
  hover(left: number, top: number): void;
  leave(): void;
  click(left: number, top: number): void;
  /** Whether a drag draws a lasso, and its outline so far or in the end. */
  isLasso?(): boolean;
  lasso?(outline: [number, number][], done: boolean): void;
}

const PAN_KEYS: Record<string, [number, number]> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};
/** A shorter movement is a click. */
const CLICK_DISTANCE = 5;

/** Handle mouse, wheel, touch and keys on a panel. */
export function handleGestures(panel: HTMLElement, camera: Camera, size: () => Size, gestures: Gestures): void {
  const pointers = new Map<number, [number, number]>();
  let travelled = 0;
  let outline: [number, number][] | null = null;
  const position = (event: MouseEvent): [number, number] => {
    const box = panel.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  panel.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    panel.focus({ preventScroll: true });
    panel.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, position(event));
    travelled = pointers.size === 1 ? 0 : Infinity;
    outline = pointers.size === 1 && gestures.isLasso?.() ? [position(event)] : null;
  });
  panel.addEventListener("pointermove", (event) => {
    const [x, y] = position(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") gestures.hover(x, y);
      return;
    }
    const [dx, dy] = [x - before[0], y - before[1]];
    pointers.set(event.pointerId, [x, y]);
    travelled += Math.hypot(dx, dy);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (outline) {
      outline.push([x, y]);
      gestures.lasso?.(outline, false);
    } else if (other) {
      const ratio = Math.hypot(x - other[0], y - other[1]) / Math.hypot(before[0] - other[0], before[1] - other[1]);
      const middle = [(x + other[0]) / 2, (y + other[1]) / 2] as const;
      if (Number.isFinite(ratio) && ratio > 0) camera.zoomAt(size(), ratio, ...middle);
      camera.pan(size(), dx / 2, dy / 2);
    } else if (travelled > CLICK_DISTANCE) camera.pan(size(), dx, dy);
  });
  const end = (event: PointerEvent): void => {
    const isKnown = pointers.delete(event.pointerId);
    if (outline && travelled > CLICK_DISTANCE) gestures.lasso?.(outline, true);
    outline = null;
    if (isKnown && event.type === "pointerup" && travelled <= CLICK_DISTANCE) gestures.click(...position(event));
  };
  panel.addEventListener("pointerup", end);
  panel.addEventListener("pointercancel", end);
  panel.addEventListener("pointerleave", () => gestures.leave());
  const zoomByWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    camera.zoomAt(size(), Math.exp(-Math.max(-300, Math.min(300, pixels)) / 400), ...position(event));
  };
  panel.addEventListener("wheel", zoomByWheel, { passive: false });
  panel.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in PAN_KEYS) camera.pan(size(), ...PAN_KEYS[event.key]);
    else if (event.key === "+" || event.key === "=") camera.zoomAt(size(), 1.3);
    else if (event.key === "-") camera.zoomAt(size(), 1 / 1.3);
    else if (event.key === "0") camera.home();
    else return;
    event.preventDefault();
  });
}
