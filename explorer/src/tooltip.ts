// What is under the pointer, in a few words beside it.

import type { App } from "./app";
import type { Link, Node } from "./coarse";
import { byId, count, format, make } from "./dom";
import { css } from "./palette";
import { cell } from "./profile";

const MOST_COLUMNS = 6;

export class Tooltip {
  private readonly box = byId<HTMLDivElement>("tooltip");

  constructor(
    private readonly app: App,
    /** How many of all samples lie where a sample is; -1 where that is not known. */
    private readonly countAt: (sample: number) => number,
  ) {
    const ofTerm = (event: Event): HTMLElement | null => (event.target as Element).closest?.("[data-tip]") ?? null;
    for (const kind of ["pointerover", "focusin"]) {
      document.addEventListener(kind, (event) => {
        const term = ofTerm(event);
        if (!term) return;
        const { left, bottom } = term.getBoundingClientRect();
        this.place([make("div", {}, term.dataset.tip!)], left - 16, bottom - 10);
        term.setAttribute("aria-describedby", "tooltip");
      });
    }
    for (const kind of ["pointerout", "focusout"]) {
      document.addEventListener(kind, (event) => ofTerm(event) && this.hide());
    }
  }

  /** Show it beside a place on the page, or hide it where nothing is pointed at. */
  show(left: number, top: number): void {
    this.place(this.lines(), left, top);
  }

  private place(lines: HTMLElement[], left: number, top: number): void {
    this.box.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.box.replaceChildren(...lines);
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const x = left + 16 + width > innerWidth ? Math.min(left - 16, innerWidth - 8) - width : left + 16;
    const y = Math.min(top + 16, innerHeight - height - 8);
    this.box.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  }

  hide(): void {
    this.box.hidden = true;
  }

  private lines(): HTMLElement[] {
    const { hover } = this.app;
    if (hover.sample >= 0) return this.ofSample(hover.sample);
    if (hover.node) return this.ofNode(hover.node);
    if (hover.link) return this.ofLink(hover.link);
    return [];
  }

  private cluster(label: number): HTMLElement {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = css(this.app.colourOf(label));
    return make("div", {}, swatch, label < 0 ? "noise" : `cluster ${label}`);
  }

  private ofSample(sample: number): HTMLElement[] {
    const { app } = this;
    const label = app.labelOf(sample);
    const lines = [make("b", {}, app.nameOf(sample)), this.cluster(label)];
    for (const column of this.columnsOf(label)) {
      const value = cell(column, column.values[sample]);
      lines.push(make("div", { class: "column" }, make("span", {}, column.name), make("span", {}, value)));
    }
    const here = this.countAt(sample);
    if (here > 0) lines.push(make("div", { class: "hint" }, `${count(here, "sample")} in this tile`));
    return lines;
  }

  /** The columns in which a cluster differs, then the others; first the one that the samples are coloured by. */
  private columnsOf(label: number): App["model"]["columns"] {
    const { columns } = this.app.model;
    const shown = columns[Number(/^column (\d+)$/.exec(this.app.colourBy)?.[1] ?? -1)];
    const { app } = this;
    const apart = [...app.contrasts(label), ...app.contrasts(label, false)].map(({ column }) => column);
    return [...new Set([...(shown ? [shown] : []), ...apart, ...columns])].slice(0, MOST_COLUMNS);
  }

  private ofNode(node: Node): HTMLElement[] {
    const { peaks } = this.app.model.graph;
    const samples = count(node.size, "sample");
    if (node.locals.length === 1) {
      const peak = this.app.nameOf(peaks[node.middle]);
      const about = make("div", {}, `${samples}, peak ${peak}`);
      return [make("b", {}, `local cluster ${node.middle}`), this.cluster(node.label), about];
    }
    return [
      make("b", {}, count(node.locals.length, "local cluster")),
      this.cluster(node.label),
      make("div", {}, `${samples}; click to open`),
    ];
  }

  private ofLink({ from, to, edge, edges, pairs, kept }: Link): HTMLElement[] {
    const { logWeights, edges: ends } = this.app.model.graph;
    const weight = `log weight ${format(Number(logWeights[edge].toPrecision(4)))}`;
    const carried =
      pairs > 0 ? `${count(pairs, "boundary pair")}, ${edges > 1 ? "strongest " : ""}${weight}` : "no boundary pair";
    const single = from.locals.length === 1 && to.locals.length === 1;
    return [
      make("b", {}, single ? `edge ${ends[2 * edge]} – ${ends[2 * edge + 1]}` : count(edges, "edge")),
      make("div", {}, pairs === 0 ? "a bridge" : kept ? "kept" : `cut between cluster ${from.label} and ${to.label}`),
      make("div", {}, carried),
    ];
  }
}
