// Both panels as one picture with title, legend and counts: an SVG, or the same drawn as a PNG.

import type { App } from "./app";
import { currentScale, hasMissing, sampleColours, scaleColour } from "./colouring";
import { byId, count, format, notice, percent } from "./dom";
import { save } from "./download";
import type { GraphPanel } from "./graph_panel";
import { css, rampColour } from "./palette";
import type { SamplesPanel } from "./samples_panel";
import { legendClasses } from "./side";

/** More samples are an image inside the SVG. */
const MOST_DISCS = 5000;
const MOST_LINES = 24;
const GAP = 20;
const TOP = 62;
const LEGEND = 190;
const LINE = 19;

/** Control characters and halves of characters, which no XML may hold. */
const UNWRITABLE = /[^\P{Cc}\t\n\r]|[\p{Cs}\uFFFE\uFFFF]/gu;

const escaped = (text: string): string =>
  text
    .replace(UNWRITABLE, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

const at = (number: number): string => number.toFixed(1);

interface Style {
  ink: string;
  soft: string;
  paper: string;
}

function text(x: number, y: number, words: string, style: string): string {
  return `<text x="${at(x)}" y="${at(y)}" ${style}>${escaped(words)}</text>`;
}

function samplesAsDiscs(app: App, panel: SamplesPanel): string {
  const colours = sampleColours(app);
  const radius = panel.radius().toFixed(2);
  return Array.from({ length: app.model.nShown }, (_, i) => {
    const [x, y] = panel.at(i);
    const [r, g, b, alpha] = colours.subarray(4 * i, 4 * i + 4);
    const faint = alpha < 255 ? ` opacity="${(alpha / 255).toFixed(2)}"` : "";
    return `<circle cx="${at(x)}" cy="${at(y)}" r="${radius}" fill="rgb(${r},${g},${b})"${faint}/>`;
  }).join("");
}

function samplesAsImage(panel: SamplesPanel, width: number, height: number): string {
  const { tiles, points } = panel.layers;
  const canvas = document.createElement("canvas");
  canvas.width = points.width;
  canvas.height = points.height;
  const context = canvas.getContext("2d")!;
  for (const layer of tiles.hidden ? [points] : [tiles, points]) context.drawImage(layer, 0, 0);
  return `<image width="${width}" height="${height}" href="${canvas.toDataURL("image/png")}"/>`;
}

/** The number of a cluster in a ring of its colour. */
function badge(app: App, label: number, x: number, y: number, style: Style, dashed = false): string {
  const dash = dashed ? ' stroke-dasharray="3 3"' : "";
  const ring = `<circle cx="${at(x)}" cy="${at(y)}" r="9" fill="${style.paper}"`;
  const stroke = ` stroke="${css(app.colourOf(label))}" stroke-width="2"${dash}/>`;
  const look = `text-anchor="middle" font-size="12" font-weight="600" fill="${style.ink}"`;
  return ring + stroke + text(x, y + 4, String(label), look);
}

function samplesPart(app: App, panel: SamplesPanel, size: { width: number; height: number }, style: Style): string {
  const few = app.model.nShown <= MOST_DISCS;
  const body = few ? samplesAsDiscs(app, panel) : samplesAsImage(panel, size.width, size.height);
  const numbers = panel.labels().map(({ label, x, y, among }) => badge(app, label, x, y, style, among));
  return body + numbers.join("");
}

function graphPart(app: App, panel: GraphPanel, style: Style): string {
  const links = panel.graph.links.map((link, rank) => {
    const [[x1, y1], [x2, y2]] = [panel.at(link.from.middle), panel.at(link.to.middle)];
    const { width, dash, alpha } = panel.style(link, rank);
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const ends = `x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}"`;
    return `<line ${ends} stroke="${style.ink}" stroke-opacity="${alpha}" stroke-width="${width}"${dashes}/>`;
  });
  const nodes = panel.graph.nodes.map((node) => {
    const [x, y] = panel.at(node.middle);
    const colour = app.colourOf(node.label);
    const disc = `<circle cx="${at(x)}" cy="${at(y)}" r="${at(panel.radius(node))}" fill="${css(colour)}" stroke="${style.paper}"/>`;
    return disc;
  });
  const numbers = panel.numbered().map((node) => badge(app, node.label, ...panel.at(node.middle), style));
  return links.join("") + nodes.join("") + numbers.join("");
}

/** Clusters with their counts, and the scale or classes of other colours. */
function legendPart(app: App, style: Style): string {
  const parts: string[] = [];
  let y = 12;
  const line = (colour: string, words: string, more = ""): void => {
    const letters = [...words]; // whole ones: a slice of the text may halve an emoji
    parts.push(`<circle cx="6" cy="${y - 4}" r="5" fill="${colour}"/>`);
    parts.push(
      text(
        18,
        y,
        letters.length > 24 ? `${letters.slice(0, 23).join("")}…` : words,
        `font-size="12" fill="${style.ink}"`,
      ),
    );
    if (more) parts.push(text(LEGEND, y, more, `font-size="12" text-anchor="end" fill="${style.soft}"`));
    y += LINE;
  };
  const title = (words: string): void => {
    parts.push(text(0, y, words, `font-size="12" font-weight="600" fill="${style.ink}"`));
    y += LINE;
  };
  const scale = currentScale(app);
  const missing = (): void => {
    if (scale && hasMissing(scale)) line(css(scaleColour(scale, NaN, app.dark)), "missing");
  };
  if (scale?.categories) {
    const { shown, more } = legendClasses(scale);
    title(scale.name);
    shown.forEach((word, i) => line(css(scaleColour(scale, i, app.dark)), word));
    if (more > 0) line(css(scaleColour(scale, shown.length, app.dark)), `${format(more)} more`);
    missing();
    y += LINE / 2;
  } else if (scale && !scale.ofLocals) {
    title(scale.name);
    for (let i = 0; i < 20; i++) {
      const colour = css(rampColour(i / 19, app.dark));
      parts.push(
        `<rect x="${(i * LEGEND) / 20}" y="${y - 10}" width="${LEGEND / 20 + 0.5}" height="10" fill="${colour}"/>`,
      );
    }
    y += LINE - 4;
    parts.push(text(0, y, scale.show(scale.low), `font-size="11" fill="${style.soft}"`));
    parts.push(text(LEGEND, y, scale.show(scale.high), `font-size="11" text-anchor="end" fill="${style.soft}"`));
    y += 1.5 * LINE;
    missing();
  }
  const sizes = app.clusterSizes();
  title("Clusters");
  sizes.slice(0, MOST_LINES).forEach((size, label) => {
    line(css(app.colourOf(label)), `Cluster ${label}`, `${format(size)} · ${percent(size / app.model.nSamples)}`);
  });
  if (sizes.length > MOST_LINES) title(`and ${sizes.length - MOST_LINES} more`);
  return parts.join("");
}

/** What the picture shows, in one line. */
function caption(app: App, tiled: boolean): string {
  const { model, view, cut } = app;
  const drawn = tiled ? "counted by tile" : `${format(model.nShown)} drawn`;
  const shown = model.nShown < model.nSamples ? ` (${drawn})` : "";
  const axes = view.axes.map(({ name }) => name).filter(Boolean);
  return [
    `${count(model.nSamples, "sample")}${shown}, ${count(cut.nClusters, "cluster")} of ${count(model.nLocal, "local cluster")}`,
    axes.length > 0 ? `samples by ${axes.join(" and ")}` : "",
    "right: topo-graph",
  ]
    .filter(Boolean)
    .join("; ");
}

export function asSvg(
  app: App,
  samples: SamplesPanel,
  graph: GraphPanel,
): { svg: string; width: number; height: number } {
  const style = app.dark
    ? { ink: "#e8ebf0", soft: "#9aa4b1", paper: "#14171c" }
    : { ink: "#16191d", soft: "#5a626d", paper: "#ffffff" };
  const boxes = [byId("samples"), byId("graph")].map(({ clientWidth: width, clientHeight: height }) => ({
    width,
    height,
  }));
  let left = GAP;
  const panels = boxes.map((box, i) => {
    if (box.width === 0) return ""; // the other panel is large
    const body = i === 0 ? samplesPart(app, samples, box, style) : graphPart(app, graph, style);
    const place = `x="${left}" y="${TOP}" width="${box.width}" height="${box.height}"`;
    left += box.width + GAP;
    return `<svg ${place} viewBox="0 0 ${box.width} ${box.height}">${body}</svg>`;
  });
  const width = left + LEGEND + GAP;
  const height = TOP + Math.max(...boxes.map((box) => box.height)) + GAP;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ' font-family="system-ui, sans-serif">',
    `<rect width="${width}" height="${height}" fill="${style.paper}"/>`,
    text(GAP, 28, app.model.title, `font-size="17" font-weight="600" fill="${style.ink}"`),
    text(GAP, 48, caption(app, samples.density.replaces(boxes[0])), `font-size="12" fill="${style.soft}"`),
    ...panels,
    `<g transform="translate(${left} ${TOP})">${legendPart(app, style)}</g>`,
    "</svg>",
  ].join("");
  return { svg, width, height };
}

export function saveSvg(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  save(new Blob([asSvg(app, samples, graph).svg], { type: "image/svg+xml" }), "explorer.svg");
}

/** The same picture in pixels, two for each of the page. */
export function savePng(app: App, samples: SamplesPanel, graph: GraphPanel): void {
  const { svg, width, height } = asSvg(app, samples, graph);
  const fail = (): void =>
    notice("The picture could not be drawn as a PNG. Take it as SVG, or make the window smaller.");
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
