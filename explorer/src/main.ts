// Start the page: read the data, build the panels, and redraw at most once per frame.

import { App, type Change, keepAddress, readAddress } from "./app";
import { fittedScale } from "./camera";
import { Toolbar, Tooltip, markCluster, showClusters, showLegend, showOutliers } from "./controls";
import { byId, count, explainTerms } from "./dom";
import { showEdits } from "./editing";
import { showExplanation } from "./explanation";
import { save, saveLabels, savePng, saveSvg } from "./export";
import { GraphPanel } from "./graph_panel";
import { readModel } from "./model";
import { SamplesPanel } from "./samples_panel";

const LATE_MILLISECONDS = 22;
const REST_MILLISECONDS = 160;
/** So many samples are always drawn; drawing fewer saves no time. */
const FEW_SAMPLES = 4000;

/** Draws once per frame. If frames are late while the view moves, draws a share of the samples until it rests. */
class Frames {
  share = 1;
  /** The smallest share; 1 always draws all samples. */
  least: number;
  private isWaiting = false;
  private isMoving = false;
  private last = 0;
  private resting = 0;

  constructor(
    private readonly draw: (share: number) => void,
    nSamples: number,
  ) {
    this.least = Math.min(1, Math.max(0.02, FEW_SAMPLES / nSamples));
  }

  request(isMoving: boolean): void {
    this.isMoving = isMoving;
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.isWaiting = false;
    const passed = now - this.last;
    this.last = now;
    if (!this.isMoving) return this.draw(1);
    if (passed < REST_MILLISECONDS) {
      const isLate = passed > LATE_MILLISECONDS;
      this.share = isLate ? Math.max(this.least, this.share * 0.75) : Math.min(1, this.share * 1.04);
    }
    this.draw(this.share);
    clearTimeout(this.resting);
    if (this.share < 1) this.resting = setTimeout(() => this.request(false), REST_MILLISECONDS);
  }
}

/** Place the panels side by side or one above the other, whichever shows the samples larger. */
function arrangePanels({ view }: App): void {
  const panels = byId("panels");
  const { clientWidth: width, clientHeight: height } = panels;
  const [gap, caption] = [12, 38];
  const area = (width: number, height: number): number => {
    const [x, y] = fittedScale({ width, height }, view);
    return x * y;
  };
  const isStacked = area(width, (height - gap) / 2 - caption) > area((width - gap) / 2, height - caption);
  panels.dataset.layout = isStacked ? "column" : "row";
}

/** Show only one panel, or both again. */
function connectPanelButtons(): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("[data-panel]")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const panels = byId("panels");
      panels.dataset.only = panels.dataset.only === button.dataset.panel ? "" : button.dataset.panel;
      for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.panel === panels.dataset.only));
    });
  }
}

/** Connect the keys and buttons that belong to no panel. */
function connectPage(app: App): void {
  const help = byId<HTMLDialogElement>("help");
  byId("help-button").addEventListener("click", () => help.showModal());
  byId("csv").addEventListener("click", () => saveLabels(app));
  byId("clear").addEventListener("click", () => app.clear());
  byId("undo").addEventListener("click", () => app.undo());
  byId("save-edits").addEventListener("click", () => {
    save(new Blob([app.editsJson()], { type: "application/json" }), "edits.json");
    showEdits(app);
  });
  addEventListener("beforeunload", (event) => app.isUnsaved && event.preventDefault());
  byId("lasso").addEventListener("click", () => {
    app.lassoing = !app.lassoing;
    app.lassoSplits = false;
    app.notify("pick");
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-zoom]")) {
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      if (factor > 0) app.camera.zoomAt(byId("samples").getBoundingClientRect(), factor);
      else app.camera.home();
    });
  }
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as HTMLElement).matches("input, select");
    if (event.key === "Escape" && !help.open) app.clear();
    else if (event.key === "/" && !isTyping) byId("search").focus();
    else if (event.key === "?" && !isTyping) help.showModal();
    else if (event.key === "z" && (event.ctrlKey || event.metaKey) && !isTyping) app.undo();
    else return;
    event.preventDefault();
  });
}

