// The page: reads the data, builds the panels, and draws once a frame where something has changed.

import { showExplanation } from "./about";
import { keepAddress, readState } from "./address";
import { App, type Change } from "./app";
import { Controls } from "./controls";
import { type Wish, recut } from "./cut";
import { byId } from "./dom";
import { saveLabels } from "./download";
import { Frames } from "./frames";
import { GraphPanel } from "./graph_panel";
import { Layout } from "./layout";
import { readModel } from "./payload";
import { savePng, saveSvg } from "./picture";
import { SamplesPanel } from "./samples_panel";
import { markCluster, showClusters, showLegend, showOdd } from "./side";
import { explainTerms } from "./terms";
import { Tooltip } from "./tooltip";

function start(): void {
  const model = readModel(byId("payload").textContent!);
  const app = new App(model);
  document.title = model.title;
  byId("title").textContent = model.title;
  const { columnsLeftOut } = model;
  byId("left-out").hidden = columnsLeftOut === 0;
  const [which, are] = columnsLeftOut === 1 ? ["column that differs", "is"] : ["columns that differ", "are"];
  byId("left-out").textContent = `${columnsLeftOut} ${which} least between clusters ${are} not in this page.`;
  explainTerms();

  const beside = (panel: HTMLElement) => (left: number, top: number) => {
    const box = panel.getBoundingClientRect();
    tooltip.show(box.left + left, box.top + top);
  };
  const [left, right] = [byId("samples"), byId("graph")];
  const canvases = { tiles: byId("tiles"), points: byId("points"), overlay: byId("overlay") } as const;
  const samples = new SamplesPanel(app, left, canvases as SamplesPanel["layers"], beside(left));
  const graph = new GraphPanel(app, right, byId("edges"), beside(right));
  const tooltip = new Tooltip(app, (sample) =>
    samples.density.countAt(app.place[2 * sample], app.place[2 * sample + 1]),
  );
  byId("no-webgl").hidden = samples.points.webgl;

  const draw = (share: number): void => {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    samples.draw(ratio, share);
    graph.draw(ratio);
  };
  const frames = new Frames(draw, model.nShown);
  const controls = new Controls(app);
  const layout = new Layout(app);
  const refresh = (change: Change): void => {
    frames.ask(change === "view");
    if (change === "places") layout.arrange();
    if (change === "cut" || change === "places") {
      controls.show();
      showClusters(app);
    }
    if (change === "cut" || change === "colour") showLegend(app);
    if (change === "colour") controls.colours.show();
    if (change === "cut" || change === "colour" || change === "pick") showExplanation(app);
    if (change === "pick") {
      markCluster(app);
      byId("lasso").setAttribute("aria-pressed", String(app.lassoing));
    }
    if (change === "hover") {
      if (app.hover.sample < 0 && !app.hover.node && !app.hover.link) tooltip.hide();
      else followKeys(app, tooltip, samples, graph);
    }
  };
  app.listen(refresh);
  keepAddress(app);
  refresh("cut");
  showOdd(app);
  readState(app, location.hash.slice(1));
  controls.showProportions();
  addEventListener("hashchange", () => location.reload()); // an address that was pasted; those of the page make none

  byId("csv").addEventListener("click", () => saveLabels(app));
  for (const [id, write] of [
    ["png", savePng],
    ["svg", saveSvg],
  ] as const) {
    byId(id).addEventListener("click", () => {
      draw(1); // WebGL keeps no picture for later
      write(app, samples, graph);
    });
  }
  byId("clear").addEventListener("click", () => app.clear());
  byId("lasso").addEventListener("click", () => {
    app.lassoing = !app.lassoing;
    byId("lasso").setAttribute("aria-pressed", String(app.lassoing));
  });
  connectPage(app);
  const resized = new ResizeObserver(() => frames.ask(false));
  for (const panel of [left, right]) resized.observe(panel);
  layout.arrange();
  draw(1);
  requestAnimationFrame(() => setTimeout(() => performance.mark("first-points"))); // after the frame that shows them
  // for the console, and for tests
  Object.assign(window, { explorer: { app, frames, graph, recut: (wish: Wish) => [...recut(model, wish).labels] } });
}

/** A step by keyboard shows the same words as the pointer would, at the sample or node itself. */
function followKeys(app: App, tooltip: Tooltip, samples: SamplesPanel, graph: GraphPanel): void {
  const panel = document.activeElement;
  const { sample, node } = app.hover;
  if ((sample < 0 && !node) || !panel?.matches("#samples:focus-visible, #graph:focus-visible")) return;
  const box = panel.getBoundingClientRect();
  const [x, y] = node ? graph.at(node.middle) : samples.at(sample);
  tooltip.show(box.left + x, box.top + y);
  const label = node ? node.label : app.labelOf(sample);
  const many = node && node.locals.length > 1;
  const what = !node
    ? app.nameOf(sample)
    : many
      ? `${node.locals.length} local clusters`
      : `local cluster ${node.middle}`;
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
