// Colours of clusters in every cut: those of the fit are 0, 1, ...; where a cluster is split, the larger part keeps its
// colour, so that the same cut always looks the same, whichever cuts came before it.

import { type Cut, recut } from "./cut";
import { matchSlots } from "./palette";
import type { Model } from "./payload";

/** Steps from the number of the fit that are followed one by one. */
const MOST_STEPS = 150;

export class Slots {
  private readonly known = new Map<number, number[]>();
  private readonly own: number[];

  constructor(
    private readonly model: Model,
    private readonly fitted: Cut,
  ) {
    this.own = Array.from({ length: fitted.nClusters }, (_, label) => label);
  }

  of(cut: Cut): number[] {
    if (cut.fitted) return this.own;
    const far = Math.abs(cut.nClusters - this.fitted.nClusters);
    if (cut.nested && this.fitted.nested && far <= MOST_STEPS) return this.along(cut.nClusters);
    return matchSlots(this.fitted.labels, this.own, cut.labels, this.model.graph.sizes);
  }

  /** Split by split from the fit, or merge by merge. */
  private along(nClusters: number): number[] {
    const { model, fitted } = this;
    if (nClusters === fitted.nClusters) return this.own;
    const known = this.known.get(nClusters);
    if (known) return known;
    const before = nClusters - Math.sign(nClusters - fitted.nClusters);
    const labelsOf = (n: number): Int32Array =>
      (n === fitted.nClusters ? fitted : recut(model, { nClusters: n })).labels;
    const slots = matchSlots(labelsOf(before), this.along(before), labelsOf(nClusters), model.graph.sizes);
    this.known.set(nClusters, slots);
    return slots;
  }
}
