// Shapes and texts, drawn on a canvas or written as SVG, so that an exported picture is what the page shows.

import type { Size } from "./camera";

export type Point = [x: number, y: number];

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

export interface TextStyle {
  fill: string;
  anchor?: "start" | "middle" | "end";
  size?: number;
  bold?: boolean;
}

export interface Pen {
  /** Connect points by straight lines. */
  line(points: Point[], style: Style): void;
  circle(x: number, y: number, radius: number, style: Style): void;
  /** A rectangle with rounded corners. */
  box(x: number, y: number, width: number, height: number, rounding: number, style: Style): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
}

/** The size of an element on the screen. */
export function sizeOf({ clientWidth, clientHeight }: HTMLElement): Size {
  return { width: Math.max(clientWidth, 1), height: Math.max(clientHeight, 1) };
}

/** Clear a canvas, of which `ratio` pixels are a CSS pixel of a size. */
export function clearCanvas(canvas: HTMLCanvasElement, size: Size, ratio: number): CanvasRenderingContext2D {
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  return context;
}

const FONT = "system-ui, sans-serif";

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {
    context.lineJoin = "round";
  }

  line(points: Point[], style: Style): void {
    this.context.beginPath();
    for (const point of points) this.context.lineTo(...point);
    this.paint(style);
  }

  circle(x: number, y: number, radius: number, style: Style): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.paint(style);
  }

  box(x: number, y: number, width: number, height: number, rounding: number, style: Style): void {
    this.context.beginPath();
    this.context.roundRect(x, y, width, height, rounding);
    this.paint(style);
  }

  private paint({ fill, stroke, width = 1, dash = [], alpha = 1 }: Style): void {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = fill ?? "";
    if (fill) context.fill();
    context.lineWidth = width;
    context.strokeStyle = stroke ?? "";
    context.setLineDash(dash);
    if (stroke) context.stroke();
    context.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, { fill, anchor = "start", size = 12, bold }: TextStyle): void {
    const { context } = this;
    context.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.fillStyle = fill;
    context.fillText(text, x, y);
  }
}

type Attributes = Record<string, string | number | undefined>;

/** Control characters and unpaired surrogates, which XML does not allow. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\p{Cs}\uFFFE\uFFFF]/gu;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (letter) => ENTITIES[letter]);

/** An SVG element as text; attributes without a value are left out. */
export function svgElement(tag: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(
      ([name, value]) => ` ${name}="${typeof value === "number" ? Math.round(100 * value) / 100 : escaped(value!)}"`,
    );
  return `<${tag}${written.join("")}>${content}</${tag}>`;
}

export class SvgPen implements Pen {
  readonly elements: string[] = [];

  line(points: Point[], style: Style): void {
    this.shape("polyline", { points: points.map((point) => point.map((value) => value.toFixed(2))).join(" ") }, style);
  }

  circle(cx: number, cy: number, r: number, style: Style): void {
    this.shape("circle", { cx, cy, r }, style);
  }

  box(x: number, y: number, width: number, height: number, rx: number, style: Style): void {
    this.shape("rect", { x, y, width, height, rx }, style);
  }

  private shape(tag: string, place: Attributes, { fill = "none", stroke, width, dash = [], alpha }: Style): void {
    const lines = stroke ? { stroke, "stroke-width": width, "stroke-dasharray": dash.join(" ") } : {};
    this.elements.push(svgElement(tag, { ...place, fill, opacity: alpha, ...lines }));
  }

  text(x: number, y: number, text: string, { fill, anchor, size = 12, bold }: TextStyle): void {
    const style = { fill, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 600 : undefined };
    this.elements.push(svgElement("text", { x, y, ...style }, escaped(text)));
  }
}

/** Draw a path or ring in the ink, on a border in the paper. */
export function outlined(draw: (style: Style) => void, ink: string, paper: string, dash: number[] = []): void {
  draw({ stroke: paper, width: 5 });
  draw({ stroke: ink, width: 2, dash });
}

/** Write a short text on a rounded background, which may have a border. */
export function pill(pen: Pen, text: string, [x, y]: Point, ink: string, paper: string, stroke?: string): void {
  const width = pillWidth(text);
  pen.box(x - width / 2, y - 9, width, 18, 9, { fill: paper, stroke, width: 2 });
  pen.text(x, y + 4, text, { fill: ink, anchor: "middle", bold: true });
}

/** The approximate width of a text on its background. */
const pillWidth = (text: string): number => Math.max(18, 7 * [...text].length + 11);

/** A test whether a text at a point overlaps no text before it that passed. */
export function spaceForTexts(): (text: string, point: Point) => boolean {
  const taken: [number, number, number][] = [];
  return (text, [x, y]) => {
    const width = pillWidth(text);
    const isFree = !taken.some(([w, a, b]) => Math.abs(a - x) < (w + width) / 2 + 4 && Math.abs(b - y) < 19);
    if (isFree) taken.push([width, x, y]);
    return isFree;
  };
}
