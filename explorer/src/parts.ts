// Small parts of the side that several explanations use.

import type { App } from "./app";
import { make } from "./dom";
import { css } from "./palette";

export type Cell = Node | string;

export function swatch(colour: string): HTMLElement {
  const element = make("span", { class: "swatch", "aria-hidden": "true" });
  element.style.background = colour;
  return element;
}

export function clusterName(app: App, label: number): HTMLElement {
  return make("span", { class: "nowrap" }, swatch(css(app.colourOf(label))), label < 0 ? "noise" : `cluster ${label}`);
}

export function facts(...rows: [Cell, ...Cell[]][]): HTMLElement {
  const list = make("dl");
  for (const [name, ...values] of rows) list.append(make("dt", {}, name), make("dd", {}, ...values));
  return list;
}

/** Texts of more characters are cut after some lines. */
const LONG = 48;

const cellOf = (cell: Cell): HTMLElement => {
  if (typeof cell !== "string") return make("td", {}, cell);
  return make("td", { title: cell }, cell.length > LONG ? make("span", { class: "long" }, cell) : cell);
};

const row = ([name, ...cells]: Cell[]): HTMLElement =>
  make("tr", {}, make("th", { scope: "row" }, name), ...cells.map(cellOf));

/** A table whose rows beyond the first ones are behind a button. */
export function table(head: Cell[], rows: Cell[][], shown: number, more = "columns"): HTMLElement {
  if (rows.length <= shown + 3) shown = rows.length;
  const top = make("tr", {}, ...head.map((cell) => make("th", { scope: "col" }, cell)));
  const body = make("table", { class: "profile" }, top, ...rows.slice(0, shown).map(row));
  if (rows.length <= shown) return body;
  const button = make("button", { type: "button", class: "more" }, `All ${rows.length} ${more}`);
  button.addEventListener("click", () => {
    body.append(...rows.slice(shown).map(row));
    button.remove();
  });
  return make("div", {}, body, button);
}

export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
