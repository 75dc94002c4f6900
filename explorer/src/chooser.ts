// A list to choose from by typing: what to colour by, among any number of columns.

import { make } from "./dom";

export interface Choice {
  key: string;
  name: string;
  about: string;
}

const MOST = 100;

export class Chooser {
  private found: Choice[] = [];
  private at = 0;

  constructor(
    private readonly input: HTMLInputElement,
    private readonly list: HTMLElement,
    private readonly choices: Choice[],
    private readonly chosen: () => string,
    private readonly choose: (key: string) => void,
  ) {
    input.addEventListener("focus", () => {
      input.select();
      this.open("");
    });
    input.addEventListener("click", () => this.list.hidden && this.open(""));
    input.addEventListener("input", () => this.open(input.value));
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the focus stays in the field
      const item = (event.target as Element).closest<HTMLElement>("[data-key]");
      if (item) this.take(item.dataset.key!);
    });
    this.show();
  }

  /** The name of what is chosen now. */
  show(): void {
    this.input.value = this.choices.find(({ key }) => key === this.chosen())?.name ?? "";
  }

  private get nListed(): number {
    return Math.min(this.found.length, MOST);
  }

  private open(text: string): void {
    const word = text.trim().toLowerCase();
    this.found = this.choices.filter(({ name }) => name.toLowerCase().includes(word));
    const current = this.found.findIndex(({ key }) => key === this.chosen());
    this.at = word === "" ? Math.max(0, Math.min(current, this.nListed - 1)) : 0;
    const items = this.found
      .slice(0, this.nListed)
      .map(({ key, name, about }, i) =>
        make(
          "li",
          { role: "option", id: `choice-${i}`, "data-key": key, "aria-selected": String(key === this.chosen()) },
          make("span", {}, name),
          make("span", { class: "hint" }, about),
        ),
      );
    if (this.found.length === 0) items.push(make("li", { class: "hint" }, "Nothing found"));
    if (this.found.length > MOST)
      items.push(make("li", { class: "hint" }, `${this.found.length - MOST} more: type to find`));
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }

  private mark(): void {
    [...this.list.children].forEach((item, i) =>
      item.classList.toggle("active", i === this.at && this.found.length > 0),
    );
    this.input.setAttribute("aria-activedescendant", this.found.length > 0 ? `choice-${this.at}` : "");
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.show();
  }

  private take(key: string): void {
    this.choose(key);
    this.close();
    this.input.select();
  }

  private key(event: KeyboardEvent): void {
    const { nListed } = this;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.open("");
      else if (nListed > 0) this.at = (this.at + (event.key === "ArrowDown" ? 1 : -1) + nListed) % nListed;
      this.mark();
    } else if (event.key === "Enter" && !this.list.hidden && nListed > 0) this.take(this.found[this.at].key);
    else if (event.key === "Escape" && !this.list.hidden) this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
