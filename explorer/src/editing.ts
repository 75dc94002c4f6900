// The controls of edits in the explanation, and the list of edits in the sidebar.

import type { App } from "./app";
import { byId, count, make, notice } from "./dom";
import { describeEdit, describeEffect, mergeEdit, moveEdit, splitEdit, titleIn } from "./edits";
import type { Cut } from "./model";

/** What can be done with the selected samples or the picked cluster; or the proposed edit, to apply or cancel. */
export function editControls(app: App): HTMLElement[] {
  const { model, cut, cluster, proposal } = app;
  if (!model.graph.editable) return [];
  if (proposal) return [proposedEdit(app)];
  const samples = app.selection ?? app.picked;
  if (samples.length > 0) {
    const move = (id: number | null): void => app.propose(moveEdit(model, cut, samples, id));
    return [make("div", { class: "editing" }, clusterMenu(cut, "Move to", -1, move))];
  }
  if (cluster < 0 || !cut.samples.includes(cluster)) return [];
  if (app.lassoing && app.lassoSplits) return [make("p", { class: "hint" }, "Draw around the samples to split off.")];
  const id = cut.ids[cluster];
  const name = make("input", { "aria-label": "Name of the cluster", placeholder: "Name", maxlength: "60", id: "name" });
  name.value = cut.names[id] ?? "";
  const form = make("form", { class: "editing" }, name, small("Rename", null, "submit"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    notice(app.rename(id, name.value));
  });
  return [
    form,
    make(
      "div",
      { class: "editing" },
      cut.nClusters > 1 && clusterMenu(cut, "Merge with", cluster, (other) => app.propose(mergeEdit(cut, id, other!))),
      small("Split", () => app.propose(splitEdit(model, cut, id, null))),
      small("Split by lasso", () => {
        app.lassoing = app.lassoSplits = true;
        app.notify("pick");
      }),
    ),
  ];
}

function small(text: string, click: (() => void) | null, type = "button"): HTMLButtonElement {
  const button = make("button", { type, class: "small" }, text);
  if (click) button.addEventListener("click", click);
  return button;
}

/** A menu of all clusters but one; if there is no exception (-1), also of a new cluster (null). */
function clusterMenu(cut: Cut, title: string, except: number, choose: (id: number | null) => void): HTMLElement {
  const labels = [...cut.ids.keys()].filter((label) => label !== except && cut.sizes[label] > 0);
  const menu = make(
    "select",
    { class: "small", "aria-label": title },
    make("option", { value: "" }, `${title} …`),
    except < 0 && make("option", { value: "new" }, "a new cluster"),
    ...labels.map((label) => make("option", { value: String(cut.ids[label]) }, titleIn(cut, cut.ids[label]))),
  );
  menu.addEventListener("change", () => choose(menu.value === "new" ? null : Number(menu.value)));
  return menu;
}

function proposedEdit(app: App): HTMLElement {
  const { cut, proposal } = app;
  const apply = small("Apply", () => app.edit(proposal!.edit!));
  apply.id = "apply";
  const cancel = small("Cancel", () => {
    app.proposal = null;
    app.notify("pick");
  });
  return make(
    "div",
    { class: "proposal", role: "group", "aria-label": "Proposed edit" },
    make("p", { class: "verdict" }, `${describeEdit(cut, proposal!, false)}?`),
    ...describeEffect(app.model, cut, proposal!).map((line) => make("p", {}, line)),
    make("div", { class: "editing" }, apply, cancel),
  );
}

/** List the edits so far, the last one at the end. */
export function showEdits(app: App): void {
  const { history, nEdits, model, isUnsaved } = app;
  const lines = history.slice(1).map((cut, i) => make("li", {}, describeEdit(history[i], cut, true)));
  byId("edits").replaceChildren(...lines);
  byId("edits").scrollTop = 1e6;
  byId("editing").hidden = model.graph.editable && nEdits === 0;
  byId("undo").hidden = byId("save-edits").hidden = nEdits === 0;
  byId("edits-hint").textContent = !model.graph.editable
    ? 'Clusters of this variant cannot be edited. Fit with variant="adaptive".'
    : `${count(nEdits, "edit")}, ${isUnsaved ? "not saved" : 'saved. Replay: fit(X, edits="edits.json")'}.`;
}
