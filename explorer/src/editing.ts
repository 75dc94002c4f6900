// The controls of edits in the explanation, and the list of edits in the sidebar.

import type { App } from "./app";
import { button, byId, count, make } from "./dom";
import { describeEdit, titleIn } from "./edits";

/** What can be done with the selected samples or the picked cluster. */
export function editControls(app: App): HTMLElement[] {
  const { model, cut, cluster } = app;
  if (!model.graph.editable) return [];
  const samples = app.selection ?? app.picked;
  if (samples.length > 0) {
    return [
      make(
        "div",
        { class: "editing" },
        clusterMenu(app, "Move to", (id) => app.move(samples, id)),
      ),
    ];
  }
  if (cluster < 0 || !cut.samples.includes(cluster)) return [];
  if (app.lasso === "split") return [make("p", { class: "hint" }, "Draw around the samples to split off.")];
  const id = cut.ids[cluster];
  const name = make("input", { "aria-label": "Name of the cluster", placeholder: "Name", maxlength: "60", id: "name" });
  name.value = cut.names[id] ?? "";
  const form = make("form", { class: "editing" }, name, make("button", { class: "small" }, "Rename"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    app.rename(id, name.value);
  });
  return [
    form,
    make(
      "div",
      { class: "editing" },
      cut.nClusters > 1 && clusterMenu(app, "Merge with", (other) => app.merge(id, other!)),
      button("Split", () => app.split(id, null), { class: "small", title: "Split along the hierarchy" }),
      button("Split by lasso", () => app.startLasso("split"), { class: "small" }),
    ),
  ];
}

/** A menu of all clusters but the picked one; if none is picked, also of a new cluster (null). */
function clusterMenu({ cut, cluster }: App, title: string, choose: (id: number | null) => void): HTMLElement {
  const ids = cut.ids.filter((_, label) => label !== cluster && cut.sizes[label] > 0);
  const menu = make(
    "select",
    { class: "small", "aria-label": title },
    make("option", { value: "" }, `${title} …`),
    cluster < 0 && make("option", { value: "new" }, "a new cluster"),
    ...ids.map((id) => make("option", { value: String(id) }, titleIn(cut, id))),
  );
  menu.addEventListener("change", () => choose(menu.value === "new" ? null : Number(menu.value)));
  return menu;
}

/** List the edits so far, the last one at the end. */
export function showEdits({ history, nEdits, model, isUnsaved }: App): void {
  const lines = history.slice(1).map((cut, i) => make("li", {}, describeEdit(history[i], cut)));
  byId("edits").replaceChildren(...lines);
  byId("edits").scrollTop = 1e6;
  byId("editing").hidden = model.graph.editable && nEdits === 0;
  byId("undo").hidden = byId("save-edits").hidden = nEdits === 0;
  byId("edits-hint").textContent = !model.graph.editable
    ? 'Clusters of this variant cannot be edited. Fit with variant="adaptive".'
    : `${count(nEdits, "edit")}, ${isUnsaved ? "not saved" : 'saved. Replay: fit(X, edits="edits.json")'}.`;
}
