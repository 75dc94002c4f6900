// Start the page: read the data, build the panels, and redraw at most once per frame.

import { App, type Change } from "./app";
import { Toolbar, markCluster, showClusters, showLegend, showOutliers, showTooltip } from "./controls";
import { byId, count } from "./dom";
import { showEdits } from "./editing";
import { showExplanation } from "./explanation";
import { save, savePng, saveRows, saveSvg } from "./export";
import { GraphPanel } from "./graph_panel";
import { readModel } from "./model";
import { SamplesPanel } from "./samples_panel";

/** Connect the keys and buttons that belong to no panel. */
function connectPage(app: App): void {
  const help = byId<HTMLDialogElement>("help");
  const onClick = (id: string, action: () => void): void => byId(id).addEventListener("click", action);
  onClick("help-button", () => help.showModal());
  onClick("csv", () => saveRows(app, [...app.cut.samples.keys()], `labels-${app.cut.nClusters}-clusters`));
  onClick("clear", () => app.clear());
  onClick("undo", () => app.undo());
  onClick("save-edits", () => {
    save(new Blob([app.editsJson()], { type: "application/json" }), "edits.json");
    showEdits(app);
  });
  addEventListener("beforeunload", (event) => app.isUnsaved && event.preventDefault());
  onClick("lasso", () => app.startLasso("select"));
  const zoom = (factor: number): void => app.camera.zoomAt(byId("samples").getBoundingClientRect(), factor);
  onClick("zoom-in", () => zoom(1.5));
  onClick("zoom-out", () => zoom(1 / 1.5));
  onClick("show-all", () => app.camera.home());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !help.open) return app.clear();
    const isTyping = (event.target as HTMLElement).matches("input, select");
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || isTyping) return;
    event.preventDefault();
    app.undo();
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

  const tooltipIn =
    (panel: HTMLElement) =>
    (x: number, y: number): void => {
      const { left, top } = panel.getBoundingClientRect();
      showTooltip(app, left + x, top + y, (sample) => samples.countAt(sample));
    };
  const [left, right] = [byId("samples"), byId("graph")];
  const samples = new SamplesPanel(app, left, left.querySelector("canvas")!, tooltipIn(left));
  const graph = new GraphPanel(app, right, right.querySelector("canvas")!, tooltipIn(right));

  const draw = (): void => {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    samples.draw(ratio);
    graph.draw(ratio);
  };
  let isWaiting = false;
  const requestDraw = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw();
    });
  };
  const toolbar = new Toolbar(app);
  const refresh = (change: Change): void => {
    requestDraw();
    if (change === "cut" || change === "view" || change === "colour") toolbar.show();
    if (change === "cut") [showClusters, showEdits].forEach((show) => show(app));
    if (change === "cut" || change === "colour") showLegend(app);
    if (change === "cut" || change === "colour" || change === "pick") showExplanation(app);
    if (change === "pick") {
      markCluster(app);
      byId("lasso").setAttribute("aria-pressed", String(app.lasso === "select"));
    }
    const { sample, node, link } = app.hover;
    if (sample < 0 && !node && !link) byId("tooltip").hidden = true;
  };
  app.listen(refresh);
  refresh("cut");
  showOutliers(app);
  connectPage(app);
  byId("png").addEventListener("click", () => savePng(app, samples, graph));
  byId("svg").addEventListener("click", () => saveSvg(app, samples, graph));
  const resized = new ResizeObserver(requestDraw);
  for (const element of [left, right]) resized.observe(element);
  draw();
  requestAnimationFrame(() => setTimeout(() => performance.mark("first-points"))); // after the first frame
  Object.assign(window, { explorer: { app, samples, graph } }); // for the console and for tests
}

start();
