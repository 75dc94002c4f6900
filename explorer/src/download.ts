// Labels as CSV and the picture as PNG.

import type { App } from "./app";
import { make } from "./dom";
import { rowOf } from "./payload";

function save(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One row a shown sample: its index, its name where there is one, its label. */
function labelsAsCsv(app: App): string {
  const { names, nShown } = app.model;
  const lines = [names ? "index,name,label" : "index,label"];
  for (let x = 0; x < nShown; x++) {
    const name = names ? `${quoted(names[x])},` : "";
    lines.push(`${rowOf(app.model, x)},${name}${app.labelOf(x)}`);
  }
  return lines.join("\n") + "\n";
}

export function saveCsv(app: App): void {
  save(new Blob([labelsAsCsv(app)], { type: "text/csv" }), `labels-${app.cut.nClusters}-clusters.csv`);
}

/** The panels side by side; `draw` has to have painted them just now, WebGL keeps no picture for later. */
export function savePng(app: App, panels: HTMLCanvasElement[][], draw: () => void): void {
  draw();
  const ratio = devicePixelRatio || 1;
  const gap = 16 * ratio;
  const top = 48 * ratio;
  const canvas = document.createElement("canvas");
  canvas.width = panels.reduce((sum, [panel]) => sum + panel.width + gap, gap);
  canvas.height = Math.max(...panels.map(([panel]) => panel.height)) + top + gap;
  const context = canvas.getContext("2d")!;
  context.fillStyle = app.dark ? "#14171c" : "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = app.dark ? "#e8ebf0" : "#16191d";
  context.font = `600 ${16 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.fillText(app.model.title, gap, top / 2, canvas.width - 2 * gap);
  let left = gap;
  for (const layers of panels) {
    for (const layer of layers) context.drawImage(layer, left, top);
    left += layers[0].width + gap;
  }
  canvas.toBlob((blob) => blob && save(blob, "explorer.png"), "image/png");
}
