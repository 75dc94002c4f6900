// Rows as CSV; both panels with legend as SVG or PNG.

import type { App } from "./app";
import { THEMES, css, legendLines, sampleColours, scaleColour } from "./colours";
import { byId, capitalised, count, format, make, notice, percent, shortened } from "./dom";
import type { GraphPanel } from "./graph_panel";
import { rowOf } from "./model";
import { SvgPen, svgElement } from "./pen";
import type { SamplesPanel } from "./samples_panel";
import { cell } from "./statistics";

export function save(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** One cell of a CSV file. An apostrophe precedes text that a spreadsheet would run as a formula. */
function csvCell(value: string | number): string {
  const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
  const text = isFormula ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Save samples with label, membership and all columns, numbers as in the table. */
export function saveRows(app: App, samples: ArrayLike<number>, name: string): void {
  const { names, columns, samples: fitted } = app.model;
  const { ids, names: clusterNames } = app.cut;
  const isNamed = Object.keys(clusterNames).length > 0;
  const head = ["index", ...(names ? ["name"] : []), "label", ...(isNamed ? ["cluster_name"] : [])];
  const lines = Array.from(samples, (i) => {
    const id = ids[app.labelOf(i)] ?? -1;
    return [
      rowOf(app.model, i),
      ...(names ? [names[i]] : []),
      id,
      ...(isNamed ? [clusterNames[id] ?? ""] : []),
      Number.isNaN(app.membership[i]) ? "" : app.membership[i].toFixed(4),
      fitted.outlier[i].toFixed(4),
      ...columns.map((column) => {
        const value = column.values[i];
        const isMissing = column.categories ? !(value in column.categories) : Number.isNaN(value);
        if (isMissing) return "";
        if (column.kind !== "number") return cell(column, value);
        return column.values instanceof Float32Array ? Number(value.toPrecision(7)) : value;
      }),
    ];
  });
  const table = [[...head, "membership", "outlier_score", ...columns.map((column) => column.name)], ...lines];
  const text = table.map((line) => `${line.map(csvCell).join(",")}\n`).join("");
  save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
}

/** More samples are an image inside the SVG. */
const MOST_CIRCLES = 5000;
const MOST_CLUSTERS = 24;
const MOST_LETTERS = 24;
const GAP = 20;
const TOP = 62;
const LEGEND_WIDTH = 190;
const LINE = 19;
/** Parts of the colour ramp. */
const STEPS = 20;

function drawSamples(app: App, panel: SamplesPanel): string {
  const pen = new SvgPen();
  let image = "";
  if (app.model.nShown <= MOST_CIRCLES && !panel.tiles()) {
    const colours = sampleColours(app);
    for (let i = 0; i < app.model.nShown; i++) {
      const [r, g, b, alpha] = colours.subarray(4 * i, 4 * i + 4);
      pen.circle(...panel.at(i), panel.radius(), { fill: css([r, g, b]), alpha: alpha / 255 });
    }
  } else {
    const canvas = document.createElement("canvas");
    panel.drawSamples(canvas, 2);
    const { clientWidth: width, clientHeight: height } = byId("samples");
    image = svgElement("image", { width, height, href: canvas.toDataURL("image/png") });
  }
  panel.drawMarks(pen);
  return image + pen.elements.join("");
}

/** The current scale, and the clusters with their sizes. */
function drawLegend(app: App): string {
  const { ink, soft } = THEMES[app.theme];
  const { scale, cut } = app;
  const pen = new SvgPen();
  let y = 12;
  const title = (text: string): void => {
    pen.text(0, y, text, { fill: ink, bold: true });
    y += LINE;
  };
  const line = (colour: string, text: string, right = ""): void => {
    pen.circle(6, y - 4, 5, { fill: colour });
    pen.text(18, y, shortened(text, MOST_LETTERS), { fill: ink });
    pen.text(LEGEND_WIDTH, y, right, { fill: soft, anchor: "end" });
    y += LINE;
  };
  if (scale) {
    title(scale.name);
    if (!scale.classes) {
      for (let i = 0; i < STEPS; i++) {
        const value = scale.low + (i / (STEPS - 1)) * (scale.high - scale.low);
        const fill = css(scaleColour(scale, value, app.theme));
        pen.box((i * LEGEND_WIDTH) / STEPS, y - 10, LEGEND_WIDTH / STEPS + 0.5, 10, 0, { fill });
      }
      y += LINE - 4;
      pen.text(0, y, scale.show(scale.low), { fill: soft });
      pen.text(LEGEND_WIDTH, y, scale.show(scale.high), { fill: soft, anchor: "end" });
      y += LINE;
    }
    for (const [colour, name] of legendLines(scale, app.theme)) line(css(colour), name);
    y += LINE / 2;
  }
  title("Clusters");
  cut.sizes.slice(0, MOST_CLUSTERS).forEach((size, label) => {
    const share = `${format(size)} · ${percent(size / app.model.nSamples)}`;
    line(css(app.colourOf(label)), capitalised(app.titleOf(label)), share);
  });
  if (cut.sizes.length > MOST_CLUSTERS) title(`and ${cut.sizes.length - MOST_CLUSTERS} more`);
  return pen.elements.join("");
}

function drawPicture(app: App, samples: SamplesPanel, graph: GraphPanel): string {
  const { ink, soft, paper } = THEMES[app.theme];
  const { clientWidth: width, clientHeight: height } = byId("samples");
  const right = byId("graph").clientWidth;
  const graphPen = new SvgPen();
  graph.drawGraph(graphPen);
  const pen = new SvgPen();
  pen.text(GAP, 28, app.model.title, { fill: ink, size: 17, bold: true });
  const caption = `${count(app.model.nSamples, "sample")}, ${count(app.cut.nClusters, "cluster")}`;
  pen.text(GAP, 48, caption, { fill: soft });
  const panel = (x: number, width: number, body: string): string =>
    svgElement("svg", { x, y: TOP, width, height, viewBox: `0 0 ${width} ${height}` }, body);
  const size = { width: width + right + LEGEND_WIDTH + 4 * GAP, height: TOP + height + GAP };
  const content = [
    svgElement("rect", { ...size, fill: paper }),
    ...pen.elements,
    panel(GAP, width, drawSamples(app, samples)),
    panel(width + 2 * GAP, right, graphPen.elements.join("")),
    svgElement("g", { transform: `translate(${width + right + 3 * GAP} ${TOP})` }, drawLegend(app)),
  ];
  const root = { xmlns: "http://www.w3.org/2000/svg", ...size, "font-family": "system-ui, sans-serif" };
  return svgElement("svg", root, content.join(""));
}

export function saveSvg(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  save(new Blob([drawPicture(app, samples, graph)], { type: "image/svg+xml" }), "explorer.svg");
}

/** Save the SVG as a PNG at twice the resolution of the page. */
export function savePng(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  const fail = (): void => notice("The PNG could not be drawn. Save an SVG instead, or make the window smaller.");
  const image = new Image();
  image.addEventListener("error", fail);
  image.addEventListener("load", () => {
    const canvas = make("canvas", { width: String(2 * image.width), height: String(2 * image.height) });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => (blob ? save(blob, "explorer.png") : fail()), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawPicture(app, samples, graph))}`;
}
