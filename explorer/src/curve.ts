// Under the slider: the score of every number of clusters, and the recommended ones to choose.

import { byId, make } from "./dom";
import type { Scores } from "./payload";

const NAMESPACE = "http://www.w3.org/2000/svg";

export class ScoreCurve {
  constructor(
    private readonly scores: Scores | null,
    private readonly choose: (nClusters: number) => void,
  ) {
    byId("curve").toggleAttribute("hidden", scores === null);
    byId("marks").hidden = scores === null;
  }

  /** What the scores say of a number of clusters. */
  words(nClusters: number): string {
    if (!this.scores) return "";
    const { n_clusters: numbers, score, recommended } = this.scores;
    const of = (number: number): number | undefined => score[numbers.indexOf(number)];
    const [best] = recommended;
    const here = of(nClusters);
    if (here === undefined) return `${nClusters} clusters have no score. The best number is ${best}.`;
    if (nClusters === best) return `${best} has the best score of all numbers, ${here.toFixed(2)}.`;
    return `${nClusters} has a score of ${here.toFixed(2)}; the best number, ${best}, has ${of(best)!.toFixed(2)}.`;
  }

  /** Draw it for a slider from 1 to most. */
  draw(most: number, nClusters: number): void {
    if (!this.scores || most < 2) return;
    const { n_clusters: numbers, score, recommended } = this.scores;
    const shown = numbers
      .map((number, i) => ({ number, score: Math.max(0, score[i]) }))
      .filter(({ number }) => number <= most);
    const highest = Math.max(1e-9, ...shown.map((one) => one.score));
    const bars = shown.map(({ number, score }) => {
      const bar = document.createElementNS(NAMESPACE, "rect");
      const height = Math.max(0.04, score / highest);
      for (const [name, value] of [
        ["x", number - 1.34],
        ["y", 1 - height],
        ["width", 0.68],
        ["height", height],
      ] as const) {
        bar.setAttribute(name, String(value));
      }
      bar.setAttribute("class", number === nClusters ? "now" : recommended.includes(number) ? "good" : "");
      return bar;
    });
    const picture = byId<HTMLElement>("curve");
    picture.setAttribute("viewBox", `-0.5 0 ${most} 1`);
    picture.replaceChildren(...bars);
    const marks = recommended
      .filter((number) => number <= most)
      .map((number, rank) => {
        const title = rank === 0 ? "The best number by its score" : "Comes next by its score";
        const mark = make(
          "button",
          { type: "button", class: "mark", title, "data-number": String(number) },
          String(number),
        );
        mark.setAttribute("aria-label", `${number} clusters. ${title}.`);
        mark.style.left = `${(100 * (number - 0.5)) / most}%`;
        mark.addEventListener("click", () => this.choose(number));
        return mark;
      });
    byId("marks").replaceChildren(...marks);
  }
}