function start(): void {
  const model = readModel(byId("payload").textContent!);
  const app = new App(model);
  document.title = byId("title").textContent = model.title;
  byId("summary").textContent = model.summary;
  const nOmitted = model.columnsLeftOut;
  byId("left-out").textContent =
    nOmitted > 0 ? `The page omits ${count(nOmitted, "column")} with the least difference between clusters.` : "";
  explainTerms();

  const [left, right] = [byId("samples"), byId("graph")];
  const showTooltip = (panel: HTMLElement, x: number, y: number): void => {
    const box = panel.getBoundingClientRect();
    tooltip.show(box.left + x, box.top + y);
  };
  const canvas = (id: string): HTMLCanvasElement => byId<HTMLCanvasElement>(id);
  const layers = { tiles: canvas("tiles"), points: canvas("points"), overlay: canvas("overlay") };
  const samples = new SamplesPanel(app, left, layers, (x, y) => showTooltip(left, x, y));
  const graph = new GraphPanel(app, right, canvas("edges"), (x, y) => showTooltip(right, x, y));
  const tooltip = new Tooltip(app, (sample) => samples.countAt(sample));
  byId("no-webgl").hidden = samples.points.webgl;

  /** A step by keyboard shows the tooltip at the sample or node, and announces it. */
  const followKeys = (): void => {
    const { sample, node } = app.hover;
    const panel = document.activeElement as HTMLElement | null;
    if ((sample < 0 && !node) || !panel?.matches("#samples:focus-visible, #graph:focus-visible")) return;
    showTooltip(panel, ...(node ? graph.at(node.middle) : samples.at(sample)));
    const label = node ? node.label : app.labelOf(sample);
    const nodeName =
      node && (node.locals.length > 1 ? `${node.locals.length} local clusters` : `local cluster ${node.middle}`);
    byId("message").textContent = `${nodeName ?? app.nameOf(sample)}, ${app.titleOf(label)}`;
  };

  const draw = (share: number): void => {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    samples.draw(ratio, share);
    graph.draw(ratio);
  };
  const frames = new Frames(draw, model.nShown);
  const toolbar = new Toolbar(app);
  const refresh = (change: Change): void => {
    frames.request(change === "camera");
    if (change === "view") arrangePanels(app);
    if (change === "cut" || change === "view" || change === "colour") toolbar.show();
    if (change === "cut") [showClusters, showEdits].forEach((show) => show(app));
    if (change === "cut" || change === "colour") showLegend(app);
    if (change === "cut" || change === "colour" || change === "pick") showExplanation(app);
    if (change === "pick") {
      markCluster(app);
      byId("lasso").setAttribute("aria-pressed", String(app.lassoing));
    }
    if (change === "hover" || change === "cut") {
      if (app.hover.sample < 0 && !app.hover.node && !app.hover.link) tooltip.hide();
      else followKeys();
    }
  };
  app.listen(refresh);
  refresh("cut");
  showOutliers(app);
  keepAddress(app);
  readAddress(app, location.hash.slice(1));
  addEventListener("hashchange", () => location.reload()); // a pasted address; the page itself causes no such event

  for (const [id, write] of Object.entries({ png: savePng, svg: saveSvg })) {
    byId(id).addEventListener("click", () => {
      draw(1); // WebGL keeps no picture after the frame
      write(app, samples, graph);
    });
  }
  connectPage(app);
  connectPanelButtons();
  const resized = new ResizeObserver(() => {
    arrangePanels(app);
    frames.request(false);
  });
  for (const element of [byId("panels"), left, right]) resized.observe(element);
  arrangePanels(app);
  draw(1);
  requestAnimationFrame(() => setTimeout(() => performance.mark("first-points"))); // after the first frame
  Object.assign(window, { explorer: { app, frames, graph } }); // for the console and for tests
}

start();
