// Labels and rows as CSV; both panels with legend as SVG or PNG.

import type { App } from "./app";
import { THEMES, css, currentScale, legendLines, sampleColours, scaleColour } from "./colours";
import { byId, capitalised, count, format, make, notice, percent, pillWidth, shortened } from "./dom";
import type { GraphPanel } from "./graph_panel";
import { rowOf } from "./model";
import type { SamplesPanel } from "./samples_panel";
import { cell } from "./statistics";

export function save(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?$/;

/** Save lines as CSV. An apostrophe precedes text that a spreadsheet would run as a formula. */
function saveCsv(lines: (string | number)[][], name: string): void {
  const write = (value: string | number): string => {
    const isFormula = typeof value === "string" && FORMULA.test(value) && !NUMBER.test(value);
    const text = isFormula ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const text = lines.map((line) => line.map(write).join(",") + "\n").join("");
  save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
}

const nameHead = ({ cut }: App): string[] => (Object.keys(cut.names).length > 0 ? ["cluster_name"] : []);

/** The number of the cluster of a sample and, if any cluster has a name, its name. */
function clusterCells(app: App, sample: number): (string | number)[] {
  const { ids, names } = app.cut;
  const id = ids[app.labelOf(sample)] ?? -1;
  return [id, ...nameHead(app).map(() => names[id] ?? "")];
}

/** Save the labels of all shown samples. */
export function saveLabels(app: App): void {
  const { names, nShown } = app.model;
  const lines = Array.from({ length: nShown }, (_, i) => [
    rowOf(app.model, i),
    ...(names ? [names[i]] : []),
    ...clusterCells(app, i),
  ]);
  const head = ["index", ...(names ? ["name"] : []), "label", ...nameHead(app)];
  saveCsv([head, ...lines], `labels-${app.cut.nClusters}-clusters`);
}

/** Save some samples with all columns, numbers as in the table. */
export function saveRows(app: App, samples: ArrayLike<number>, name: string): void {
  const { names, columns, samples: fitted } = app.model;
  const head = ["index", ...(names ? ["name"] : []), "cluster", ...nameHead(app), "membership", "outlier_score"];
  const lines = Array.from(samples, (i) => [
    rowOf(app.model, i),
    ...(names ? [names[i]] : []),
    ...clusterCells(app, i),
    Number.isNaN(app.membership[i]) ? "" : app.membership[i].toFixed(4),
    fitted.outlier[i].toFixed(4),
    ...columns.map((column) => {
      const value = column.values[i];
      if (column.categories) return column.categories[value] ?? "";
      if (Number.isNaN(value)) return "";
      if (column.kind === "date") return cell(column, value);
      return column.values instanceof Float32Array ? Number(value.toPrecision(7)) : value;
    }),
  ]);
  saveCsv([[...head, ...columns.map((column) => column.name)], ...lines], name);
}

/** More samples are an image inside the SVG. */
const MOST_CIRCLES = 5000;
const MOST_CLUSTERS = 24;
const MOST_LETTERS = 24;
const GAP = 20;
const TOP = 62;
const LEGEND_WIDTH = 190;
const LINE = 19;

type Attributes = Record<string, string | number>;

/** Control characters and unpaired surrogates, which XML does not allow. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\p{Cs}\uFFFE\uFFFF]/gu;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (letter) => ENTITIES[letter]);

function element(tag: string, attributes: Attributes, content = ""): string {
  const write = (value: string | number): string =>
    escaped(typeof value === "number" ? String(Math.round(100 * value) / 100) : value);
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${write(value)}"`);
  return `<${tag}${written.join("")}>${content}</${tag}>`;
}

const textElement = (x: number, y: number, text: string, attributes: Attributes): string =>
  element("text", { x, y, "font-size": 12, ...attributes }, escaped(text));

function samplesPart(app: App, panel: SamplesPanel, width: number, height: number): string {
  const badges = panel.badges().map(({ label, x, y }) => badge(app, label, x, y));
  if (app.model.nShown <= MOST_CIRCLES) {
    const colours = sampleColours(app);
    const circles = Array.from({ length: app.model.nShown }, (_, i) => {
      const [cx, cy] = panel.at(i);
      const [r, g, b, alpha] = colours.subarray(4 * i, 4 * i + 4);
      const opacity: Attributes = alpha < 255 ? { opacity: alpha / 255 } : {};
      return element("circle", { cx, cy, r: panel.radius(), fill: `rgb(${r},${g},${b})`, ...opacity });
    });
    return [...circles, ...badges].join("");
  }
  const { tiles, points } = panel.layers;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [points.width, points.height];
  const context = canvas.getContext("2d")!;
  for (const layer of tiles.hidden ? [points] : [tiles, points]) context.drawImage(layer, 0, 0);
  return [element("image", { width, height, href: canvas.toDataURL("image/png") }), ...badges].join("");
}

/** The name or number of a cluster in a ring of its colour. */
function badge(app: App, label: number, x: number, y: number): string {
  const { ink, paper } = THEMES[app.theme];
  const width = pillWidth(app.tagOf(label));
  const ring = { x: x - width / 2, y: y - 9, width, height: 18, rx: 9, fill: paper };
  const stroke = { stroke: css(app.colourOf(label)), "stroke-width": 2 };
  const style = { "text-anchor": "middle", "font-weight": 600, fill: ink };
  return element("rect", { ...ring, ...stroke }) + textElement(x, y + 4, app.tagOf(label), style);
}

function graphPart(app: App, panel: GraphPanel): string {
  const { ink, paper } = THEMES[app.theme];
  const links = panel.graph.links.map((link, rank) => {
    const [[x1, y1], [x2, y2]] = [panel.at(link.from.middle), panel.at(link.to.middle)];
    const { width, dash, alpha } = panel.linkStyle(link, rank);
    const style = { stroke: ink, "stroke-opacity": alpha, "stroke-width": width, "stroke-dasharray": dash.join(" ") };
    return element("line", { x1, y1, x2, y2, ...style });
  });
  const nodes = panel.graph.nodes.map((node) => {
    const [cx, cy] = panel.at(node.middle);
    return element("circle", { cx, cy, r: panel.radius(node), fill: css(app.colourOf(node.label)), stroke: paper });
  });
  const badges = panel.numbered().map((node) => badge(app, node.label, ...panel.at(node.middle)));
  return [...links, ...nodes, ...badges].join("");
}

/** The current scale, and the clusters with their sizes. */
function legendPart(app: App): string {
  const { ink, soft } = THEMES[app.theme];
  const parts: string[] = [];
  let y = 12;
  const title = (text: string): void => {
    parts.push(textElement(0, y, text, { "font-weight": 600, fill: ink }));
    y += LINE;
  };
  const line = (colour: string, text: string, right = ""): void => {
    parts.push(element("circle", { cx: 6, cy: y - 4, r: 5, fill: colour }));
    parts.push(textElement(18, y, shortened(text, MOST_LETTERS), { fill: ink }));
    if (right) parts.push(textElement(LEGEND_WIDTH, y, right, { "text-anchor": "end", fill: soft }));
    y += LINE;
  };
  const scale = currentScale(app);
  if (scale) {
    title(scale.name);
    if (!scale.classes) {
      for (let i = 0; i < 20; i++) {
        const box = { x: (i * LEGEND_WIDTH) / 20, y: y - 10, width: LEGEND_WIDTH / 20 + 0.5, height: 10 };
        const value = scale.low + (i / 19) * (scale.high - scale.low);
        parts.push(element("rect", { ...box, fill: css(scaleColour(scale, value, app.theme)) }));
      }
      y += LINE - 4;
      parts.push(textElement(0, y, scale.show(scale.low), { fill: soft }));
      parts.push(textElement(LEGEND_WIDTH, y, scale.show(scale.high), { "text-anchor": "end", fill: soft }));
      y += LINE;
    }
    for (const [colour, name] of legendLines(scale, app.theme)) line(css(colour), name);
    y += LINE / 2;
  }
  const { sizes } = app.cut;
  title("Clusters");
  sizes.slice(0, MOST_CLUSTERS).forEach((size, label) => {
    line(
      css(app.colourOf(label)),
      capitalised(app.titleOf(label)),
      `${format(size)} · ${percent(size / app.model.nSamples)}`,
    );
  });
  if (sizes.length > MOST_CLUSTERS) title(`and ${sizes.length - MOST_CLUSTERS} more`);
  return parts.join("");
}

function caption({ model, view, cut }: App, hasTiles: boolean): string {
  const drawn = hasTiles ? " (counted by tile)" : ` (${format(model.nShown)} drawn)`;
  const axes = view.axes.filter(Boolean);
  const parts = [
    `${count(model.nSamples, "sample")}${model.nShown < model.nSamples ? drawn : ""}, ${count(cut.nClusters, "cluster")}`,
    ...(axes.length > 0 ? [`samples by ${axes.join(" and ")}`] : []),
    `topo-graph of ${count(model.nLocal, "local cluster")}`,
  ];
  return parts.join("; ");
}

function drawSvg(app: App, samples: SamplesPanel, graph: GraphPanel): { svg: string; width: number; height: number } {
  const { ink, soft, paper } = THEMES[app.theme];
  const boxes = [byId("samples"), byId("graph")];
  const panels: string[] = [];
  let x = GAP;
  boxes.forEach(({ clientWidth: width, clientHeight: height }, i) => {
    if (width === 0) return; // only the other panel is visible
    const body = i === 0 ? samplesPart(app, samples, width, height) : graphPart(app, graph);
    panels.push(element("svg", { x, y: TOP, width, height, viewBox: `0 0 ${width} ${height}` }, body));
    x += width + GAP;
  });
  const width = x + LEGEND_WIDTH + GAP;
  const height = TOP + Math.max(...boxes.map((box) => box.clientHeight)) + GAP;
  const content = [
    element("rect", { width, height, fill: paper }),
    textElement(GAP, 28, app.model.title, { "font-size": 17, "font-weight": 600, fill: ink }),
    textElement(GAP, 48, caption(app, samples.tiles() !== null), { fill: soft }),
    ...panels,
    element("g", { transform: `translate(${x} ${TOP})` }, legendPart(app)),
  ];
  const root = { xmlns: "http://www.w3.org/2000/svg", width, height, "font-family": "system-ui, sans-serif" };
  return { svg: element("svg", { ...root, viewBox: `0 0 ${width} ${height}` }, content.join("")), width, height };
}

export function saveSvg(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  save(new Blob([drawSvg(app, samples, graph).svg], { type: "image/svg+xml" }), "explorer.svg");
}

/** Save the SVG as a PNG at twice the resolution of the page. */
export function savePng(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  const { svg, width, height } = drawSvg(app, samples, graph);
  const fail = (): void => notice("The PNG could not be drawn. Save an SVG instead, or make the window smaller.");
  const image = new Image();
  image.addEventListener("error", fail);
  image.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => (blob ? save(blob, "explorer.png") : fail()), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}
