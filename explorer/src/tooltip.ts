// What is under the pointer, in a few words beside it.

import type { App } from "./app";
import { byId, count, format, make } from "./dom";
import { css } from "./palette";
import { columnText } from "./side";

const MOST_COLUMNS = 6;

export class Tooltip {
  private readonly box = byId<HTMLDivElement>("tooltip");

  constructor(private readonly app: App) {}

  /** Show it beside a place on the page, or hide it where nothing is pointed at. */
  show(left: number, top: number): void {
    const lines = this.lines();
    this.box.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.box.replaceChildren(...lines);
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const x = left + 16 + width > innerWidth ? left - 16 - width : left + 16;
    const y = Math.min(top + 16, innerHeight - height - 8);
    this.box.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  }

  hide(): void {
    this.box.hidden = true;
  }

  private lines(): HTMLElement[] {
    const { hover } = this.app;
    if (hover.sample >= 0) return this.ofSample(hover.sample);
    if (hover.local >= 0) return this.ofNode(hover.local);
    if (hover.edge >= 0) return this.ofEdge(hover.edge);
    return [];
  }

  private cluster(label: number): HTMLElement {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = css(this.app.colourOf(label));
    return make("div", {}, swatch, label < 0 ? "noise" : `cluster ${label}`);
  }

  private ofSample(sample: number): HTMLElement[] {
    const { app } = this;
    const { axes, columns, samples } = app.model;
    const lines = [make("b", {}, app.nameOf(sample)), this.cluster(app.labelOf(sample))];
    lines.push(
      make("div", {}, `local cluster ${samples.local[sample]}, membership ${app.membership[sample].toFixed(2)}`),
    );
    axes.forEach((axis, i) => {
      const value = axis.centre + axis.unit * samples.place[2 * sample + i];
      lines.push(
        make(
          "div",
          { class: "column" },
          make("span", {}, axis.name),
          make("span", {}, format(Number(value.toPrecision(4)))),
        ),
      );
    });
    for (const column of columns.slice(0, MOST_COLUMNS)) {
      lines.push(
        make("div", { class: "column" }, make("span", {}, column.name), make("span", {}, columnText(column, sample))),
      );
    }
    return lines;
  }

  private ofNode(local: number): HTMLElement[] {
    const { graph } = this.app.model;
    return [
      make("b", {}, `local cluster ${local}`),
      this.cluster(this.app.cut.labels[local]),
      make("div", {}, `${count(graph.sizes[local], "sample")}, peak ${this.app.nameOf(graph.peaks[local])}`),
    ];
  }

  private ofEdge(e: number): HTMLElement[] {
    const { edges, pairs, logWeights } = this.app.model.graph;
    const { labels } = this.app.cut;
    const [i, j] = [edges[2 * e], edges[2 * e + 1]];
    const carried =
      pairs[e] > 0
        ? `${count(pairs[e], "boundary pair")}, log weight ${format(Number(logWeights[e].toPrecision(4)))}`
        : "a bridge: no boundary pair";
    return [
      make("b", {}, `edge ${i} – ${j}`),
      make("div", {}, labels[i] === labels[j] ? "kept" : "cut"),
      make("div", {}, carried),
    ];
  }
}
