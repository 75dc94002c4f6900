// The state of the page in its address, so that a view can be sent: everything after the #.

import type { App } from "./app";
import { rowOf, sampleOf } from "./payload";

/** The state as words for an address; what is as it was at first is left out. */
export function writeState(app: App): string {
  const { model, wish, camera } = app;
  const state = new URLSearchParams();
  if (wish.nClusters !== undefined) state.set("clusters", String(wish.nClusters));
  if (wish.proportions) state.set("proportions", [wish.proportions].flat().join(","));
  if (app.view !== model.views[0]) state.set("view", app.view.name);
  if (app.colourBy !== "cluster") state.set("colour", colourName(app));
  if (app.picked.length > 0) state.set("samples", app.picked.map((sample) => rowOf(model, sample)).join(","));
  if (app.cluster >= 0) state.set("cluster", String(app.cluster));
  if (camera.zoom !== 1 || camera.x !== 0 || camera.y !== 0) {
    state.set("at", [camera.x, camera.y, camera.zoom].map((value) => String(Number(value.toPrecision(5)))).join(","));
  }
  return state.toString();
}

/** Columns by their names, so that an address stays true where a table gains a column. */
function colourName({ colourBy, model }: App): string {
  const column = /^column (\d+)$/.exec(colourBy);
  return column ? `column:${model.columns[Number(column[1])].name}` : colourBy;
}

function readColour(app: App, name: string): string {
  if (!name.startsWith("column:"))
    return ["intensity", "membership", "outlier", "local"].includes(name) ? name : "cluster";
  const at = app.model.columns.findIndex((column) => `column:${column.name}` === name);
  return at < 0 ? "cluster" : `column ${at}`;
}

const numbers = (text: string | null): number[] =>
  (text ?? "").split(",").filter(Boolean).map(Number).filter(Number.isFinite);

/** Make the page as an address says; words that mean nothing here are passed over. */
export function readState(app: App, text: string): void {
  const state = new URLSearchParams(text);
  const { model, camera } = app;
  const view = model.views.find(({ name }) => name === state.get("view"));
  if (view) app.look(view);
  const proportions = numbers(state.get("proportions")).filter((share) => share > 0);
  const [nClusters] = numbers(state.get("clusters")).map((n) => Math.max(1, Math.min(model.nLocal, Math.round(n))));
  if (model.recut && (proportions.length > 0 || nClusters)) {
    app.recut(proportions.length > 0 ? { proportions } : { nClusters });
  }
  if (state.has("colour")) app.colour(readColour(app, state.get("colour")!));
  const picked = numbers(state.get("samples")).map((row) => sampleOf(model, row));
  for (const sample of picked.filter((sample) => sample >= 0).slice(0, 2)) app.pick(sample);
  const [cluster] = numbers(state.get("cluster"));
  if (Number.isInteger(cluster) && cluster >= 0 && cluster < app.cut.nClusters) app.pickCluster(cluster);
  const at = numbers(state.get("at"));
  if (at.length === 3 && at[2] > 0) camera.lookAt(at[0], at[1], at[2]);
}

const WAIT = 250;

/** Keep the address up to date, a moment after the last change. */
export function keepAddress(app: App): void {
  let waiting = 0;
  app.listen((change) => {
    if (change === "hover") return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const state = writeState(app);
      if (state !== location.hash.slice(1)) history.replaceState(null, "", `#${state}`);
    }, WAIT);
  });
}
