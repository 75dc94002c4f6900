// Elements without HTML strings: whatever is a name or a title stays text.

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

export function count(number: number, one: string, more = `${one}s`): string {
  return `${format(number)} ${number === 1 ? one : more}`;
}

export const thereAre = (number: number): string => (number === 1 ? "There is" : "There are");

const NOTICE = 6000;
let fading = 0;

/** Words that are seen for a while. */
export function notice(text: string): void {
  const box = byId("notice");
  box.textContent = text;
  box.hidden = text === "";
  clearTimeout(fading);
  fading = setTimeout(() => (box.hidden = true), NOTICE);
}

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function format(value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4 ? value.toExponential(3) : short.format(value);
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** Fit a canvas to its place on the screen; its size in CSS pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, ratio: number): { width: number; height: number } {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { width: Math.max(width, 1), height: Math.max(height, 1) };
}
