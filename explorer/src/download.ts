// Labels and rows as CSV, and the picture as a file.

import type { App } from "./app";
import { make } from "./dom";
import { rowOf } from "./payload";
import { cell } from "./profile";

export function save(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?$/;

/** A cell; before a text that spreadsheets would run as a formula stands an apostrophe, as with --safe-formulas. */
function asCell(value: string | number): string {
  const armed = typeof value === "string" && FORMULA.test(value) && !NUMBER.test(value);
  const text = armed ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveLines(lines: string[], name: string): void {
  save(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }), name);
}

/** One row per shown sample: its index, its name where there is one, its label. */
export function saveLabels(app: App): void {
  const { names, nShown } = app.model;
  const lines = [names ? "index,name,label" : "index,label"];
  for (let x = 0; x < nShown; x++) {
    const name = names ? `${asCell(names[x])},` : "";
    lines.push(`${rowOf(app.model, x)},${name}${app.labelOf(x)}`);
  }
  saveLines(lines, `labels-${app.cut.nClusters}-clusters.csv`);
}

/** Some samples with all their columns, numbers as they are in the table. */
export function saveRows(app: App, samples: ArrayLike<number>, name: string): void {
  const { names, columns, samples: known } = app.model;
  const head = ["index", ...(names ? ["name"] : []), "cluster", "membership", "outlier_score"];
  const lines = [[...head, ...columns.map((column) => column.name)].map(asCell).join(",")];
  for (const sample of Array.from(samples)) {
    const facts = [app.labelOf(sample), app.membership[sample].toFixed(4), known.outlier[sample].toFixed(4)];
    const cells = columns.map((column) => {
      const value = column.values[sample];
      if (column.categories) return column.categories[value] ?? "";
      if (Number.isNaN(value)) return "";
      const short = column.values instanceof Float32Array ? Number(value.toPrecision(7)) : value;
      return column.kind === "date" ? cell(column, value) : short;
    });
    lines.push([rowOf(app.model, sample), ...(names ? [names[sample]] : []), ...facts, ...cells].map(asCell).join(","));
  }
  saveLines(lines, `${name}.csv`);
}
