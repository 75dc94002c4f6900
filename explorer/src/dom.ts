// Elements, messages and formats. Elements are never built from HTML strings: names and titles stay text.

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

export function button(text: Child, click: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", click);
  return element;
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

const grouped = new Intl.NumberFormat("en");

export function format(value: number): string {
  return grouped.format(value);
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

/** A text of at most some characters. */
export function shortened(text: string, most: number): string {
  const letters = [...text]; // whole characters: a slice of the string may halve an emoji
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

const TERMS = {
  Membership: "The degree to which the sample belongs to a cluster, from 0 to 1.",
  "Outlier score":
    "Compares the width of the sample's neighbourhood with those of its neighbours. 0 is normal, 1 is far out.",
  "Local cluster": "All samples whose climb ends at the same peak. Local clusters are the nodes of the topo-graph.",
  "Log intensity": "The logarithm of the density around the sample.",
};

/** A word of the method, with its explanation on hover. */
export function term(name: keyof typeof TERMS): HTMLElement {
  return make("abbr", { title: TERMS[name] }, name);
}
