// Where the panels are: side by side or one above the other, whichever shows the samples larger; one of them large.

import type { App } from "./app";
import { fittedScale } from "./camera";
import { byId } from "./dom";

const LEAST = 0.15;
const GAP = 12;
const CAPTION = 38;

export class Layout {
  private readonly panels = byId("panels");
  private readonly splitter = byId("splitter");
  private share = 0.5;
  private large = "";

  constructor(private readonly app: App) {
    new ResizeObserver(() => this.arrange()).observe(this.panels);
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-large]")) {
      button.addEventListener("click", () => this.enlarge(button.dataset.large!));
    }
    this.splitter.addEventListener("pointerdown", (event) => this.splitter.setPointerCapture(event.pointerId));
    this.splitter.addEventListener("pointermove", (event) => {
      if (!this.splitter.hasPointerCapture(event.pointerId)) return;
      const box = this.panels.getBoundingClientRect();
      const along = this.row ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height;
      this.divide(along);
    });
    this.splitter.addEventListener("dblclick", () => this.divide(0.5));
    this.splitter.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -0.05, ArrowUp: -0.05, ArrowRight: 0.05, ArrowDown: 0.05 }[event.key];
      if (by === undefined) return;
      this.divide(this.share + by);
      event.preventDefault();
    });
    this.divide(0.5);
  }

  private get row(): boolean {
    return this.panels.dataset.layout === "row";
  }

  private divide(share: number): void {
    this.share = Math.max(LEAST, Math.min(1 - LEAST, share));
    this.panels.style.setProperty("--first", `${this.share}fr`);
    this.panels.style.setProperty("--second", `${1 - this.share}fr`);
    this.splitter.setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
  }

  /** One panel in place of both, or both again. */
  private enlarge(panel: string): void {
    this.large = this.large === panel ? "" : panel;
    this.panels.dataset.only = this.large;
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-large]")) {
      button.setAttribute("aria-pressed", String(button.dataset.large === this.large));
    }
  }

  /** Rows or columns, whichever shows the plane larger. */
  arrange(): void {
    const { clientWidth: width, clientHeight: height } = this.panels;
    const { extent, oneScale } = this.app.view;
    const area = (size: { width: number; height: number }): number => {
      const [x, y] = fittedScale(size, extent, oneScale);
      return x * y;
    };
    const beside = area({ width: (width - GAP) / 2, height: height - CAPTION });
    const below = area({ width, height: (height - GAP) / 2 - CAPTION });
    this.panels.dataset.layout = below > beside ? "column" : "row";
    this.splitter.setAttribute("aria-orientation", below > beside ? "horizontal" : "vertical");
  }
}
