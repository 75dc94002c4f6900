// Elements, formats and explained terms. Elements are never built from HTML strings: names and titles stay text.

type Child = Node | string | null | undefined | false;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function swatch(colour: string): HTMLElement {
  const element = make("span", { class: "swatch", "aria-hidden": "true" });
  element.style.background = colour;
  return element;
}

const NOTICE_MILLISECONDS = 6000;
let fading = 0;

/** Show a message for a few seconds; an empty one hides the last. */
export function notice(text: string): void {
  const box = byId("notice");
  box.textContent = text;
  box.hidden = text === "";
  clearTimeout(fading);
  fading = setTimeout(() => (box.hidden = true), NOTICE_MILLISECONDS);
}

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function format(value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4 ? value.toExponential(3) : short.format(value);
}

/** "1 sample", "1,200 samples". */
export function count(number: number, noun: string): string {
  return `${format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Fit the pixels of a canvas to its size on the screen, and return this size in CSS pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, ratio: number): { width: number; height: number } {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { width: Math.max(width, 1), height: Math.max(height, 1) };
}

/** Stroke the current path in the ink, on a border in the paper. */
export function strokePath(
  context: CanvasRenderingContext2D,
  { ink, paper }: { ink: string; paper: string },
  dash: number[] = [],
): void {
  context.strokeStyle = paper;
  context.lineWidth = 5;
  context.stroke();
  context.setLineDash(dash);
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.stroke();
  context.setLineDash([]);
}

/** A text of at most some characters. */
export function shortened(text: string, most: number): string {
  const letters = [...text]; // whole characters: a slice of the string may halve an emoji
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/** The approximate width of a text on its background. */
export function pillWidth(text: string): number {
  return Math.max(18, 7 * [...text].length + 14);
}

/** A test whether a text at a point overlaps no text before it that passed. */
export function spaceForTexts(): (text: string, x: number, y: number) => boolean {
  const taken: [number, number, number][] = [];
  return (text, x, y) => {
    const width = pillWidth(text);
    const isFree = !taken.some(([w, a, b]) => Math.abs(a - x) < (w + width) / 2 + 4 && Math.abs(b - y) < 19);
    if (isFree) taken.push([width, x, y]);
    return isFree;
  };
}

/** Draw a short text on a rounded background, which may have a border. */
export function drawPill(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  ink: string,
  paper: string,
  border?: string,
): void {
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const width = Math.max(18, context.measureText(text).width + (text.length > 2 ? 16 : 9));
  if (text.length > 2) {
    const right = context.canvas.width / context.getTransform().a; // a name stays within the panel
    x = Math.max(width / 2 + 2, Math.min(right - width / 2 - 2, x));
  }
  context.beginPath();
  context.roundRect(x - width / 2, y - 9, width, 18, 9);
  context.fillStyle = paper;
  context.fill();
  context.fillStyle = ink;
  context.fillText(text, x, y + 0.5);
  if (!border) return;
  context.lineWidth = 2;
  context.strokeStyle = border;
  context.stroke();
}

const TERMS = {
  "local cluster": "All samples whose climb ends at the same peak. Local clusters are the nodes of the topo-graph.",
  kept: "An edge within a cluster.",
  cut: "An edge between two clusters. Boundary pairs connect them, but the clustering separates them here.",
  bridge: "An edge without boundary pairs. It connects two components of the topo-graph.",
  "boundary pair": "Two samples of different local clusters, each a neighbour of the other.",
  stability:
    "How similar the cluster is to the most similar cluster of each half-sample of the data, from 0 to 1. Below .75 it is unstable.",
  membership: "The degree to which a sample belongs to a cluster, from 0 to 1.",
  "log intensity": "The logarithm of the density around a sample.",
  "outlier score":
    "Compares the width of a sample's neighbourhood with those of its neighbours. 0 is normal, 1 is far out.",
  climb: "The path of a sample to its peak. Each step leads to a neighbour of higher intensity.",
} as const;

/** A word with its explanation on hover, focus or tap. */
export function term(name: keyof typeof TERMS, text: string = name): HTMLElement {
  return make("span", { class: "term", tabindex: "0", "data-tip": TERMS[name] }, text);
}

/** A paragraph in which the first use of each term of the method is explained. */
export function withTerms(text: string): HTMLElement {
  const paragraph = make("p");
  const explained = new Set<string>();
  for (const part of text.split(/(local clusters?|boundary pairs?|bridge)/)) {
    const name = part.replace(/s$/, "") as keyof typeof TERMS;
    paragraph.append(name in TERMS && !explained.has(name) ? term(name, part) : part);
    explained.add(name);
  }
  return paragraph;
}

/** Explain the terms that are in the page from the start. */
export function explainTerms(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-term]")) {
    element.replaceChildren(term(element.dataset.term as keyof typeof TERMS, element.textContent!));
  }
}
