// The page: reads the data, builds the panels, and draws once a frame where something has changed.

import { App, type Change } from "./app";
import { Controls } from "./controls";
import { type Wish, recut } from "./cut";
import { byId } from "./dom";
import { saveCsv, savePng } from "./download";
import { Frames } from "./frames";
import { GraphPanel } from "./graph_panel";
import { readModel } from "./payload";
import { SamplesPanel } from "./samples_panel";
import { markCluster, showClusters, showExplanation, showLegend } from "./side";
import { Tooltip } from "./tooltip";

function start(): void {
  const model = readModel(byId("payload").textContent!);
  const app = new App(model);
  document.title = model.title;
  byId("title").textContent = model.title;
  byId("axes").textContent = model.axes.map((axis, i) => `${i ? "↑" : "→"} ${axis.name}`).join("   ");

  const tooltip = new Tooltip(app);
  const beside = (panel: HTMLElement) => (left: number, top: number) => {
    const box = panel.getBoundingClientRect();
    tooltip.show(box.left + left, box.top + top);
  };
  const [left, right] = [byId("samples"), byId("graph")];
  const samples = new SamplesPanel(app, left, byId("points"), byId("overlay"), beside(left));
  const graph = new GraphPanel(app, right, byId("edges"), beside(right));
  byId("no-webgl").hidden = samples.points.webgl;

  const draw = (share: number): void => {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    samples.draw(ratio, share);
    graph.draw(ratio, share);
  };
  const frames = new Frames(draw);
  app.listen((change: Change) => {
    frames.ask(change === "view");
    if (change === "cut") {
      controls.show();
      showClusters(app);
    }
    if (change === "cut" || change === "colour") showLegend(app);
    if (change === "cut" || change === "colour" || change === "pick") showExplanation(app);
    if (change === "pick") markCluster(app);
    if (change === "hover") {
      if (app.hover.local < 0 && app.hover.edge < 0) tooltip.hide();
      else followKeys(app, tooltip, samples, graph);
    }
  });
  const controls = new Controls(app);
  controls.show();
  showClusters(app);
  showExplanation(app);

  byId("csv").addEventListener("click", () => saveCsv(app));
  byId("png").addEventListener("click", () =>
    savePng(app, [[samples.canvas, samples.overlay], [graph.canvas]], () => draw(1)),
  );
  byId("clear").addEventListener("click", () => app.clear());
  connectPage(app);
  const resized = new ResizeObserver(() => frames.ask(false));
  for (const panel of [left, right]) resized.observe(panel);
  draw(1);
  requestAnimationFrame(() => setTimeout(() => performance.mark("first-points"))); // after the frame that shows them
  // for the console, and for tests
  Object.assign(window, { explorer: { app, frames, recut: (wish: Wish) => [...recut(model, wish).labels] } });
}

/** A step by keyboard shows the same words as the pointer would, at the sample or node itself. */
function followKeys(app: App, tooltip: Tooltip, samples: SamplesPanel, graph: GraphPanel): void {
  const panel = document.activeElement;
  const { sample, local } = app.hover;
  if (local < 0 || !panel?.matches("#samples:focus-visible, #graph:focus-visible")) return;
  const box = panel.getBoundingClientRect();
  const [x, y] = sample >= 0 ? samples.at(sample) : graph.at(local);
  tooltip.show(box.left + x, box.top + y);
  const label = sample >= 0 ? app.labelOf(sample) : app.cut.labels[local];
  const what = sample >= 0 ? app.nameOf(sample) : `local cluster ${local}`;
  byId("message").textContent = `${what}, ${label < 0 ? "noise" : `cluster ${label}`}`;
}

/** Keys and buttons that belong to no panel. */
function connectPage(app: App): void {
  const help = byId<HTMLDialogElement>("help");
  byId("help-button").addEventListener("click", () => help.showModal());
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-zoom]")) {
    button.addEventListener("click", () => {
      const box = byId("samples").getBoundingClientRect();
      const factor = Number(button.dataset.zoom);
      if (factor > 0) app.camera.zoomAt(box, factor);
      else app.camera.home();
    });
  }
  document.addEventListener("keydown", (event) => {
    const typing = (event.target as HTMLElement).matches("input, select, textarea");
    if (event.key === "Escape" && !help.open) app.clear();
    else if (event.key === "/" && !typing) byId("search").focus();
    else if (event.key === "?" && !typing) help.showModal();
    else return;
    event.preventDefault();
  });
}

start();
